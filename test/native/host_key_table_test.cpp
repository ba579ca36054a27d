#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "host_keys.h"

#if defined(__SANITIZE_THREAD__)
// In these tests one thread plays several processes, one inside a step of the other. No real process locks the
// mutexes of several processes, so the reported lock order cannot occur.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions() {  // NOLINT
  return "deadlock:RandomStepsOfManyAgreeWithAMap\ndeadlock:boxoffice::test::World::step\n";
}
#endif

namespace boxoffice::test {
namespace {

using host::HostError;
using host::HostFault;
using host::KeyStatus;
using host::KeyStep;
using host::ProcessSlot;

using Table = host::KeyTable<SteppedPlatform>;

constexpr std::uint32_t kOneBucket = 32;  // the capacity that needs exactly one bucket

std::string nameOfKey(int key) { return "key " + std::to_string(key); }

std::map<std::string, std::uint32_t> busyIn(const Table& table) {
  std::map<std::string, std::uint32_t> busy;
  table.forEachBusy(
      [&](std::uint32_t index, const std::string& text, bool) { busy[text] = index; });
  return busy;
}

class HostKeyTable : public testing::Test {
 protected:
  HostKeyTable() { keys.view.header->rows = host::kBucketEntries; }
  ~HostKeyTable() override { SteppedPlatform::atStep = nullptr; }

  /// Runs `meanwhile` once, when the table reaches this step for the nth time.
  static void at(int step, std::function<void()> meanwhile, int nth = 1) {
    SteppedPlatform::atStep = [=](int number) mutable {
      if (number != step || --nth > 0) return;
      const auto once = std::exchange(meanwhile, nullptr);
      SteppedPlatform::atStep = nullptr;
      once();
    };
  }
  void evict(ProcessSlot dead) {
    host::evictKeys<SteppedPlatform>(host::KeyArea(keys.view), dead,
                                     [this](std::uint32_t index) { evicted.push_back(index); });
  }
  /// Fills the only bucket with unpinned keys: idle with `owner` 0, held otherwise.
  void fill(std::uint64_t owner) {
    for (int key = 0; key < 64; ++key) {
      const std::uint32_t index = first->pin(nameOfKey(key));
      keys.head(index).owner = owner;
      first->unpin(index);
    }
  }

  SharedKeys keys{kOneBucket};
  std::unique_ptr<Table> first = tableOf<SteppedPlatform>(keys, 1);
  std::unique_ptr<Table> second = tableOf<SteppedPlatform>(keys, 127);
  std::vector<std::uint32_t> evicted;
};

TEST(SipHash, EqualsTheAuthorsTestVectors) {
  host::Digest secret;
  std::string bytes;
  std::uint8_t key[16];
  for (std::uint8_t i = 0; i < 16; ++i) key[i] = i;
  std::memcpy(secret.data(), key, sizeof(key));
  const auto hex = [&] {
    std::string text;
    for (const std::uint64_t word : host::sipHash(secret, bytes)) {
      for (int i = 0; i < 8; ++i) {
        const char* const digits = "0123456789abcdef";
        text += digits[word >> (8 * i + 4) & 15];
        text += digits[word >> (8 * i) & 15];
      }
    }
    return text;
  };
  EXPECT_EQ(hex(), "a3817f04ba25a8e66df67214c7550293");
  bytes += '\0';
  EXPECT_EQ(hex(), "da87c1d86b99af44347659119b22fc45");
  for (char i = 1; i < 15; ++i) bytes += i;
  EXPECT_EQ(hex(), "5493e99933b0a8117e08ec0f97cfc3d9");
  for (char i = 15; i < 63; ++i) bytes += i;
  EXPECT_EQ(hex(), "5150d1772f50834a503e069a973fbd7c");
}

TEST_F(HostKeyTable, AKeyHasOneSlotAndEachItsOwn) {
  const std::uint32_t a = first->pin("a");
  const std::uint32_t b = first->pin("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(second->pin("a"), a);
  EXPECT_EQ(first->pin("a"), a);
  EXPECT_NE(first->pin(std::string_view("a\0", 2)), a);
  EXPECT_NE(first->pin(""), a);
  expectWhole(keys);
}

TEST_F(HostKeyTable, APinLastsAsLongAsThereAreAsManyUnpins) {
  const std::uint32_t index = first->pin("a");
  EXPECT_EQ(first->pin("a"), index);
  first->unpin(index);
  EXPECT_TRUE(keys.entry(index).pins.has(1));
  EXPECT_EQ(second->pin("a"), index);
  EXPECT_TRUE(keys.entry(index).pins.has(127));
  first->unpin(index);
  EXPECT_FALSE(keys.entry(index).pins.has(1));
  second->unpin(index);
  EXPECT_TRUE(keys.entry(index).pins.empty());
}

TEST_F(HostKeyTable, KnowsTheSlotsThatItHasPinned) {
  const std::uint32_t a = first->pin("a");
  const std::uint32_t b = first->pin("b");
  first->pin("b");
  second->pin("c");
  std::set<std::uint32_t> pinned;
  first->forEachPinned([&](std::uint32_t index) { EXPECT_TRUE(pinned.insert(index).second); });
  EXPECT_EQ(pinned, (std::set{a, b}));
}

TEST_F(HostKeyTable, ARestingSlotMakesRoomAndComesBackAsAtFirst) {
  fill(0);
  const std::uint32_t index = first->pin("one more");
  EXPECT_EQ(keys.head(index).headSince, 0U);
  keys.head(index).headSince = 7;
  first->unpin(index);
  for (int key = 0; key < 1000; ++key) {
    const std::uint32_t next = second->pin(nameOfKey(key));
    EXPECT_EQ(keys.head(next).headSince, 0U);
    keys.head(next).headSince = 7;
    second->unpin(next);
  }
  expectWhole(keys);
}

TEST_F(HostKeyTable, ARestingKeyKeepsItsSlotForAWhile) {
  fill(0);
  const std::uint32_t index = first->pin("one more");
  first->unpin(index);
  const std::uint64_t state = keys.entry(index).state;
  for (int key = 100; key < 140; ++key) first->unpin(first->pin(nameOfKey(key)));
  EXPECT_EQ(keys.entry(index).state, state);
}

TEST_F(HostKeyTable, AFullBucketIsAnErrorThatLosesNothing) {
  fill(5);
  const auto busy = busyIn(*first);
  EXPECT_EQ(busy.size(), 64U);
  try {
    second->pin("one more");
    ADD_FAILURE() << "there was room";
  } catch (const HostError& error) {
    EXPECT_EQ(error.fault(), HostFault::capacity);
  }
  EXPECT_EQ(busyIn(*second), busy);
  EXPECT_EQ(second->pin(nameOfKey(3)), busy.at(nameOfKey(3)));
  keys.head(busy.at(nameOfKey(7))).owner = 0;
  EXPECT_EQ(second->pin("one more"), busy.at(nameOfKey(7)));
  expectWhole(keys);
}

TEST_F(HostKeyTable, AnUntoldDeathKeepsItsKeyWhileThereIsRoom) {
  keys.view.header->rows = 0;
  std::map<std::string, std::uint32_t> untold;
  for (int key = 0; key < 63; ++key) {
    const std::uint32_t index = first->pin(nameOfKey(key));
    keys.head(index).owner = kUntold;
    first->unpin(index);
    untold[nameOfKey(key)] = index;
  }
  for (int key = 100; key < 1000; ++key) second->unpin(second->pin(nameOfKey(key)));
  EXPECT_EQ(busyIn(*second), untold);
}

TEST_F(HostKeyTable, AFullBucketForgetsDeathsRatherThanRefuseAKey) {
  fill(kUntold);
  std::set<std::uint32_t> used;
  for (int key = 100; key < 164; ++key) {
    const std::uint32_t index = second->pin(nameOfKey(key));
    EXPECT_TRUE(used.insert(index).second);
    EXPECT_EQ(keys.head(index).owner, 0U);
    EXPECT_EQ(busyIn(*first).size(), 64U - used.size());
  }
  EXPECT_THROW(first->pin("one more"), HostError);
  expectWhole(keys);
}

TEST_F(HostKeyTable, AFullBucketForgetsNoDeathOfAKeyThatIsPinned) {
  fill(5);
  keys.head(9).owner = kUntold;
  std::string name;
  for (const auto& [key, index] : busyIn(*first)) {
    if (index == 9) name = key;
  }
  EXPECT_EQ(first->pin(name), 9U);
  EXPECT_THROW(second->pin("one more"), HostError);
  EXPECT_EQ(keys.head(9).owner, kUntold);
  first->unpin(9);
  EXPECT_EQ(second->pin("one more"), 9U);
  expectWhole(keys);
}

TEST_F(HostKeyTable, ADeathIsNotForgottenWhileAnotherProcessMakesRoom) {
  fill(kUntold);
  keys.head(9).owner = 0;
  const auto busy = busyIn(*first);
  // The first table has claimed the only unused entry while the second looks for the same key.
  at(KeyStep::commit, [&] {
    at(
        KeyStep::claim, [&] { keys.head(20).owner = 0; }, 65);
    EXPECT_EQ(second->pin("one"), 20U);
  });
  EXPECT_EQ(first->pin("one"), 20U);
  EXPECT_EQ(busy.size() - busyIn(*first).size(), 1U) << "only that of entry 20";
  expectWhole(keys);
}

TEST_F(HostKeyTable, AProcessThatStoppedInAClaimDoesNotKeepDeathsFromBeingForgotten) {
  fill(kUntold);
  host::KeyEntry& entry = keys.entry(9);
  entry.state = entry.now().next(KeyStatus::claimed, 3).bits;
  EXPECT_NE(second->pin("one more"), 9U);
  EXPECT_TRUE(entry.now().is(KeyStatus::claimed, 3));
}

TEST_F(HostKeyTable, ADeathOfAKeyPinnedWhileItIsReclaimedIsNotForgotten) {
  for (const int step : {KeyStep::claim, KeyStep::leave, KeyStep::takeOver}) {
    fill(kUntold);
    at(step, [&] {
      for (int key = 0; key < 64; ++key) second->pin(nameOfKey(key));
    });
    EXPECT_THROW(first->pin("one more " + std::to_string(step)), HostError);
    EXPECT_EQ(SteppedPlatform::atStep, nullptr);
    expectWhole(keys);
    for (std::uint32_t index = 0; index < 64; ++index) {
      EXPECT_EQ(keys.head(index).owner, kUntold);
      second->unpin(index);
    }
  }
}

TEST_F(HostKeyTable, TakesAnotherRowOnlyWhenAllKeysOfABucketAreInUse) {
  const auto& rows = keys.view.header->rows;
  keys.view.header->rows = 0;
  for (int key = 0; key < 1000; ++key) first->unpin(first->pin(nameOfKey(key)));
  EXPECT_EQ(rows, host::kFirstRows);
  std::set<std::uint32_t> used;
  for (std::uint32_t held = 1; held <= host::kBucketEntries; ++held) {
    used.insert(first->pin(nameOfKey(static_cast<int>(held))));
    EXPECT_EQ(rows, std::max(host::kFirstRows, std::bit_ceil(held)));
  }
  EXPECT_EQ(used.size(), host::kBucketEntries);
  EXPECT_THROW(first->pin("one more"), HostError);
  expectWhole(keys);
}

TEST_F(HostKeyTable, LosesNothingWhenThereIsNoRoomForAnotherRow) {
  keys.view.header->rows = 8;
  const auto refused = [](std::uint32_t) { throw HostError(HostFault::segment, "no room"); };
  Table table(host::KeyArea(keys.view), kPlainLocks, 2, refused);
  std::set<std::uint32_t> used;
  for (int key = 0; key < 8; ++key) used.insert(table.pin(nameOfKey(key)));
  EXPECT_THROW(table.pin("one more"), HostError);
  EXPECT_EQ(used.size(), 8U);
  table.unpin(table.pin(nameOfKey(3)));
  table.unpin(*used.begin());
  EXPECT_EQ(table.pin("one more"), *used.begin());
  expectWhole(keys);
}

TEST_F(HostKeyTable, ACountOfRowsThatIsTooLargeIsNotBelieved) {
  keys.view.header->rows = ~0U;
  fill(5);
  EXPECT_EQ(busyIn(*second).size(), 64U);
  EXPECT_THROW(second->pin("one more"), HostError);
}

TEST_F(HostKeyTable, ABucketWithASlotInTransitionIsNotFull) {
  fill(0);
  for (std::uint32_t index = 1; index < 64; ++index) keys.head(index).owner = 5;
  // The first table is about to commit the last entry while the second searches the bucket again.
  at(KeyStep::commit, [&] {
    at(
        KeyStep::claim, [&] { keys.head(9).owner = 0; }, 65);
    EXPECT_EQ(second->pin("one"), 9U);
  });
  EXPECT_EQ(first->pin("one"), 9U);
  expectWhole(keys);
}

TEST_F(HostKeyTable, ASlotThatChangesItsKeyIsNotListedByTheOtherKey) {
  static host::KeyEntry* changing;
  host::KeyLocks locks = kPlainLocks;
  locks.isUnused = [](const std::byte*, std::int64_t) noexcept {
    changing->state = changing->now().next(KeyStatus::live).bits;
    return false;
  };
  const Table table(host::KeyArea(keys.view), locks, 3, growthOf(keys));
  changing = &keys.entry(first->pin("a"));
  EXPECT_TRUE(busyIn(table).empty());
}

TEST_F(HostKeyTable, ListsBusySlotsByTheirKeys) {
  const std::string umlauts =
      "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
      "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4";
  const std::string longKey = umlauts + umlauts;
  keys.head(first->pin("held")).owner = 1;
  keys.head(first->pin(longKey)).owner = 1;
  first->pin("rests");
  const auto busy = busyIn(*second);
  ASSERT_EQ(busy.size(), 2U);
  EXPECT_TRUE(busy.contains("held"));
  // The text is cut to 47 bytes, with whole characters and the ellipsis.
  EXPECT_TRUE(busy.contains(longKey.substr(0, 44) + "\xE2\x80\xA6"));
  const std::string fits(47, 'x');
  keys.head(first->pin(fits)).owner = 1;
  EXPECT_TRUE(busyIn(*second).contains(fits));
}

TEST_F(HostKeyTable, KeysOfEveryKindHaveRoomForTheirText) {
  for (const host::Kind kind : {host::Kind::keyedMutex, host::Kind::keyedRWLock,
                                host::Kind::keyedSemaphore, host::Kind::lockManager}) {
    const SharedKeys others(kOneBucket, kind);
    const auto table = tableOf<SteppedPlatform>(others, 3);
    const std::string text(40, 'x');
    const std::uint32_t index = table->pin(text);
    others.head(index).owner = 1;
    EXPECT_EQ(busyIn(*table), (std::map<std::string, std::uint32_t>{{text, index}}));
  }
}

TEST_F(HostKeyTable, TwoThreadsThatAdmitOneKeyGetOneSlot) {
  for (const int step :
       {KeyStep::touch, KeyStep::claim, KeyStep::pin, KeyStep::label, KeyStep::publish,
        KeyStep::commit, KeyStep::help, KeyStep::admit, KeyStep::finish}) {
    const std::string key = nameOfKey(step);
    std::uint32_t theirs = 0;
    at(step, [&] { theirs = second->pin(key); });
    EXPECT_EQ(first->pin(key), theirs) << "step " << step;
    EXPECT_EQ(SteppedPlatform::atStep, nullptr) << "step " << step << " has not been";
    expectWhole(keys);
  }
}

TEST_F(HostKeyTable, ASlotPinnedWhileItIsReclaimedStays) {
  for (const int step : {KeyStep::claim, KeyStep::leave, KeyStep::takeOver}) {
    fill(0);
    std::uint32_t theirs = 0;
    std::string wanted;
    // Pins every key, since the test does not know which entry is leaving.
    at(step, [&] {
      for (int key = 0; key < 64; ++key) theirs = second->pin(nameOfKey(key));
    });
    EXPECT_THROW(first->pin("one more " + std::to_string(step)), HostError);
    EXPECT_EQ(SteppedPlatform::atStep, nullptr);
    expectWhole(keys);
    for (std::uint32_t index = 0; index < 64; ++index) second->unpin(index);
  }
}

TEST_F(HostKeyTable, KeyAtRestIsPinnedAgainByItsSlot) {
  const std::uint32_t index = first->pin("a");
  const host::Digest digest = first->unpin(index);
  EXPECT_TRUE(keys.entry(index).pins.empty());
  EXPECT_TRUE(first->pinAgain(index, digest));
  EXPECT_TRUE(keys.entry(index).pins.has(1));
  EXPECT_TRUE(second->pinAgain(index, digest));
  EXPECT_TRUE(first->pinAgain(index, digest));
  first->unpin(index);
  EXPECT_TRUE(keys.entry(index).pins.has(1));
  first->unpin(index);
  EXPECT_FALSE(keys.entry(index).pins.has(1));
  expectWhole(keys);
}

TEST_F(HostKeyTable, SlotOfAnotherKeyIsNotPinnedAgain) {
  const std::uint32_t index = first->pin("a");
  const host::Digest digest = first->unpin(index);
  // Every step of the take-over of the slot, from the last one at which it still has key "a".
  for (const int step : {KeyStep::pin, KeyStep::label, KeyStep::publish, KeyStep::commit,
                         KeyStep::help, KeyStep::admit, KeyStep::finish}) {
    for (int key = 0; keys.entry(index).pins.empty(); ++key) {
      const std::string name = "other " + std::to_string(step) + " " + std::to_string(key);
      at(step, [&] {
        if (!keys.entry(index).pins.has(127)) return;
        EXPECT_FALSE(first->pinAgain(index, digest));
      });
      second->pin(name);
      SteppedPlatform::atStep = nullptr;
    }
    EXPECT_FALSE(first->pinAgain(index, digest));
    EXPECT_FALSE(keys.entry(index).pins.has(1));
    for (std::uint32_t other = 0; other < 64; ++other) {
      if (keys.entry(other).pins.has(127)) second->unpin(other);
    }
  }
  expectWhole(keys);
}

TEST_F(HostKeyTable, ASlotPinnedAgainWhileItIsReclaimedStays) {
  for (const int step : {KeyStep::claim, KeyStep::leave, KeyStep::takeOver}) {
    fill(0);
    std::vector<host::Digest> digests;
    for (std::uint32_t index = 0; index < 64; ++index) {
      digests.push_back(keys.entry(index).carried());
    }
    at(step, [&] {
      for (std::uint32_t index = 0; index < 64; ++index) {
        EXPECT_TRUE(second->pinAgain(index, digests[index]));
      }
    });
    EXPECT_THROW(first->pin("one more " + std::to_string(step)), HostError);
    EXPECT_EQ(SteppedPlatform::atStep, nullptr);
    expectWhole(keys);
    for (std::uint32_t index = 0; index < 64; ++index) {
      EXPECT_EQ(keys.entry(index).carried(), digests[index]);
      second->unpin(index);
    }
  }
}

TEST_F(HostKeyTable, ASlotReclaimedWhileItIsPinnedAgainIsOneOrTheOther) {
  for (const int step : {KeyStep::pin, KeyStep::look, KeyStep::restore, KeyStep::unpin}) {
    fill(0);
    const host::Digest digest = keys.entry(9).carried();
    std::set<std::uint32_t> others;
    at(step, [&] {
      for (int key = 0; key < 63; ++key) {
        others.insert(second->pin("other " + std::to_string(step) + " " + std::to_string(key)));
      }
    });
    // A pinned entry keeps its key.
    EXPECT_EQ(first->pinAgain(9, digest), step != KeyStep::unpin || others.empty());
    EXPECT_FALSE(others.contains(9));
    expectWhole(keys);
    if (keys.entry(9).pins.has(1)) first->unpin(9);
    SteppedPlatform::atStep = nullptr;
    for (const std::uint32_t index : others) second->unpin(index);
  }
}

TEST_F(HostKeyTable, ASlotThatBecomesBusyWhileItIsReclaimedStays) {
  fill(0);
  at(KeyStep::takeOver, [&] {
    for (std::uint32_t index = 0; index < 64; ++index) keys.head(index).owner = 1;
  });
  EXPECT_THROW(first->pin("one more"), HostError);
  expectWhole(keys);
  EXPECT_EQ(busyIn(*first).size(), 64U);
}

TEST_F(HostKeyTable, ALateHelperDoesNotAdmitTheNextClaim) {
  // "a" is committed and its process is dead. While the second table is about to admit "a", a third table
  // admits it. Then the entry becomes the next claim, of the same process slot.
  for (const int step : {KeyStep::help, KeyStep::admit}) {
    host::KeyEntry& entry = keys.entry(first->pin("a"));
    ASSERT_EQ(&entry, &keys.entry(0));
    const host::KeyState claim = entry.now().next(KeyStatus::claimed, 1);
    entry.state = claim.bits;
    keys.view.buckets[0].control |= 1;
    const host::KeyState next = claim.next(KeyStatus::live).next(KeyStatus::claimed, 1);
    at(step, [&] {
      tableOf<SteppedPlatform>(keys, 3)->pin("c");
      EXPECT_EQ(entry.now().status(), KeyStatus::live);
      entry.state = next.bits;
    });
    second->pin("b");
    EXPECT_EQ(SteppedPlatform::atStep, nullptr);
    EXPECT_EQ(entry.state, next.bits);
    entry.state = next.next(KeyStatus::live).bits;
  }
}

TEST_F(HostKeyTable, ALateWriterOfAKeyWritesNoOther) {
  host::KeyEntry& entry = keys.entry(first->pin("a"));
  const host::KeyState leaving = entry.now().next(KeyStatus::leaving, 3);
  entry.state = leaving.bits;
  // Meanwhile the entry has been reclaimed for another key, which is leaving as well.
  const host::KeyState next = leaving.next(KeyStatus::claimed, 3).next(KeyStatus::leaving, 3);
  at(KeyStep::restore, [&] {
    entry.label(host::sipHash({}, "b"));
    entry.state = next.bits;
  });
  EXPECT_NE(&keys.entry(second->pin("a")), &entry);
  EXPECT_EQ(entry.state, next.bits);
}

TEST_F(HostKeyTable, ADeadProcessLeavesItsSlotsAndNothingElse) {
  const std::uint32_t a = first->pin("a");
  const std::uint32_t b = second->pin("b");
  EXPECT_EQ(second->pin("a"), a);
  evict(1);
  EXPECT_EQ(evicted, std::vector{a});
  EXPECT_FALSE(keys.entry(a).pins.has(1));
  EXPECT_TRUE(keys.entry(a).pins.has(127));
  EXPECT_TRUE(keys.entry(b).pins.has(127));
  evict(1);
  EXPECT_EQ(evicted.size(), 1U);
}

TEST_F(HostKeyTable, AClaimOfADeadProcessIsAdmittedBeforeItIsLeft) {
  host::KeyEntry& entry = keys.entry(first->pin("a"));
  entry.state = entry.now().next(KeyStatus::claimed, 1).bits;
  keys.view.buckets[0].control |= 1;
  evict(1);
  EXPECT_EQ(keys.view.buckets[0].control & 0xFF, 0U);
  EXPECT_EQ(entry.now().status(), KeyStatus::live);
  EXPECT_TRUE(entry.pins.empty());
}

/// The process stands still at that step while it is evicted. Unlike a dead process, it continues afterwards.
/// The table need not support that: the next eviction removes its traces.
TEST_F(HostKeyTable, AnEvictionAtAnyStepLeavesNoEntryBehind) {
  for (int step = KeyStep::touch; step < KeyStep::evict; ++step) {
    fill(step % 2 == 0 ? 0 : kUntold);
    at(step, [&] {
      evict(1);
      for (std::uint32_t index = 0; index < 64; ++index) {
        const host::KeyState state = keys.entry(index).now();
        EXPECT_FALSE(state.is(KeyStatus::claimed, 1) || state.is(KeyStatus::leaving, 1));
        EXPECT_FALSE(keys.entry(index).pins.has(1));
      }
    });
    first->unpin(first->pin("one more " + std::to_string(step)));
    SteppedPlatform::atStep = nullptr;
    first = tableOf<SteppedPlatform>(keys, 1);
    evict(1);
    expectWhole(keys);
  }
}

TEST_F(HostKeyTable, RandomStepsOfManyAgreeWithAMap) {
  constexpr int kKeys = 90;
  constexpr int kProcessesHere = 5;
  std::vector<std::unique_ptr<Table>> tables;
  tables.reserve(kProcessesHere);
  for (int i = 0; i < kProcessesHere; ++i) {
    tables.push_back(tableOf<SteppedPlatform>(keys, static_cast<ProcessSlot>(1 + 31 * i)));
  }
  struct Used {
    std::uint32_t index = 0;
    int pins[kProcessesHere] = {};
    bool held = false;
    int all() const { return std::accumulate(std::begin(pins), std::end(pins), held ? 1 : 0); }
  };
  std::map<int, Used> used;  // by key
  struct Known {
    std::uint32_t index;
    host::Digest digest;
  };
  std::map<int, Known> known[kProcessesHere];  // by key: its last slot
  int comebacks = 0;
  std::minstd_rand random(7);
  const auto dice = [&](int sides) { return static_cast<int>(random() % unsigned(sides)); };
  int refused = 0;
  int depth = 0;
  std::function<void(int)> act;
  act = [&](int who) {
    const int key = dice(kKeys);
    const auto found = used.find(key);
    if (found != used.end() && dice(16) != 0) {
      Used& use = found->second;
      if (use.pins[who] > 0) {
        if (dice(3) == 0) keys.head(use.index).owner = (use.held = !use.held) ? 1 : 0;
        if (!use.held || use.all() > 2) {
          --use.pins[who];
          const std::uint32_t index = use.index;
          if (use.all() == 0) used.erase(found);
          known[who][key] = {index, tables[who]->unpin(index)};
        }
      }
      return;
    }
    std::uint32_t index = 0;
    const auto before = known[who].find(key);
    try {
      if (before != known[who].end() &&
          tables[who]->pinAgain(before->second.index, before->second.digest)) {
        index = before->second.index;
        ++comebacks;
      } else {
        index = tables[who]->pin(nameOfKey(key));
      }
    } catch (const HostError&) {
      // An entry may become free after the search has passed it.
      EXPECT_GE(used.size() + 2 * kProcessesHere, 64U);
      ++refused;
      return;
    }
    Used& use = used[key];
    EXPECT_TRUE(use.all() == 0 || use.index == index);
    for (const auto& [other, theirs] : used) {
      EXPECT_TRUE(other == key || theirs.all() == 0 || theirs.index != index);
    }
    use.index = index;
    ++use.pins[who];
  };
  // At any step of one process, a second may act, and a third during a step of the second.
  std::vector<bool> acting(kProcessesHere);
  const auto actAs = [&](int who) {
    acting[who] = true;
    ++depth;
    act(who);
    --depth;
    acting[who] = false;
  };
  SteppedPlatform::atStep = [&](int) {
    const int who = dice(kProcessesHere);
    if (depth < 4 && dice(40) == 0 && !acting[who]) actAs(who);
  };
  for (int i = 0; i < 20'000; ++i) actAs(dice(kProcessesHere));
  SteppedPlatform::atStep = nullptr;
  EXPECT_GT(refused, 0);
  EXPECT_GT(comebacks, 0);
  for (auto& [key, use] : used) {
    keys.head(use.index).owner = 0;
    for (int who = 0; who < kProcessesHere; ++who) {
      for (; use.pins[who] > 0; --use.pins[who]) tables[who]->unpin(use.index);
    }
  }
  expectWhole(keys);
  for (std::uint32_t index = 0; index < 64; ++index) EXPECT_TRUE(keys.entry(index).pins.empty());
}

TEST_F(HostKeyTable, GarbageIsNoReasonToCrashOrHang) {
  std::minstd_rand random(3);
  const std::size_t size = keys.view.plan.fileSize - keys.view.plan.bucketsAt;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(keys.view.buckets);
  for (int round = 0; round < 400; ++round) {
    const std::size_t spots = round % 4 == 0 ? size : 1 + random() % 200;
    for (std::size_t i = 0; i < spots; ++i) bytes[random() % size] = std::uint8_t(random());
    std::vector<std::uint32_t> pinned;
    for (int key = 0; key < 80; ++key) {
      try {
        pinned.push_back(first->pin(nameOfKey(key)));
      } catch (const HostError&) {
        continue;
      }
      EXPECT_LT(pinned.back(), keys.view.plan.slots);
    }
    busyIn(*first);
    for (const std::uint32_t index : pinned) first->unpin(index);
    evict(static_cast<ProcessSlot>(random() % 128));
    if (round % 8 == 7) std::memset(bytes, 0, size);
  }
}

}  // namespace
}  // namespace boxoffice::test
