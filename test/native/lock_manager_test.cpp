#include "locks/lock_manager.h"

#include <cmath>

#include "support.h"

namespace boxoffice::test {
namespace {

using Mode = LockManager::Mode;
using Manner = LockManager::Manner;
using Answer = LockManager::Answer;
using Fate = LockManager::Fate;

/// A private manager with two clients without an event loop.
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

TEST_F(LockManagerTest, GrantsAFreeLockAtOnceWithoutACompletion) {
  A a(notes);
  EXPECT_EQ(ask(a), Answer::granted);
  EXPECT_FALSE(a.abandoned);
  EXPECT_EQ(state(), "Ae | ");
  EXPECT_TRUE(manager.release(a));
  EXPECT_EQ(state(), "| ");
  EXPECT_EQ(notes.take(), Heard{});
}

TEST_F(LockManagerTest, AdmitsTheNextWhenTheHolderReleases) {
  A a(notes);
  B b(notes);
  ask(a);
  EXPECT_EQ(ask(b), Answer::waiting);
  EXPECT_EQ(state(), "Ae | Be ");
  EXPECT_TRUE(manager.release(a));
  EXPECT_EQ(notes.take(), Heard{invited(b)});
  EXPECT_EQ(state(), "Be | ");
  EXPECT_EQ(manager.resume(b), Fate::granted);
  EXPECT_TRUE(manager.release(b));
  EXPECT_EQ(state(), "| ");
}

TEST_F(LockManagerTest, AdmitsSharedRequestsTogetherInTheirOrder) {
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
  manager.resume(first);
  manager.resume(second);
  manager.release(second);
  EXPECT_EQ(notes.take(), Heard{});
  manager.release(first);
  EXPECT_EQ(notes.take(), Heard{invited(alone)});
  manager.resume(alone);
  manager.release(alone);
  EXPECT_EQ(notes.take(), Heard{invited(late)});
  manager.resume(late);
  manager.release(late);
}

TEST_F(LockManagerTest, KeepsSharedRequestsBehindAWaitingExclusiveOne) {
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

TEST_F(LockManagerTest, RefusesALockThatIsNotAvailable) {
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

TEST_F(LockManagerTest, RefusesAPriorityThatIsNaNBeforeAnythingChanges) {
  B b(notes);
  b.priority = std::nan("");
  const auto faultFor = [&](Manner manner) {
    return faultOf([&] { ask(b, Mode::exclusive, manner); });
  };
  for (const auto manner : {Manner::wait, Manner::ifAvailable, Manner::steal}) {
    EXPECT_EQ(faultFor(manner), Fault::badArgument);
    EXPECT_EQ(state(), "| ");
  }
  A a(notes);
  ask(a);
  for (const auto manner : {Manner::wait, Manner::ifAvailable, Manner::steal}) {
    EXPECT_EQ(faultFor(manner), Fault::badArgument);
    EXPECT_EQ(state(), "Ae | ");
  }
  EXPECT_TRUE(manager.release(a));
  EXPECT_TRUE(notes.take().empty());
}

TEST_F(LockManagerTest, StealsALockFromAllHoldersAndTellsThem) {
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
  EXPECT_EQ(manager.resume(one), Fate::stolen);
  EXPECT_FALSE(manager.release(other));  // before it has resumed: its wake is still pending
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
  EXPECT_EQ(manager.resume(b), Fate::stolen);
  EXPECT_EQ(state(), "Ae | ");
}

TEST_F(LockManagerTest, PassesOnAGrantThatWasNotSettled) {
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

TEST_F(LockManagerTest, LeavesALockThatHasBeenStolen) {
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

TEST_F(LockManagerTest, GivesTheLockOfADeadClientToTheNext) {
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
  EXPECT_EQ(manager.resume(b), Fate::granted);
  EXPECT_TRUE(b.abandoned);
  manager.release(b);
  EXPECT_EQ(manager.resume(other), Fate::granted);
  EXPECT_FALSE(other.abandoned);
}

TEST_F(LockManagerTest, RemembersADeathUntilAClientHasBeenTold) {
  A a(notes);
  ask(a);
  manager.forget(anna);
  EXPECT_EQ(state(), "| ");
  B elsewhere(notes);
  ask(elsewhere, Mode::exclusive, Manner::wait, u"b");
  EXPECT_FALSE(elsewhere.abandoned);
  // A holder that was told dies, too: the next holder is told of this death, the one after it is not.
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

TEST_F(LockManagerTest, TellsTheNextOfADeathWhenTheClientToBeToldIsGone) {
  for (const bool dies : {false, true}) {
    A a(notes);
    B b(notes);
    A next(notes);
    ask(a);
    ask(b);
    manager.forget(anna);  // grants b, which has not resumed yet
    ask(next);
    if (dies) {
      manager.forget(ben);
    } else {
      manager.leave(b);
    }
    EXPECT_EQ(manager.resume(next), Fate::granted);
    EXPECT_TRUE(next.abandoned);
    EXPECT_TRUE(manager.release(next));
    notes.take();
  }
}

TEST_F(LockManagerTest, TellsTheNextOfADeathThatTheHolderHasNotSeen) {
  A a(notes);
  B unseen(notes);
  B next(notes);
  B last(notes);
  ask(a);
  manager.forget(anna);
  ask(unseen);
  EXPECT_TRUE(unseen.abandoned);
  EXPECT_TRUE(manager.release(unseen, true));
  ask(next);
  EXPECT_TRUE(next.abandoned);
  EXPECT_TRUE(manager.release(next));
  ask(last);
  EXPECT_FALSE(last.abandoned);
  EXPECT_TRUE(manager.release(last, true));
  EXPECT_EQ(state(), "| ");
}

TEST_F(LockManagerTest, TellsAThiefOfADeathThatItsVictimWasNotToldOf) {
  A a(notes);
  B b(notes);
  A thief(notes);
  ask(a);
  ask(b);
  manager.forget(anna);  // grants b, which has not resumed yet
  ask(thief, Mode::exclusive, Manner::steal);
  EXPECT_TRUE(thief.abandoned);
  EXPECT_EQ(manager.resume(b), Fate::stolen);
  manager.release(thief);
  // The thief is not told of a death that the robbed holder was told of.
  ask(a);
  ask(b);
  manager.forget(anna);
  EXPECT_EQ(manager.resume(b), Fate::granted);
  A next(notes);
  ask(next, Mode::exclusive, Manner::steal);
  EXPECT_FALSE(next.abandoned);
}

TEST_F(LockManagerTest, TheDeathOfASharedHolderIsNotTold) {
  A a(notes);
  B b(notes);
  share(a);
  ask(b);
  manager.forget(anna);
  EXPECT_EQ(manager.resume(b), Fate::granted);
  EXPECT_FALSE(b.abandoned);
}

TEST_F(LockManagerTest, ForgetsAClientThatWaitedBetweenOthers) {
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

TEST_F(LockManagerTest, KnowsWhetherOthersCouldAdmitAClient) {
  A a(notes);
  A behind(notes);
  B b(notes);
  EXPECT_FALSE(anna.waitsForOthers());
  ask(a);
  ask(behind);
  EXPECT_FALSE(anna.waitsForOthers());  // it waits for its own client only
  ask(b);
  EXPECT_TRUE(ben.waitsForOthers());
  manager.release(a);
  EXPECT_TRUE(anna.waitsForOthers());  // granted, but not resumed yet
  manager.resume(behind);
  EXPECT_FALSE(anna.waitsForOthers());
  manager.release(behind);
  EXPECT_TRUE(ben.waitsForOthers());
  manager.resume(b);
  EXPECT_FALSE(ben.waitsForOthers());
  A last(notes);
  ask(last);
  EXPECT_TRUE(anna.waitsForOthers());
  manager.forget(anna);
  EXPECT_FALSE(anna.waitsForOthers());
}

TEST_F(LockManagerTest, OthersThatGiveUpAdmitASharedRequestAgain) {
  A a(notes);
  B b(notes);
  A again(notes);
  A alone(notes);
  share(a);
  ask(alone);
  EXPECT_FALSE(anna.waitsForOthers());  // it waits for its own client only
  manager.leave(alone);
  ask(b);
  share(again);
  EXPECT_TRUE(anna.waitsForOthers());
  manager.leave(b);
  EXPECT_EQ(manager.resume(again), Fate::granted);
  EXPECT_FALSE(anna.waitsForOthers());
  manager.release(a);
  manager.release(again);
  ask(a);
  share(again);
  EXPECT_FALSE(anna.waitsForOthers());  // granted beside its own client's lock
}

TEST_F(LockManagerTest, WaitsForOthersWhenItsLockWasStolen) {
  A a(notes);
  A behind(notes);
  B thief(notes);
  ask(a);
  ask(behind);
  ask(thief, Mode::exclusive, Manner::steal);
  EXPECT_FALSE(anna.waitsForOthers());  // has not resumed since the theft
  manager.resume(a);
  EXPECT_TRUE(anna.waitsForOthers());
  manager.leave(behind);
  EXPECT_FALSE(anna.waitsForOthers());
}

TEST_F(LockManagerTest, KeepsNamesApartWhateverTheirBytes) {
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
