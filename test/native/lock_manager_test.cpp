#include "locks/lock_manager.h"

#include "support.h"

namespace boxoffice::test {
namespace {

using Mode = LockManager::Mode;
using Manner = LockManager::Manner;
using Answer = LockManager::Answer;
using Fate = LockManager::Fate;

/// A manager of its own, with two clients that stand still.
class LockManagerTest : public testing::Test {
 protected:
  Answer ask(Waiter& w, Mode mode = Mode::exclusive, Manner manner = Manner::wait,
             std::u16string_view name = u"a") {
    return manager.request(w.agent == kAnna ? anna : ben, w, name, mode, manner);
  }
  Answer share(Waiter& w) { return ask(w, Mode::shared); }

  /// Holders and waiters, as "Ae Bs | As": client and mode of each.
  std::string state() const {
    std::string held;
    std::string waiting;
    for (const LockManager::Entry& one : manager.query()) {
      std::string& list = one.isHeld ? held : waiting;
      list += one.thread == 1 ? "A" : "B";
      list += one.mode == Mode::exclusive ? "e " : "s ";
    }
    return held + "| " + waiting;
  }

  LockManager manager;
  LockManager::Client anna{kAnna};
  LockManager::Client ben{kBen};
  Notes notes;

  LockManagerTest() {
    anna.thread = 1;
    ben.thread = 2;
  }
};

struct A : Waiter {
  explicit A(Parker& whom) : Waiter(whom, kAnna) {}
};
struct B : Waiter {
  explicit B(Parker& whom) : Waiter(whom, kBen) {}
};

TEST_F(LockManagerTest, GrantsWhatIsFreeAtOnceAndTellsNobody) {
  A a(notes);
  EXPECT_EQ(ask(a), Answer::granted);
  EXPECT_FALSE(a.abandoned);
  EXPECT_EQ(state(), "Ae | ");
  EXPECT_TRUE(manager.release(a));
  EXPECT_EQ(state(), "| ");
  EXPECT_EQ(notes.take(), Heard{});
}

TEST_F(LockManagerTest, LetsInTheNextWhenTheHolderGoes) {
  A a(notes);
  B b(notes);
  ask(a);
  EXPECT_EQ(ask(b), Answer::waiting);
  EXPECT_EQ(state(), "Ae | Be ");
  EXPECT_TRUE(manager.release(a));
  EXPECT_EQ(notes.take(), Heard{invited(b)});
  EXPECT_EQ(state(), "Be | ");
  EXPECT_EQ(manager.settle(b), Fate::granted);
  EXPECT_TRUE(manager.release(b));
  EXPECT_EQ(state(), "| ");
}

TEST_F(LockManagerTest, LetsInSharedOnesTogetherInTheirOrder) {
  A a(notes);
  B first(notes);
  A second(notes);
  B alone(notes);
  A late(notes);
  ask(a);
  share(first);
  share(second);
  ask(alone);
  share(late);
  manager.release(a);
  EXPECT_EQ(notes.take(), (Heard{invited(first), invited(second)}));
  EXPECT_EQ(state(), "Bs As | Be As ");
  manager.settle(first);
  manager.settle(second);
  manager.release(second);
  EXPECT_EQ(notes.take(), Heard{});
  manager.release(first);
  EXPECT_EQ(notes.take(), Heard{invited(alone)});
  manager.settle(alone);
  manager.release(alone);
  EXPECT_EQ(notes.take(), Heard{invited(late)});
  manager.settle(late);
  manager.release(late);
}

TEST_F(LockManagerTest, KeepsSharedOnesBehindAnExclusiveOneThatWaits) {
  A a(notes);
  B b(notes);
  A late(notes);
  share(a);
  ask(b);
  EXPECT_EQ(share(late), Answer::waiting);
  EXPECT_EQ(manager.leave(b), Leave::left);
  EXPECT_EQ(notes.take(), Heard{invited(late)});
  EXPECT_EQ(state(), "As As | ");
}

TEST_F(LockManagerTest, RefusesWhatIsNotAvailable) {
  A a(notes);
  B b(notes);
  EXPECT_EQ(ask(a, Mode::shared, Manner::ifAvailable), Answer::granted);
  EXPECT_EQ(ask(b, Mode::exclusive, Manner::ifAvailable), Answer::refused);
  EXPECT_EQ(ask(b, Mode::shared, Manner::ifAvailable), Answer::granted);
  EXPECT_EQ(state(), "As Bs | ");
}

TEST_F(LockManagerTest, LetsAHigherPriorityGoFirst) {
  A a(notes);
  B b(notes);
  A high(notes);
  share(a);
  ask(b);
  high.priority = 1;
  EXPECT_EQ(share(high), Answer::granted);
  A none(notes);
  none.priority = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(faultOf([&] { ask(none); }), Fault::badArgument);
  EXPECT_EQ(state(), "As As | Be ");
}

TEST_F(LockManagerTest, TakesALockFromAllWhoHoldItAndTellsThem) {
  A one(notes);
  B other(notes);
  A waiting(notes);
  B thief(notes);
  share(one);
  share(other);
  ask(waiting);
  EXPECT_EQ(ask(thief, Mode::exclusive, Manner::steal), Answer::granted);
  EXPECT_EQ(notes.take(), (Heard{invited(one), invited(other)}));
  EXPECT_EQ(state(), "Be | Ae ");
  EXPECT_EQ(manager.settle(one), Fate::stolen);
  EXPECT_FALSE(manager.release(other));  // before it has settled: its invitation is still to come
  EXPECT_EQ(state(), "Be | Ae ");
  manager.release(thief);
  EXPECT_EQ(notes.take(), Heard{invited(waiting)});
}

TEST_F(LockManagerTest, InvitesOnceHoweverMuchHappens) {
  A a(notes);
  B b(notes);
  A thief(notes);
  ask(a);
  ask(b);
  manager.release(a);
  ask(thief, Mode::exclusive, Manner::steal);
  EXPECT_EQ(notes.take(), Heard{invited(b)});
  EXPECT_EQ(manager.settle(b), Fate::stolen);
  EXPECT_EQ(state(), "Ae | ");
}

TEST_F(LockManagerTest, PassesOnAGrantThatNobodyHasSettled) {
  A a(notes);
  B b(notes);
  A next(notes);
  ask(a);
  ask(b);
  ask(next);
  manager.release(a);
  EXPECT_EQ(manager.leave(b), Leave::leftAwake);
  EXPECT_EQ(notes.take(), (Heard{invited(b), invited(next)}));
  EXPECT_EQ(state(), "Ae | ");
}

TEST_F(LockManagerTest, LeavesWhatHasBeenStolen) {
  A a(notes);
  B b(notes);
  A thief(notes);
  ask(a);
  ask(b);
  manager.release(a);
  ask(thief, Mode::exclusive, Manner::steal);
  EXPECT_EQ(manager.leave(b), Leave::leftAwake);
  EXPECT_EQ(state(), "Ae | ");
}

TEST_F(LockManagerTest, GivesWhatADeadClientHeldToTheNext) {
  A a(notes);
  A waiting(notes);
  B b(notes);
  B other(notes);
  ask(a);
  ask(waiting);
  ask(b);
  ask(other);
  manager.forget(anna);
  EXPECT_EQ(notes.take(), Heard{invited(b)});
  EXPECT_EQ(state(), "Be | Be ");
  EXPECT_EQ(manager.settle(b), Fate::granted);
  EXPECT_TRUE(b.abandoned);
  manager.release(b);
  EXPECT_EQ(manager.settle(other), Fate::granted);
  EXPECT_FALSE(other.abandoned);
}

TEST_F(LockManagerTest, RemembersADeathUntilSomebodyHasBeenTold) {
  A a(notes);
  ask(a);
  manager.forget(anna);
  EXPECT_EQ(state(), "| ");
  B elsewhere(notes);
  ask(elsewhere, Mode::exclusive, Manner::wait, u"b");
  EXPECT_FALSE(elsewhere.abandoned);
  // One that is granted, and gives up or dies before it knows, is not told.
  A holder(notes);
  B b(notes);
  ask(holder);
  EXPECT_TRUE(holder.abandoned);
  manager.forget(anna);
  ask(b);
  EXPECT_TRUE(b.abandoned);
  manager.release(b);
  B last(notes);
  ask(last);
  EXPECT_FALSE(last.abandoned);
}

TEST_F(LockManagerTest, TellsTheNextWhenTheOneThatShouldHaveKnownIsGone) {
  for (const bool dies : {false, true}) {
    A a(notes);
    B b(notes);
    A next(notes);
    ask(a);
    ask(b);
    manager.forget(anna);  // b is granted, and has not settled
    ask(next);
    if (dies) {
      manager.forget(ben);
    } else {
      manager.leave(b);
    }
    EXPECT_EQ(manager.settle(next), Fate::granted);
    EXPECT_TRUE(next.abandoned);
    EXPECT_TRUE(manager.release(next));
    notes.take();
  }
}

TEST_F(LockManagerTest, TellsTheThiefOfADeathThatTheRobbedOneNeverHeardOf) {
  A a(notes);
  B b(notes);
  A thief(notes);
  ask(a);
  ask(b);
  manager.forget(anna);  // b is granted, and has not settled
  ask(thief, Mode::exclusive, Manner::steal);
  EXPECT_TRUE(thief.abandoned);
  EXPECT_EQ(manager.settle(b), Fate::stolen);
  manager.release(thief);
  // One that has heard of it takes it along.
  ask(a);
  ask(b);
  manager.forget(anna);
  EXPECT_EQ(manager.settle(b), Fate::granted);
  A next(notes);
  ask(next, Mode::exclusive, Manner::steal);
  EXPECT_FALSE(next.abandoned);
}

TEST_F(LockManagerTest, NoDeathOfOneWhoSharedIsAnnounced) {
  A a(notes);
  B b(notes);
  share(a);
  ask(b);
  manager.forget(anna);
  EXPECT_EQ(manager.settle(b), Fate::granted);
  EXPECT_FALSE(b.abandoned);
}

TEST_F(LockManagerTest, ForgetsOneWhoWaitedBetweenOthers) {
  A a(notes);
  B b(notes);
  A first(notes);
  B wanted(notes);
  A second(notes);
  share(b);
  ask(a);
  share(wanted);
  share(first);
  ask(second);
  manager.forget(anna);
  EXPECT_EQ(notes.take(), Heard{invited(wanted)});
  EXPECT_EQ(state(), "Bs Bs | ");
}

TEST_F(LockManagerTest, KnowsWhetherOthersCouldLetAClientIn) {
  A a(notes);
  A behind(notes);
  B b(notes);
  EXPECT_FALSE(anna.waitsForOthers());
  ask(a);
  ask(behind);
  EXPECT_FALSE(anna.waitsForOthers());  // only itself could
  ask(b);
  EXPECT_TRUE(ben.waitsForOthers());
  manager.release(a);
  EXPECT_TRUE(anna.waitsForOthers());  // it holds it, and does not know yet
  manager.settle(behind);
  EXPECT_FALSE(anna.waitsForOthers());
  manager.release(behind);
  EXPECT_TRUE(ben.waitsForOthers());
  manager.settle(b);
  EXPECT_FALSE(ben.waitsForOthers());
  A last(notes);
  ask(last);
  EXPECT_TRUE(anna.waitsForOthers());
  manager.forget(anna);
  EXPECT_FALSE(anna.waitsForOthers());
}

TEST_F(LockManagerTest, OthersLetASharerInOnceMoreWhenTheyGiveUp) {
  A a(notes);
  B b(notes);
  A again(notes);
  A alone(notes);
  share(a);
  ask(alone);
  EXPECT_FALSE(anna.waitsForOthers());  // only itself could
  manager.leave(alone);
  ask(b);
  share(again);
  EXPECT_TRUE(anna.waitsForOthers());
  manager.leave(b);
  EXPECT_EQ(manager.settle(again), Fate::granted);
  EXPECT_FALSE(anna.waitsForOthers());
  manager.release(a);
  manager.release(again);
  ask(a);
  share(again);
  EXPECT_FALSE(anna.waitsForOthers());  // what it holds is its own
}

TEST_F(LockManagerTest, WaitsForOthersWhenItsLockWasStolen) {
  A a(notes);
  A behind(notes);
  B thief(notes);
  ask(a);
  ask(behind);
  ask(thief, Mode::exclusive, Manner::steal);
  EXPECT_FALSE(anna.waitsForOthers());  // it does not know of the theft yet
  manager.settle(a);
  EXPECT_TRUE(anna.waitsForOthers());
  manager.leave(behind);
  EXPECT_FALSE(anna.waitsForOthers());
}

TEST_F(LockManagerTest, KeepsNamesApartWhateverIsInThem) {
  const std::u16string longName(1000, u'x');
  const std::vector<std::u16string> names{u"",      std::u16string(1, u'\0'), u"\xD800", u"\xDC00",
                                          longName, longName + u"x"};
  std::vector<std::unique_ptr<A>> held;
  for (int round = 0; round < 2; ++round) {
    for (const std::u16string& name : names) {
      held.push_back(std::make_unique<A>(notes));
      EXPECT_EQ(ask(*held.back(), Mode::exclusive, Manner::ifAvailable, name), Answer::granted);
    }
    const auto all = manager.query();
    ASSERT_EQ(all.size(), names.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].name, names[i]);
    for (const auto& one : held) EXPECT_TRUE(manager.release(*one));
    held.clear();
  }
  EXPECT_TRUE(manager.query().empty());
}

}  // namespace
}  // namespace boxoffice::test
