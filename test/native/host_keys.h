// Shared by the tests of the key table: a segment in memory without a file, and locks that consist of a
// number in the owner word.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <functional>
#include <memory>
#include <new>
#include <set>
#include <string>

#include "host/key_table.h"

namespace boxoffice::test {

/// Runs a test's interruption at each step of a table.
struct SteppedPlatform {
  static inline std::function<void(int)> atStep;

  static void step(int number) noexcept {
    if (atStep) atStep(number);
  }
  static void yield() noexcept {}
};

/// A segment that forked processes share.
class SharedKeys {
 public:
  explicit SharedKeys(std::uint32_t capacity, host::Kind kind = host::Kind::keyedMutex) {
    view.kind = kind;
    view.plan = host::planOf(kind, capacity);
    memory_ = mmap(nullptr, view.plan.fileSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                   -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    auto* const bytes = static_cast<std::byte*>(memory_);
    view.header = reinterpret_cast<host::SegmentHeader*>(bytes);
    view.buckets = reinterpret_cast<host::KeyBucket*>(bytes + view.plan.bucketsAt);
    view.slots = bytes + view.plan.slotsAt;
    for (std::uint8_t& byte : view.header->secret) {
      byte = static_cast<std::uint8_t>(&byte - view.header->secret + 1);
    }
  }
  ~SharedKeys() { munmap(memory_, view.plan.fileSize); }
  SharedKeys(const SharedKeys&) = delete;
  SharedKeys& operator=(const SharedKeys&) = delete;

  host::SlotHead& head(std::uint32_t index) const {
    return *reinterpret_cast<host::SlotHead*>(view.slot(index));
  }
  host::KeyEntry& entry(std::uint32_t index) const { return head(index).entry; }

  host::SegmentView view;

 private:
  void* memory_;
};

/// The owner word of a plain lock that has a death to report.
constexpr std::uint64_t kUntold = ~std::uint64_t{0};

/// Locks that are unused when the owner word is 0; a reset clears the slot's head.
inline constexpr host::KeyLocks kPlainLocks = {
    [](const std::byte* slot, std::int64_t) noexcept {
      return reinterpret_cast<const host::SlotHead*>(slot)->owner.load() == 0;
    },
    [](const std::byte* slot, std::int64_t) noexcept {
      const std::uint64_t owner = reinterpret_cast<const host::SlotHead*>(slot)->owner.load();
      return owner == 0 || owner == kUntold;
    },
    [](std::byte* slot, std::int64_t) noexcept {
      auto* const head = reinterpret_cast<host::SlotHead*>(slot);
      head->owner.store(0);
      head->headSince.store(0);
    }};

/// Makes rows of slots usable, as Segment::grow.
inline auto growthOf(const SharedKeys& keys) {
  return [&rows = keys.view.header->rows](std::uint32_t to) {
    std::uint32_t seen = rows.load();
    while (seen < to && !rows.compare_exchange_strong(seen, to)) {
    }
  };
}

template <class P>
std::unique_ptr<host::KeyTable<P>> tableOf(const SharedKeys& keys, host::ProcessSlot process,
                                           const host::KeyLocks& locks = kPlainLocks) {
  return std::make_unique<host::KeyTable<P>>(host::KeyArea(keys.view), locks, process,
                                             growthOf(keys));
}

/// Checks a table while no call is in progress: no key twice, no unfinished claim or admission.
inline void expectWhole(const SharedKeys& keys) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> digests;
  for (std::uint32_t number = 0; number < keys.view.plan.buckets; ++number) {
    EXPECT_EQ(keys.view.buckets[number].control.load() & 0xFF, 0U);
  }
  for (std::uint32_t index = 0; index < keys.view.plan.slots; ++index) {
    const host::KeyEntry& entry = keys.entry(index);
    const host::KeyState state = entry.now();
    EXPECT_TRUE(state.is(host::KeyStatus::empty) || state.is(host::KeyStatus::live))
        << "slot " << index << " is " << int(state.status()) << " of process slot "
        << int(state.process());
    if (!state.is(host::KeyStatus::live)) {
      EXPECT_TRUE(entry.pins.empty());
      continue;
    }
    EXPECT_TRUE(digests.emplace(entry.digest[0].load(), entry.digest[1].load()).second)
        << "slot " << index << " has the key of another";
  }
}

}  // namespace boxoffice::test
