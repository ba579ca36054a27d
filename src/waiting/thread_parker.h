// A blocked thread as a waiter: it sleeps on its own semaphore until it is woken.
//
// Some threads must stop waiting at the request of a thread that cannot wake them (a worker that is terminated
// while it is blocked in C++). Such a thread has a Stop, which it checks now and then.
#pragma once

#include <utility>

#include "waiting/lightweight_semaphore.h"
#include "waiting/waiter.h"

namespace boxoffice {

/// Whether a blocked thread is to stop waiting. Called on that thread, outside every lock of this library.
class Stop {
 public:
  virtual bool isRequested() noexcept = 0;

 protected:
  ~Stop() = default;
};

template <class P>
class ThreadParker final : public Parker {
 public:
  /// The longest sleep of a thread with a Stop between two checks.
  static constexpr std::chrono::milliseconds kLookEvery{25};

  void wake(Waiter&, Wake how) noexcept override {
    how_ = how;
    sleep_.signal();
  }

  /// Sleeps until it is woken. Returns false when the deadline passed first, or a stop was requested; a wake may
  /// still be on its way.
  bool waitUntil(Deadline deadline) noexcept {
    while (stop_) {
      const Deadline look = P::now() + kLookEvery;
      if (deadline <= look) break;
      if (sleep_.waitUntil(look)) return true;
      if (stop_->isRequested()) return false;
    }
    return sleep_.waitUntil(deadline);
  }

  /// While a Watch lives, a requested `stop` ends the calling thread's waits for the locks of src/locks and src/host
  /// as if their deadline had passed, even if they have none. So the thread must check the result of every wait. It
  /// does not end waits for a LightweightSemaphore.
  class Watch {
   public:
    explicit Watch(Stop& stop) noexcept
        : parker_(P::parker()), before_(std::exchange(parker_.stop_, &stop)) {}
    ~Watch() { parker_.stop_ = before_; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    ThreadParker& parker_;
    Stop* const before_;
  };

  /// Waits for the next wake, and returns it.
  Wake take() noexcept {
    sleep_.wait();
    return how_;
  }

  Wake how() const noexcept { return how_; }

 private:
  // Written by the waker before its signal, read by this thread after it has taken that signal.
  Wake how_ = Wake::admitted;
  Stop* stop_ = nullptr;
  BasicLightweightSemaphore<P> sleep_;
};

}  // namespace boxoffice
