// A ticket while it is not certain that anybody will stand in line with it.
#pragma once

#include "event_loop.h"

namespace boxoffice::binding {

/// Gives its ticket back at the end, be it by an error, unless it has been kept. Memory that somebody else
/// writes to may cause an error that leaves its waiter in line: then the ticket stays out.
class Draft {
 public:
  explicit Draft(EventLoop& loop) : loop_(loop), waiter_(loop.take()) {}
  ~Draft() {
    if (!isKept_ && waiter_.fifo == nullptr) loop_.give(waiter_);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  Waiter& waiter() const noexcept { return waiter_; }

  /// JavaScript gets the ticket, and gives it back some day: its number.
  std::int32_t keep() noexcept {
    isKept_ = true;
    return static_cast<std::int32_t>(waiter_.ticket);
  }

 private:
  EventLoop& loop_;
  Waiter& waiter_;
  bool isKept_ = false;
};

}  // namespace boxoffice::binding
