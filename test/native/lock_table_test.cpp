// The look-up of locks that threads share: by key, by name, by address.
#include "locks/lock_table.h"

#include <algorithm>
#include <set>

#include "support.h"

namespace boxoffice::test {
namespace {

constexpr std::uint32_t kThree = 3 << 2;  // the initial word of a semaphore of value 3

Mutex& mutexIn(const LockTable::Entry& entry) { return *reinterpret_cast<Mutex*>(entry.words); }
WeightedSemaphore& semaphoreIn(const LockTable::Entry& entry) {
  return *reinterpret_cast<WeightedSemaphore*>(entry.words);
}

std::vector<std::string> sorted(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  return keys;
}

class LockTableTest : public testing::Test {
 protected:
  ~LockTableTest() override { EXPECT_TRUE(table_.empty()); }

  /// Locks and unlocks the abandoned mutex of `key`, so that the table can drop it.
  void tell(const std::string& key) {
    LockTable::Entry& entry = table_.pin(key, 0);
    const Entry in = mutexIn(entry).tryLock(kCleo);
    EXPECT_TRUE(in.granted && in.abandoned);
    mutexIn(entry).unlock(kCleo);
    table_.unpin(entry);
  }

  LockTable table_;
};

TEST_F(LockTableTest, AKeyHasOneLockForAllThreadsThatPinIt) {
  EXPECT_TRUE(table_.empty());
  LockTable::Entry& entry = table_.pin("a", kThree);
  EXPECT_FALSE(table_.empty());
  EXPECT_EQ(*entry.key, "a");
  EXPECT_EQ(entry.words[0], kThree);
  EXPECT_EQ(entry.pins, 1U);
  EXPECT_EQ(semaphoreIn(entry).value(), 3);
  EXPECT_EQ(&table_.pin("a", kThree), &entry);
  EXPECT_EQ(entry.pins, 2U);
  EXPECT_EQ(entry.words, wordPairs().words(entry.pair));
  table_.unpin(entry);
  EXPECT_FALSE(table_.empty());
  EXPECT_EQ(entry.pins, 1U);
  table_.unpin(entry);
}

TEST_F(LockTableTest, ALaterThreadFindsTheWordAsItIs) {
  LockTable::Entry& entry = table_.pin("a", kThree);
  semaphoreIn(entry).acquire(2);
  table_.pin("a", kThree);
  EXPECT_EQ(semaphoreIn(entry).value(), 1);
  semaphoreIn(entry).release(2);
  table_.unpin(entry);
  table_.unpin(entry);
}

TEST_F(LockTableTest, KeysAreExact) {
  using namespace std::string_literals;
  std::vector<LockTable::Entry*> entries;
  std::set<SharedWord*> words;
  for (const std::string& key : {""s, "a"s, "A"s, "a\0"s, "a\0b"s, "a\0c"s, std::string(1000, 'a'),
                                 std::string(1000, 'a').append(1, '\0')}) {
    entries.push_back(&table_.pin(key, 0));
    words.insert(entries.back()->words);
    EXPECT_EQ(*entries.back()->key, key);
  }
  EXPECT_EQ(words.size(), entries.size());
  for (LockTable::Entry* entry : entries) table_.unpin(*entry);
}

TEST_F(LockTableTest, UnusedWordsAreZeroAndTakenAgain) {
  LockTable::Entry& entry = table_.pin("a", kThree);
  const WordPairs::Number pair = entry.pair;
  SharedWord* const words = entry.words;
  EXPECT_NE(words[1], 0U);
  table_.unpin(entry);
  EXPECT_TRUE(table_.empty());
  EXPECT_EQ(words[0], 0U);
  EXPECT_EQ(words[1], 0U);
  LockTable::Entry& other = table_.pin("b", 0);
  EXPECT_EQ(other.pair, pair);
  EXPECT_EQ(other.words, words);
  EXPECT_EQ(words[0], 0U) << "a lock of another kind";
  EXPECT_FALSE(mutexIn(other).isLocked());
  table_.unpin(other);
}

TEST_F(LockTableTest, ALockThatBeganOtherwiseIsAMismatchAndNothingHasChanged) {
  LockTable::Entry& entry = table_.pin("a", kThree);
  semaphoreIn(entry).acquire();
  for (const std::uint32_t start : {0U, 2U << 2, kThree | 2, ~0U << 2}) {
    EXPECT_EQ(faultOf([&] { table_.pin("a", start); }), Fault::mismatch);
  }
  EXPECT_EQ(entry.pins, 1U);
  EXPECT_EQ(semaphoreIn(entry).value(), 2);
  semaphoreIn(entry).release();
  table_.unpin(entry);
  EXPECT_TRUE(table_.empty()) << "the mismatches have pinned nothing";
  LockTable::Entry& anew = table_.pin("a", 2U << 2);
  EXPECT_EQ(semaphoreIn(anew).value(), 2) << "the old lock is forgotten";
  table_.unpin(anew);
}

TEST_F(LockTableTest, StartsThatAreZeroAndNegativeAreKnownAgain) {
  for (const std::uint32_t start : {0U, 2U, ~0U << 2, 1U << 31, ~1U}) {
    LockTable::Entry& entry = table_.pin("a", start);
    EXPECT_EQ(entry.words[0], start);
    EXPECT_EQ(faultOf([&] { table_.pin("a", start ^ 4); }), Fault::mismatch);
    EXPECT_EQ(&table_.pin("a", start), &entry);
    EXPECT_EQ(table_.busy(), 0U);
    table_.unpin(entry);
    table_.unpin(entry);
    EXPECT_TRUE(table_.empty());
  }
}

TEST_F(LockTableTest, AnAbandonedMutexStaysUntilAHolderHasBeenTold) {
  LockTable::Entry& entry = table_.pin("a", 0);
  SharedWord* const words = entry.words;
  mutexIn(entry).lock(kAnna);
  mutexIn(entry).abandon(kAnna);
  table_.unpin(entry);
  EXPECT_FALSE(table_.empty());
  EXPECT_EQ(table_.busy(), 1U);
  EXPECT_EQ(faultOf([&] { table_.pin("a", kThree); }), Fault::mismatch);
  LockTable::Entry& again = table_.pin("a", 0);
  EXPECT_EQ(again.words, words);
  EXPECT_EQ(again.pins, 1U);
  table_.unpin(again);
  EXPECT_FALSE(table_.empty()) << "a look does not tell";
  tell("a");
}

TEST_F(LockTableTest, AMutexThatIsHeldStays) {
  LockTable::Entry& entry = table_.pin("a", 0);
  mutexIn(entry).lock(kAnna);
  table_.unpin(entry);
  LockTable::Entry& again = table_.pin("a", 0);
  EXPECT_EQ(mutexIn(again).owner(), kAnna);
  mutexIn(again).unlock(kAnna);
  table_.unpin(again);
}

TEST_F(LockTableTest, TheStateOfAnEventOrASemaphoreStays) {
  LockTable::Entry& event = table_.pin("event", 0);
  reinterpret_cast<AutoResetEvent*>(event.words)->signal();
  LockTable::Entry& permits = table_.pin("permits", kThree);
  semaphoreIn(permits).release();
  table_.unpin(event);
  table_.unpin(permits);
  EXPECT_EQ(sorted(table_.busyKeys()), (std::vector<std::string>{"event", "permits"}));

  LockTable::Entry& sameEvent = table_.pin("event", 0);
  EXPECT_TRUE(reinterpret_cast<AutoResetEvent*>(sameEvent.words)->tryWait());
  LockTable::Entry& samePermits = table_.pin("permits", kThree);
  EXPECT_EQ(semaphoreIn(samePermits).value(), 4);
  semaphoreIn(samePermits).acquire();
  table_.unpin(sameEvent);
  table_.unpin(samePermits);
}

TEST_F(LockTableTest, ALockIsBusyUnlessItIsAsItBegan) {
  LockTable::Entry& a = table_.pin("a", 0);
  LockTable::Entry& b = table_.pin("b", 0);
  EXPECT_EQ(table_.busy(), 0U);
  EXPECT_EQ(table_.busyKeys(), std::vector<std::string>{});
  mutexIn(a).lock(kAnna);
  EXPECT_EQ(table_.busy(), 1U);
  EXPECT_EQ(table_.busyKeys(), std::vector<std::string>{"a"});
  mutexIn(b).lock(kAnna);
  EXPECT_EQ(table_.busy(), 2U);
  EXPECT_EQ(sorted(table_.busyKeys()), (std::vector<std::string>{"a", "b"}));
  mutexIn(a).unlock(kAnna);
  EXPECT_EQ(table_.busyKeys(), std::vector<std::string>{"b"});
  mutexIn(b).unlock(kAnna);
  EXPECT_EQ(table_.busy(), 0U);
  table_.unpin(a);
  table_.unpin(b);
}

TEST_F(LockTableTest, AWaiterMakesAConditionBusy) {
  LockTable::Entry& entry = table_.pin("a", 0);
  auto& condition = *reinterpret_cast<ConditionVariable*>(entry.words);
  Mutex mutex;
  Notes loop;
  Waiter w(loop, kAnna);
  mutex.lock(kAnna);
  condition.enter(w, mutex);
  EXPECT_EQ(table_.busy(), 1U);
  EXPECT_TRUE(condition.leave(w));
  EXPECT_EQ(table_.busy(), 0U);
  table_.unpin(entry);
}

TEST_F(LockTableTest, ManyKeysHaveWordsOfTheirOwnAndEntriesStayWhereTheyAre) {
  constexpr int kMany = 3 << WordPairs::kRegionBits;
  std::vector<LockTable::Entry*> entries;
  std::set<SharedWord*> words;
  for (int i = 0; i < kMany; ++i) {
    LockTable::Entry& entry = table_.pin(std::to_string(i), static_cast<std::uint32_t>(i) << 2);
    entries.push_back(&entry);
    words.insert(entry.words);
    words.insert(entry.words + 1);
  }
  EXPECT_EQ(words.size(), std::size_t{2} * kMany);
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(*entries[static_cast<std::size_t>(i)]->key, std::to_string(i));
    EXPECT_EQ(entries[static_cast<std::size_t>(i)]->words[0], static_cast<std::uint32_t>(i) << 2);
  }
  for (LockTable::Entry* entry : entries) table_.unpin(*entry);
  EXPECT_TRUE(table_.empty());
  // A view of a region stays valid for ever, even when no lock lies there.
  for (SharedWord* word : words) EXPECT_EQ(*word, 0U);
}

TEST(WordPairsTest, ArePairsOfNeighboursInRegions) {
  WordPairs pairs;
  constexpr WordPairs::Number kPairs = 1U << WordPairs::kRegionBits;
  std::vector<WordPairs::Number> taken;
  for (WordPairs::Number i = 0; i <= kPairs; ++i) taken.push_back(pairs.take());
  EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), taken.size());
  SharedWord* const first = pairs.words(0);
  for (WordPairs::Number i = 0; i < kPairs; ++i) {
    EXPECT_EQ(pairs.words(i), first + std::size_t{2} * i) << "as a view of the region finds them";
  }
  for (const WordPairs::Number pair : taken) {
    EXPECT_EQ(pairs.words(pair)[0] | pairs.words(pair)[1], 0U);
  }
  pairs.words(taken[5])[0] = 7;
  pairs.words(taken[5])[1] = 8;
  pairs.give(taken[5]);
  EXPECT_EQ(pairs.take(), taken[5]);
  EXPECT_EQ(pairs.words(taken[5])[0] | pairs.words(taken[5])[1], 0U);
}

TEST(LockTablesTest, ATableIsFoundByItsName) {
  LockTables tables;
  LockTable& a = tables.open("a", 0);
  EXPECT_EQ(&tables.open("a", 0), &a);
  EXPECT_NE(&tables.open("b", 0), &a);
  tables.close("b");
  tables.close("a");
  EXPECT_EQ(&tables.open("a", 0), &a) << "open once still";
  tables.close("a");
  tables.close("a");
}

TEST(LockTablesTest, ATableWithSurvivorsIsKept) {
  LockTables tables;
  LockTable& table = tables.open("a", 0);
  LockTable::Entry& entry = table.pin("key", 0);
  mutexIn(entry).lock(kAnna);
  mutexIn(entry).abandon(kAnna);
  table.unpin(entry);
  tables.close("a");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(&tables.open("a", 0), &table);
    EXPECT_EQ(table.busyKeys(), std::vector<std::string>{"key"});
    tables.close("a");
  }
  LockTable& again = tables.open("a", 0);
  LockTable::Entry& survivor = again.pin("key", 0);
  EXPECT_TRUE(mutexIn(survivor).tryLock(kBen).abandoned);
  mutexIn(survivor).unlock(kBen);
  again.unpin(survivor);
  EXPECT_TRUE(again.empty());
  tables.close("a");
}

TEST(LockTablesTest, TheProcessHasOneOfEach) {
  EXPECT_EQ(&lockTables(), &lockTables());
  EXPECT_EQ(&wordPairs(), &wordPairs());
}

TEST(LockKindTest, HasANameForMessages) {
  EXPECT_STREQ(nameOf(LockKind::mutex), "a mutex");
  EXPECT_STREQ(nameOf(LockKind::semaphore), "a semaphore");
  EXPECT_STREQ(nameOf(LockKind::autoResetEvent), "an auto-reset event");
  EXPECT_STREQ(nameOf(LockKind::manualResetEvent), "a manual-reset event");
  EXPECT_STREQ(nameOf(LockKind::condition), "a condition variable");
}

class ClaimTest : public testing::Test {
 protected:
  // The test has disclaimed all its claims: any kind of lock may claim each word.
  ~ClaimTest() override {
    for (SharedWord& word : words_) {
      EXPECT_EQ(claim(&word, LockKind::mutex), std::nullopt);
      disclaimWords(&word, 1);
      EXPECT_EQ(claim(&word, LockKind::condition), std::nullopt);
      disclaimWords(&word, 1);
    }
  }

  /// Claims one word.
  static std::optional<Fault> claim(SharedWord* words, LockKind kind) {
    return faultOf([&] { claimWords(words, 1, kind, 0); });
  }
  /// Claims two words.
  static std::optional<Fault> claim(SharedWord* words, LockKind kind, std::uint32_t start) {
    return faultOf([&] { claimWords(words, 2, kind, start); });
  }

  SharedWord words_[4] = {};
};

TEST_F(ClaimTest, MemoryIsOfOneKindForAsLongAsItIsInUse) {
  EXPECT_EQ(claim(words_, LockKind::mutex), std::nullopt);
  EXPECT_EQ(claim(words_, LockKind::mutex), std::nullopt);
  EXPECT_EQ(claim(words_, LockKind::condition), Fault::mismatch);
  EXPECT_EQ(claim(words_, LockKind::semaphore, kThree), Fault::mismatch);
  disclaimWords(words_, 1);
  EXPECT_EQ(claim(words_, LockKind::condition), Fault::mismatch) << "in use once still";
  EXPECT_EQ(claim(words_ + 1, LockKind::condition), std::nullopt) << "its neighbour is another";
  disclaimWords(words_, 1);
  EXPECT_EQ(claim(words_, LockKind::condition), std::nullopt);
  disclaimWords(words_, 1);
  disclaimWords(words_ + 1, 1);
  EXPECT_EQ(words_[0] | words_[1] | words_[2] | words_[3], 0U) << "one word has no start";
}

TEST_F(ClaimTest, TheMessageNamesTheLockThatIsThere) {
  claimWords(words_, 2, LockKind::manualResetEvent, 0);
  try {
    claimWords(words_, 1, LockKind::mutex, 0);
    ADD_FAILURE();
  } catch (const Misuse& misuse) {
    EXPECT_NE(std::string(misuse.what()).find("a manual-reset event"), std::string::npos);
  }
  disclaimWords(words_, 2);
}

TEST_F(ClaimTest, TheSecondWordOfALockIsNotTheFirstOfAnother) {
  EXPECT_EQ(claim(words_ + 1, LockKind::semaphore, kThree), std::nullopt);
  for (const LockKind kind : {LockKind::semaphore, LockKind::autoResetEvent}) {
    EXPECT_EQ(claim(words_, kind, kThree), Fault::mismatch) << "its second is the first of that";
    EXPECT_EQ(claim(words_ + 2, kind, kThree), Fault::mismatch) << "its first is the second";
  }
  for (const LockKind kind : {LockKind::mutex, LockKind::condition}) {
    EXPECT_EQ(claim(words_ + 1, kind), Fault::mismatch);
    EXPECT_EQ(claim(words_ + 2, kind), Fault::mismatch);
  }
  EXPECT_EQ(words_[0], 0U);
  EXPECT_EQ(words_[1], kThree);
  EXPECT_EQ(words_[3], 0U);
  EXPECT_EQ(claim(words_, LockKind::mutex), std::nullopt);
  EXPECT_EQ(claim(words_ + 3, LockKind::mutex), std::nullopt);
  disclaimWords(words_, 1);
  disclaimWords(words_ + 3, 1);
  disclaimWords(words_ + 1, 2);
}

TEST_F(ClaimTest, ALockOfTwoWordsDoesNotReachIntoAnother) {
  EXPECT_EQ(claim(words_ + 1, LockKind::mutex), std::nullopt);
  EXPECT_EQ(claim(words_, LockKind::semaphore, kThree), Fault::mismatch);
  EXPECT_EQ(words_[0], 0U);
  EXPECT_EQ(words_[1], 0U);
  disclaimWords(words_ + 1, 1);
}

TEST_F(ClaimTest, ALockThatBeganOtherwiseIsAMismatchAndCountsNothing) {
  EXPECT_EQ(claim(words_, LockKind::semaphore, kThree), std::nullopt);
  words_[0] = 1 << 2;  // two of three units are taken
  EXPECT_EQ(claim(words_, LockKind::semaphore, kThree), std::nullopt);
  EXPECT_EQ(words_[0], 1U << 2) << "as it is";
  EXPECT_EQ(claim(words_, LockKind::semaphore, 2 << 2), Fault::mismatch);
  EXPECT_EQ(words_[0], 1U << 2);
  disclaimWords(words_, 2);
  disclaimWords(words_, 2);
}

TEST_F(ClaimTest, WhereALockHasBeenItsStartStays) {
  EXPECT_EQ(claim(words_, LockKind::semaphore, kThree), std::nullopt);
  disclaimWords(words_, 2);
  EXPECT_EQ(claim(words_, LockKind::semaphore, 2 << 2), Fault::mismatch);
  EXPECT_EQ(claim(words_, LockKind::semaphore, kThree), std::nullopt);
  disclaimWords(words_, 2);
  words_[1] = 0;  // the user has cleared the memory
  EXPECT_EQ(claim(words_, LockKind::semaphore, 2 << 2), std::nullopt);
  EXPECT_EQ(words_[0], 2U << 2);
  disclaimWords(words_, 2);
}

}  // namespace
}  // namespace boxoffice::test
