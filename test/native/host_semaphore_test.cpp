// A semaphore of scope host, step by step.
#include "host/host_semaphore.h"

#include <atomic>
#include <functional>
#include <thread>

#include "host_lock_test.h"
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using WorldSemaphore = HostSemaphoreForms<WorldPlatform>;

class HostSemaphoreTest : public HostLockTest<WorldSemaphore> {
 protected:
  static constexpr std::int64_t kStart = 5;

  HostSemaphoreTest() { WorldSemaphore::reset(&world_.at<std::byte>(0), kStart); }

  void expectPristine() {
    deliverAll();
    EXPECT_TRUE(WorldSemaphore::isUnused(&world_.at<std::byte>(0), kStart));
  }
};

TEST_F(HostSemaphoreTest, ProcessesShareTheValue) {
  EXPECT_EQ(of(1).value(), 5);
  EXPECT_TRUE(of(1).acquire(3));
  EXPECT_TRUE(of(2).tryAcquire(2));
  EXPECT_FALSE(of(3).tryAcquire());
  EXPECT_EQ(of(3).value(), 0);
  EXPECT_EQ(of(1).held(), 3U);
  of(1).release(1);
  EXPECT_EQ(of(3).value(), 1);
  EXPECT_TRUE(of(3).tryAcquire());
  of(3).release();
  of(2).release(2);
  of(1).release(2);
  expectPristine();
}

TEST_F(HostSemaphoreTest, RefusesBadArguments) {
  EXPECT_EQ(faultOf([&] { of(1).acquire(0); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { of(1).acquire(WorldSemaphore::kMax + 1); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { of(1).release(0); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { of(1).setValue(WorldSemaphore::kMin - 1); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { of(1).acquireFor(1ms, 1, NAN); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { of(1).release(WorldSemaphore::kMax); }), Fault::overflow);
  EXPECT_EQ(of(1).value(), 5);
  expectPristine();
}

TEST_F(HostSemaphoreTest, ALighterWaiterDoesNotPassAHeavierOne) {
  of(1).acquire(4);
  Asking heavy(notes_, kAnna, 3);
  Asking light(notes_, kBen, 1);
  EXPECT_FALSE(of(2).enter(heavy));
  EXPECT_TRUE(world_.owner().isUngiven(2)) << "waits with the turn";
  EXPECT_FALSE(of(3).enter(light));
  EXPECT_FALSE(of(4).tryAcquire());
  EXPECT_EQ(notified(), Heard{});
  of(1).release(1);
  EXPECT_EQ(notified(), Heard{});
  of(1).release(1);
  EXPECT_EQ(notified(), Heard{admitted(heavy)});
  of(1).release(1);
  EXPECT_EQ(notified(), Heard{admitted(light)});
  of(2).release(3);
  of(3).release();
  of(1).release();
  expectPristine();
}

TEST_F(HostSemaphoreTest, AdmitsByPriorityWithinAProcess) {
  of(1).acquire(5);
  Asking first(notes_, kAnna, 1);
  Asking urgent(notes_, kBen, 2, 1);
  EXPECT_FALSE(of(1).enter(first));
  EXPECT_FALSE(of(1).enter(urgent));
  of(1).release(1);
  EXPECT_EQ(notified(), Heard{});
  of(1).release(2);
  EXPECT_EQ(notified(), (Heard{admitted(urgent), admitted(first)}));
  of(1).release(5);
  expectPristine();
}

TEST_F(HostSemaphoreTest, ACallerThatMayNotWaitIsNeverInTheQueue) {
  of(1).acquire(3);
  Asking heavy(notes_, kAnna, 3);
  EXPECT_FALSE(of(2).enterNow(heavy));
  EXPECT_TRUE(of(3).tryAcquire()) << "the lock does not look taken";
  of(3).release();
  EXPECT_FALSE(of(2).enter(heavy));
  Asking same(notes_, kBen, 1, 0);
  Asking urgent(notes_, kBen, 1, 1);
  Asking urgentHeavy(notes_, kBen, 3, 1);
  EXPECT_FALSE(of(2).enterNow(same)) << "goes behind a waiter of its priority";
  EXPECT_FALSE(of(3).enterNow(same)) << "goes behind a waiter of another process";
  EXPECT_FALSE(of(2).enterNow(urgentHeavy));
  EXPECT_TRUE(of(2).enterNow(urgent));
  EXPECT_EQ(of(1).value(), 1);
  of(1).release(3);
  EXPECT_EQ(notified(), Heard{admitted(heavy)});
  of(2).release(4);
  expectPristine();
}

TEST_F(HostSemaphoreTest, AWaiterThatLeavesAdmitsTheOnesItKeptOut) {
  of(1).acquire(4);
  Asking heavy(notes_, kAnna, 3);
  Asking own(notes_, kBen, 1);
  Asking other(notes_, kCleo, 1);
  EXPECT_FALSE(of(2).enter(heavy));
  EXPECT_FALSE(of(2).enter(own));
  EXPECT_FALSE(of(3).enter(other));
  EXPECT_EQ(of(2).leave(heavy), Leave::left);
  EXPECT_EQ(notified(), Heard{admitted(own)});
  of(2).release();
  EXPECT_EQ(notified(), Heard{admitted(other)});
  of(3).release();
  of(1).release(4);
  expectPristine();
}

TEST_F(HostSemaphoreTest, TheValueIsSetAndRaised) {
  of(1).acquire(2);
  of(2).setValue(1);
  EXPECT_EQ(of(1).value(), 1);
  of(2).setValue(-1);
  Asking w(notes_, kAnna, 1);
  EXPECT_FALSE(of(3).enter(w));
  of(1).release(2);
  EXPECT_EQ(notified(), Heard{admitted(w)});
  of(4).release(7);
  EXPECT_EQ(of(1).value(), 7) << "units that were never taken add to it";
  of(3).release();
  of(1).setValue(5);
  expectPristine();
}

TEST_F(HostSemaphoreTest, TheUnitsOfADeadProcessArePutBack) {
  of(1).acquire(5);
  Asking w(notes_, kAnna, 2);
  EXPECT_FALSE(of(2).enter(w));
  world_.evict<WorldSemaphore>(1);
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(notified(), Heard{admitted(w)});
  EXPECT_TRUE(w.abandoned);
  EXPECT_EQ(of(2).value(), 3);
  of(2).reclaim(1, 0);
  EXPECT_TRUE(of(3).tryAcquire().abandoned);
  of(2).reclaim(7, 0);
  EXPECT_EQ(of(2).value(), 4);
  EXPECT_TRUE(of(3).tryAcquire().abandoned);
  of(2).reclaim(1, 0);
  of(3).release(2);
  EXPECT_FALSE(of(3).tryAcquire().abandoned) << "there was nothing to put back";
  of(3).release();
  expectPristine();
}

TEST_F(HostSemaphoreTest, UnitsThatAnotherProcessReleasesAreThoseOfItsHolders) {
  of(1).acquire(3);
  of(2).acquire(2);
  of(3).release(4);
  EXPECT_EQ(of(3).value(), 4);
  EXPECT_EQ(of(1).held() + of(2).held(), 1U);
  world_.evict<WorldSemaphore>(1);
  world_.evict<WorldSemaphore>(2);
  EXPECT_EQ(of(3).value(), 5);
  EXPECT_TRUE(of(3).tryAcquire(5).abandoned);
  of(3).release(5);
  expectPristine();
}

TEST_F(HostSemaphoreTest, ADeathDoesNotRaiseWhatIsLeftAboveTheInitialValue) {
  of(1).acquire(5);
  of(2).release(5);
  EXPECT_EQ(of(1).held(), 0U);
  of(3).release(4);
  EXPECT_EQ(of(1).value(), 9);
  of(1).acquire(6);
  EXPECT_EQ(of(1).value(), 3);
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(of(2).value(), 5) << "four of its units are no more";
  EXPECT_TRUE(of(2).tryAcquire().abandoned);
  of(2).release();
  expectPristine();
}

TEST_F(HostSemaphoreTest, UnitsTakenAsSignalsDoNotComeBack) {
  auto* const at = &world_.at<std::byte>(0);
  WorldSemaphore::reset(at, 0);
  of(1).release(6);
  EXPECT_TRUE(of(2).tryAcquire(3));
  of(2).abandon(2, 0);
  EXPECT_EQ(of(1).value(), 3);
  world_.evict<WorldSemaphore>(2);
  EXPECT_EQ(of(1).value(), 3);
  of(1).release(1);
  EXPECT_EQ(of(1).value(), 4);
}

TEST_F(HostSemaphoreTest, ACleanerFinishesWhatAKilledOneHasBegun) {
  auto& slot = world_.at<host::SemaphoreSlot>(0);
  of(1).release(2);
  of(1).acquire(4);
  EXPECT_EQ(of(2).value(), 3);
  // Killed after the excess, two of the four, has been taken off.
  slot.value.fetch_add((std::int64_t{1} << 48) - 2);
  EXPECT_EQ(of(2).value(), 1);
  of(2).setValue(2);
  EXPECT_EQ(of(2).value(), -2) << "the units of the dead process are to come yet";
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(of(2).value(), 2);
  of(2).setValue(5);
  slot.abandoned.store(0);
  expectPristine();
  // Nonsense in the upper half of the word is taken out, too.
  slot.value.fetch_add(std::int64_t{-3} << 48);
  world_.evict<WorldSemaphore>(1);
  expectPristine();
}

TEST_F(HostSemaphoreTest, ADeadThreadRaisesNoValueAboveTheInitialOneBesideAKilledCleaner) {
  auto& slot = world_.at<host::SemaphoreSlot>(0);
  of(1).release(2);
  of(1).acquire(4);
  of(2).acquire(3);
  // Killed before it sets the four units to 0, of which none is in excess.
  slot.value.fetch_add(std::int64_t{1} << 48);
  of(2).abandon(3, 0);
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(of(3).value(), 5);
}

TEST_F(HostSemaphoreTest, ACleanerThatBeginsAgainLeavesTheInitialValue) {
  auto& slot = world_.at<host::SemaphoreSlot>(0);
  of(1).release(4);
  of(1).acquire(8);
  // The excess, four of the eight, has been taken off beside the mark of process 3.
  slot.value.store((std::int64_t{3} << 48) + 5);
  world_.evict<WorldSemaphore>(1);
  world_.evict<WorldSemaphore>(3);
  EXPECT_EQ(of(2).value(), 5);
}

TEST_F(HostSemaphoreTest, ADeathRaisesANegativeValueToTheInitialOne) {
  of(1).setValue(10);
  of(1).acquire(9);
  of(2).setValue(-3);
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(of(2).value(), 5);
}

TEST_F(HostSemaphoreTest, ProcessesCleanUpAfterTwoDeathsAtOnce) {
  of(1).release(2);
  of(1).acquire(4);
  of(2).acquire(2);
  const auto evictOther = [this] { WorldSemaphore::evict(&world_.at<std::byte>(0), 2); };
  // Another process cleans up after process 2 when this one has taken off the excess of process 1.
  world_.meanwhile(Step::cleaned, [&] {
    world_.meanwhile(Step::cleaned, [&] { world_.meanwhile(Step::cleaned, evictOther); });
  });
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(of(1).held() + of(2).held(), 0U);
  EXPECT_EQ(of(3).value(), 5);
  EXPECT_TRUE(of(3).tryAcquire().abandoned);
  of(3).release();
  expectPristine();
}

TEST_F(HostSemaphoreTest, UnitsAreOwedOnceThoughTheValueChangesMeanwhile) {
  auto& slot = world_.at<host::SemaphoreSlot>(0);
  slot.rest.store(1);  // there was a minHold
  of(1).acquire(2);
  // The second step is that before the excess is taken off.
  world_.meanwhile(Step::cleaned,
                   [&] { world_.meanwhile(Step::cleaned, [&] { of(3).setValue(2); }); });
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(of(3).value(), 4);
  EXPECT_EQ(slot.owed.load(), 2U);
}

TEST_F(HostSemaphoreTest, NoUnitIsLostWhileTwoProcessesCleanUp) {
  constexpr ProcessSlot kOne = 126;
  constexpr ProcessSlot kOther = 127;
  auto& slot = world_.at<host::SemaphoreSlot>(0);
  const auto evict = [&](ProcessSlot dead) {
    WorldSemaphore::evict(&world_.at<std::byte>(0), dead);
  };
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  // Threads that spin begin within nanoseconds of each other.
  const auto reaches = [](const std::atomic<int>& count, int to) {
    for (int spins = 0; count.load() < to; ++spins) {
      if (spins > 10'000) std::this_thread::yield();
    }
  };
  const int times = rounds(50'000);
  std::jthread another([&] {
    for (int i = 1; i <= times; ++i) {
      reaches(begun, i);
      evict(kOther);
      ended.store(i);
    }
  });
  int lost = 0;
  for (int i = 1; i <= times; ++i) {
    slot.held[kOne].store(2);
    slot.held[kOther].store(3);
    begun.store(i);
    for (volatile int pause = i % 64; pause > 0;) pause = pause - 1;
    evict(kOne);
    reaches(ended, i);
    lost += of(1).value() != kStart;
    slot.value.store(kStart);
  }
  EXPECT_EQ(lost, 0);
}

TEST_F(HostSemaphoreTest, ADeathLosesNoUnitThatAnotherProcessReleasesMeanwhile) {
  of(1).acquire(4);
  world_.meanwhile(Step::cleaned, [&] { of(3).release(2); });
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(of(3).value(), 5);
  EXPECT_TRUE(of(3).tryAcquire(5).abandoned);
  of(3).release(5);
  expectPristine();
}

TEST_F(HostSemaphoreTest, ADeathLosesNoSignalThatAnotherProcessSendsMeanwhile) {
  for (int steps = 1; steps <= 5; ++steps) {
    WorldSemaphore::reset(&world_.at<std::byte>(0), 0);
    of(1).release(3);
    EXPECT_TRUE(of(2).tryAcquire(2));
    std::function<void()> send = [&] { of(1).release(1); };
    for (int i = 1; i < steps; ++i) {
      send = [this, then = std::move(send)] { world_.meanwhile(Step::cleaned, then); };
    }
    world_.meanwhile(Step::cleaned, std::move(send));
    world_.evict<WorldSemaphore>(2);
    EXPECT_EQ(of(1).value(), 2) << "sent at step " << steps;
  }
}

TEST_F(HostSemaphoreTest, TakenSignalsDoNotComeBackWhileThreeProcessesCleanUp) {
  WorldSemaphore::reset(&world_.at<std::byte>(0), 0);
  of(4).release(3);
  for (ProcessSlot taker = 1; taker <= 3; ++taker) EXPECT_TRUE(of(taker).tryAcquire());
  const auto evict = [this](ProcessSlot dead) {
    WorldSemaphore::evict(&world_.at<std::byte>(0), dead);
  };
  // The third step is that after the excess has been taken off.
  const auto atThird = [this](std::function<void()> what) {
    world_.meanwhile(Step::cleaned, [this, what] {
      world_.meanwhile(Step::cleaned, [this, what] { world_.meanwhile(Step::cleaned, what); });
    });
  };
  atThird([&] {
    atThird([&] { evict(3); });
    evict(2);
  });
  evict(1);
  EXPECT_EQ(of(4).value(), 0);
}

TEST_F(HostSemaphoreTest, NoSignalIsTakenTwiceWhileADeadTakerIsCleanedUp) {
  constexpr ProcessSlot kTaker = 127;
  auto& slot = world_.at<host::SemaphoreSlot>(0);
  WorldSemaphore::reset(&world_.at<std::byte>(0), 0);
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  // Threads that spin begin within nanoseconds of each other.
  const auto reaches = [](const std::atomic<int>& count, int to) {
    for (int spins = 0; count.load() < to; ++spins) {
      if (spins > 10'000) std::this_thread::yield();
    }
  };
  const int times = rounds(1'000);
  std::jthread cleaner([&] {
    for (int i = 1; i <= times; ++i) {
      reaches(begun, i);
      WorldSemaphore::evict(&world_.at<std::byte>(0), kTaker);
      ended.store(i);
    }
  });
  int twice = 0;
  for (int i = 1; i <= times; ++i) {
    slot.value.store(1);
    slot.held[kTaker].store(1);
    Asking w(notes_, kAnna, 1);
    EXPECT_FALSE(of(1).enter(w));
    begun.store(i);
    while (ended.load() < i) of(1).notified();
    twice += of(1).leave(w) == Leave::admitted;
    slot.held[1].store(0);
  }
  notes_.take();
  EXPECT_EQ(twice, 0);
}

TEST_F(HostSemaphoreTest, ACleanerLeavesTheUnitsOfOtherProcessesAlone) {
  auto& slot = world_.at<host::SemaphoreSlot>(0);
  of(1).acquire(2);
  of(2).acquire(1);
  // Another process cleans up after process 1 at the moment.
  slot.value.fetch_add(std::int64_t{1} << 48);
  world_.evict<WorldSemaphore>(2);
  EXPECT_EQ(of(1).held(), 2U);
  EXPECT_EQ(of(2).value(), 3);
  world_.evict<WorldSemaphore>(1);
  EXPECT_TRUE(of(3).tryAcquire(5).abandoned);
  of(3).release(5);
  expectPristine();
}

TEST_F(HostSemaphoreTest, AWaiterThatReleasesAtOnceIsNotToldOfADeath) {
  of(1).acquire(5);
  Asking passing(notes_, kAnna, 2);
  Asking next(notes_, kBen, 2);
  passing.isPassing = true;
  EXPECT_FALSE(of(2).enter(passing));
  EXPECT_FALSE(of(2).enter(next));
  world_.evict<WorldSemaphore>(1);
  EXPECT_EQ(notified(), (Heard{admitted(passing), admitted(next)}));
  EXPECT_FALSE(passing.abandoned);
  EXPECT_TRUE(next.abandoned);
  of(2).release(4);
  expectPristine();
}

TEST_F(HostSemaphoreTest, OnlyUnitsThatADeadAgentHadNotReleasedAreAbandoned) {
  auto& slot = world_.at<host::SemaphoreSlot>(0);
  slot.rest.store(1);  // there was a minHold
  of(1).acquire(4);
  of(1).rest(3);  // of two agents
  of(1).abandon(2, 2);
  EXPECT_EQ(slot.owed.load(), 2U);
  EXPECT_EQ(slot.resting[1].load(), 1U);
  EXPECT_FALSE(of(2).tryAcquire().abandoned);
  of(1).abandon(1, 0);
  EXPECT_EQ(slot.owed.load(), 3U);
  EXPECT_EQ(slot.resting[1].load(), 1U);
  EXPECT_TRUE(of(2).tryAcquire().abandoned);
  of(1).reclaim(1, 0);
  EXPECT_EQ(slot.owed.load(), 3U) << "its caller has lost it, and has not died";
  EXPECT_EQ(slot.resting[1].load(), 1U);
  EXPECT_TRUE(of(2).tryAcquire().abandoned);
}

TEST_F(HostSemaphoreTest, AProcessDiesThatWaitsWithTheTurn) {
  of(1).acquire(5);
  Asking dying(notes_, kAnna, 5);
  Asking next(notes_, kBen, 1);
  EXPECT_FALSE(of(2).enter(dying));
  EXPECT_FALSE(of(3).enter(next));
  world_.evict<WorldSemaphore>(2);
  of(1).release(1);
  of(3).notified();
  EXPECT_EQ(notes_.take(), Heard{admitted(next)});
  EXPECT_FALSE(next.abandoned);
  of(2).leave(dying);  // frees the test's waiter: the dead process's memory is still mapped here
  of(3).release();
  of(1).release(4);
  expectPristine();
}

}  // namespace
}  // namespace boxoffice::test
