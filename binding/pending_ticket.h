// Holds a ticket while it is unknown whether its waiter has to wait.
#pragma once

#include "event_loop.h"

namespace boxoffice::binding {

/// Gives its ticket back at the end, even after an error, unless keep() was called. If other threads corrupt the
/// memory, an error may leave the waiter in the queue. Then the ticket is not given back.
class PendingTicket {
 public:
  PendingTicket(EventLoop& loop, const Kind& kind, std::int32_t wordIndex)
      : tickets_(loop.tickets()), waiter_(tickets_.take(kind, wordIndex)) {
    waiter_.parker = &loop;
    waiter_.agent = loop.id();
  }
  ~PendingTicket() {
    if (!isKept_ && waiter_.fifo == nullptr) tickets_.give(waiter_);
  }
  PendingTicket(const PendingTicket&) = delete;
  PendingTicket& operator=(const PendingTicket&) = delete;

  Waiter& waiter() const noexcept { return waiter_; }

  /// Returns the ticket for JavaScript, which gives it back later.
  std::int32_t keep() noexcept {
    isKept_ = true;
    return static_cast<std::int32_t>(waiter_.ticket);
  }

 private:
  Tickets& tickets_;
  Waiter& waiter_;
  bool isKept_ = false;
};

}  // namespace boxoffice::binding
