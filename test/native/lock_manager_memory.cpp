// Out of memory while locks are requested: a call that throws has changed nothing, and leave() allocates
// nothing.
#include "failing_memory.h"
#include "support.h"

namespace boxoffice::test {
namespace {

using Mode = LockManager::Mode;
using Manner = LockManager::Manner;
using Answer = LockManager::Answer;

const std::u16string kLong(100, u'k');  // too long for the small-string optimization

/// Only counts wakes, since recording each would allocate memory.
struct Nowhere final : Parker {
  void wake(Waiter&, Wake) noexcept override { ++wakes; }
  int wakes = 0;
};

TEST(LockManagerMemoryTest, ARequestThatFailsLeavesAllAsItWas) {
  LockManager manager;
  LockManager::Client anna(kAnna);
  LockManager::Client ben(kBen);
  Nowhere nowhere;
  std::vector<std::unique_ptr<Waiter>> waiters;
  std::size_t requests = 0;
  const auto ask = [&](LockManager::Client& client, Mode mode, Manner manner, double priority) {
    waiters.push_back(std::make_unique<Waiter>(nowhere, client.agent));
    Waiter& w = *waiters.back();
    w.priority = priority;
    auto answer = Answer::refused;
    const bool waits = client.waitsForOthers();
    const int failures =
        atEachAllocation([&] { answer = manager.request(client, w, kLong, mode, manner); },
                         [&] {
                           EXPECT_EQ(manager.query().size(), requests);
                           EXPECT_EQ(client.waitsForOthers(), waits);
                           EXPECT_EQ(nowhere.wakes, 0);
                         });
    ++requests;
    EXPECT_EQ(manager.query().size(), requests);
    return std::pair(answer, failures);
  };
  const auto [first, failures] = ask(anna, Mode::exclusive, Manner::wait, 0);
  EXPECT_EQ(first, Answer::granted);
  EXPECT_GE(failures, 3);  // allocates room for spares, the name and its node
  EXPECT_GE(ask(ben, Mode::shared, Manner::wait, 0).second, 1);
  EXPECT_GE(ask(ben, Mode::shared, Manner::wait, 1).second, 1);
  EXPECT_EQ(ask(anna, Mode::exclusive, Manner::wait, 1).first, Answer::waiting);

  failNewIn = 0;  // from here on nothing allocates
  EXPECT_EQ(manager.leave(*waiters[3]), Leave::left);
  EXPECT_TRUE(manager.release(*waiters[0]));
  EXPECT_EQ(manager.resume(*waiters[1]), LockManager::Fate::granted);
  EXPECT_TRUE(manager.release(*waiters[1]));
  manager.forget(ben);
  failNewIn = -1;
  EXPECT_EQ(nowhere.wakes, 2);
  EXPECT_TRUE(manager.query().empty());
}

TEST(LockManagerMemoryTest, ATheftThatFailsStealsNothing) {
  LockManager manager;
  LockManager::Client anna(kAnna);
  LockManager::Client ben(kBen);
  Nowhere nowhere;
  Waiter held(nowhere, kAnna);
  Waiter thief(nowhere, kBen);
  manager.request(anna, held, kLong, Mode::exclusive, Manner::wait);
  const int failures =
      atEachAllocation([&] { manager.request(ben, thief, kLong, Mode::exclusive, Manner::steal); },
                       [&] {
                         EXPECT_EQ(nowhere.wakes, 0);
                         EXPECT_EQ(held.state, Waiter::State::admitted);
                       });
  EXPECT_GE(failures, 1);
  EXPECT_FALSE(manager.release(held));
  EXPECT_TRUE(manager.release(thief));
  EXPECT_EQ(nowhere.wakes, 1);
}

TEST(LockManagerMemoryTest, NamesUsedAgainNeedNoMemory) {
  LockManager manager;
  LockManager::Client anna(kAnna);
  Nowhere nowhere;
  for (int round = 0; round < 3; ++round) {
    if (round == 1) failNewIn = 0;
    Waiter w(nowhere, kAnna);
    manager.request(anna, w, kLong, Mode::exclusive, Manner::wait);
    manager.release(w);
  }
  failNewIn = -1;
  EXPECT_TRUE(manager.query().empty());
}

}  // namespace
}  // namespace boxoffice::test
