// Misuse that the primitives detect and report.
#include <cmath>

#include "support.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;
using P = FakeClockPlatform;

TEST(MisuseTest, AWaitWithoutAnAgentLeavesNoWaiter) {
  BasicMutex<P> m;
  BasicConditionVariable<P> cv;
  Notes loop;
  Waiter w;
  w.parker = &loop;  // but no agent
  EXPECT_EQ(faultOf([&] { cv.enter(w, m); }), Fault::notHolder);
  EXPECT_EQ(queueSizeAt<P>(&cv), 0U);
  if (queueSizeAt<P>(&cv)) cv.leave(w);
}

TEST(MisuseTest, AnEntryThatThrowsLeavesTheSeatFree) {
  BasicLockFreeDiningPhilosophers<P> table(3);
  Notes loop;
  Waiter w(loop, kAnna);
  w.priority = std::nan("");
  table.begin(0);
  EXPECT_EQ(faultOf([&] { table.enter(w, 1); }), Fault::badArgument);
  table.end(0);
  EXPECT_TRUE(table.tryBegin(2)) << "the neighbour of the seat whose philosopher never sat";
}

TEST(MisuseTest, ALockNeedsAnAgent) {
  BasicMutex<P> m;
  bool refused = false;
  try {
    refused = !m.tryLock(kNoAgent);
  } catch (const Misuse&) {
    refused = true;
  }
  EXPECT_TRUE(refused || m.isLocked()) << "granted, and free";
}

TEST(MisuseTest, NoAgentHasNothingToAbandon) {
  BasicMutex<P> m;
  EXPECT_EQ(faultOf([&] { EXPECT_FALSE(m.abandon(kNoAgent)); }), std::nullopt);
}

TEST(MisuseTest, AWriteLockNeedsAnAgent) {
  BasicRWLock<P> lock;
  bool granted = false;
  faultOf([&] { granted = lock.tryLockWrite(kNoAgent).granted; });
  EXPECT_FALSE(granted && faultOf([&] { lock.unlockWrite(kNoAgent); }))
      << "granted, and never to be unlocked";
}

TEST(MisuseTest, AnAgentMustFitIntoTheWord) {
  BasicRWLock<P> lock;
  faultOf([&] { lock.tryLockWrite(kMaxAgent + 2); });
  EXPECT_NE(lock.writer(), 1U) << "now agent 1 writes";
}

TEST(MisuseTest, ARecursiveLockNeedsAnAgent) {
  BasicRecursiveMutex<P> m;
  bool granted = false;
  faultOf([&] { granted = m.tryLock(kNoAgent).granted; });
  EXPECT_FALSE(granted && m.owner() == kNoAgent);
}

TEST(MisuseTest, APriorityIsNeverNaN) {
  BasicWeightedSemaphore<P> s(1);
  EXPECT_EQ(faultOf([&] { s.acquireFor(0ns, 1, std::nan("")); }), Fault::badArgument);
}

TEST(MisuseTest, AWeightIsNeverNegative) {
  BasicWeightedSemaphore<P> s(0);
  Notes loop;
  Asking w(loop, kAnna, static_cast<std::uint32_t>(-5));
  faultOf([&] { s.enter(w); });
  EXPECT_EQ(s.value(), 0);
}

TEST(MisuseTest, ATicketIsGivenBackOnlyWhenItIsOut) {
  TicketPool pool;
  pool.take();
  EXPECT_EQ(faultOf([&] { pool.give(5); }), Fault::badArgument);
}

TEST(MisuseTest, ATicketIsGivenBackOnce) {
  TicketPool pool;
  const Ticket t = pool.take();
  pool.give(t);
  EXPECT_EQ(faultOf([&] { pool.give(t); }), Fault::badArgument);
  const Ticket a = pool.take(), b = pool.take();
  EXPECT_NE(a, b) << "two promises, one waiter";
}

TEST(MisuseTest, SettlingAWaiterThatHasLeftIsNoEntry) {
  EXPECT_EXIT(
      {
        BasicMutex<P> m;
        Notes loop;
        m.lock(kAnna);
        Waiter w(loop, kBen);
        m.enter(w);
        m.unlock(kAnna);
        if (m.leave(w) == Leave::leftAwake) m.resume(w, Wake::invited);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace boxoffice::test
