// Names of threads, as debuggers, profilers and crash reports show them. One .cpp per system; the
// build chooses.
#pragma once

namespace boxoffice {

/// Linux keeps this many characters of a name, and takes no longer one.
constexpr unsigned kMaxThreadName = 15;

/// Names the calling thread; at most kMaxThreadName characters of ASCII. A system that refuses
/// leaves it without a name: that is no reason to fail.
void nameThisThread(const char* name) noexcept;

}  // namespace boxoffice
