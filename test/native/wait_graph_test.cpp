// The wait graph: each rule by itself, and random tasks compared with a model.
#include "waiting/wait_graph.h"

#include <deque>
#include <random>
#include <vector>

#include "support.h"

namespace boxoffice::test {
namespace {

using Id = WaitGraph::Id;
using Lock = WaitGraph::Lock;

class WaitGraphTest : public testing::Test {
 protected:
  static constexpr auto kAlone = WaitGraph::kExclusive;
  static constexpr auto kRead = WaitGraph::kShared;

  ~WaitGraphTest() override {
    graph_.leave(kAnna);
    graph_.leave(kBen);
    EXPECT_EQ(graph_.size(), 0U);
  }

  WaitGraph::Claim claim(Lock lock, const std::string& label, std::int64_t want, AgentId agent,
                         std::int64_t capacity) {
    return {lock, want, capacity, agent, graph_.now(), label};
  }
  Id wait(Lock lock, const std::string& label, std::int64_t want = kAlone, AgentId agent = kAnna,
          std::int64_t capacity = 0) {
    return graph_.wait(claim(lock, label, want, agent, capacity));
  }
  Id hold(Lock lock, const std::string& label, std::int64_t want = kAlone, AgentId agent = kAnna) {
    return graph_.hold(claim(lock, label, want, agent, 0));
  }

  /// The cycle as "wait(hold) wait(hold)"; empty without one.
  static std::string drawn(const std::optional<WaitGraph::Cycle>& cycle) {
    std::string text;
    if (!cycle) return text;
    for (const auto& [wait, hold] : cycle->steps) {
      text += (text.empty() ? "" : " ") + wait + "(" + hold + ")";
    }
    return text;
  }

  WaitGraph graph_;
  const Lock a_ = graph_.name();
  const Lock b_ = graph_.name();
  const Lock c_ = graph_.name();
};

TEST_F(WaitGraphTest, AnAgentThatWaitsForItself) {
  const Id held = hold(a_, "held");
  EXPECT_EQ(drawn(graph_.depend(held, {wait(a_, "again")})), "again(held)");
}

TEST_F(WaitGraphTest, TwoAgentsThatWaitForEachOtherInTheOrderOfTheCycle) {
  const Id one = hold(a_, "a of 1");
  const Id two = hold(b_, "b of 2");
  EXPECT_EQ(drawn(graph_.depend(one, {wait(b_, "1 wants b")})), "");
  const Id last = wait(a_, "2 wants a");
  const auto cycle = graph_.depend(two, {last});
  EXPECT_EQ(drawn(cycle), "2 wants a(b of 2) 1 wants b(a of 1)");
  EXPECT_EQ(cycle->refused, last);
}

TEST_F(WaitGraphTest, ARefusedAgentBlocksNoOther) {
  const Id one = hold(a_, "a");
  const Id two = hold(b_, "b");
  const Id first = wait(b_, "1 wants b");
  graph_.depend(one, {first});
  EXPECT_NE(drawn(graph_.depend(two, {wait(a_, "2 wants a")})), "");
  EXPECT_EQ(drawn(graph_.depend(one, {first})), "");
}

TEST_F(WaitGraphTest, AnAgentBehindACycleIsNotOnIt) {
  const Id one = hold(a_, "a");
  const Id self = wait(a_, "again");
  const Id other = hold(b_, "b", kAlone, kBen);
  const Id behind = wait(a_, "behind", kAlone, kBen);
  EXPECT_EQ(drawn(graph_.depend(other, {behind})), "");
  EXPECT_EQ(drawn(graph_.depend(one, {self})), "again(a)");
}

TEST_F(WaitGraphTest, AHoldGoesOnWhenAnyOfItsWaitsEnds) {
  const Id held = hold(a_, "a");
  const Id other = wait(b_, "b, which has no holder");
  const Id again = wait(a_, "again");
  EXPECT_EQ(drawn(graph_.depend(held, {other, again})), "");
  graph_.end(other);
  EXPECT_EQ(drawn(graph_.depend(held, {other, again})), "");
  EXPECT_EQ(drawn(graph_.depend(held, {again})), "again(a)");
}

TEST_F(WaitGraphTest, AnEndedHoldBlocksNoAgent) {
  const Id one = hold(a_, "a");
  const Id two = hold(b_, "b");
  graph_.depend(one, {wait(b_, "1 wants b")});
  graph_.end(one);
  EXPECT_EQ(drawn(graph_.depend(two, {wait(a_, "2 wants a")})), "");
}

TEST_F(WaitGraphTest, ABlockedAgentBlocksAllThatItHolds) {
  hold(a_, "a");
  const Id other = hold(b_, "b", kAlone, kBen);
  const Id blocked = wait(b_, "Anna blocks");
  EXPECT_EQ(drawn(graph_.block(blocked)), "");
  const Id closing = wait(a_, "Ben wants a", kAlone, kBen);
  EXPECT_EQ(drawn(graph_.depend(other, {closing})), "Ben wants a(b) Anna blocks(a)");
  graph_.end(blocked);
  EXPECT_EQ(drawn(graph_.depend(other, {wait(a_, "later", kAlone, kBen)})), "");
}

TEST_F(WaitGraphTest, AnAgentThatEndsBlocksNoOther) {
  const Id one = hold(a_, "a");
  graph_.depend(one, {wait(b_, "1 wants b")});
  graph_.block(wait(c_, "and blocks"));
  graph_.leave(kAnna);
  EXPECT_EQ(graph_.size(), 0U);
  const Id two = hold(b_, "b", kAlone, kBen);
  EXPECT_EQ(drawn(graph_.depend(two, {wait(a_, "2 wants a", kAlone, kBen)})), "");
}

TEST_F(WaitGraphTest, ReadersDoNotBlockEachOther) {
  const Id one = hold(a_, "reads", kRead);
  EXPECT_EQ(drawn(graph_.depend(one, {wait(a_, "reads again", kRead)})), "");
  EXPECT_EQ(drawn(graph_.depend(one, {wait(a_, "writes")})), "writes(reads)");
}

TEST_F(WaitGraphTest, AReaderBehindAWriterThatWaitsForItself) {
  const Id one = hold(a_, "reads", kRead);
  wait(a_, "Ben writes", kAlone, kBen);
  EXPECT_EQ(drawn(graph_.depend(one, {wait(a_, "reads again", kRead)})), "reads again(reads)");
}

TEST_F(WaitGraphTest, AReaderBeforeAWriterIsNotBehindIt) {
  const Id one = hold(a_, "reads", kRead);
  const Id again = wait(a_, "reads again", kRead);
  wait(a_, "Ben writes", kAlone, kBen);
  wait(a_, "Anna writes, too");
  EXPECT_EQ(drawn(graph_.depend(one, {again})), "");
}

TEST_F(WaitGraphTest, ABlockedWriterMayBeBehindAReader) {
  const auto asked = [this](std::int64_t want) { return claim(a_, "reads", want, kAnna, 0); };
  graph_.block(wait(a_, "Ben blocks", kAlone, kBen));
  const Id again = graph_.wait(asked(kRead));
  const Id late = graph_.hold(asked(kRead));
  EXPECT_EQ(drawn(graph_.depend(late, {again})), "");
}

TEST_F(WaitGraphTest, AWaiterWithAnUnknownPlaceIsBehindNoOther) {
  const Id one = hold(a_, "reads", kRead);
  wait(a_, "writes");
  const Id again = graph_.wait({a_, kRead, 0, kAnna, WaitGraph::kUnknown, "urgent"});
  EXPECT_EQ(drawn(graph_.depend(one, {again})), "");
}

TEST_F(WaitGraphTest, ASemaphoreIsStuckWhenTheRestDoesNotSuffice) {
  const Id one = hold(a_, "has 2", 2);
  EXPECT_EQ(drawn(graph_.depend(one, {wait(a_, "wants 1", 1, kAnna, 3)})), "");
  EXPECT_EQ(drawn(graph_.depend(one, {wait(a_, "wants 2", 2, kAnna, 3)})), "wants 2(has 2)");
  EXPECT_EQ(drawn(graph_.depend(one, {wait(a_, "wants more than all", 4, kAnna, 3)})), "");
}

TEST_F(WaitGraphTest, AReleaseWithoutAHoldMayAdmitAnyAgent) {
  const Id one = hold(a_, "has 1", 1);
  EXPECT_EQ(drawn(graph_.depend(one, {wait(a_, "no capacity is known", 1)})), "");
  graph_.loosen(a_);
  EXPECT_EQ(drawn(graph_.depend(one, {wait(a_, "wants 1", 1, kAnna, 1)})), "");
}

// The model: tasks acquire locks one after the other, and release them all when they are refused or done. All
// queues are first come, first served, except the semaphore's, which admits any waiter that fits.

struct Task {
  std::vector<std::pair<int, std::int64_t>> held;  // lock and want
  std::vector<Id> holds;                           // the graph's ids of `held`
  int waitsFor = -1;
  std::int64_t want = 0;
  Id wait = 0;
};

class World {
 public:
  static constexpr int kTasks = 6;
  static constexpr int kLocks = 4;  // two mutexes, a read-write lock, a semaphore
  static constexpr int kRW = 2;
  static constexpr int kSemaphore = 3;
  static constexpr std::int64_t kCapacity = 3;

  std::vector<Task> tasks{kTasks};
  std::vector<std::deque<int>> queues{kLocks};

  bool isFree(int lock, std::int64_t want) const {
    std::int64_t taken = 0;
    bool isHeld = false;
    bool isWritten = false;
    for (const Task& task : tasks) {
      for (const auto& [held, how] : task.held) {
        if (held != lock) continue;
        taken += how;
        isHeld = true;
        isWritten = isWritten || how == WaitGraph::kExclusive;
      }
    }
    if (lock == kSemaphore) return taken + want <= kCapacity;
    return want == WaitGraph::kShared ? !isWritten : !isHeld;
  }

  /// Admits the waiters that fit.
  std::vector<int> pass(int lock) {
    std::vector<int> in;
    auto& queue = queues[lock];
    for (auto at = queue.begin(); at != queue.end();) {
      Task& task = tasks[*at];
      if (isFree(lock, task.want)) {
        task.held.emplace_back(lock, task.want);
        task.waitsFor = -1;
        in.push_back(*at);
        at = queue.erase(at);
      } else if (lock == kSemaphore) {
        ++at;
      } else {
        break;
      }
    }
    return in;
  }

  /// Whether a task still waits after all tasks that do not wait, and all they admit, have released.
  bool isDeadlocked() const {
    World later = *this;
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (Task& task : later.tasks) {
        if (task.waitsFor >= 0 || task.held.empty()) continue;
        task.held.clear();
        isChanged = true;
        for (int lock = 0; lock < kLocks; ++lock) later.pass(lock);
      }
    }
    return std::any_of(later.tasks.begin(), later.tasks.end(),
                       [](const Task& task) { return task.waitsFor >= 0; });
  }
};

class RandomTasks {
 public:
  explicit RandomTasks(unsigned seed) : random_(seed) {}

  int run(int steps) {
    while (steps-- > 0) step(pick(World::kTasks));
    for (int t = 0; t < World::kTasks; ++t) graph_.leave(agentOf(t));
    EXPECT_EQ(graph_.size(), 0U);
    return refused_;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  /// Tasks 0 and 1 are blocking threads of their own; the others are promises of one thread.
  static AgentId agentOf(int t) { return t < 2 ? static_cast<AgentId>(10 + t) : 9; }

  void step(int t) {
    Task& task = world_.tasks[t];
    if (task.waitsFor >= 0) return;
    if (pick(4) == 0)
      finish(t);
    else
      ask(t, pick(World::kLocks));
  }

  void ask(int t, int lock) {
    Task& task = world_.tasks[t];
    std::int64_t want = WaitGraph::kExclusive;
    if (lock == World::kSemaphore) want = 1 + pick(2);
    // Blocking tasks only read: the graph does not always know which readers a blocking writer is ahead of.
    if (lock == World::kRW && (t < 2 || pick(2) == 0)) want = WaitGraph::kShared;
    task.waitsFor = lock;
    task.want = want;
    world_.queues[lock].push_back(t);
    if (!came(world_.pass(lock), t)) wait(t);
  }

  void wait(int t) {
    Task& task = world_.tasks[t];
    const bool isExpected = world_.isDeadlocked();
    task.wait = graph_.wait(claim(t, task.waitsFor, task.want));
    std::optional<WaitGraph::Cycle> cycle;
    if (t < 2) cycle = graph_.block(task.wait);
    for (const Id hold : task.holds) {
      if (!cycle) cycle = graph_.depend(hold, {task.wait});
    }
    EXPECT_EQ(cycle.has_value(), isExpected);
    if (!isExpected) return;
    ++refused_;
    EXPECT_EQ(cycle ? cycle->refused : 0, task.wait);
    const int lock = task.waitsFor;
    std::erase(world_.queues[lock], t);
    task.waitsFor = -1;
    came(world_.pass(lock), t);
    finish(t);
  }

  /// Records the admissions `in`. Returns whether `t` is among them.
  bool came(const std::vector<int>& in, int t) {
    for (const int each : in) {
      Task& task = world_.tasks[each];
      graph_.end(task.wait);
      task.holds.push_back(
          graph_.hold(claim(each, task.held.back().first, task.held.back().second)));
    }
    return std::find(in.begin(), in.end(), t) != in.end();
  }

  void finish(int t) {
    Task& task = world_.tasks[t];
    for (const Id hold : task.holds) graph_.end(hold);
    task.holds.clear();
    task.held.clear();
    for (int lock = 0; lock < World::kLocks; ++lock) came(world_.pass(lock), -1);
  }

  WaitGraph::Claim claim(int t, int lock, std::int64_t want) {
    const std::int64_t capacity = lock == World::kSemaphore ? World::kCapacity : 0;
    return {names_[lock], want, capacity, agentOf(t), graph_.now(), std::to_string(t)};
  }

  std::mt19937 random_;
  WaitGraph graph_;
  World world_;
  Lock names_[World::kLocks] = {graph_.name(), graph_.name(), graph_.name(), graph_.name()};
  int refused_ = 0;
};

TEST(WaitGraphModel, EachDeadlockIsFoundByItsLastWaitAndNothingElseIs) {
  int refused = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    refused += RandomTasks(seed).run(300);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace boxoffice::test
