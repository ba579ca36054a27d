// The keys of one segment, in memory that processes share: key ─▶ slot, as long as a process has the key
// pinned or its lock is in use.
//
// States of an entry. Each arrow is one compare-and-swap, so a process that is killed leaves one of these
// states:
//
//          claim                     commit, then any process finishes
//   EMPTY ───────▶ CLAIMED(process slot) ──────────────────────▶ LIVE ◀──────┐
//     ▲             │      ▲                                       │ reclaim  │ pinned after all, or in use,
//     └─────────────┘      │ no process had it pinned              ▼          │ or its reclaimer died
//     lost the race,       └──────────────────────────── LEAVING(process slot)┘
//     or died
//
// A key is admitted by one compare-and-swap of its bucket's control word: (v, none) → (v + 1, entry). It
// fails if any other key was admitted since the bucket was searched. A process that finds an entry in the
// control word helps: it makes the entry LIVE, then the control word (v + 2, none). So no process waits for
// another.
//
// Invariants:
//   1. No two entries that are LIVE or LEAVING carry the same key: an admission proves that no other key was
//      admitted between the search and itself.
//   2. An entry that was LIVE when a process pinned it stays LIVE (or is LEAVING for a moment, and comes back), and
//      keeps its digest. Pinning sets the bit and then reads the state. Reclaiming makes the entry LEAVING and then
//      reads the pins. Both are sequentially consistent, so one of the two sees the other. A process that pins and sees
//      LEAVING makes the entry LIVE with a new stamp, at which the reclaimer's next step fails.
//   3. The entry in the control word is CLAIMED or LIVE (or LEAVING in vain), and its claimer keeps it pinned until the
//      admission is finished. So no process reclaims it meanwhile, and a late helper fails by the stamp.
//   4. Each process pins the slots of the locks that it holds or waits for.
//   5. Nothing else is pinned for longer than a call: capacity counts keys that are held or waited for. A
//      thread that is done with a key remembers its slot and digest, and touches the slot again only after
//      pinAgain() has found that digest there, with the pin set (2).
//   6. A death that no holder was told of keeps the entry of its key while there is room. When all entries of all rows
//      are in use, a process that admits another key reclaims such an entry, and no holder learns of that death.
//   7. Only entries of allocated rows are used (layout.h). A row is counted after its allocation and before its first
//      claim, and the count is read after the control word: so a search sees every entry admitted before.
// Memory order: all compare-and-swaps, pins and states are sequentially consistent. Digest, tags and text
// are relaxed: they are written between a claim and the commit, which publishes them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "host/key_area.h"
#include "platform/host_error.h"

namespace boxoffice::host {

/// One process's access to the table.
template <class P>
class KeyTable {
 public:
  /// `grow(rows)` makes that many rows of slots usable, or throws HostError. Throws std::bad_alloc.
  KeyTable(KeyArea area, const KeyLocks& locks, ProcessSlot me,
           std::function<void(std::uint32_t rows)> grow)
      : area_(std::move(area)), locks_(locks), me_(me), grow_(std::move(grow)) {
    if (!pins_) throw std::bad_alloc();
  }
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  /// Returns the slot of `key`, which the key keeps until it has been unpinned as often. Throws HostError(capacity)
  /// and changes nothing when there is no room.
  std::uint32_t pin(std::string_view key) {
    const Digest digest = area_.digest(key);
    const KeyBucketView<P> view(area_,
                                static_cast<std::uint32_t>(digest[0]) & (area_.buckets() - 1));
    const std::lock_guard guard(mutexOf(view.index(0)));
    // The loop repeats if another process has admitted a key, or is about to and may be suspended.
    for (int waits = 0; waits < kMostWaits;) {
      const std::uint64_t control = view.stable();
      if (const auto found = find(view, digest)) return view.index(*found);
      const bool isLast = waits == kMostWaits - 1;
      if (const auto made = insert(view, control, digest, key, isLast)) return view.index(*made);
      if (view.stable() == control) ++waits;
    }
    refuse();
  }

  /// Unpins the slot, which may then go to another key. Returns the digest for pinAgain().
  Digest unpin(std::uint32_t index) noexcept {
    const std::lock_guard guard(mutexOf(index));
    const Digest digest = area_.entry(index).carried();
    release(index);
    return digest;
  }

  /// Pins the slot if it belongs to the key of this digest, still or again. Returns whether it does.
  bool pinAgain(std::uint32_t index, const Digest& digest) noexcept {
    const std::lock_guard guard(mutexOf(index));
    hold(index);
    if (comesToLife(area_.entry(index), digest)) return true;
    release(index);
    return false;
  }

  /// Whether that slot belongs to the key at this moment.
  bool carries(std::uint32_t index, std::string_view key) const noexcept {
    return area_.entry(index).carries(area_.digest(key));
  }

  /// Calls visit(index) for each slot that this process has pinned. A slot is not unpinned during its visit.
  template <class Visit>
  void forEachPinned(Visit&& visit) {
    for (std::uint32_t number = 0; number < area_.buckets(); ++number) {
      const KeyBucketView<P> view(area_, number);
      const std::lock_guard guard(mutexOf(view.index(0)));
      view.forEachTouched([&](std::uint32_t i) {
        if (pins_[view.index(i)] > 0) visit(view.index(i));
      });
    }
  }

  /// Calls visit(index, text, isCut) for each lock in use. If `isCut`, text is the beginning of the key, and a mark.
  template <class Visit>
  void forEachBusy(Visit&& visit) const {
    for (std::uint32_t number = 0; number < area_.buckets(); ++number) {
      const KeyBucketView<P> view(area_, number);
      view.forEachTouched([&](std::uint32_t i) {
        const KeyState before = view.entry(i).now();
        if (!before.is(KeyStatus::live)) return;
        const std::uint32_t index = view.index(i);
        if (locks_.isUnused(area_.slot(index), area_.start())) return;
        const std::string text = area_.text(index).read();
        const bool isCut = KeyText::isMarked(text) && !view.entry(i).carries(area_.digest(text));
        if (view.entry(i).now().bits == before.bits) visit(index, text, isCut);
      });
    }
  }

 private:
  static constexpr int kMostWaits = 100;
  using View = KeyBucketView<P>;

  /// Guards the pins of that entry's bucket, and of some other buckets.
  std::mutex& mutexOf(std::uint32_t index) noexcept {
    return guards_[index & (area_.buckets() - 1) & (guards_.size() - 1)].mutex;
  }

  static std::uint16_t tagOf(const Digest& digest) noexcept {
    return static_cast<std::uint16_t>(digest[1]);
  }

  /// Finds and pins the entry that carries the key.
  std::optional<std::uint32_t> find(const View& view, const Digest& digest) {
    const std::uint32_t rows = view.rows();
    for (std::uint32_t i = 0; i < rows; ++i) {
      if (view.bucket().tags[i].load(std::memory_order_relaxed) != tagOf(digest)) continue;
      // This reads without a pin. If the entry gets this key later, commit() notices the admission.
      if (!view.entry(i).carries(digest)) continue;
      hold(view.index(i));
      if (comesToLife(view.entry(i), digest)) return i;
      release(view.index(i));
    }
    return std::nullopt;
  }

  /// Returns whether the pinned entry carries the key. Makes the entry LIVE again if it is LEAVING (2).
  bool comesToLife(KeyEntry& entry, const Digest& digest) noexcept {
    for (;;) {
      P::step(KeyStep::look);
      KeyState state = entry.now();
      const bool live = state.is(KeyStatus::live);
      if (!live && !state.is(KeyStatus::leaving)) return false;
      if (!entry.carries(digest)) return false;
      P::step(KeyStep::restore);
      if (live || entry.change(state, state.next(KeyStatus::live))) return true;
    }
  }

  /// Admits the key in an entry of its own. Returns none if others were faster, or if all entries are taken at the
  /// moment. With `isLast` the caller does not try again, since the process of a change under way may be suspended.
  std::optional<std::uint32_t> insert(const View& view, std::uint64_t control, const Digest& digest,
                                      std::string_view key, bool isLast) {
    auto claimed = claim(view, control, locks_.isUnused);
    if (!claimed) {
      if (const std::uint32_t rows = view.rows(); rows < kBucketEntries) {
        grow_(std::clamp(2 * rows, kFirstRows, kBucketEntries));
        return std::nullopt;
      }
      const bool mayForget = isLast || !view.inMotion(control);
      if (mayForget) claimed = claim(view, control, locks_.isForgettable);
      if (!claimed) {
        if (!view.inMotion(control)) refuse();
        P::yield();
        return std::nullopt;
      }
    }
    const std::uint32_t i = claimed->entry;
    const std::uint32_t index = view.index(i);
    hold(index);
    P::step(KeyStep::label);
    view.entry(i).label(digest);
    view.bucket().tags[i].store(tagOf(digest), std::memory_order_relaxed);
    P::step(KeyStep::publish);
    area_.text(index).write(key);
    locks_.reset(area_.slot(index), area_.start());
    if (view.commit(control, i)) return i;
    release(index);
    giveUp(view.entry(i), claimed->state);
    return std::nullopt;
  }

  struct Claim {
    std::uint32_t entry;
    KeyState state;
  };

  /// Claims an entry of the allocated rows: a never used entry, else the first that is EMPTY, or LIVE, unpinned and
  /// `mayGo`. The search starts at an entry that moves on with each admission: an idle key keeps its entry for a while.
  std::optional<Claim> claim(const View& view, std::uint64_t control, KeyLocks::Question mayGo) {
    const std::uint64_t touched = view.bucket().touched.load();
    const auto owner = static_cast<std::uint32_t>(control >> 9);
    const std::uint32_t rows = view.rows();
    for (std::uint32_t n = 0; n < rows; ++n) {
      if ((touched >> n & 1) != 0) continue;
      P::step(KeyStep::touch);
      view.bucket().touched.fetch_or(std::uint64_t{1} << n);
      if (const auto mine = take(view, n, mayGo)) return mine;
    }
    for (std::uint32_t n = 0; n < rows; ++n) {
      if (const auto mine = take(view, (owner + n) % rows, mayGo)) return mine;
    }
    return std::nullopt;
  }

  [[noreturn]] static void refuse() {
    throw HostError(HostFault::capacity,
                    "no room for one more key: all keys of its bucket are in use. Hold "
                    "fewer at once, or give the lock another name and a larger capacity");
  }

  std::optional<Claim> take(const View& view, std::uint32_t i, KeyLocks::Question mayGo) noexcept {
    KeyEntry& entry = view.entry(i);
    KeyState state = entry.now();
    P::step(KeyStep::claim);
    const auto idle = [&] {
      return entry.pins.empty() && mayGo(area_.slot(view.index(i)), area_.start());
    };
    if (state.is(KeyStatus::live) && !makeLeave(entry, state, idle)) return std::nullopt;
    if (!state.is(KeyStatus::empty) && !state.is(KeyStatus::leaving, me_)) return std::nullopt;
    const KeyState mine = state.next(KeyStatus::claimed, me_);
    if (!entry.change(state, mine)) return std::nullopt;
    return Claim{i, mine};
  }

  /// LIVE → LEAVING, if no process has the entry pinned and its lock may go: `idle()` (2).
  template <class Idle>
  bool makeLeave(KeyEntry& entry, KeyState& state, const Idle& idle) noexcept {
    if (!idle()) return false;
    P::step(KeyStep::leave);
    const KeyState leaving = state.next(KeyStatus::leaving, me_);
    if (!entry.change(state, leaving)) return false;
    state = leaving;
    P::step(KeyStep::takeOver);
    if (idle()) return true;
    entry.change(state, state.next(KeyStatus::live));
    return false;
  }

  void giveUp(KeyEntry& entry, KeyState claimed) noexcept {
    P::step(KeyStep::giveUp);
    entry.change(claimed, claimed.next(KeyStatus::empty));
  }

  void hold(std::uint32_t index) noexcept {
    if (pins_[index]++ == 0) area_.entry(index).pins.add(me_);
    P::step(KeyStep::pin);
  }
  void release(std::uint32_t index) noexcept {
    P::step(KeyStep::unpin);
    if (--pins_[index] == 0) area_.entry(index).pins.remove(me_);
  }

  const KeyArea area_;
  const KeyLocks locks_;
  const ProcessSlot me_;
  const std::function<void(std::uint32_t)> grow_;
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  /// How often this process has pinned each entry. From calloc, whose pages take no memory before they are written.
  std::unique_ptr<std::uint32_t[], Free> pins_{static_cast<std::uint32_t*>(
      std::calloc(std::size_t{area_.buckets()} * kBucketEntries, sizeof(std::uint32_t)))};
  /// There are several mutexes, because each grant pins and unpins, and with one mutex threads would wait for each
  /// other.
  struct alignas(64) Guard {
    std::mutex mutex;
  };
  std::array<Guard, 16> guards_;
};

}  // namespace boxoffice::host
