// Dining philosophers: a seat has one philosopher, and two neighbours never eat at once.
// For C++ programs: the addon does not use it.
//
// Two implementations over the same rule (dining_table.h), as in Preshing's article:
//   DiningPhilosophers           the table under a mutex, any number of seats
//   LockFreeDiningPhilosophers   the table in one 64-bit word, up to 32 seats, one compare-and-swap
//                                to sit down or to get up
// Each seat has a queue. Whether a seat eats is a fact of the table, so an admission that comes before its
// philosopher has entered the queue is not lost: the philosopher looks at the table once more before it
// sleeps, in its bucket. The admitting thread opens that bucket after it has changed the table.
//
// Memory order: the compare-and-swap is acq_rel both ways, so an eater sees all that its neighbours did
// before they got up, also when it did not have to wait for them.
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

  /// `seats` must be in [1, kMaxSeats]; else throws Misuse(badArgument).
  explicit BasicDiningPhilosophers(int seats)
      : seats_(checked(seats)), table_(seats), chairs_(new char[static_cast<std::size_t>(seats)]) {}

  /// Waits until `seat` may eat. Throws Misuse(badArgument) when there is no such seat, or when it is taken: a seat
  /// has one philosopher. Returns false if a Stop (thread_parker.h) ended the wait: then it thinks again.
  bool begin(int seat) { return beginUntil(seat, kNever); }

  bool beginFor(int seat, Timeout timeout) { return beginUntil(seat, deadlineIn(timeout)); }

  /// As begin. Returns false when the deadline passed first; the philosopher then thinks again.
  bool beginUntil(int seat, Deadline deadline) {
    if (deadline != kNever && deadline <= P::now()) return tryBegin(seat);
    if (sit(seat)) return true;
    Waiter w;
    const auto standAsThread = [&] {
      w.parker = &P::parker();
      w.agent = P::agent();
      return stand(w, seat);
    };
    if (orRise(seat, standAsThread)) return true;
    auto& parker = P::parker();
    if (!parker.waitUntil(deadline)) {
      if (leave(w, seat)) return false;
      parker.take();
    }
    resume(w);
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

  /// Throws Misuse(notHolder) when `seat` does not eat.
  void end(int seat) {
    wake(table_.change([i = place(seat)](auto& table) {
      if (!table.mayEat(i))
        throwMisuse(Fault::notHolder, "this philosopher does not hold its forks");
      return table.rise(i);
    }));
  }

  bool isEating(int seat) {
    return table_.change([i = place(seat)](auto& table) { return table.mayEat(i); });
  }

  int seats() const noexcept { return seats_; }

  /// For callers that do not block. Returns true if the seat eats; otherwise a wake follows once it does.
  bool enter(Waiter& w, int seat) {
    return sit(seat) || orRise(seat, [&] { return stand(w, seat); });
  }

  void resume(Waiter& w) noexcept { w.state = Waiter::State::idle; }

  /// Gives up being hungry. Returns false when it was too late: the seat eats, and a wake is on its way. Throws
  /// Misuse(notWaiting) when w is in no queue.
  bool leave(Waiter& w, int seat) {
    Fed fed;
    {
      auto bucket = P::lot().open(chair(place(seat)));
      if (wasAdmitted(w)) return false;
      bool tooLate = false;
      fed = table_.change([seat, &tooLate](auto& table) {
        tooLate = table.mayEat(seat);
        return tooLate ? Fed{} : table.rise(seat);
      });
      // The thread that let this seat eat has yet to open this bucket: stay in the queue for its admission.
      if (tooLate) return false;
      bucket.queue().leave(w);
    }
    wake(fed);
    return true;
  }

 private:
  static int checked(int seats) {
    if (seats < 1 || seats > kMaxSeats) {
      throwMisuse(Fault::badArgument, "a table has 1 to kMaxSeats seats");
    }
    return seats;
  }

  int place(int seat) const {
    if (seat < 0 || seat >= seats_) throwMisuse(Fault::badArgument, "there is no such seat");
    return seat;
  }

  /// The address of the seat's queue.
  const char* chair(int seat) const noexcept { return &chairs_[static_cast<std::size_t>(seat)]; }

  /// Takes the seat. Returns true if it eats, false if it is hungry.
  bool sit(int seat) {
    return table_.change([i = place(seat)](auto& table) {
      checkFree(table, i);
      table.sit(i);
      return table.mayEat(i);
    });
  }

  /// Enters the queue. Returns true instead if the neighbours have got up meanwhile, and the seat eats.
  bool stand(Waiter& w, int seat) {
    auto bucket = P::lot().open(chair(seat));
    if (isEating(seat)) return true;
    bucket.obtainQueue().enter(w);
    return false;
  }

  /// `step` is the way of a hungry philosopher into its queue.
  template <class Step>
  bool orRise(int seat, Step&& step) {
    try {
      return step();
    } catch (...) {
      // A hungry seat without a waiter would never get up, and its neighbours would starve.
      wake(table_.change([seat](auto& table) { return table.rise(seat); }));
      throw;
    }
  }

  template <class Seats>
  static void checkFree(const Seats& table, int seat) {
    if (table.active(seat)) throwMisuse(Fault::badArgument, "this seat is taken");
  }

  // The table must outlive the call that frees a fork: a neighbour may eat, get up and leave before this
  // looks at its chair.
  void wake(const Fed& fed) {
    for (int i = 0; i < fed.count; ++i) {
      const int seat = fed.seat[i];
      auto bucket = P::lot().open(chair(seat));
      // If the queue is empty, the philosopher has not arrived yet, and will look at the table before it sleeps. If
      // the waiter does not eat, its philosopher saw by itself that it could eat, is done, and is hungry again.
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
