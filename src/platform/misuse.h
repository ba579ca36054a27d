// Misuse of a lock that can be detected, reported in all builds.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace boxoffice {

enum class Fault {
  notHolder,   ///< unlock by an agent that does not hold the lock
  overflow,    ///< a count would pass its maximum
  underflow,   ///< a count would fall below zero
  notWaiting,  ///< a waiter left that is in no queue, or left twice
  mismatch,    ///< another lock exists already
  badArgument  ///< a precondition of a constructor or a call does not hold
};

/// Thrown when a caller breaks a rule of a primitive. The primitive is as it was before the call.
class Misuse : public std::logic_error {
 public:
  Misuse(Fault fault, const char* what) : std::logic_error(what), fault_(fault) {}
  Misuse(Fault fault, const std::string& what) : std::logic_error(what), fault_(fault) {}
  Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

/// A lock of this name, or in this memory, was constructed with another initial word.
class OtherStart : public Misuse {
 public:
  OtherStart(const std::string& what, std::uint32_t found)
      : Misuse(Fault::mismatch, what), found_(found) {}
  std::uint32_t found() const noexcept { return found_; }

 private:
  std::uint32_t found_;
};

/// Throws Misuse. A separate function, so that a check adds only a compare and a jump to its caller.
[[noreturn]] inline void throwMisuse(Fault fault, const char* what) { throw Misuse(fault, what); }
[[noreturn]] inline void throwMisuse(Fault fault, const std::string& what) {
  throw Misuse(fault, what);
}

}  // namespace boxoffice
