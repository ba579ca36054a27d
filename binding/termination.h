// Detects that JavaScript of this environment is being terminated while its thread is blocked in
// C++. One object per wait: when a time limit (vm's timeout) ends a script, its environment goes
// on.
#pragma once

#include "event_loop.h"

namespace boxoffice::binding {

class Termination final : public Stop {
 public:
  explicit Termination(EventLoop& loop) : loop_(loop) {}
  /// A terminated script does not read the completions of its call: the next callback does.
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
