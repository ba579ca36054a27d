// The keys of a segment, and the steps that any process may make there at any time: finish an admission, and
// clean up after a dead process. key_table.h has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "host/segment.h"
#include "host/sip_hash.h"

namespace boxoffice::host {

/// The parts of a segment that its key table uses.
class KeyArea {
 public:
  explicit KeyArea(const SegmentView& view) noexcept : view_(view) {
    std::memcpy(secret_.data(), view.header->secret, sizeof(secret_));
    const std::uint32_t text[] = {offsetof(MutexSlot, text), offsetof(RWLockSlot, text),
                                  offsetof(SemaphoreSlot, text)};
    textAt_ = view.kind == Kind::keyedMutex ? text[0] : isSemaphore(view.kind) ? text[2] : text[1];
  }

  std::uint32_t buckets() const noexcept { return view_.plan.buckets; }
  /// The number of entries of each bucket that may be used: the others have no memory yet.
  std::uint32_t rows() const noexcept { return view_.rows(); }
  KeyBucket& bucket(std::uint32_t number) const noexcept { return view_.buckets[number]; }
  std::byte* slot(std::uint32_t index) const noexcept { return view_.slot(index); }
  KeyEntry& entry(std::uint32_t index) const noexcept {
    return reinterpret_cast<SlotHead*>(slot(index))->entry;
  }
  KeyText text(std::uint32_t index) const noexcept {
    return {slot(index) + textAt_, view_.plan.stride - textAt_};
  }
  std::int64_t start() const noexcept { return view_.start; }
  Digest digest(std::string_view key) const noexcept { return sipHash(secret_, key); }

  /// Whether the key has an entry: it has one while it is in use. Only for segments with keys.
  bool has(std::string_view key) const noexcept {
    const Digest wanted = digest(key);
    const std::uint32_t number = static_cast<std::uint32_t>(wanted[0]) & (buckets() - 1);
    const std::uint32_t count = rows();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (entry(i * buckets() + number).carries(wanted)) return true;
    }
    return false;
  }

 private:
  const SegmentView view_;
  Digest secret_;
  std::uint32_t textAt_;
};

/// The functions of a lock's kind that the table needs. `start`: a semaphore's initial value.
struct KeyLocks {
  using Question = bool (*)(const std::byte* slot, std::int64_t start) noexcept;
  /// Whether the lock is free, with no death to report, and no minHold under way.
  Question isUnused;
  /// As isUnused, but there may be a death to report. The table forgets it if a key finds no room otherwise.
  Question isForgettable;
  void (*reset)(std::byte* slot, std::int64_t start) noexcept;
};

/// Steps of the table at which tests kill the process (P::step), numbered after those of ownership.
struct KeyStep {
  enum : int {
    touch = 100,
    claim,
    label,
    publish,
    commit,
    help,
    admit,
    finish,
    pin,
    look,
    restore,
    leave,
    takeOver,
    giveUp,
    unpin,
    evict,
    evictPin,
    end
  };
};

/// A bucket with its entries. Any process may call these functions at any time.
template <class P>
class KeyBucketView {
 public:
  KeyBucketView(const KeyArea& area, std::uint32_t number) noexcept
      : area_(area), bucket_(area.bucket(number)), number_(number) {}

  std::uint32_t index(std::uint32_t i) const noexcept { return i * area_.buckets() + number_; }
  KeyEntry& entry(std::uint32_t i) const noexcept { return area_.entry(index(i)); }
  std::uint32_t rows() const noexcept { return area_.rows(); }
  KeyBucket& bucket() const noexcept { return bucket_; }

  /// Finishes a pending admission, and returns the control word without one.
  std::uint64_t stable() const noexcept {
    std::uint64_t control = bucket_.control.load();
    while ((control & 0xFF) != 0) control = help(control);
    return control;
  }

  /// Whether the bucket has changed since the control word was read, or a change is under way.
  bool inMotion(std::uint64_t control) const noexcept {
    const std::uint32_t count = rows();
    for (std::uint32_t i = 0; i < count; ++i) {
      const KeyState state = entry(i).now();
      if (state.is(KeyStatus::claimed) || state.is(KeyStatus::leaving)) return true;
    }
    return bucket_.control.load() != control;
  }

  /// Admits entry `i`, unless a key was admitted since the control word was `control`.
  bool commit(std::uint64_t control, std::uint32_t i) const noexcept {
    P::step(KeyStep::commit);
    const std::uint64_t mine = nextVersion(control) | (i + 1);
    if (!bucket_.control.compare_exchange_strong(control, mine)) return false;
    help(mine);
    return true;
  }

  template <class Visit>
  void forEachTouched(Visit&& visit) const {
    const std::uint64_t touched = bucket_.touched.load();
    const std::uint32_t rows = area_.rows();
    for (std::uint32_t i = 0; i < rows; ++i) {
      if ((touched >> i & 1) != 0) visit(i);
    }
  }

 private:
  static std::uint64_t nextVersion(std::uint64_t control) noexcept {
    return (control & ~std::uint64_t{0xFF}) + 0x100;
  }

  /// Finishes an admission, and returns the control word after it. Drops an entry number out of range, which only
  /// corrupt memory has.
  std::uint64_t help(std::uint64_t control) const noexcept {
    const auto i = static_cast<std::uint32_t>((control & 0xFF) - 1);
    if (i < area_.rows()) {
      P::step(KeyStep::help);
      // If the control word is the same before and after this read, it is the claim that was committed (3).
      KeyState state = entry(i).now();
      if (state.is(KeyStatus::claimed) && bucket_.control.load() == control) {
        P::step(KeyStep::admit);
        entry(i).change(state, state.next(KeyStatus::live));
      }
    }
    P::step(KeyStep::finish);
    const std::uint64_t next = nextVersion(control);
    return bucket_.control.compare_exchange_strong(control, next) ? next : control;
  }

  const KeyArea& area_;
  KeyBucket& bucket_;
  std::uint32_t number_;
};

/// Removes a dead process from the table: calls `evictSlot(index)` for each slot that it had pinned, then
/// removes the pin. May stop anywhere, and be repeated by the same process or another.
template <class P, class EvictSlot>
void evictKeys(const KeyArea& area, ProcessSlot dead, EvictSlot&& evictSlot) {
  for (std::uint32_t number = 0; number < area.buckets(); ++number) {
    const KeyBucketView<P> view(area, number);
    view.stable();
    view.forEachTouched([&](std::uint32_t i) {
      KeyEntry& entry = view.entry(i);
      KeyState state = entry.now();
      P::step(KeyStep::evict);
      // Committed admissions are finished by now, so a claim that is left will never be committed.
      if (state.is(KeyStatus::claimed, dead)) {
        entry.change(state, state.next(KeyStatus::empty));
      } else if (state.is(KeyStatus::leaving, dead)) {
        entry.change(state, state.next(KeyStatus::live));
      } else if (entry.pins.has(dead)) {
        evictSlot(view.index(i));
      }
      P::step(KeyStep::evictPin);
      if (entry.pins.has(dead)) entry.pins.remove(dead);
    });
  }
}

}  // namespace boxoffice::host
