// Every kit, in the order of the report.
#pragma once

#include "kits/absl.h"
#include "kits/article.h"
#include "kits/nsync.h"
#include "kits/ours.h"
#include "kits/std.h"

namespace bench {

template <class... Kits>
struct KitList {
  /// Calls visit.operator()<Kit>() for each.
  template <class Visit>
  static void each(Visit visit) {
    (visit.template operator()<Kits>(), ...);
  }
};

using AllKits =
    KitList<Ours, OursNoSpin, OursGuarded, ArticleSpin, ArticleNoSpin, CvEvent, Std, Absl, Nsync>;

// A kit may lack some locks: a bench is registered for the kits that have the locks it needs.
template <class Kit>
concept HasMutex = requires {
  typename Kit::Mutex;
};
template <class Kit>
concept HasRecursiveMutex = requires {
  typename Kit::RecursiveMutex;
};
template <class Kit>
concept HasAutoResetEvent = requires {
  typename Kit::AutoResetEvent;
};
template <class Kit>
concept HasRWLock = requires {
  typename Kit::RWLock;
};
template <class Kit>
concept HasDiningPhilosophers = requires {
  typename Kit::DiningPhilosophers;
};
template <class Kit>
concept HasSemaphore = requires {
  typename Kit::Semaphore;
};

}  // namespace bench
