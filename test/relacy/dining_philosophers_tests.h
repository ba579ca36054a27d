// Tests of the dining philosophers, apart from main: they also run with weakened memory orders.
#pragma once

#include "suite.h"

namespace boxoffice::relacy {

/// kThreads philosophers at the first of kSeats seats. Two neighbours share each fork's payload: a
/// philosopher that eats without waiting must see the previous eater's write, too.
template <class P, template <class> class Table, int kSeats, int kThreads, bool kTimed = false>
struct Dinner : Suite<Dinner<P, Table, kSeats, kThreads, kTimed>, P, kThreads> {
  Table<P> table{kSeats};
  Payload forks[kSeats];
  int meals = 0;

  void thread(unsigned index) {
    const int seat = static_cast<int>(index);
    for (int round = 0; round < 2; ++round) {
      if (!table.beginUntil(seat, kTimed && index == 0 ? P::kSoon : kNever)) continue;
      RL_ASSERT(table.isEating(seat));
      forks[seat].add();
      forks[(seat + 1) % kSeats].add();
      ++meals;
      table.end(seat);
    }
  }

  void resumed() {
    int uses = 0;
    for (Payload& fork : forks) uses += fork.read();
    RL_ASSERT(uses == 2 * meals);
    // The table is empty: each philosopher could eat at once.
    for (int seat = 0; seat < kSeats; ++seat) {
      RL_ASSERT(table.tryBegin(seat));
      table.end(seat);
    }
  }
};

}  // namespace boxoffice::relacy
