// Decides whether to poll before sleeping, by the success of earlier polling.
//
// Preshing left the question open ("is there a better way to set the initial spin count?") with a fixed
// count of 10,000. Two facts decide it, and both change at run time:
//   - Is the awaited thread running on another core right now? Then a short busy wait (a few hundred ns) is
//     cheaper than a sleep and a wake-up (5 to 50 us).
//   - Are there more runnable threads than cores? Then a busy wait keeps the awaited thread from running.
//     Giving it our core is better: sched_yield switches to a runnable thread without the cost of a sleep
//     and a wake-up.
// So a wait polls in two phases, first busy and then yielding, and each phase has a budget of looks. When a phase
// pays off, its budget moves towards twice the looks that were needed (after glibc's adaptive mutex). Each time it
// does not, the budget halves, down to none, with a fresh try now and then. Yielding pays off only if the wait ends
// sooner than a sleep would: in longer waits, yielding threads slow down working threads. In the whole process, busy
// waits occupy at most all cores but one; on a single core, none.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "platform/clock.h"

namespace boxoffice {

/// The number of looks that a phase may take. Threads share it. Accesses are relaxed, since a lost update costs
/// only a slightly worse guess.
template <class P, int kMax>
class SpinBudget {
 public:
  int take() const noexcept { return std::max(looks_.load(std::memory_order_relaxed), 0); }

  void paid(int used) noexcept { set(std::min(kMax, (3 * take() + 2 * used + 3) / 4 + 1)); }

  void wasted() noexcept {
    const int looks = looks_.load(std::memory_order_relaxed);
    if (looks > 0) {
      set(looks > 1 ? looks / 2 : -kRest);
    } else {
      set(looks < 0 ? looks + 1 : kMax);
    }
  }

 private:
  static constexpr int kRest = 64;  // waits without a look between two fresh tries

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
  /// Polls `ready()` until it is true or the budgets are spent. Returns whether it was true.
  template <class Ready>
  bool operator()(Ready&& ready) {
    if (busily(ready)) return true;
    if constexpr (P::kYieldLooks > 0) return yielding(ready);
    return false;
  }

 private:
  // The approximate cost of a sleep and a wake-up.
  static constexpr std::chrono::microseconds kSleep{10};

  template <class Ready>
  bool busily(Ready& ready) {
    if constexpr (P::kBusyLooks > 0) {
      auto& busyWaiters = P::busyWaiters();
      const int before = busyWaiters.fetch_add(1, std::memory_order_relaxed);
      const bool won = before + 1 < P::cores() && look(ready);
      busyWaiters.fetch_sub(1, std::memory_order_relaxed);
      return won;
    }
    return false;
  }

  template <class Ready>
  bool look(Ready& ready) {
    const int looks = busy_.take();
    for (int i = 1; i <= looks; ++i) {
      P::relax();
      if (ready()) {
        busy_.paid(i);
        return true;
      }
    }
    busy_.wasted();
    return false;
  }

  template <class Ready>
  bool yielding(Ready& ready) {
    const int looks = yields_.take();
    bool won = false;
    int used = 0;
    Deadline slept{};
    if (looks > 0) slept = P::now() + kSleep;
    bool late = false;
    while (!won && !late && used < looks) {
      P::yield();
      ++used;
      won = ready();
      late = P::now() >= slept;
    }
    if (won && !late) {
      yields_.paid(used);
    } else {
      yields_.wasted();
    }
    return won;
  }

  SpinBudget<P, P::kBusyLooks> busy_;
  SpinBudget<P, P::kYieldLooks> yields_;
};

}  // namespace boxoffice
