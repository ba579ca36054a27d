// WaitQueues by address: the table, the parking lot, and the wakes that a closing bucket sends.
#include <map>
#include <random>

#include "support.h"

namespace boxoffice::test {
namespace {

TEST(WaitQueueTableTest, FindsAQueueUntilItIsRemoved) {
  WaitQueueTable table;
  int word[2] = {};
  EXPECT_EQ(table.find(&word[0]), nullptr);
  WaitQueue& queue = table.add(&word[0]);
  EXPECT_EQ(table.find(&word[0]), &queue);
  EXPECT_EQ(table.find(&word[1]), nullptr);
  EXPECT_EQ(queue.address, &word[0]);
  EXPECT_EQ(table.size(), 1U);
  table.remove(queue);
  EXPECT_EQ(table.find(&word[0]), nullptr);
  EXPECT_EQ(table.size(), 0U);
}

TEST(WaitQueueTableTest, GrowsAndShrinksAndLosesNoQueue) {
  WaitQueueTable table;
  std::vector<int> words(5'000);
  std::vector<WaitQueue*> queues;
  for (int& word : words) queues.push_back(&table.add(&word));
  EXPECT_EQ(table.size(), words.size());
  for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(table.find(&words[i]), queues[i]);
  for (std::size_t i = 0; i < words.size(); ++i) {
    table.remove(*queues[i]);
    ASSERT_EQ(table.find(&words[i]), nullptr);
    ASSERT_EQ(table.find(&words.back()), i + 1 < words.size() ? queues.back() : nullptr);
  }
  EXPECT_EQ(table.size(), 0U);
}

TEST(WaitQueueTableTest, AQueueUsedAgainIsLikeNew) {
  WaitQueueTable table;
  int word[2] = {};
  WaitQueue& queue = table.add(&word[0]);
  queue.patience = Clock::now();
  table.remove(queue);
  WaitQueue& next = table.add(&word[1]);
  EXPECT_EQ(&next, &queue) << "kept for the next address";
  EXPECT_EQ(next.patience, Deadline::min());
  EXPECT_TRUE(next.empty());
  EXPECT_EQ(next.address, &word[1]);
}

TEST(WaitQueueTableTest, CollisionsShareASlotAndNothingElse) {
  // Addresses whose hashes select the same one of the first 16 slots.
  std::vector<char> memory(4'096);
  std::vector<char*> colliding;
  for (char& byte : memory) {
    if (((hashAddress(&byte) >> 32) & 15) == 0 && colliding.size() < 8) colliding.push_back(&byte);
  }
  ASSERT_EQ(colliding.size(), 8U);
  WaitQueueTable table;
  std::vector<WaitQueue*> queues;
  for (char* address : colliding) queues.push_back(&table.add(address));
  for (const std::size_t middle : {3U, 0U, 7U}) {
    table.remove(*queues[middle]);
    EXPECT_EQ(table.find(colliding[middle]), nullptr);
    queues[middle] = nullptr;
    for (std::size_t i = 0; i < queues.size(); ++i) EXPECT_EQ(table.find(colliding[i]), queues[i]);
  }
}

TEST(WaitQueueTableTest, StaysInOrderWhateverIsAddedAndRemoved) {
  WaitQueueTable table;
  std::vector<int> words(400);
  std::map<int*, WaitQueue*> oracle;
  std::mt19937 random(1);
  for (int step = 0; step < 50'000; ++step) {
    // The number of queues rises and falls, so that the table grows and shrinks repeatedly.
    int* const word = &words[random() % (step % 10'000 < 5'000 ? 20 : 400)];
    const auto known = oracle.find(word);
    ASSERT_EQ(table.find(word), known == oracle.end() ? nullptr : known->second);
    if (known == oracle.end()) {
      oracle[word] = &table.add(word);
    } else {
      table.remove(*known->second);
      oracle.erase(known);
    }
    ASSERT_EQ(table.size(), oracle.size());
  }
}

struct LotPlatform : NativePlatform<LotPlatform> {};
struct OneShardPlatform : NativePlatform<OneShardPlatform> {
  static constexpr int kShardBits = 0;
};

class ParkingLotTest : public testing::Test {
 protected:
  ~ParkingLotTest() override { EXPECT_EQ(lot_.queues(), 0U); }

  ParkingLot<LotPlatform> lot_;
  Notes loop_;
  int word_ = 0;
};

TEST_F(ParkingLotTest, AQueueExistsOnlyWhileAWaiterIsInIt) {
  Waiter w(loop_, kAnna);
  EXPECT_TRUE(lot_.open(&word_).empty());
  {
    auto bucket = lot_.open(&word_);
    bucket.obtainQueue().enter(w);
    EXPECT_FALSE(bucket.empty());
  }
  EXPECT_EQ(lot_.queues(), 1U);
  {
    auto bucket = lot_.open(&word_);
    ASSERT_FALSE(bucket.empty());
    EXPECT_EQ(bucket.queue().head(), &w);
    EXPECT_EQ(&bucket.obtainQueue(), &bucket.queue());
    bucket.queue().leave(w);
  }
  EXPECT_TRUE(lot_.open(&word_).empty());
}

TEST_F(ParkingLotTest, AQueueThatNoWaiterEnteredIsGone) {
  lot_.open(&word_).obtainQueue();
  EXPECT_EQ(lot_.queues(), 0U);
}

TEST_F(ParkingLotTest, ManyWordsHaveAQueueEach) {
  std::vector<int> words(1'000);
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int& word : words) {
    waiters.push_back(std::make_unique<Waiter>(loop_, kAnna));
    lot_.open(&word).obtainQueue().enter(*waiters.back());
  }
  EXPECT_EQ(lot_.queues(), words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto bucket = lot_.open(&words[i]);
    ASSERT_EQ(bucket.queue().head(), waiters[i].get());
    bucket.admit(*waiters[i]);
  }
  EXPECT_EQ(loop_.take().size(), words.size());
}

TEST_F(ParkingLotTest, WakesAreSentInOrderWhenTheBucketCloses) {
  Waiter w[] = {{loop_, kAnna}, {loop_, kBen}, {loop_, kCleo}};
  {
    auto bucket = lot_.open(&word_);
    for (Waiter& waiter : w) bucket.obtainQueue().enter(waiter);
    bucket.admit(w[1]);
    bucket.admit(w[0]);
    bucket.invite(w[2]);
    EXPECT_EQ(loop_.take(), Heard{}) << "not while the lock is held";
  }
  EXPECT_EQ(loop_.take(), (Heard{invited(w[2]), admitted(w[1]), admitted(w[0])}));
  EXPECT_EQ(w[0].state, Waiter::State::admitted);
  EXPECT_EQ(w[2].state, Waiter::State::invited);
  lot_.open(&word_).admit(w[2]);
  EXPECT_EQ(loop_.take(), Heard{}) << "its invitation will find it admitted";
  EXPECT_EQ(w[2].state, Waiter::State::admitted);
}

TEST_F(ParkingLotTest, AWokenWaiterMayBeGoneAtOnce) {
  struct Vanishing final : Parker {
    std::vector<std::unique_ptr<Waiter>> waiters;
    void wake(Waiter& w, Wake) noexcept override {
      std::erase_if(waiters, [&](const auto& mine) { return mine.get() == &w; });
    }
  } parker;
  {
    auto bucket = lot_.open(&word_);
    for (int i = 0; i < 3; ++i) {
      parker.waiters.push_back(std::make_unique<Waiter>(parker, kAnna));
      bucket.obtainQueue().enter(*parker.waiters.back());
    }
    while (Waiter* w = bucket.queue().head()) bucket.admit(*w);
  }
  EXPECT_TRUE(parker.waiters.empty());
}

TEST_F(ParkingLotTest, OneShardIsEnough) {
  ParkingLot<OneShardPlatform> lot;
  int words[2] = {};
  Waiter w(loop_, kAnna);
  lot.open(&words[0]).obtainQueue().enter(w);
  EXPECT_TRUE(lot.open(&words[1]).empty());
  lot.open(&words[0]).admit(w);
  EXPECT_EQ(lot.queues(), 0U);
}

}  // namespace
}  // namespace boxoffice::test
