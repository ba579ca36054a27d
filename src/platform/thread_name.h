// Names of threads, for debuggers, profilers and crash reports. There is one .cpp per system; the build chooses.
#pragma once

namespace boxoffice {

/// Linux refuses a longer name.
constexpr unsigned kMaxThreadName = 15;

/// Names the calling thread with at most kMaxThreadName characters of ASCII. Does nothing if the system refuses.
void nameThisThread(const char* name) noexcept;

}  // namespace boxoffice
