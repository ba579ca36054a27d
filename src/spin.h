// Whether to look again before sleeping, learned from what looking again has brought.
//
// Preshing left the question open ("is there a better way to set the initial spin count?") with a
// fixed count of 10,000. Two facts decide it, and both change at run time:
//   - is the one we wait for running on another core right now? Then a short busy wait (a few
//     hundred ns) is cheaper than a sleep and a wake-up (5 to 50 us).
//   - are there more runnable threads than cores? Then a busy wait keeps the very thread from
//     running that we wait for, and the thing to do is to give it our core: sched_yield, which
//     switches to a runnable thread without the cost of a sleep and a wake-up.
// So a wait looks in two phases, busy and then yielding, and each phase has a budget of looks that
// it earns: about twice as many as were needed when it paid (after glibc's adaptive mutex), an
// eighth fewer each time it did not, down to none, with a fresh try now and then. At most one core
// fewer than there are is ever kept busy by busy waits, in the whole process; on one core, none.
#pragma once

#include <algorithm>

#include "platform/cpu.h"

namespace boxoffice {

/// How many looks a phase may take. Shared by threads; every access is relaxed, since a lost
/// update costs only a slightly worse guess.
template <class P, int kMax>
class SpinBudget {
 public:
  int take() const noexcept { return std::max(looks_.load(std::memory_order_relaxed), 0); }

  void paid(int used) noexcept { set(std::min(kMax, (3 * take() + 2 * used + 3) / 4 + 1)); }

  void wasted() noexcept {
    const int looks = looks_.load(std::memory_order_relaxed);
    if (looks > 0) {
      const int fewer = looks - 1 - looks / 8;
      set(fewer > 0 ? fewer : -kRest);
    } else {
      set(looks < 0 ? looks + 1 : kMax);
    }
  }

 private:
  static constexpr int kRest = 32;  // waits without a look between two fresh tries

  void set(int looks) noexcept {
    if (looks != looks_.load(std::memory_order_relaxed)) {
      looks_.store(looks, std::memory_order_relaxed);
    }
  }

  typename P::template Atomic<int> looks_{kMax};
};

template <class P>
class AdaptiveSpin {
 public:
  /// Looks until `ready()` says yes or the budget is spent. True when it said yes.
  template <class Ready>
  bool operator()(Ready&& ready) noexcept(noexcept(ready())) {
    if constexpr (P::kBusyLooks > 0) {
      if (busyWait(ready)) return true;
    }
    if constexpr (P::kYieldLooks > 0) return look(yields_, &P::yield, ready);
    return false;
  }

 private:
  template <class Ready>
  bool busyWait(Ready& ready) {
    if (busy_.take() == 0) {
      busy_.wasted();
      return false;
    }
    auto& busyWaiters = P::busyWaiters();
    const int before = busyWaiters.fetch_add(1, std::memory_order_relaxed);
    const bool won = before + 1 < P::cores() && look(busy_, &P::relax, ready);
    busyWaiters.fetch_sub(1, std::memory_order_relaxed);
    return won;
  }

  template <class Budget, class Ready>
  static bool look(Budget& budget, void (*pass)() noexcept, Ready& ready) {
    const int looks = budget.take();
    for (int i = 1; i <= looks; ++i) {
      pass();
      if (ready()) {
        budget.paid(i);
        return true;
      }
    }
    budget.wasted();
    return false;
  }

  SpinBudget<P, P::kBusyLooks> busy_;
  SpinBudget<P, P::kYieldLooks> yields_;
};

}  // namespace boxoffice
