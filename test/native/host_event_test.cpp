// The auto-reset event of scope host, step by step, and with a process killed before each step.
#include "host/host_event.h"

#include <thread>

#include "host_gate_test.h"

namespace boxoffice::test {
namespace {

using WorldEvent = host::BasicHostEvent<WorldPlatform>;

struct HostEventTest : HostGateTest<WorldEvent> {
  /// Signals (upper half) and waiters (lower half).
  std::uint64_t part(ProcessSlot process) {
    return world_.at<host::GateSlot>(0).parts[process].load();
  }
  bool tryWait(ProcessSlot process) {
    Waiter w;
    return of(process).enterBlocking(w, Deadline::min());
  }
};

TEST_F(HostEventTest, ASignalIsKeptForTheNextWaiter) {
  of(1).signal();
  of(2).signal();
  EXPECT_TRUE(of(3).isSet());
  EXPECT_TRUE(tryWait(3));
  EXPECT_FALSE(tryWait(1));
}

TEST_F(HostEventTest, EachSignalAdmitsOneWaiter) {
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  Asking c(notes_, kCleo);
  EXPECT_FALSE(of(1).enter(a));
  EXPECT_FALSE(of(1).enter(b));
  EXPECT_FALSE(of(2).enter(c));
  of(3).signal();
  of(3).signal();
  EXPECT_FALSE(of(3).isSet());
  EXPECT_EQ(notified(), (Heard{admitted(a), admitted(c)})) << "in turn";
  of(2).signal();
  EXPECT_EQ(notified(), Heard{admitted(b)});
  of(2).signal();
  EXPECT_TRUE(tryWait(1));
}

TEST_F(HostEventTest, AdmitsByPriorityWithinAProcess) {
  Asking a(notes_, kAnna);
  Asking urgent(notes_, kBen, 1, 1);
  of(1).enter(a);
  of(1).enter(urgent);
  of(2).signal();
  EXPECT_EQ(notified(), Heard{admitted(urgent)});
  EXPECT_EQ(of(1).leave(a), Leave::left);
}

TEST_F(HostEventTest, AWaiterThatLeavesTakesNoSignal) {
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  of(1).enter(a);
  of(2).enter(b);
  EXPECT_EQ(of(1).leave(a), Leave::left);
  of(3).signal();
  EXPECT_EQ(notified(), Heard{admitted(b)});
  of(3).signal();
  EXPECT_TRUE(of(1).isSet());
  EXPECT_TRUE(tryWait(1));
}

TEST_F(HostEventTest, AWaiterThatLeavesTooLateIsAdmitted) {
  Asking a(notes_, kAnna);
  of(1).enter(a);
  of(2).signal();
  EXPECT_EQ(of(1).leave(a), Leave::admitted);
  EXPECT_EQ(notes_.take(), Heard{admitted(a)});
  EXPECT_FALSE(tryWait(1));
}

TEST_F(HostEventTest, AWaiterThatComesBetweenTheLookAndTheSignalIsAdmitted) {
  Asking a(notes_, kAnna);
  world_.meanwhile(Step::beforeOwner, [&] { EXPECT_FALSE(of(1).enter(a)); });
  of(2).signal();
  EXPECT_EQ(notified(), Heard{admitted(a)});
  EXPECT_FALSE(of(2).isSet());
}

TEST_F(HostEventTest, ASignalThatComesBetweenTheCountAndTheLookIsTaken) {
  Asking a(notes_, kAnna);
  world_.meanwhile(Step::joined, [&] { of(2).signal(); });
  EXPECT_TRUE(of(1).enter(a));
  EXPECT_EQ(notified(), Heard{});
  EXPECT_FALSE(of(2).isSet());
}

TEST_F(HostEventTest, TheSignalOfADeadProcessGoesToAnother) {
  Asking dying(notes_, kAnna);
  Asking next(notes_, kBen);
  of(1).enter(dying);
  of(2).enter(next);
  of(3).signal();
  world_.evict<WorldEvent>(1);
  world_.evict<WorldEvent>(1);
  deliver(2);
  EXPECT_EQ(notes_.take(), Heard{admitted(next)});
  EXPECT_FALSE(of(3).isSet());
  of(1).leave(dying);  // frees the test's waiter: the dead process's memory is still mapped here
}

TEST_F(HostEventTest, TheSignalOfADeadProcessIsKept) {
  Asking dying(notes_, kAnna);
  of(1).enter(dying);
  of(3).signal();
  world_.evict<WorldEvent>(1);
  EXPECT_TRUE(of(3).isSet());
  of(1).leave(dying);
  notes_.take();
}

TEST_F(HostEventTest, ASignalThatItsWaiterHasNotAcceptedGoesToAnother) {
  Asking dying(notes_, kAnna);
  Asking next(notes_, kBen);
  of(1).enter(dying);
  of(3).signal();
  EXPECT_EQ(notified(), Heard{admitted(dying)});
  of(2).enter(next);
  world_.evict<WorldEvent>(1);
  EXPECT_EQ(notified(), Heard{admitted(next)});
  of(2).accepted();
  EXPECT_EQ(part(2), 0U);
  world_.evict<WorldEvent>(2);
  EXPECT_FALSE(of(3).isSet()) << "the signal was accepted";
}

TEST_F(HostEventTest, ASignalOfADeadAgentGoesToAWaiterOfItsProcessToo) {
  Asking dying(notes_, kAnna);
  Asking other(notes_, kBen);
  of(1).enter(dying);
  of(2).signal();
  EXPECT_EQ(notified(), Heard{admitted(dying)});
  of(1).enter(other);
  of(1).passOn(1);
  EXPECT_EQ(notified(), Heard{admitted(other)});
  of(1).passOn(1);
  EXPECT_EQ(part(1), 0U);
  EXPECT_TRUE(of(2).isSet());
}

TEST_F(HostEventTest, AWaiterOfASetEventIsAdmittedOnceWhicheverThreadTakesItMeanwhile) {
  of(1).signal();
  Asking a(notes_, kAnna);
  world_.meanwhile(Step::joined, [&] { EXPECT_TRUE(tryWait(2)); });
  EXPECT_FALSE(of(1).enter(a));
  of(2).signal();
  EXPECT_EQ(notified(), Heard{admitted(a)});
  of(1).signal();
  Asking b(notes_, kBen);
  world_.meanwhile(Step::afterOwner,
                   [&] { EXPECT_TRUE(tryWait(2)); });  // after it has counted a signal
  EXPECT_FALSE(of(1).enter(b));
  of(2).signal();
  EXPECT_EQ(notified(), Heard{admitted(b)});
  EXPECT_FALSE(of(2).isSet());
}

TEST_F(HostEventTest, ABlockedThreadAcceptsItsSignal) {
  std::thread blocked([this] {
    Waiter w;
    EXPECT_TRUE(of(1).enterBlocking(w, kNever));
  });
  while (part(1) == 0) std::this_thread::yield();
  of(2).signal();
  deliverAll();
  blocked.join();
  EXPECT_EQ(part(1), 0U);
  of(2).signal();
  Asking a(notes_, kAnna);
  EXPECT_TRUE(of(1).enter(a));
  EXPECT_EQ(part(1), 0U);
}

TEST_F(HostEventTest, ACorruptPartHangsNoCall) {
  for (const std::uint64_t bits : {5ULL << 32, 5ULL, ~0ULL, 1ULL << 32}) {
    Asking a(notes_, kAnna);
    of(1).enter(a);
    world_.at<host::GateSlot>(0).parts[1].store(bits);
    of(2).signal();
    of(1).accepted();
    deliverAll();
    of(1).passOn(1);
    if (notes_.take().empty()) of(1).leave(a);
    notes_.take();
    world_.evict<WorldEvent>(1);
    EXPECT_EQ(part(1), 0U);
    while (tryWait(2)) {
    }
  }
}

TEST_F(HostEventTest, ADeadWaiterIsForgotten) {
  Asking dying(notes_, kAnna);
  of(1).enter(dying);
  world_.evict<WorldEvent>(1);
  of(3).signal();
  EXPECT_TRUE(of(3).isSet());
  of(1).leave(dying);
  notes_.take();
}

TEST_F(HostEventTest, ASignalDuringTheCleanUpAfterAWaiterIsKept) {
  Asking dying(notes_, kAnna);
  of(1).enter(dying);
  world_.meanwhile(Step::beforeOwner, [&] { of(3).signal(); });
  world_.evict<WorldEvent>(1);
  EXPECT_TRUE(of(3).isSet());
  of(1).leave(dying);
  notes_.take();
}

TEST_F(HostEventTest, ASignallerKilledAtAnyStepHasSignalledOnceOrNotAtAll) {
  for (const Step step : kSteps) {
    for (int nth = 1; nth <= 3; ++nth) {
      Asking a(notes_, kAnna);
      of(1).enter(a);
      const bool died = killed(step, nth, [&] { of(3).signal(); });
      if (died) world_.evict<WorldEvent>(3);
      deliverAll();
      // No waiter was notified: the process died before its signal.
      if (notes_.take().empty()) {
        EXPECT_TRUE(died);
        of(2).signal();
        EXPECT_EQ(notified(), Heard{admitted(a)});
      }
      EXPECT_FALSE(of(2).isSet()) << static_cast<int>(step);
    }
  }
}

TEST_F(HostEventTest, AWaiterKilledAtAnyStepLosesNoSignal) {
  for (const Step step : kSteps) {
    for (int nth = 1; nth <= 3; ++nth) {
      Asking a(notes_, kAnna);
      const bool died = killed(step, nth, [&] {
        Asking dying(notes_, kBen);
        of(3).enter(dying);
        if (of(3).leave(dying) != Leave::left) World::die();
        _exit(0);
      });
      of(1).enter(a);
      of(2).signal();  // the signal may go to the dead process
      if (died) world_.evict<WorldEvent>(3);
      EXPECT_EQ(notified(), Heard{admitted(a)}) << static_cast<int>(step);
      EXPECT_FALSE(of(2).isSet());
    }
  }
}

}  // namespace
}  // namespace boxoffice::test
