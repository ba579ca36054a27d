// Event loops that end while they wait for a condition, as in binding/teardown.cc: a late notification is
// passed on.
#include "../../binding/kinds.h"
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

/// An agent that waits without blocking, and dies.
class Loop final : private Wakeup {
 public:
  ~Loop() { giveAgentId(id_); }

  /// Waits for a moment and dies. Returns whether the waiter was notified and got the mutex too late.
  bool waitAndDie(Mutex& mutex, ConditionVariable& condition, Dice& dice) {
    mutex.lock(id_);
    Waiter w(mailbox_, id_);
    w.mayOvertake = dice(2) == 0;
    condition.enter(w, mutex);
    if (dice(2) == 0) std::this_thread::yield();
    dice.dwell();
    const Leave how = binding::quit(condition, w);
    if (how == Leave::left) return false;
    for (bool come = false; !come;) {
      woken_.wait();
      mailbox_.collect([&](Waiter&, Wake) { come = true; });
    }
    if (how == Leave::admitted) binding::passOn(condition, w);
    return how == Leave::admitted;
  }

 private:
  void send() noexcept override { woken_.signal(); }

  const AgentId id_ = takeAgentId();
  LightweightSemaphore woken_;
  Mailbox mailbox_{*this};
};

TEST(TeardownStress, TheDeathOfANotifiedWaiterLosesNoNotification) {
  Mutex mutex;
  ConditionVariable condition;
  Room room;
  std::atomic<long> tooLate{0};
  long items = 0;  // guarded by the mutex
  const long each = rounds(6'000);
  constexpr int kConsumers = 2;
  constexpr int kProducers = 2;
  const auto run = [&](int index, Dice& dice) {
    if (index < kConsumers) {
      // One notification per item: if one is lost with a loop, the test stops.
      for (long i = 0; i < each; ++i) {
        mutex.lock();
        room.enter(false);
        while (items == 0) {
          room.leave();
          condition.wait(mutex);
          room.enter(false);
        }
        --items;
        room.leave();
        mutex.unlock();
      }
    } else if (index < kConsumers + kProducers) {
      for (long i = 0; i < each; ++i) {
        mutex.lock();
        room.enter(false);
        ++items;
        dice.dwell();
        room.leave();
        if (dice(2) == 0) {
          condition.notifyOne();
          mutex.unlock();
        } else {
          mutex.unlock();
          condition.notifyOne();
        }
      }
    } else {
      for (long i = 0; i < each; ++i) tooLate += Loop().waitAndDie(mutex, condition, dice);
    }
  };
  inThreadsUntil([&] { return tooLate > 0; }, kThreads, run);
  EXPECT_EQ(items, 0);
  EXPECT_GT(tooLate, 0);
  EXPECT_EQ(wordOf(mutex).load(), 0U);
  EXPECT_EQ(wordOf(condition).load(), 0U);
  expectNoWaiters<Platform>();
}

TEST(TeardownTest, AnAgentToldOfADeathTooLatePassesItToTheNext) {
  Notes loop;
  Mutex mutex;
  Waiter dying(loop, kBen);
  Waiter next(loop, kCleo);
  dying.mayBeOvertaken = false;
  mutex.lock(kAnna);
  mutex.enter(dying);
  mutex.abandon(kAnna);
  EXPECT_EQ(loop.take(), Heard{admitted(dying)});
  EXPECT_TRUE(dying.abandoned);
  binding::passOn(mutex, dying);
  EXPECT_TRUE(mutex.tryLock(kCleo).abandoned);

  WeightedSemaphore semaphore(2);
  semaphore.acquire(2);
  Asking late(loop, kBen, 2);
  semaphore.enter(late);
  semaphore.reclaim(2, 2);
  EXPECT_TRUE(late.abandoned);
  binding::passOn(semaphore, late);
  EXPECT_EQ(semaphore.value(), 2);
  EXPECT_TRUE(semaphore.tryAcquire().abandoned);
}

TEST(TeardownTest, ATeardownThrowsNothing) {
  // EventLoop::end is noexcept: an exception there would end the process.
  Notes loop;
  WeightedSemaphore semaphore(0);
  Asking late(loop, kBen, 2);
  semaphore.enter(late);
  semaphore.release(2);
  EXPECT_EQ(loop.take(), Heard{admitted(late)});
  semaphore.setValue(WeightedSemaphore::kMax);
  EXPECT_NO_THROW(binding::passOn(semaphore, late)) << "any thread may set the value";
  EXPECT_EQ(semaphore.value(), WeightedSemaphore::kMax);

  Mutex mutex;
  Waiter admittedLate(loop, kBen);
  mutex.lock(kAnna);
  mutex.enter(admittedLate);
  mutex.unlock(kAnna);
  if (!admittedLate.fifo || mutex.owner() != kBen) mutex.resume(admittedLate, Wake::invited);
  wordOf(mutex).store(0);  // any thread may scribble on shared memory
  EXPECT_NO_THROW(binding::passOn(mutex, admittedLate));
}

}  // namespace
}  // namespace boxoffice::test
