// Detects that JavaScript of this environment is being terminated while its thread is blocked in C++. There is one
// object per wait, because an environment goes on after a time limit (timeout of node:vm) has ended a script.
#pragma once

#include "event_loop.h"

namespace boxoffice::binding {

class Termination final : public Stop {
 public:
  explicit Termination(EventLoop& loop) : loop_(loop) {}
  /// Leaves the completions of the call to the next callback if the script was terminated and does not read them.
  ~Termination() {
    if (wasRequested_) loop_.wakeLater();
  }
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  bool isRequested() noexcept override {
    wasRequested_ = wasRequested_ || !loop_.callbacks().canRun();
    return wasRequested_;
  }
  bool wasRequested() const noexcept { return wasRequested_; }

 private:
  EventLoop& loop_;
  bool wasRequested_ = false;
};

}  // namespace boxoffice::binding
