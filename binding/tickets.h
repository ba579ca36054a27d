// The tickets of an event loop, and the locks they wait for. Only the loop's own thread uses them.
#pragma once

#include <vector>

#include "shares.h"
#include "waiting/ticket_pool.h"

namespace boxoffice::binding {

class Tickets {
 public:
  struct Wait {
    const Kind* kind = nullptr;  ///< null: the ticket is not in use
    std::int32_t wordIndex = 0;
    bool isInvited = false;  ///< JavaScript has read its invitation, and has not answered it
    bool hasLeft = false;    ///< the waiter has left its queue while an invitation is on its way
  };
  /// The word index of a request of the lock manager, which has no word that JavaScript can read.
  static constexpr std::int32_t kNoWord = -1;

  explicit Tickets(Shares& shares) : shares_(shares) {}

  /// Returns the waiter of a fresh ticket, about to enter the queue of the lock at `wordIndex`.
  Waiter& take(const Kind& kind, std::int32_t wordIndex) {
    const Ticket ticket = pool_.take();
    if (ticket >= waits_.size()) waits_.resize(ticket + 1);
    waits_[ticket] = {.kind = &kind, .wordIndex = wordIndex};
    return pool_.waiter(ticket);
  }
  Waiter& waiter(std::int32_t ticket) { return pool_.waiter(static_cast<Ticket>(ticket)); }
  Wait& waitOf(const Waiter& w) { return waits_[w.ticket]; }
  std::size_t inUse() const noexcept { return pool_.out(); }

  void give(Waiter& w) {
    waits_[w.ticket] = {};
    pool_.give(w.ticket);
  }
  /// Records that `w` has left its queue. Gives its ticket back, unless its invitation or its admission is still
  /// to come.
  void left(Waiter& w, Leave how) {
    if (how == Leave::left) give(w);
    if (how == Leave::leftAwake) waitOf(w).hasLeft = true;
  }
  /// Records that `w` is admitted: adds to what this environment holds of a counted lock.
  void granted(const Waiter& w) noexcept {
    const Wait& wait = waitOf(w);
    if (wait.kind->isCounted) shares_.took(wait.wordIndex, wait.kind->taken(w));
  }

  /// Records that JavaScript is told that `w` is admitted.
  void told(const Waiter& w) noexcept {
    const Wait& wait = waitOf(w);
    if (wait.kind->accepted) shares_.accepted(wait.wordIndex);
  }

  /// Calls `use(waiter, wait)` for each ticket in use.
  template <class Use>
  void each(Use&& use) {
    for (Ticket ticket = 0; ticket < waits_.size(); ++ticket) {
      if (waits_[ticket].kind) use(pool_.waiter(ticket), waits_[ticket]);
    }
  }

 private:
  Shares& shares_;
  TicketPool pool_;
  std::vector<Wait> waits_;  // by ticket
};

}  // namespace boxoffice::binding
