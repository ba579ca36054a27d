// Is JavaScript of this environment at its end, while its thread is blocked in C++? One for each wait: a script whose
// time is over (vm's timeout) ends, and its environment goes on.
#pragma once

#include "event_loop.h"

namespace boxoffice::binding {

class Termination final : public Stop {
 public:
  explicit Termination(EventLoop& loop) : loop_(loop) {}
  /// Such a script does not come to read the completions of its call: they are for the next callback.
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
