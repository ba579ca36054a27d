// The condition variable of scope host, step by step, and with a process killed before each step.
#include "host/host_condition.h"

#include "host_gate_test.h"

namespace boxoffice::test {
namespace {

using WorldCondition = host::BasicHostCondition<WorldPlatform>;

struct HostConditionTest : HostGateTest<WorldCondition> {
  /// Notifications (upper half) and waiters (lower half).
  std::uint64_t part(ProcessSlot process) {
    return world_.at<host::GateSlot>(0).parts[process].load();
  }
  static constexpr std::uint64_t both(std::uint64_t given, std::uint64_t waiters) {
    return given << 32 | waiters;
  }
  void expectPristine() {
    for (ProcessSlot process = 0; process < host::kMaxProcess; ++process) {
      EXPECT_EQ(part(process), 0U) << "process " << int{process};
    }
  }
};

TEST_F(HostConditionTest, WithoutAWaiterANotificationHasNoEffect) {
  of(1).notifyOne();
  of(2).notifyAll();
  Asking a(notes_, kAnna);
  of(3).enter(a);
  EXPECT_EQ(notified(), Heard{});
  EXPECT_EQ(of(3).leave(a), Leave::left);
  expectPristine();
}

TEST_F(HostConditionTest, NotifyOneAdmitsOneWaiterAndProcessesTakeTurns) {
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  Asking c(notes_, kCleo);
  of(1).enter(a);
  of(1).enter(b);
  of(2).enter(c);
  of(3).notifyOne();
  EXPECT_EQ(notified(), Heard{admitted(a)}) << "first come, first served within a process";
  of(3).notifyOne();
  EXPECT_EQ(notified(), Heard{admitted(c)});
  of(3).notifyOne();
  EXPECT_EQ(notified(), Heard{admitted(b)});
  of(3).notifyOne();
  EXPECT_EQ(notified(), Heard{});
  of(1).returned();
  of(1).returned();
  of(2).returned();
  expectPristine();
}

TEST_F(HostConditionTest, NotifyAllAdmitsAllWaitersAndNoLaterOne) {
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  Asking c(notes_, kCleo);
  Asking late(notes_, kAnna);
  of(1).enter(a);
  of(2).enter(b);
  of(2).enter(c);
  of(2).notifyAll();
  of(1).enter(late);
  EXPECT_EQ(notified(), (Heard{admitted(b), admitted(c), admitted(a)}));
  EXPECT_EQ(of(1).leave(late), Leave::left);
  of(1).returned();
  of(2).returned();
  of(2).returned();
  expectPristine();
}

TEST_F(HostConditionTest, AReturningWaiterTakesNoNotificationOfAnother) {
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  of(1).enter(a);
  of(2).notifyOne();
  EXPECT_EQ(notified(), Heard{admitted(a)});
  of(1).enter(b);
  EXPECT_EQ(notified(), Heard{});
  of(2).notifyOne();
  EXPECT_EQ(part(1), both(2, 2));
  EXPECT_EQ(notified(), Heard{admitted(b)});
  of(1).returned();
  EXPECT_EQ(part(1), both(1, 1));
  of(1).returned();
  expectPristine();
}

TEST_F(HostConditionTest, AWaiterThatLeavesTakesNoNotification) {
  Asking a(notes_, kAnna);
  Asking b(notes_, kBen);
  of(1).enter(a);
  of(2).enter(b);
  EXPECT_EQ(of(1).leave(a), Leave::left);
  of(3).notifyOne();
  EXPECT_EQ(notified(), Heard{admitted(b)});
  of(2).returned();
  expectPristine();
}

TEST_F(HostConditionTest, AWaiterThatLeavesTooLateIsNotified) {
  Asking a(notes_, kAnna);
  of(1).enter(a);
  of(2).notifyOne();
  EXPECT_EQ(of(1).leave(a), Leave::admitted);
  EXPECT_EQ(notes_.take(), Heard{admitted(a)});
  of(1).returned();
  expectPristine();
}

TEST_F(HostConditionTest, AWaiterThatLeavesLeavesTheNotificationToTheFirst) {
  Asking first(notes_, kAnna);
  Asking second(notes_, kBen);
  of(1).enter(first);
  of(1).enter(second);
  of(2).notifyOne();
  EXPECT_EQ(of(1).leave(second), Leave::left);
  EXPECT_EQ(notified(), Heard{admitted(first)});
  of(1).returned();
  expectPristine();
}

TEST_F(HostConditionTest, ANotificationOfADeadProcessGoesToAnother) {
  Asking dying(notes_, kAnna);
  Asking next(notes_, kBen);
  of(1).enter(dying);
  of(2).enter(next);
  of(3).notifyOne();
  world_.evict<WorldCondition>(1);
  world_.evict<WorldCondition>(1);
  deliver(2);
  EXPECT_EQ(notes_.take(), Heard{admitted(next)});
  of(2).returned();
  expectPristine();
  of(1).leave(dying);  // frees the test's waiter: the dead process's memory is still mapped here
  notes_.take();
}

TEST_F(HostConditionTest, ANotificationDuringTheCleanUpAfterAWaiterGoesToAnother) {
  Asking dying(notes_, kAnna);
  Asking next(notes_, kBen);
  of(1).enter(dying);
  of(2).enter(next);
  world_.meanwhile(Step::beforeOwner, [&] { of(3).notifyOne(); });
  world_.evict<WorldCondition>(1);
  deliver(2);
  EXPECT_EQ(notes_.take(), Heard{admitted(next)});
  of(2).returned();
  expectPristine();
  of(1).leave(dying);
  notes_.take();
}

TEST_F(HostConditionTest, ANotificationOfAReturningWaiterThatDiesGoesToAnother) {
  Asking dying(notes_, kAnna);
  Asking next(notes_, kBen);
  of(1).enter(dying);
  of(3).notifyOne();
  EXPECT_EQ(notified(), Heard{admitted(dying)});
  of(2).enter(next);
  world_.evict<WorldCondition>(1);
  EXPECT_EQ(notified(), Heard{admitted(next)});
  of(2).returned();
  expectPristine();
}

TEST_F(HostConditionTest, ADeadProcessWithoutAnotherWaiterLeavesNothing) {
  Asking dying(notes_, kAnna);
  of(1).enter(dying);
  of(3).notifyOne();
  EXPECT_EQ(notified(), Heard{admitted(dying)});
  world_.evict<WorldCondition>(1);
  expectPristine();
  Asking later(notes_, kBen);
  of(2).enter(later);
  EXPECT_EQ(notified(), Heard{});
  of(2).leave(later);
}

TEST_F(HostConditionTest, NotificationsOfADeadAgentGoToWaitersOfItsOwnProcessToo) {
  Asking dying(notes_, kAnna);
  Asking other(notes_, kBen);
  of(1).enter(dying);
  of(2).notifyOne();
  EXPECT_EQ(notified(), Heard{admitted(dying)});
  of(1).enter(other);
  of(1).passOn(1);
  EXPECT_EQ(notified(), Heard{admitted(other)});
  EXPECT_EQ(part(1), both(1, 1));
  of(1).passOn(1);
  EXPECT_EQ(notified(), Heard{});
  expectPristine();
}

TEST_F(HostConditionTest, ANotifierKilledAtAnyStepHasNotifiedOnceOrNotAtAll) {
  for (const Step step : kSteps) {
    for (int nth = 1; nth <= 3; ++nth) {
      Asking a(notes_, kAnna);
      of(1).enter(a);
      const bool died = killed(step, nth, [&] { of(3).notifyOne(); });
      if (died) world_.evict<WorldCondition>(3);
      if (notified().empty()) {
        EXPECT_TRUE(died);
        of(2).notifyOne();
        EXPECT_EQ(notified(), Heard{admitted(a)});
      }
      of(1).returned();
      expectPristine();
    }
  }
}

TEST_F(HostConditionTest, ANotifierOfAllKilledAtAnyStepHasNotifiedWholeProcesses) {
  for (const Step step : kSteps) {
    for (int nth = 1; nth <= 4; ++nth) {
      Asking a(notes_, kAnna);
      Asking b(notes_, kBen);
      of(1).enter(a);
      of(2).enter(b);
      const bool died = killed(step, nth, [&] { of(3).notifyAll(); });
      if (died) world_.evict<WorldCondition>(3);
      const std::size_t before = notified().size();
      EXPECT_TRUE(died || before == 2) << static_cast<int>(step);
      of(4).notifyAll();
      EXPECT_EQ(before + notified().size(), 2U) << static_cast<int>(step);
      of(1).returned();
      of(2).returned();
      expectPristine();
    }
  }
}

TEST_F(HostConditionTest, AWaiterKilledAtAnyStepLosesNoNotification) {
  for (const Step step : kSteps) {
    for (int nth = 1; nth <= 4; ++nth) {
      const bool died = killed(step, nth, [&] {
        Asking dying(notes_, kBen);
        of(3).enter(dying);
        if (of(3).leave(dying) != Leave::left) World::die();
        of(3).enter(dying);
        of(2).notifyOne();
        of(3).notified();
        of(3).returned();
        _exit(0);
      });
      Asking a(notes_, kAnna);
      of(1).enter(a);
      of(2).notifyOne();  // the notification may go to the dead process
      if (died) world_.evict<WorldCondition>(3);
      EXPECT_EQ(notified(), Heard{admitted(a)}) << static_cast<int>(step);
      of(1).returned();
      expectPristine();
    }
  }
}

TEST_F(HostConditionTest, AnEvictionKilledAtAnyStepLosesNoNotification) {
  for (const Step step : kSteps) {
    for (int nth = 1; nth <= 4; ++nth) {
      Asking x(notes_, kCleo);
      Asking y(notes_, kCleo);
      of(5).enter(x);
      of(5).enter(y);
      of(2).notifyOne();
      of(2).notifyOne();
      EXPECT_EQ(notified(), (Heard{admitted(x), admitted(y)}));
      Asking a(notes_, kAnna);
      Asking b(notes_, kBen);
      of(1).enter(a);
      of(2).enter(b);
      killed(step, nth, [&] { world_.evict<WorldCondition>(5); });
      world_.evict<WorldCondition>(5);
      EXPECT_EQ(notified().size(), 2U) << static_cast<int>(step);
      of(1).returned();
      of(2).returned();
      expectPristine();
    }
  }
}

TEST_F(HostConditionTest, ACorruptPartHangsNoCall) {
  for (const std::uint64_t bits : {both(5, 0), both(0, 5), both(~0U, ~0U), both(1, 0)}) {
    Asking a(notes_, kAnna);
    of(1).enter(a);
    world_.at<host::GateSlot>(0).parts[1].store(bits);
    of(2).notifyOne();
    of(2).notifyAll();
    of(1).returned();
    deliverAll();
    of(1).passOn(1);
    if (notes_.take().empty()) of(1).leave(a);
    notes_.take();
    world_.evict<WorldCondition>(1);
    expectPristine();
  }
}

}  // namespace
}  // namespace boxoffice::test
