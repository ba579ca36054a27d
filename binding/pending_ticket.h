// A ticket while it is unknown whether its waiter has to wait.
#pragma once

#include "event_loop.h"

namespace boxoffice::binding {

/// Gives its ticket back at the end, also after an error, unless it has been kept. Memory that
/// other threads overwrite may cause an error that leaves the waiter in the queue: then the ticket
/// is not given back.
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

  /// JavaScript gets the ticket's number, and gives the ticket back later.
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
