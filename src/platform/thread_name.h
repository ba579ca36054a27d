// Names of threads, as debuggers, profilers and crash reports show them. One .cpp per system; the
// build chooses.
#pragma once

namespace boxoffice {

/// Linux refuses a longer name.
constexpr unsigned kMaxThreadName = 15;

/// Names the calling thread; at most kMaxThreadName characters of ASCII. Ignores a system that refuses.
void nameThisThread(const char* name) noexcept;

}  // namespace boxoffice
