// Errors of locks of scope host that are not a caller's misuse.
#pragma once

#include <stdexcept>
#include <string>

namespace boxoffice::host {

enum class HostFault {
  segment,      ///< a file or directory is invalid or not accessible
  exhausted,    ///< no descriptor or no memory is left; may be retried
  capacity,     ///< no room for one more key, or one more process
  unsupported,  ///< this file system, or this runtime, does not support scope host
  forked        ///< the child of a fork uses its parent's membership
};

/// The message names the fault, the file, and what to do. The failed call has changed nothing.
class HostError : public std::runtime_error {
 public:
  HostError(HostFault fault, const std::string& what) : std::runtime_error(what), fault_(fault) {}
  HostFault fault() const noexcept { return fault_; }

 private:
  HostFault fault_;
};

/// Throws HostError(exhausted): the system refuses `what` now, but may give it later.
[[noreturn]] inline void throwLack(const std::string& what, const std::string& why) {
  throw HostError(HostFault::exhausted, "boxoffice: the system gives no " + what + ": " + why);
}

[[noreturn]] inline void throwRemote(const std::string& path) {
  throw HostError(HostFault::unsupported,
                  "boxoffice: " + path +
                      " lies on a file system that is reached over a network or another program, "
                      "which cannot hold locks of scope host; choose a local directory, give the "
                      "locks an engine, or, where one process is all there is, as in development, "
                      "use scope: 'process'");
}

}  // namespace boxoffice::host
