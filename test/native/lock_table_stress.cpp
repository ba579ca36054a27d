// Random keys of one table and random claims of the same memory: no thread gets another key's lock, and no
// word is lost.
#include <set>

#include "stress.h"

namespace boxoffice::test {
namespace {

using namespace std::chrono_literals;

constexpr int kKeys = 12;

std::string nameOfKey(int key) { return "key " + std::to_string(key); }
Mutex& mutexIn(const LockTable::Entry& entry) { return *reinterpret_cast<Mutex*>(entry.words); }

/// The pairs that the next kKeys keys get: the top of the stack, as long as no pair is lost.
std::set<WordPairs::Number> nextPairs() {
  LockTable table;
  std::vector<LockTable::Entry*> entries;
  std::set<WordPairs::Number> pairs;
  for (int key = 0; key < kKeys; ++key) {
    entries.push_back(&table.pin(nameOfKey(key), 0));
    pairs.insert(entries.back()->pair);
  }
  for (LockTable::Entry* entry : entries) table.unpin(*entry);
  return pairs;
}

TEST(LockTableStress, EachKeyHasOneHolderHoweverOftenItComesAndGoes) {
  LockTable table;
  Room rooms[kKeys];
  Tally tally;
  Violations violations;
  std::atomic<long> deaths{0};
  const std::set<WordPairs::Number> pairs = nextPairs();
  inThreads(kThreads, [&](int, Dice& dice) {
    for (int i = 0; i < rounds(40'000); ++i) {
      const int key = dice(kKeys);
      LockTable::Entry& entry = table.pin(nameOfKey(key), 0);
      violations.unless(pairs.contains(entry.pair) && *entry.key == nameOfKey(key));
      Mutex& mutex = mutexIn(entry);
      const Entry in = dice(4) == 0   ? mutex.tryLock()
                       : dice(8) == 0 ? mutex.lockFor(dice.upTo(50us))
                                      : mutex.lock();
      if (tally.tried(in.granted)) {
        Room& room = rooms[key];
        room.enter(in.abandoned);
        dice.dwell();
        if (dice(64) == 0) {
          room.die();
          violations.unless(mutex.abandon(thisThread()));
          ++deaths;
        } else {
          room.leave();
          mutex.unlock();
        }
      }
      if (dice(16) == 0) {
        // Threads also list the entries, and pin them twice.
        violations.unless(table.busy() <= kKeys && table.busyKeys().size() <= kKeys);
        LockTable::Entry& same = table.pin(nameOfKey(key), 0);
        violations.unless(&same == &entry && !table.empty());
        violations.unless(faultOf([&] { table.pin(nameOfKey(key), 4); }) == Fault::mismatch);
        table.unpin(same);
      }
      table.unpin(entry);
    }
  });
  long visits = 0;
  for (int key = 0; key < kKeys; ++key) {
    LockTable::Entry& entry = table.pin(nameOfKey(key), 0);
    EXPECT_TRUE(pairs.contains(entry.pair));
    const Entry in = mutexIn(entry).tryLock();
    EXPECT_TRUE(in.granted);
    EXPECT_EQ(in.abandoned, rooms[key].died());
    mutexIn(entry).unlock();
    table.unpin(entry);
    visits += rooms[key].visits();
  }
  EXPECT_EQ(visits, tally.in);
  EXPECT_GT(deaths, 0);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(nextPairs(), pairs);
  expectNoWaiters<Platform>();
}

TEST(LockTableStress, TablesByName) {
  LockTables tables;
  Room rooms[2];
  inThreads(kThreads, [&](int, Dice& dice) {
    for (int i = 0; i < rounds(20'000); ++i) {
      const int which = dice(2);
      const std::string name = nameOfKey(which);
      LockTable& table = tables.open(name, 0);
      LockTable::Entry& entry = table.pin("the only one", 0);
      const Entry in = mutexIn(entry).lock();
      rooms[which].enter(in.abandoned);
      if (dice(16) == 0) {
        rooms[which].die();
        mutexIn(entry).abandon(thisThread());
      } else {
        rooms[which].leave();
        mutexIn(entry).unlock();
      }
      table.unpin(entry);
      tables.close(name);
    }
  });
  for (int which = 0; which < 2; ++which) {
    LockTable& table = tables.open(nameOfKey(which), 0);
    EXPECT_EQ(table.busy(), rooms[which].died() ? 1U : 0U);
    LockTable::Entry& entry = table.pin("the only one", 0);
    EXPECT_EQ(mutexIn(entry).lock().abandoned, rooms[which].died());
    mutexIn(entry).unlock();
    table.unpin(entry);
    EXPECT_TRUE(table.empty());
    tables.close(nameOfKey(which));
  }
  expectNoWaiters<Platform>();
}

TEST(LockTableStress, ClaimsOfTheSameMemoryDoNotOverlap) {
  constexpr std::size_t kWords = 5;
  constexpr LockKind kKinds[] = {LockKind::mutex, LockKind::condition, LockKind::semaphore,
                                 LockKind::autoResetEvent};
  SharedWord words[kWords + 1] = {};
  // For each word, one byte per kind and part of a lock: the number of such claims.
  std::atomic<std::uint64_t> uses[kWords + 1] = {};
  Violations violations;
  Tally tally;
  inThreads(kThreads, [&](int, Dice& dice) {
    struct Claim {
      std::size_t first;
      std::size_t kind;
    };
    std::vector<Claim> mine;
    const auto count = [](const Claim& claim) { return claim.kind < 2 ? 1U : 2U; };
    const auto unit = [](const Claim& claim, std::size_t part) {
      return std::uint64_t{1} << (8 * (2 * claim.kind - (claim.kind < 2 ? claim.kind : 2) + part));
    };
    const auto drop = [&](const Claim& claim) {
      for (std::size_t i = 0; i < count(claim); ++i) uses[claim.first + i] -= unit(claim, i);
      disclaimWords(words + claim.first, count(claim));
    };
    for (int i = 0; i < rounds(50'000); ++i) {
      const Claim claim{static_cast<std::size_t>(dice(kWords)), static_cast<std::size_t>(dice(4))};
      const auto fault =
          faultOf([&] { claimWords(words + claim.first, count(claim), kKinds[claim.kind], 0); });
      violations.unless(!fault || fault == Fault::mismatch);
      if (tally.tried(!fault)) {
        for (std::size_t part = 0; part < count(claim); ++part) {
          const std::uint64_t now = uses[claim.first + part] += unit(claim, part);
          violations.unless((now & ~(unit(claim, part) * 0xFF)) == 0);
        }
        mine.push_back(claim);
      }
      while (mine.size() > 2 || (!mine.empty() && dice(3) == 0)) {
        drop(mine.back());
        mine.pop_back();
      }
    }
    for (const Claim& claim : mine) drop(claim);
  });
  EXPECT_GT(tally.in, 0);
  EXPECT_GT(tally.refused, 0);
  for (std::size_t i = 0; i <= kWords; ++i) {
    EXPECT_EQ(uses[i], 0U);
    EXPECT_EQ(faultOf([&] { claimWords(words + i, 1, LockKind::condition, 0); }), std::nullopt);
    disclaimWords(words + i, 1);
  }
}

}  // namespace
}  // namespace boxoffice::test
