// Shows that these tests can fail: relacy must find each fault and must pass its repaired form.
#include "event_tests.h"
#include "faulty.h"

namespace boxoffice::relacy {

template <bool kFault>
struct SkippedSignal : TwoSignals<SkippedSignal<kFault>, EventThatSkips<kFault>, RelacyPlatform> {};

}  // namespace boxoffice::relacy

using namespace boxoffice::relacy;

int main() {
  Runner run;
  run.finds<HandOffToWriter<true>>("the last reader leaves with release only", kRuns);
  run.random<HandOffToWriter<false>>("the same, with acq_rel", kRuns);
  run.finds<RelaxedPhilosophers<true>>("philosophers with relaxed compare-and-swap", kRuns);
  run.random<RelaxedPhilosophers<false>>("the same, with acquire and release", kRuns);
  run.finds<SkippedSignal<true>>("a signal on a set event skips the store", kRuns);
  run.random<SkippedSignal<false>>("the same, stored", kRuns);
  run.finds<OneSignal<GiveUp::givesBack>>("a timed wait leaves a stale post", kRuns);
  run.finds<OneSignal<GiveUp::waitsForEver>>("a timed wait waits for a post taken by another",
                                             kRuns);
  run.random<OneSignal<GiveUp::right>>("the same, resumed", kRuns);
  run.finds<EventWithoutLoop<true>>("a spurious wake-up without a loop", kRuns);
  run.random<EventWithoutLoop<false>>("the same, with a loop", kRuns);
  return run.failures();
}
