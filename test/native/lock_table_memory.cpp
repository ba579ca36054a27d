// Out of memory while locks are looked up: a call that throws has changed nothing.
#include "failing_memory.h"
#include "support.h"

namespace boxoffice::test {
namespace {

const std::string kLongKey(100, 'k');  // too long for the small-string optimization

TEST(LockTableMemoryTest, PairsOfWordsAreAsBefore) {
  // take() allocates a list of free pairs, a list of regions, and words: a failure of any changes nothing.
  constexpr WordPairs::Number kRegion = 1U << WordPairs::kRegionBits;
  for (const WordPairs::Number before : {0U, kRegion}) {
    for (int which = 0; which < 3; ++which) {
      WordPairs pairs;
      for (WordPairs::Number i = 0; i < before; ++i) EXPECT_EQ(pairs.take(), i);
      failNewIn = which;
      EXPECT_THROW(pairs.take(), std::bad_alloc);
      failNewIn = -1;
      EXPECT_EQ(pairs.take(), before);
      // From here on nothing allocates.
      failNewIn = 0;
      for (WordPairs::Number i = before + 1; i < before + kRegion; ++i) EXPECT_EQ(pairs.take(), i);
      for (WordPairs::Number i = 0; i < before + kRegion; ++i) pairs.give(i);
      failNewIn = -1;
    }
  }
}

TEST(LockTableMemoryTest, ATableIsAsBefore) {
  LockTable table;
  LockTable::Entry& held = table.pin("held", 4);
  LockTable::Entry* made = nullptr;
  const auto check = [&] {
    EXPECT_EQ(table.busyKeys(), std::vector<std::string>{});
    EXPECT_EQ(&table.pin("held", 4), &held);
    EXPECT_EQ(held.pins, 2U);
    table.unpin(held);
  };
  EXPECT_GE(atEachAllocation([&] { made = &table.pin(kLongKey, 8); }, check), 2);
  EXPECT_NE(made->words, held.words);
  EXPECT_EQ(made->pins, 1U);
  table.unpin(*made);
  table.unpin(held);
  EXPECT_TRUE(table.empty());
}

TEST(LockTableMemoryTest, FailuresLoseNoWords) {
  LockTable table;
  LockTable::Entry& first = table.pin("first", 0);
  const WordPairs::Number next = first.pair + 1;
  for (int i = 0; i < 100; ++i) {
    LockTable::Entry* entry = nullptr;
    atEachAllocation([&] { entry = &table.pin(kLongKey, 0); }, [] {});
    EXPECT_EQ(entry->pair, next);
    table.unpin(*entry);
  }
  table.unpin(first);
}

TEST(LockTableMemoryTest, AMismatchWithoutMemoryForItsMessage) {
  LockTable table;
  LockTable::Entry& entry = table.pin("key", 4);
  const auto mismatch = [&] { EXPECT_EQ(faultOf([&] { table.pin("key", 8); }), Fault::mismatch); };
  atEachAllocation(mismatch, [&] { EXPECT_EQ(entry.pins, 1U); });
  EXPECT_EQ(entry.pins, 1U);
  EXPECT_EQ(entry.words[0], 4U);
  table.unpin(entry);
  EXPECT_TRUE(table.empty());
}

TEST(LockTableMemoryTest, AnOpenTableIsAsBefore) {
  LockTables tables;
  LockTable* table = nullptr;
  EXPECT_GE(atEachAllocation([&] { table = &tables.open(kLongKey, 0); }, [] {}), 2);
  failNewIn = 0;
  EXPECT_EQ(&tables.open(kLongKey, 0), table);
  failNewIn = -1;
  tables.close(kLongKey);
  tables.close(kLongKey);
}

TEST(LockTableMemoryTest, AClaimThatFailsClaimsNothing) {
  SharedWord words[2] = {};
  const auto claim = [&] { claimWords(words, 2, LockKind::semaphore, 12); };
  EXPECT_GE(atEachAllocation(claim,
                             [&] {
                               EXPECT_EQ(words[1], 0U) << "no lock was constructed here";
                               // A claim by another lock succeeds, since none is left.
                               const auto other = [&](std::size_t i) {
                                 claimWords(words + i, 1, LockKind::mutex, 0);
                                 disclaimWords(words + i, 1);
                               };
                               EXPECT_EQ(faultOf([&] { other(0); }), std::nullopt);
                               EXPECT_EQ(faultOf([&] { other(1); }), std::nullopt);
                               for (SharedWord& word : words) word = 0;
                             }),
            2);
  EXPECT_EQ(words[0], 12U);
  disclaimWords(words, 2);
  // No claim is left: another kind of lock may use the word.
  EXPECT_EQ(faultOf([&] { claimWords(words, 1, LockKind::mutex, 0); }), std::nullopt);
  disclaimWords(words, 1);
}

}  // namespace
}  // namespace boxoffice::test
