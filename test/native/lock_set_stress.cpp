// Random sets of eight mutexes: no deadlock, all or none.
#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMutexes = 8;

TEST(LockSetStress, RandomSetsOfEight) {
  Mutex mutexes[kMutexes];
  Room rooms[kMutexes];
  std::atomic<long> visits{0};
  Tally tally;
  const auto run = [&](int, Dice& dice) {
    for (int i = 0; i < rounds(20'000); ++i) {
      std::vector<std::size_t> chosen;
      std::vector<Mutex*> named;
      for (std::size_t k = 0; k < kMutexes; ++k) {
        if (dice(3) == 0) chosen.push_back(k);
      }
      for (const std::size_t k : chosen) named.push_back(&mutexes[k]);
      LockSet set(named);
      if (dice(4) == 0 ? !tally.tried(set.tryLock().granted)
                       : !tally.timed(set.lockFor(dice(2) ? 1h : dice.upTo(50us)).granted)) {
        continue;
      }
      for (const std::size_t k : chosen) rooms[k].enter(false);
      visits += static_cast<long>(chosen.size());
      dice.dwell();
      for (const std::size_t k : chosen) rooms[k].leave();
      set.unlock();
    }
  };
  inThreadsUntil([&] { return tally.timedOut > 0 && tally.refused > 0; }, kThreads, run);
  long visited = 0;
  for (const Room& room : rooms) visited += room.visits();
  EXPECT_EQ(visited, visits);
  EXPECT_GT(tally.timedOut, 0);
  EXPECT_GT(tally.refused, 0);
  for (Mutex& mutex : mutexes) EXPECT_EQ(wordOf(mutex).load(), 0U);
  expectNoWaiters<Platform>();
}

TEST(LockSetStress, ASetAsAnEventLoopsWait) {
  // The dining philosophers' worst case, without blocking: neighbours list their mutexes in different orders.
  Mutex mutexes[kMutexes];
  Room rooms[kMutexes];
  inThreads(kThreads, [&](int index, Dice& dice) {
    struct Rung final : Wakeup {
      LightweightSemaphore semaphore;
      void send() noexcept override { semaphore.signal(); }
    } wakeup;
    Mailbox mailbox(wakeup);
    const AgentId me = takeAgentId();
    const auto left = static_cast<std::size_t>(index);
    const std::size_t right = (left + 1) % kMutexes;
    for (int i = 0; i < rounds(10'000); ++i) {
      LockSet set{&mutexes[left], &mutexes[right]};
      Waiter w(mailbox, me);
      bool in = set.enter(w);
      while (!in) {
        wakeup.semaphore.wait();
        mailbox.collect([&](Waiter& mine, Wake how) { in = set.resume(mine, how); });
      }
      rooms[left].enter(false);
      rooms[right].enter(false);
      dice.dwell();
      rooms[left].leave();
      rooms[right].leave();
      set.unlock(me);
    }
    giveAgentId(me);
  });
  expectNoWaiters<Platform>();
}

}  // namespace
}  // namespace boxoffice::test
