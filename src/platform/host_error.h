// Errors of locks of scope host that are not a caller's misuse.
#pragma once

#include <stdexcept>
#include <string>

namespace boxoffice::host {

enum class HostFault {
  segment,      ///< a file or directory is not what it should be, or is not accessible
  exhausted,    ///< no descriptor or no memory is left; may be retried
  capacity,     ///< no room for one more key, or one more process
  unsupported,  ///< this system, or this file system, has no such locks
  forked        ///< the child of a fork uses what its parent has opened
};

/// The message says what is wrong, with which file, and what to do. Nothing has changed.
class HostError : public std::runtime_error {
 public:
  HostError(HostFault fault, const std::string& what) : std::runtime_error(what), fault_(fault) {}
  HostFault fault() const noexcept { return fault_; }

 private:
  HostFault fault_;
};

}  // namespace boxoffice::host
