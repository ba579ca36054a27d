// An event loop in a simulated thread: its waiters are woken through a mailbox, and it sleeps on a
// semaphore until the mailbox wakes it.
#pragma once

#include "relacy_platform.h"

namespace boxoffice::relacy {

template <class P>
struct Loop final : Wakeup {
  BasicLightweightSemaphore<P> sent;
  BasicMailbox<P> mailbox{*this};

  void send() noexcept override { sent.signal(); }

  /// Waits for a wake-up and hands out what was posted.
  template <class Take>
  void turn(Take&& take) {
    sent.wait();
    mailbox.collect(take);
  }
};

}  // namespace boxoffice::relacy
