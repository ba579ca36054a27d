// A mutex of scope host, step by step.
#include <set>

#include "host_lock_test.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

class HostMutexTest : public HostLockTest<WorldMutex> {
 protected:
  void expectPristine() {
    deliverAll();
    EXPECT_EQ(world_.owner().bits(), 0U);
    EXPECT_TRUE(world_.at<host::SlotHead>(0).overflow.empty());
  }
};

TEST_F(HostMutexTest, NeedsOneCompareAndSwapWithoutWaiters) {
  EXPECT_TRUE(of(1).lock(kAnna));
  EXPECT_EQ(world_.owner(), OwnerWord::held(1, kAnna));
  EXPECT_EQ(of(1).owner(), kAnna);
  EXPECT_EQ(of(2).owner(), kNoAgent) << "another process's agent may have the same number";
  EXPECT_FALSE(of(2).tryLock(kAnna));
  EXPECT_EQ(faultOf([&] { of(2).unlock(kAnna); }), Fault::notHolder);
  EXPECT_EQ(faultOf([&] { of(1).unlock(kNoAgent); }), Fault::notHolder);
  of(1).unlock(kAnna);
  expectPristine();
}

TEST_F(HostMutexTest, RefusesAnAgentThatASlotCannotHold) {
  Asking w(notes_, OwnerWord::kMaxAgent + 1);
  EXPECT_EQ(faultOf([&] { of(1).enter(w); }), Fault::badArgument);
  EXPECT_EQ(faultOf([&] { of(1).tryLock(kNoAgent); }), Fault::badArgument);
  expectPristine();
}

TEST_F(HostMutexTest, WithinAProcessByDirectHandOff) {
  of(1).lock(kAnna);
  Asking ben(notes_, kBen);
  EXPECT_FALSE(of(1).enter(ben));
  EXPECT_TRUE(world_.owner().has(OwnerWord::kQueued));
  EXPECT_TRUE(of(1).isQueued(kBen));
  EXPECT_EQ(of(1).queueSize(), 1U);
  of(1).unlock(kAnna);
  EXPECT_EQ(notes_.take(), Heard{admitted(ben)});
  EXPECT_TRUE(of(1).resume(ben, Wake::admitted));
  EXPECT_EQ(world_.owner(), OwnerWord::held(1, kBen)) << "JavaScript's unlock will do";
  of(1).unlock(kBen);
  expectPristine();
}

TEST_F(HostMutexTest, AnotherProcessIsInvitedAndMayComeTooLate) {
  of(1).lock(kAnna);
  Asking ben(notes_, kBen);
  EXPECT_FALSE(of(2).enter(ben));
  of(1).unlock(kAnna);
  EXPECT_TRUE(world_.owner().isFree());
  EXPECT_TRUE(world_.notified(2));
  EXPECT_TRUE(of(1).tryLock(kAnna)) << "within its patience";
  deliver(2);
  EXPECT_FALSE(world_.owner().has(OwnerWord::kInvited));
  EXPECT_EQ(notes_.take(), Heard{});
  pass(2ms);
  of(1).unlock(kAnna);
  EXPECT_TRUE(world_.owner().isUngiven(2)) << "handed over";
  EXPECT_FALSE(of(1).tryLock(kAnna));
  deliver(2);
  EXPECT_EQ(notes_.take(), Heard{admitted(ben)});
  EXPECT_EQ(world_.owner(), OwnerWord::held(2, kBen));
  of(2).unlock(kBen);
  expectPristine();
}

TEST_F(HostMutexTest, AProcessServesItsOwnUntilTheHeadsPatienceIsOver) {
  of(1).lock(kAnna);
  Asking own(notes_, kBen);
  Asking next(notes_, kCleo);
  Asking other(notes_, kCleo);
  EXPECT_FALSE(of(1).enter(own));
  EXPECT_FALSE(of(2).enter(other));
  EXPECT_FALSE(of(1).enter(next));
  of(1).unlock(kAnna);
  EXPECT_EQ(notes_.take(), Heard{admitted(own)});
  pass(2ms);
  of(1).unlock(kBen);
  EXPECT_TRUE(world_.owner().isUngiven(2));
  EXPECT_TRUE(world_.owner().isQueued(1)) << "and waits for its next";
  deliver(2);
  EXPECT_EQ(notes_.take(), Heard{admitted(other)});
  pass(2ms);
  of(2).unlock(kCleo);
  deliver(1);
  EXPECT_EQ(notes_.take(), Heard{admitted(next)});
  of(1).unlock(kCleo);
  expectPristine();
}

TEST_F(HostMutexTest, PatienceIsThatOfTheLeastPatientWaiter) {
  constexpr std::chrono::nanoseconds kStrict(-1);
  of(1).lock(kAnna);
  EXPECT_EQ(of(1).patience(), kPatience);
  Asking other(notes_, kCleo);
  EXPECT_FALSE(of(2).enter(other));
  pass(300us);
  EXPECT_EQ(of(1).patience(), 700us);
  Asking own(notes_, kBen);
  EXPECT_FALSE(of(1).enter(own));
  EXPECT_EQ(of(1).patience(), 700us);
  of(2).leave(other);
  pass(300us);
  EXPECT_EQ(of(1).patience(), 700us) << "only the waiter of this process is left";
  pass(700us);
  EXPECT_EQ(of(1).patience(), 0ns);
  EXPECT_EQ(of(2).patience(), kPatience) << "its own queue is empty, and so is the fifo";
  other.mayBeOvertaken = false;
  EXPECT_FALSE(of(2).enter(other));
  EXPECT_EQ(of(1).patience(), kStrict);
  of(2).leave(other);
  of(1).leave(own);
  own.mayBeOvertaken = false;
  EXPECT_FALSE(of(1).enter(own));
  EXPECT_EQ(of(1).patience(), kStrict);
  of(1).leave(own);
  of(1).unlock(kAnna);
  expectPristine();
}

TEST_F(HostMutexTest, AdmitsStrictWaitersInOrder) {
  of(1).lock(kAnna);
  Asking own(notes_, kBen);
  Asking other(notes_, kCleo);
  other.mayBeOvertaken = false;
  EXPECT_FALSE(of(2).enter(other));
  EXPECT_FALSE(of(1).enter(own));
  of(1).unlock(kAnna);
  EXPECT_TRUE(world_.owner().isUngiven(2));
  world_.deliverAll<WorldMutex>();
  EXPECT_EQ(notes_.take(), Heard{admitted(other)});
  of(2).unlock(kCleo);
  world_.deliverAll<WorldMutex>();
  EXPECT_EQ(notes_.take(), Heard{admitted(own)});
  of(1).unlock(kBen);
  expectPristine();
}

TEST_F(HostMutexTest, AWaiterThatLeavesPassesItsTurnOn) {
  of(1).lock(kAnna);
  Asking ben(notes_, kBen);
  Asking cleo(notes_, kCleo);
  EXPECT_FALSE(of(2).enter(ben));
  EXPECT_FALSE(of(3).enter(cleo));
  pass(2ms);
  of(1).unlock(kAnna);
  EXPECT_TRUE(world_.owner().isUngiven(2));
  EXPECT_EQ(of(2).leave(ben), Leave::left);
  world_.deliverAll<WorldMutex>();
  EXPECT_EQ(notes_.take(), Heard{admitted(cleo)});
  EXPECT_EQ(of(3).leave(cleo), Leave::admitted);
  EXPECT_TRUE(of(3).resume(cleo, Wake::admitted));
  EXPECT_EQ(faultOf([&] { of(3).leave(cleo); }), Fault::notWaiting);
  of(3).unlock(kCleo);
  expectPristine();
}

TEST_F(HostMutexTest, AnInvitedWaiterThatLeavesInvitesTheNext) {
  of(1).lock(kAnna);
  Asking ben(notes_, kBen);
  Asking cleo(notes_, kCleo);
  EXPECT_FALSE(of(2).enter(ben));
  EXPECT_FALSE(of(3).enter(cleo));
  of(1).unlock(kAnna);
  std::vector<Waiter*> gone;
  of(2).leaveAll(kBen, [&](Waiter& w, Leave how) {
    EXPECT_EQ(how, Leave::left);
    gone.push_back(&w);
  });
  EXPECT_EQ(gone, std::vector<Waiter*>{&ben});
  world_.deliverAll<WorldMutex>();
  EXPECT_EQ(notes_.take(), Heard{admitted(cleo)});
  of(3).unlock(kCleo);
  expectPristine();
}

TEST_F(HostMutexTest, MoreProcessesThanTheWordHolds) {
  constexpr ProcessSlot kAll = 10;
  of(1).lock(kAnna);
  std::vector<std::unique_ptr<Asking>> waiters;
  for (ProcessSlot s = 2; s <= kAll; ++s) {
    waiters.push_back(std::make_unique<Asking>(notes_, s));
    EXPECT_FALSE(of(s).enter(*waiters.back()));
    EXPECT_EQ(world_.isBeyond(s), s > 5);
  }
  std::set<AgentId> served;
  of(1).unlock(kAnna);
  for (ProcessSlot i = 2; i <= kAll; ++i) {
    world_.deliverAll<WorldMutex>();
    const auto notified = notes_.take();
    ASSERT_EQ(notified.size(), 1U);
    const AgentId who = notified[0].waiter->agent;
    EXPECT_TRUE(served.insert(who).second);
    pass(2ms);
    of(static_cast<ProcessSlot>(who)).unlock(who);
  }
  expectPristine();
}

TEST_F(HostMutexTest, AProcessThatLeavesOverflowPassesItsNotificationOn) {
  of(1).lock(kAnna);
  std::vector<std::unique_ptr<Asking>> waiters;
  for (ProcessSlot s = 2; s <= 8; ++s) {
    waiters.push_back(std::make_unique<Asking>(notes_, s));
    EXPECT_FALSE(of(s).enter(*waiters.back()));
  }
  for (ProcessSlot s = 2; s <= 5; ++s) of(s).leave(*waiters[s - 2U]);
  of(6).leave(*waiters[4]);
  EXPECT_FALSE(world_.isBeyond(6));
  world_.deliverAll<WorldMutex>();
  EXPECT_TRUE(world_.owner().isQueued(7) && world_.owner().isQueued(8));
  of(7).leave(*waiters[5]);
  of(1).unlock(kAnna);
  world_.deliverAll<WorldMutex>();
  EXPECT_EQ(notes_.take(), Heard{admitted(*waiters[6])});
  of(8).unlock(8);
  expectPristine();
}

TEST_F(HostMutexTest, TheLastWaiterOfASlotBeyondTheWordClearsTheWord) {
  of(1).lock(kAnna);
  std::vector<std::unique_ptr<Asking>> waiters;
  for (ProcessSlot s = 2; s <= 6; ++s) {
    waiters.push_back(std::make_unique<Asking>(notes_, s));
    EXPECT_FALSE(of(s).enter(*waiters.back()));
  }
  EXPECT_TRUE(world_.isBeyond(6));
  for (ProcessSlot s = 2; s <= 5; ++s) of(s).leave(*waiters[s - 2U]);
  of(1).unlock(kAnna);
  EXPECT_TRUE(world_.owner().has(OwnerWord::kQueued)) << "for 6, which has been notified";
  of(6).leave(*waiters[4]);
  EXPECT_EQ(world_.owner().bits(), 0U);
  expectPristine();
}

TEST_F(HostMutexTest, AReleaseNotifiesAsManyProcessesAsThereIsRoomFor) {
  of(1).lock(kAnna);
  std::vector<std::unique_ptr<Asking>> waiters;
  for (ProcessSlot s = 2; s <= 7; ++s) {
    waiters.push_back(std::make_unique<Asking>(notes_, s));
    EXPECT_FALSE(of(s).enter(*waiters.back()));
  }
  of(2).leave(*waiters[0]);
  EXPECT_TRUE(world_.notified(6));
  EXPECT_FALSE(world_.notified(7));
  of(6).leave(*waiters[4]);
  EXPECT_TRUE(world_.notified(7)) << "the notification that 6 had got instead";
  for (ProcessSlot s = 3; s <= 5; ++s) of(s).leave(*waiters[s - 2U]);
  of(1).unlock(kAnna);
  world_.deliverAll<WorldMutex>();
  EXPECT_EQ(notes_.take(), Heard{admitted(*waiters[5])});
  of(7).unlock(7);
  expectPristine();
}

TEST_F(HostMutexTest, AWaiterThatFindsNoRoomLooksAgain) {
  of(1).lock(kAnna);
  std::vector<std::unique_ptr<Asking>> waiters;
  for (ProcessSlot s = 2; s <= 5; ++s) {
    waiters.push_back(std::make_unique<Asking>(notes_, s));
    EXPECT_FALSE(of(s).enter(*waiters.back()));
  }
  const OwnerWord full = world_.owner();
  world_.meanwhile(Step::overflowAdded, [this] { world_.at<host::SlotHead>(0).owner = 0; });
  Asking late(notes_, kBen);
  EXPECT_TRUE(of(6).enter(late)) << "the others have gone before its bit was set";
  EXPECT_FALSE(world_.isBeyond(6));
  of(6).unlock(kBen);
  world_.at<host::SlotHead>(0).owner = full.bits();
  for (ProcessSlot s = 2; s <= 5; ++s) of(s).leave(*waiters[s - 2U]);
  of(1).unlock(kAnna);
  expectPristine();
}

TEST_F(HostMutexTest, AFreeTurnThatIsWaitedForStrictly) {
  of(1).lock(kAnna);
  Asking head(notes_, kAnna);
  Asking plain(notes_, kBen);
  Asking strict(notes_, kCleo);
  strict.mayBeOvertaken = false;
  EXPECT_FALSE(of(3).enter(head));
  EXPECT_FALSE(of(2).enter(plain));
  EXPECT_FALSE(of(2).enter(strict));
  of(1).unlock(kAnna);
  EXPECT_TRUE(world_.owner().isFree());
  of(2).leave(plain);
  EXPECT_TRUE(world_.owner().has(OwnerWord::kStrict));
  EXPECT_FALSE(of(1).tryLock(kAnna));
  Asking late(notes_, kAnna);
  EXPECT_FALSE(of(4).enter(late));
  for (const Asking* who : {&head, &strict, &late}) {
    world_.deliverAll<WorldMutex>();
    ASSERT_EQ(notes_.take(), Heard{admitted(const_cast<Asking&>(*who))});
    of(who == &head ? 3 : who == &strict ? 2 : 4).unlock(who->agent);
  }
  expectPristine();
}

TEST_F(HostMutexTest, ForgetsDeadProcessesThatWaited) {
  of(1).lock(kAnna);
  std::vector<std::unique_ptr<Asking>> waiters;
  for (ProcessSlot s = 2; s <= 6; ++s) {
    waiters.push_back(std::make_unique<Asking>(notes_, s));
    EXPECT_FALSE(of(s).enter(*waiters.back()));
  }
  world_.evict<WorldMutex>(6);
  EXPECT_FALSE(world_.isBeyond(6));
  world_.evict<WorldMutex>(3);
  EXPECT_FALSE(world_.owner().isQueued(3));
  EXPECT_TRUE(world_.owner().isQueued(4));
  for (ProcessSlot s = 2; s <= 6; ++s) of(s).leave(*waiters[s - 2U]);
  of(1).unlock(kAnna);
  expectPristine();
}

TEST_F(HostMutexTest, AThreadThatDiesTellsTheNext) {
  of(1).lock(kAnna);
  EXPECT_FALSE(of(1).abandon(kBen));
  EXPECT_TRUE(of(1).abandon(kAnna));
  EXPECT_NE(world_.owner().bits(), 0U) << "JavaScript does not take it";
  EXPECT_TRUE(of(2).tryLock(kBen).abandoned);
  Asking own(notes_, kAnna);
  EXPECT_FALSE(of(2).enter(own));
  EXPECT_TRUE(of(2).abandon(kBen));
  EXPECT_TRUE(own.abandoned);
  Asking other(notes_, kCleo);
  EXPECT_FALSE(of(3).enter(other));
  EXPECT_TRUE(of(2).abandon(kAnna));
  world_.deliverAll<WorldMutex>();
  EXPECT_TRUE(other.abandoned);
  of(3).unlock(kCleo);
  EXPECT_FALSE(of(1).tryLock(kAnna).abandoned);
  of(1).unlock(kAnna);
  expectPristine();
}

TEST_F(HostMutexTest, ADeadProcessIsTakenOutOfTheWord) {
  of(1).lock(kAnna);
  Asking waiting(notes_, kBen);
  EXPECT_FALSE(of(2).enter(waiting));
  world_.evict<WorldMutex>(1);
  EXPECT_TRUE(world_.owner().isUngiven(2));
  world_.evict<WorldMutex>(1);
  world_.deliverAll<WorldMutex>();
  EXPECT_EQ(notes_.take(), Heard{admitted(waiting)});
  EXPECT_TRUE(waiting.abandoned);
  // The dead process owned the word, but none of its agents held the lock: no holder died.
  of(2).unlock(kBen);
  of(3).lock(kAnna);
  Asking dying(notes_, kBen);
  Asking last(notes_, kCleo);
  EXPECT_FALSE(of(4).enter(dying));
  EXPECT_FALSE(of(5).enter(last));
  pass(2ms);
  of(3).unlock(kAnna);
  world_.evict<WorldMutex>(4);
  world_.deliverAll<WorldMutex>();
  EXPECT_FALSE(last.abandoned);
  of(5).unlock(kCleo);
  EXPECT_EQ(of(4).leave(dying), notes_.take().size() == 2 ? Leave::admitted : Leave::left);
  expectPristine();
}

TEST_F(HostMutexTest, NoProcessWaitsForADeadOne) {
  of(1).lock(kAnna);
  world_.evict<WorldMutex>(1);
  EXPECT_TRUE(world_.owner().isFree());
  EXPECT_TRUE(of(2).tryLock(kBen).abandoned);
  of(2).unlock(kBen);
  expectPristine();
}

TEST_F(HostMutexTest, InvalidWordsEndNoProcess) {
  std::minstd_rand random(7);
  OwnerWord word;
  for (int i = 0; i < rounds(200'000); ++i) {
    const std::uint64_t bits =
        (std::uint64_t{random()} << 40) ^ (std::uint64_t{random()} << 20) ^ random();
    world_.at<host::SlotHead>(0).owner = bits;
    world_.at<host::SlotHead>(0).overflow.words[0] = random() % 4096;
    Asking w(notes_, kAnna);
    if (of(1).enter(w) || of(1).leave(w) == Leave::admitted) {
      if (of(1).owner() == kAnna) of(1).unlock(kAnna);
    }
    of(1).notified();
    world_.evict<WorldMutex>(static_cast<ProcessSlot>(i % 127 + 1));
    notes_.take();
  }
  world_.at<host::SlotHead>(0).owner = 0;
  world_.at<host::SlotHead>(0).overflow.words[0] = 0;
}

}  // namespace
}  // namespace boxoffice::test
