// A blocked thread as a waiter: it sleeps on a semaphore of its own until it is woken.
#pragma once

#include "lightweight_semaphore.h"
#include "waiter.h"

namespace boxoffice {

template <class P>
class ThreadParker final : public Parker {
 public:
  void wake(Waiter&, Wake how) noexcept override {
    how_ = how;
    sleep_.signal();
  }

  /// False when the deadline passed first; a wake may be on its way all the same.
  bool waitUntil(Deadline deadline) noexcept { return sleep_.waitUntil(deadline); }

  /// The next wake; waits for it.
  Wake take() noexcept {
    sleep_.wait();
    return how_;
  }

  Wake how() const noexcept { return how_; }

 private:
  // Written by the waker before its signal, read by us after taking that signal.
  Wake how_ = Wake::admitted;
  BasicLightweightSemaphore<P> sleep_;
};

}  // namespace boxoffice
