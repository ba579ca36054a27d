// Processes that compete for few buckets with many keys, and processes killed at each step of the table. The
// oracle is a second shared memory, in which each process records its own pins: from after pin() returns until
// before it calls unpin().
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "host_keys.h"
#include "stress.h"

namespace boxoffice::test {
namespace {

using host::HostError;
using host::KeyArea;
using host::KeyStep;
using host::ProcessSlot;

/// Kills its process at the nth time that it reaches a step; sometimes it yields at a step.
struct KillingPlatform {
  static inline thread_local unsigned random_ = 1;
  static inline int step_ = 0;
  static inline int count_ = 0;

  static void killAt(int number, int nth) {
    step_ = number;
    count_ = nth;
  }
  static void step(int number) noexcept {
    if (number == step_ && --count_ == 0) kill(getpid(), SIGKILL);
    random_ = random_ * 1664525 + 1013904223;
    if (random_ >> 24 == 0) std::this_thread::yield();
  }
  static void yield() noexcept { std::this_thread::yield(); }
};

using Table = host::KeyTable<KillingPlatform>;

constexpr int kKeys = 150;     // more than the 128 entries
constexpr int kProcesses = 6;  // of process slots 1 to 6
constexpr int kMostPins = 8;

std::string nameOfKey(int key) { return "key " + std::to_string(key); }

struct Oracle {
  std::atomic<std::uint32_t> slotOf[kProcesses + 1][kKeys];  // the slot + 1; 0: none
  std::atomic<std::uint32_t> keyOf[kProcesses + 1][2 * host::kBucketEntries];
  std::atomic<long> violations;
  std::atomic<long> pins;
  std::atomic<long> refused;

  void unless(bool fine) {
    if (!fine) ++violations;
  }
  /// Of two processes, the later writer sees the other's entry.
  void pinned(ProcessSlot who, int key, std::uint32_t slot) {
    ++pins;
    slotOf[who][key] = slot + 1;
    keyOf[who][slot] = static_cast<std::uint32_t>(key) + 1;
    for (int other = 1; other <= kProcesses; ++other) {
      const std::uint32_t theirSlot = slotOf[other][key];
      const std::uint32_t theirKey = keyOf[other][slot];
      unless(theirSlot == 0 || theirSlot == slot + 1);
      unless(theirKey == 0 || theirKey == static_cast<std::uint32_t>(key) + 1);
    }
  }
  void unpins(ProcessSlot who, int key, std::uint32_t slot) {
    slotOf[who][key] = 0;
    keyOf[who][slot] = 0;
  }
  void dies(ProcessSlot who) {
    for (auto& slot : slotOf[who]) slot = 0;
    for (auto& key : keyOf[who]) key = 0;
  }
};

class SharedOracle {
 public:
  SharedOracle()
      : oracle_(static_cast<Oracle*>(mmap(nullptr, sizeof(Oracle), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedOracle() {
    EXPECT_EQ(oracle_->violations, 0);
    munmap(oracle_, sizeof(Oracle));
  }
  Oracle* operator->() const { return oracle_; }

 private:
  Oracle* oracle_;
};

/// Runs `work` in a child process.
template <class Work>
pid_t begin(Work&& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  work();
  _exit(0);
}

/// Pins and unpins at random. Some locks are held for as long as they are pinned.
void churn(const SharedKeys& keys, const SharedOracle& oracle, ProcessSlot me, int seed,
           int count) {
  KillingPlatform::random_ = static_cast<unsigned>(seed);
  const auto table = tableOf<KillingPlatform>(keys, me);
  Dice dice(seed);
  struct Pin {
    int key;
    std::uint32_t slot;
  };
  std::vector<Pin> mine;
  struct Known {
    std::uint32_t slot;
    host::Digest digest;
  };
  std::array<std::optional<Known>, kKeys> known;  // each key's last slot
  const auto drop = [&](std::size_t i) {
    const Pin pin = mine[i];
    mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(i));
    oracle->unpins(me, pin.key, pin.slot);
    std::uint64_t held = me;
    keys.head(pin.slot).owner.compare_exchange_strong(held, 0);
    known[static_cast<std::size_t>(pin.key)] = {pin.slot, table->unpin(pin.slot)};
  };
  const auto pinKey = [&](int key) {
    const std::optional<Known>& last = known[static_cast<std::size_t>(key)];
    if (last && table->pinAgain(last->slot, last->digest)) return last->slot;
    return table->pin(nameOfKey(key));
  };
  while (count-- > 0) {
    if (mine.size() == kMostPins || (!mine.empty() && dice(2) == 0)) {
      drop(static_cast<std::size_t>(dice(static_cast<int>(mine.size()))));
      continue;
    }
    const int key = dice(kKeys);
    if (std::any_of(mine.begin(), mine.end(), [&](const Pin& pin) { return pin.key == key; })) {
      continue;
    }
    try {
      const std::uint32_t slot = pinKey(key);
      oracle->pinned(me, key, slot);
      mine.push_back({key, slot});
      if (dice(4) != 0) continue;
      std::uint64_t free = 0;
      auto& owner = keys.head(slot).owner;
      if (!owner.compare_exchange_strong(free, me) && free == kUntold) {
        owner.compare_exchange_strong(free, me);
      }
    } catch (const HostError&) {
      ++oracle->refused;
    }
  }
  while (!mine.empty()) drop(mine.size() - 1);
}

/// The lock kind's part of an eviction: releases the locks of the dead process, whose death the next holder is told of.
void evict(const SharedKeys& keys, ProcessSlot dead) {
  host::evictKeys<KillingPlatform>(KeyArea(keys.view), dead, [&](std::uint32_t index) {
    std::uint64_t held = dead;
    keys.head(index).owner.compare_exchange_strong(held, kUntold);
  });
}

void expectNothingLeft(const SharedKeys& keys) {
  expectWhole(keys);
  for (std::uint32_t index = 0; index < keys.view.plan.slots; ++index) {
    EXPECT_TRUE(keys.entry(index).pins.empty());
    const std::uint64_t owner = keys.head(index).owner;
    EXPECT_TRUE(owner == 0 || owner == kUntold) << "slot " << index;
  }
}

TEST(HostKeyTableStress, ProcessesSeeOneSlotForAKeyAndNoSlotForTwo) {
  const SharedKeys keys(host::kBucketEntries);
  ASSERT_EQ(keys.view.plan.buckets, 2U);
  const SharedOracle oracle;
  std::vector<pid_t> children;
  for (int i = 1; i <= kProcesses; ++i) {
    children.push_back(
        begin([&] { churn(keys, oracle, static_cast<ProcessSlot>(i), i, rounds(500'000)); }));
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_GT(oracle->pins, rounds(500'000));
  expectNothingLeft(keys);
}

/// As in JavaScript, a thread pins the slot that it remembers again, then locks it by a compare-and-swap.
TEST(HostKeyTableStress, ThreadsOfTwoProcessesMeetInTheLockOfTheirKeyOnly) {
  constexpr int kThreads = 4;
  const SharedKeys keys(host::kBucketEntries / 2);
  ASSERT_EQ(keys.view.plan.buckets, 1U);
  const std::array<std::unique_ptr<Table>, 2> tables = {tableOf<KillingPlatform>(keys, 1),
                                                        tableOf<KillingPlatform>(keys, 127)};
  std::array<std::atomic<int>, kKeys> inside{};
  std::atomic<long> violations = 0;
  std::atomic<long> again = 0;
  std::atomic<long> refused = 0;
  const auto visit = [&](std::uint64_t me) {
    Table& table = *tables[me % 2];
    Dice dice(static_cast<int>(me));
    std::array<std::optional<std::pair<std::uint32_t, host::Digest>>, kKeys> known;
    for (int count = rounds(100'000); count > 0; --count) {
      const auto key = static_cast<std::size_t>(dice(kKeys));
      std::uint32_t slot = 0;
      if (known[key] && table.pinAgain(known[key]->first, known[key]->second)) {
        slot = known[key]->first;
        ++again;
      } else {
        try {
          slot = table.pin(nameOfKey(static_cast<int>(key)));
        } catch (const HostError&) {
          ++refused;
          continue;
        }
      }
      std::uint64_t free = 0;
      if (keys.head(slot).owner.compare_exchange_strong(free, me)) {
        if (++inside[key] != 1) ++violations;
        --inside[key];
        keys.head(slot).owner = 0;
      }
      // A key's digest never changes, so a different digest shows that the slot changed its key.
      const host::Digest digest = table.unpin(slot);
      if (known[key] && known[key]->second != digest) ++violations;
      known[key] = {slot, digest};
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t me = 1; me <= kThreads; ++me) threads.emplace_back(visit, me);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(violations, 0);
  EXPECT_GT(again, 0);
  EXPECT_EQ(refused, 0) << "of 64 slots, 4 threads need 4 at once";
  expectNothingLeft(keys);
}

/// Kills one process after the other. Other processes clean up after each, and some of these are killed during
/// the clean-up, too, while the rest continue.
TEST(HostKeyTableStress, AProcessKilledAtAnyStepLeavesNothing) {
  const SharedKeys keys(host::kBucketEntries);
  const SharedOracle oracle;
  std::array<pid_t, kProcesses + 1> children{};
  std::array<int, kProcesses + 1> steps{};
  std::array<int, KeyStep::end> kills{};
  Dice dice(1);
  int seed = 0;
  int step = KeyStep::touch;
  const auto start = [&](int who) {
    // Some steps are rare: `touch` never occurs again once each entry has been claimed.
    const bool rare = step == KeyStep::touch || step == KeyStep::giveUp;
    steps[who] = step;
    const int nth = 1 + (rare ? 0 : dice(300));
    if (++step == KeyStep::evict) step = KeyStep::touch;
    const int mine = ++seed;
    children[who] = begin([&, who, nth, mine] {
      KillingPlatform::killAt(steps[who], nth);
      churn(keys, oracle, static_cast<ProcessSlot>(who), mine, 20'000);
    });
  };
  const auto clean = [&](ProcessSlot dead) {
    oracle->dies(dead);
    for (const int at : std::array<int, 4>{KeyStep::help, KeyStep::evict, KeyStep::evictPin, 0}) {
      const pid_t cleaner = begin([&, nth = 1 + dice(200)] {
        KillingPlatform::killAt(at, nth);
        evict(keys, dead);
      });
      int status = 0;
      waitpid(cleaner, &status, 0);
      if (WIFSIGNALED(status)) ++kills[at];
    }
  };
  start(1);
  int status = 0;
  waitpid(children[1], &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ++kills[KeyStep::touch];
  clean(1);
  for (int who = 1; who <= kProcesses; ++who) start(who);
  const Deadline end = Clock::now() + kPatienceForMeetings;
  const auto seen = [&] {
    const auto first = kills.begin() + KeyStep::touch;
    return std::find(first, kills.end(), 0) == kills.end() || Clock::now() >= end;
  };
  for (int deaths = 0; deaths < rounds(400) || !seen();) {
    const pid_t child = waitpid(-1, &status, 0);
    const auto who = std::find(children.begin() + 1, children.end(), child) - children.begin();
    ASSERT_LE(who, kProcesses);
    if (WIFSIGNALED(status)) {
      ++deaths;
      ++kills[steps[who]];
      clean(static_cast<ProcessSlot>(who));
    }
    start(static_cast<int>(who));
  }
  for (int who = 1; who <= kProcesses; ++who) {
    kill(children[who], SIGKILL);
    waitpid(children[who], nullptr, 0);
    clean(static_cast<ProcessSlot>(who));
  }
  expectNothingLeft(keys);
  for (int at = KeyStep::touch; at < KeyStep::end; ++at) {
    EXPECT_GT(kills[at], 0) << "no process was killed at step " << at;
  }
}

}  // namespace
}  // namespace boxoffice::test
