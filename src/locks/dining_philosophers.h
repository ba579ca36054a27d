// Dining philosophers: one seat, one eater, and never two neighbours at once.
//
// Two box offices over the same rule (dining_table.h), as in Preshing's article:
//   DiningPhilosophers           the table under a mutex, any number of seats
//   LockFreeDiningPhilosophers   the table in one 64-bit word, up to 32 seats, one compare-and-swap
//                                to sit down or to get up
// The bouncers are one queue per seat. Whether a seat eats is a fact of the table, so an admission
// that comes before its philosopher stands in the queue is not lost: it looks once more before it
// sleeps, in its bucket, which the one who admits opens after changing the table.
//
// Memory order: the compare-and-swap is acq_rel on both ways, so that an eater sees all that its
// neighbours did before they got up, also where it did not have to wait for them.
#pragma once

#include <memory>

#include "locks/dining_table.h"
#include "platform/misuse.h"
#include "waiting/parking_lot.h"
#include "waiting/thread_parker.h"

namespace boxoffice {

/// The table under a mutex.
template <class P>
class GuardedTable {
 public:
  static constexpr int kMaxSeats = 1 << 20;

  explicit GuardedTable(int seats) : table_(seats, ListedSeats(seats)) {}

  template <class Step>
  auto change(Step&& step) {
    const std::lock_guard guard(mutex_);
    return step(table_);
  }

 private:
  typename P::Mutex mutex_;
  DiningTable<ListedSeats> table_;
};

/// The table in a word. `step` may run several times, each time on a fresh copy.
template <class P>
class PackedTable {
 public:
  static constexpr int kMaxSeats = PackedSeats::kMaxSeats;

  explicit PackedTable(int seats) : seats_(seats) {}

  template <class Step>
  auto change(Step&& step) {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      DiningTable table(seats_, PackedSeats(word));
      const auto result = step(table);
      const std::uint64_t next = table.bits().word();
      if (next == word || word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                                      std::memory_order_acquire)) {
        return result;
      }
    }
  }

 private:
  const int seats_;
  typename P::template Atomic<std::uint64_t> word_{0};
};

template <class P, class Table>
class BasicDiningPhilosophers {
 public:
  static constexpr int kMaxSeats = Table::kMaxSeats;

  /// `seats` must be in [1, kMaxSeats]; else Misuse(badArgument).
  explicit BasicDiningPhilosophers(int seats)
      : seats_(checked(seats)), table_(seats), chairs_(new char[static_cast<std::size_t>(seats)]) {}

  /// Waits until `seat` may eat. Misuse(badArgument) when there is no such seat or it is taken:
  /// a seat is one philosopher.
  void begin(int seat) { beginUntil(seat, kNever); }

  bool beginFor(int seat, std::chrono::nanoseconds timeout) {
    return beginUntil(seat, deadlineIn(timeout));
  }

  /// False when the deadline passed first; the philosopher thinks on.
  bool beginUntil(int seat, Deadline deadline) {
    if (deadline != kNever && deadline <= P::now()) return tryBegin(seat);
    if (sit(seat)) return true;
    auto& parker = P::parker();
    Waiter w(parker, P::agent());
    if (stand(w, seat)) return true;
    if (!parker.waitUntil(deadline)) {
      if (leave(w, seat)) return false;
      parker.take();
    }
    settle(w);
    return true;
  }

  bool tryBegin(int seat) {
    return table_.change([i = place(seat)](auto& table) {
      checkFree(table, i);
      if (!table.wouldEat(i)) return false;
      table.sit(i);
      return true;
    });
  }

  /// Misuse(notHolder) when `seat` does not eat.
  void end(int seat) {
    wake(table_.change([i = place(seat)](auto& table) {
      if (!table.mayEat(i)) throw Misuse(Fault::notHolder, "this philosopher does not eat");
      return table.rise(i);
    }));
  }

  bool isEating(int seat) {
    return table_.change([i = place(seat)](auto& table) { return table.mayEat(i); });
  }

  int seats() const noexcept { return seats_; }

  /// For those who wait without blocking: true means eating; else a wake says so.
  bool enter(Waiter& w, int seat) { return sit(seat) || stand(w, seat); }

  void settle(Waiter& w) noexcept { w.state = Waiter::State::idle; }

  /// Gives up being hungry. False when it was too late: the seat eats, a wake is on its way.
  /// Misuse(notWaiting) when w waits for nothing.
  bool leave(Waiter& w, int seat) {
    Fed fed;
    {
      auto bucket = P::lot().open(&chairs_[place(seat)]);
      if (w.state == Waiter::State::admitted) return false;
      if (w.state == Waiter::State::idle) {
        throw Misuse(Fault::notWaiting, "this waiter waits for nothing");
      }
      bool tooLate = false;
      fed = table_.change([seat, &tooLate](auto& table) {
        tooLate = table.mayEat(seat);
        return tooLate ? Fed{} : table.rise(seat);
      });
      // The one who let us eat is still outside our bucket: stay in the queue for its admission.
      if (tooLate) return false;
      bucket.queue().leave(w);
    }
    wake(fed);
    return true;
  }

 private:
  static int checked(int seats) {
    if (seats < 1 || seats > kMaxSeats) {
      throw Misuse(Fault::badArgument, "a table has 1 to kMaxSeats seats");
    }
    return seats;
  }

  int place(int seat) const {
    if (seat < 0 || seat >= seats_) throw Misuse(Fault::badArgument, "there is no such seat");
    return seat;
  }

  /// Takes the seat, from here on hungry or (true) eating.
  bool sit(int seat) {
    return table_.change([i = place(seat)](auto& table) {
      checkFree(table, i);
      table.sit(i);
      return table.mayEat(i);
    });
  }

  /// In queue, unless the neighbours have got up meanwhile (true: eating).
  bool stand(Waiter& w, int seat) {
    try {
      auto bucket = P::lot().open(&chairs_[seat]);
      if (isEating(seat)) return true;
      bucket.obtainQueue().enter(w);
      return false;
    } catch (...) {
      // Nobody would ever get up for us: the neighbours would starve.
      wake(table_.change([seat](auto& table) { return table.rise(seat); }));
      throw;
    }
  }

  template <class Seats>
  static void checkFree(const Seats& table, int seat) {
    if (table.active(seat)) throw Misuse(Fault::badArgument, "this seat is taken");
  }

  // The table must outlive the call that raises somebody: a neighbour may eat, get up and leave before
  // its chair is looked at.
  void wake(const Fed& fed) {
    for (int i = 0; i < fed.count; ++i) {
      const int seat = fed.seat[i];
      auto bucket = P::lot().open(&chairs_[seat]);
      // Nobody in the queue: it has not come yet, and will look at the table before it sleeps. Somebody
      // there who does not eat: it saw by itself that it may, is through, and is hungry again.
      if (!bucket.empty() && isEating(seat)) bucket.admit(*bucket.queue().head());
    }
  }

  const int seats_;
  Table table_;
  const std::unique_ptr<char[]> chairs_;  // one address per seat, for its queue
};

template <class P>
using BasicGuardedDiningPhilosophers = BasicDiningPhilosophers<P, GuardedTable<P>>;
template <class P>
using BasicLockFreeDiningPhilosophers = BasicDiningPhilosophers<P, PackedTable<P>>;

using DiningPhilosophers = BasicGuardedDiningPhilosophers<Platform>;
using LockFreeDiningPhilosophers = BasicLockFreeDiningPhilosophers<Platform>;

}  // namespace boxoffice
