// The queue of one word: order, leaving from anywhere, bounded search.
#include <limits>
#include <random>

#include "support.h"

namespace boxoffice::test {
namespace {

class WaitQueueTest : public testing::Test {
 protected:
  // All queued waiters, from the head on.
  std::vector<Waiter*> drain() {
    std::vector<Waiter*> all;
    while (Waiter* w = queue_.head()) {
      all.push_back(w);
      queue_.leave(*w);
    }
    return all;
  }

  Notes loop_;
  WaitQueue queue_;
  Asking a_{loop_, kAnna};
  Asking b_{loop_, kBen};
  Asking c_{loop_, kCleo};
};

TEST_F(WaitQueueTest, StartsEmpty) {
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.size(), 0U);
  EXPECT_EQ(queue_.head(), nullptr);
  EXPECT_EQ(queue_.invited(), nullptr);
  EXPECT_EQ(queue_.firstOf(kAnna), nullptr);
  EXPECT_EQ(queue_.topPriority(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(queue_.patience, Deadline::min()) << "no caller goes ahead of the head of a new queue";
}

TEST_F(WaitQueueTest, AdmitsInOrderOfArrival) {
  for (Waiter* w : {&a_, &b_, &c_}) queue_.enter(*w);
  EXPECT_EQ(queue_.size(), 3U);
  EXPECT_EQ(a_.state, Waiter::State::waiting);
  EXPECT_EQ(drain(), (std::vector<Waiter*>{&a_, &b_, &c_}));
  EXPECT_EQ(a_.state, Waiter::State::idle);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(WaitQueueTest, AWaiterLeavesFromAnyPlace) {
  for (Waiter* gone : {&a_, &b_, &c_}) {
    for (Waiter* w : {&a_, &b_, &c_}) queue_.enter(*w);
    queue_.leave(*gone);
    EXPECT_EQ(queue_.size(), 2U);
    std::vector<Waiter*> rest{&a_, &b_, &c_};
    std::erase(rest, gone);
    EXPECT_EQ(drain(), rest);
  }
}

TEST_F(WaitQueueTest, HigherPrioritiesAreInFront) {
  a_.priority = -1;
  c_.priority = 2.5;
  for (Waiter* w : {&a_, &b_, &c_}) queue_.enter(*w);
  EXPECT_EQ(queue_.topPriority(), 2.5);
  EXPECT_EQ(drain(), (std::vector<Waiter*>{&c_, &b_, &a_}));
}

TEST_F(WaitQueueTest, InfinitePrioritiesAreFine) {
  a_.priority = -std::numeric_limits<double>::infinity();
  c_.priority = std::numeric_limits<double>::infinity();
  for (Waiter* w : {&a_, &b_, &c_}) queue_.enter(*w);
  EXPECT_EQ(drain(), (std::vector<Waiter*>{&c_, &b_, &a_}));
}

TEST_F(WaitQueueTest, BothZerosAreOnePriority) {
  a_.priority = -0.0;
  for (Waiter* w : {&a_, &b_}) queue_.enter(*w);
  EXPECT_EQ(drain(), (std::vector<Waiter*>{&a_, &b_}));
}

TEST_F(WaitQueueTest, APriorityThatIsNoNumberIsRefusedAndNothingChanges) {
  a_.priority = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(faultOf([&] { queue_.enter(a_); }), Fault::badArgument);
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(a_.state, Waiter::State::idle);
}

TEST_F(WaitQueueTest, EnterFirstGoesAheadOfAllWaiters) {
  a_.priority = std::numeric_limits<double>::infinity();
  queue_.enter(a_);
  queue_.enterFirst(b_);
  EXPECT_EQ(drain(), (std::vector<Waiter*>{&b_, &a_}));
}

TEST_F(WaitQueueTest, FirstOfFindsTheOldestOfAnAgent) {
  Asking c2(loop_, kCleo);
  for (Waiter* w : {&a_, &b_, &c_, &c2}) queue_.enter(*w);
  EXPECT_EQ(queue_.firstOf(kCleo), &c_);
  queue_.leave(c_);
  EXPECT_EQ(queue_.firstOf(kCleo), &c2);
  queue_.leave(c2);
  EXPECT_EQ(queue_.firstOf(kCleo), nullptr);
  drain();
}

TEST_F(WaitQueueTest, FirstOfLooksNearTheHeadAndAtItsPriorityOnly) {
  std::vector<std::unique_ptr<Waiter>> others;
  for (int i = 0; i < WaitQueue::kLook; ++i) {
    others.push_back(std::make_unique<Waiter>(loop_, kBen));
    queue_.enter(*others.back());
  }
  queue_.enter(a_);
  EXPECT_EQ(queue_.firstOf(kAnna), nullptr);
  queue_.leave(*others[5]);
  EXPECT_EQ(queue_.firstOf(kAnna), &a_);
  c_.priority = 1;
  queue_.enter(c_);
  EXPECT_EQ(queue_.firstOf(kAnna), nullptr);
  drain();
}

TEST_F(WaitQueueTest, AWaiterIsInvitedUntilItLeavesOrCameTooLate) {
  for (Waiter* w : {&a_, &b_}) queue_.enter(*w);
  queue_.invite(a_);
  EXPECT_EQ(queue_.invited(), &a_);
  EXPECT_EQ(a_.state, Waiter::State::invited);
  queue_.leave(b_);
  EXPECT_EQ(queue_.invited(), &a_);
  queue_.uninvite(a_);
  EXPECT_EQ(queue_.invited(), nullptr);
  EXPECT_EQ(a_.state, Waiter::State::waiting);
  queue_.invite(a_);
  queue_.leave(a_);
  EXPECT_EQ(queue_.invited(), nullptr);
}

TEST_F(WaitQueueTest, AnyMixOfEnteringAndLeavingKeepsTheOrder) {
  // The oracle: a vector, stably sorted by priority.
  std::mt19937 random(1);
  std::vector<std::unique_ptr<Asking>> all;
  std::vector<Waiter*> in;
  for (int i = 0; i < 64; ++i) all.push_back(std::make_unique<Asking>(loop_, kAnna));
  for (int step = 0; step < 20'000; ++step) {
    Asking& w = *all[random() % all.size()];
    if (w.state == Waiter::State::idle) {
      w.priority = static_cast<double>(random() % 5) - 2;
      const auto behind = [&](const Waiter* other) { return other->priority < w.priority; };
      in.insert(std::find_if(in.begin(), in.end(), behind), &w);
      queue_.enter(w);
    } else {
      std::erase(in, &w);
      queue_.leave(w);
    }
    ASSERT_EQ(queue_.size(), in.size());
    ASSERT_EQ(queue_.head(), in.empty() ? nullptr : in.front());
  }
  EXPECT_EQ(drain(), in);
}

}  // namespace
}  // namespace boxoffice::test
