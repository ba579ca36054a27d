// The word of a lock without holders: an event, a latch.
#pragma once

#include "locks/lock_word.h"

namespace boxoffice {

template <class P, class Rules>
class WaitableWord : public LockWord<P, Rules> {
  using Base = LockWord<P, Rules>;

 public:
  using Base::Base;

  /// Blocks until the waiter is admitted. Returns false only if a Stop (thread_parker.h) ended the wait.
  bool wait() { return waitUntil(kNever); }
  /// As wait. Returns false when `timeout` passed first; a timeout of zero or less never sleeps.
  bool waitFor(Timeout timeout) { return waitUntil(deadlineIn(timeout)); }
  bool waitUntil(Deadline deadline) {
    Waiter w;
    w.agent = P::agent();
    return Base::enterBlocking(w, deadline);
  }
};

}  // namespace boxoffice
