// A hand-off queue, by which processes acquire the ownership of a slot and pass it on. owner_word.h lays out the word.
//
//                     room in the fifo              handed over, or free and first
//   no waiter here ─────────────────────▶ in fifo ────────────────────────────────▶ owner ──▶ held by an agent
//        │ no room                         ▲   ▲                                      │       of this process
//        └──────────▶ in `overflow` ───────┘   └── passed on, and a waiter is left ───┘
//                           notified, and there is room
//
// One actor per process and slot: C++ changes a slot only while it holds that slot's bucket (host_lock.h).
// JavaScript's steps and the eviction of a dead process run beside it.
//
// Invariants, while no call is in progress:
//   1. Only a process itself adds its process slot to the word or to `overflow`. Other processes move it
//      within the word, or remove it once it is dead. So an evicted process does not come back.
//   2. A process with a waiter is the owner, or in the fifo, or in `overflow`. A process that stays in
//      `overflow` has seen a non-empty fifo after it set its bit.
//   3. A change that shortens the fifo, clears `queued`, or leaves the word free with an empty fifo is followed by a
//      look at `overflow`. It notifies as many processes as the fifo has room for, round robin, starting behind the
//      previous head. So no process is forgotten in `overflow`, and none starves there.
//   4. A process that hands ownership over notifies the new owner. A process that leaves the word free
//      while the fifo is not empty notifies the head.
//   5. A spurious notification is harmless: the notified process checks the whole slot, and finds nothing due.
//      If a process dies before it sends a notification, its eviction notifies every process instead.
//
// Memory order: everything is sequentially consistent. Invariant 3 needs it ("set the bit, then look at the
// word" against "change the word, then look at the bits"), and so do the kinds of lock for similar pairs.
#pragma once

#include <chrono>
#include <cstdint>

#include "host/owner_word.h"
#include "host/process_set.h"
#include "locks/lock_word.h"

namespace boxoffice::host {

/// Steps of the slow path at which tests kill a process, to check that the others recover (kill_points.h).
enum class Step : std::uint8_t {
  beforeOwner,
  afterOwner,
  overflowAdded,
  overflowRemoved,
  beforeNotify,
  joined,
  parted,
  claimed,
  written,
  unclaimed,
  cleaned
};
constexpr int kSteps = 11;

/// Processes to notify at the end of a call, outside every lock.
template <class P>
class Notifications {
 public:
  explicit Notifications(const void* slot) noexcept : slot_(slot) {}
  ~Notifications() {
    while (!processes_.empty()) {
      const ProcessSlot process = processes_.behind(0);
      processes_.remove(process);
      P::step(Step::beforeNotify);
      P::notify(slot_, process);
    }
  }
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  void add(ProcessSlot process) noexcept { processes_.add(process); }

 private:
  const void* const slot_;
  ProcessSet processes_;
};

template <class P, class Slot>
class HandoffQueue {
 public:
  HandoffQueue(const HandoffQueue&) = delete;
  HandoffQueue& operator=(const HandoffQueue&) = delete;

  OwnerWord owner() const noexcept { return OwnerWord(slot_.head.owner.load()); }

  /// Calls `use(process)` for each process that waits: a snapshot, for listings.
  template <class Use>
  void eachWaiter(Use&& use) const {
    const OwnerWord t = owner();
    ProcessSet beyond(slot_.head.overflow);
    if (t.agent() == kNoAgent && !t.isFree()) use(t.process());
    for (int i = 0; i < t.waiting(); ++i) {
      use(t.at(i));
      beyond.remove(t.at(i));
    }
    beyond.each(use);
  }

 protected:
  HandoffQueue() = default;
  ~HandoffQueue() = default;

  /// The context of one step: the process that makes it, and the notifications that it causes.
  struct Pass {
    explicit Pass(const HandoffQueue& queue) : me(P::process(&queue)), notifications(&queue) {}
    const ProcessSlot me;
    Notifications<P> notifications;
    bool notified = false;  ///< this process was notified: it goes ahead of others in `overflow`
  };

  /// Replaces the word `from` by `to`, with the flags that follow from it, and records the processes to notify.
  /// Returns false when the word is no longer `from`. `waits`: a waiter of this process is left afterwards.
  bool change(Pass& pass, OwnerWord from, OwnerWord to, bool waits) noexcept {
    to = complete(from, to, pass.me, waits, !slot_.head.overflow.empty());
    if (to == from) return true;
    P::step(Step::beforeOwner);
    OwnerWord::Bits seen = from.bits();
    if (!slot_.head.owner.compare_exchange_strong(seen, to.bits())) return false;
    P::step(Step::afterOwner);
    if (!to.isEmpty() && to.head() != from.head()) slot_.head.headSince.store(ticks());
    if (!to.isFree() && to.process() != from.process() && to.process() != pass.me)
      pass.notifications.add(to.process());
    if (to.has(OwnerWord::kInvited) &&
        (!from.has(OwnerWord::kInvited) || to.head() != from.head())) {
      pass.notifications.add(to.head());
    }
    const bool shorter = to.waiting() < from.waiting();
    const bool cleared = from.has(OwnerWord::kQueued) && !to.has(OwnerWord::kQueued);
    if (shorter || cleared || (to.isFree() && to.isEmpty())) notifyOverflow(pass, to, from.head());
    return true;
  }

  /// Notifies the owner, which may wait for a change of something other than ownership.
  void notifyOwner(Pass& pass) noexcept {
    const OwnerWord t = owner();
    if (!t.isFree() && t.agent() == kNoAgent && t.process() != pass.me)
      pass.notifications.add(t.process());
  }

  /// How long this process may still overtake the head of the fifo, another process. Negative if that one is strict.
  std::chrono::nanoseconds patience(OwnerWord t) const noexcept {
    if (t.has(OwnerWord::kStrict)) return std::chrono::nanoseconds(-1);
    // Unsigned, so that a start in the future (a corrupt file, another clock) counts as overdue.
    const std::uint64_t waited = ticks() - slot_.head.headSince.load();
    constexpr std::chrono::nanoseconds most = kPatience;
    if (waited >= static_cast<std::uint64_t>(most.count())) return {};
    return most - std::chrono::nanoseconds(waited);
  }
  bool isOverdue(OwnerWord t) const noexcept { return patience(t) <= std::chrono::nanoseconds(0); }
  bool isDue(const Pass& pass, OwnerWord t) const noexcept {
    return !t.isEmpty() && t.head() != pass.me && isOverdue(t);
  }

  /// Passes ownership on. `mine` is the word `from` with the caller's changes. If the head of the fifo is overdue, or
  /// this process has a waiter (`waits`) and queues again, the head becomes the owner. Otherwise the word is left free.
  bool passOn(Pass& pass, OwnerWord from, OwnerWord mine, bool waits) noexcept {
    const OwnerWord others = mine.without(pass.me);
    if (others.isEmpty() || (!waits && !isOverdue(others)))
      return change(pass, from, others.free(), waits);
    const ProcessSlot next = others.head();
    OwnerWord to = others.without(next).ownedBy(next, kNoAgent);
    if (waits) {
      ProcessSet beyond(slot_.head.overflow);
      const bool isBeyond = beyond.has(pass.me);
      beyond.remove(pass.me);
      if (to.isEmpty() || beyond.empty()) {
        to = to.queued(pass.me);  // there is room: the head has just left
      } else if (!isBeyond) {
        slot_.head.overflow.add(pass.me);
        P::step(Step::overflowAdded);
      }
    }
    return change(pass, from, to, waits);
  }

  /// Puts this process into the fifo or `overflow`; an owner only records a waiter. False if the word has changed.
  bool enqueue(Pass& pass, OwnerWord t, bool strictly) noexcept {
    OwnerWord to = t;
    if (t.process() != pass.me && !t.isQueued(pass.me)) {
      ProcessSet beyond(slot_.head.overflow);
      const bool isBeyond = beyond.has(pass.me);
      beyond.remove(pass.me);
      if (t.isEmpty() || (!t.isFull() && (pass.notified || beyond.empty()))) {
        to = t.queued(pass.me);
      } else if (!isBeyond) {
        slot_.head.overflow.add(pass.me);
        P::step(Step::overflowAdded);
        return false;
      }
    }
    if (t.process() != pass.me && strictly) to = to.with(OwnerWord::kStrict);
    if (to.head() == pass.me) to = to.with(OwnerWord::kInvited, false);  // we came too late
    return change(pass, t, to, true);
  }

  /// Leaves `overflow` once this process waits for nothing, or is recorded in the word. The owner leaves
  /// only with `queued` set: JavaScript of this process may have taken a word that was 0 for a moment, and
  /// would unlock it without a look at the queue. Returns false when there is nothing to change.
  bool leaveOverflow(Pass& pass, OwnerWord t, bool waits) noexcept {
    if (!slot_.head.overflow.has(pass.me)) return false;
    const bool isOwner = t.process() == pass.me && t.has(OwnerWord::kQueued);
    if (waits && !isOwner && !t.isQueued(pass.me)) return false;
    slot_.head.overflow.remove(pass.me);
    P::step(Step::overflowRemoved);
    // This process may have been notified in place of another one: pass the notification on.
    if (!waits) notifyOverflow(pass, owner(), pass.me);
    return true;
  }

  /// Leaves the fifo. Also clears a stale `queued` of a free word, which was set for a process that has left
  /// `overflow` since. Returns false when the word has changed, and the caller must look again.
  bool drop(Pass& pass, OwnerWord t) noexcept {
    const bool isLeftOver =
        t.isFree() && t.isEmpty() && t.has(OwnerWord::kQueued) && slot_.head.overflow.empty();
    if (!isLeftOver && !t.isQueued(pass.me)) return true;
    change(pass, t, t.without(pass.me), false);
    return false;
  }

  static Slot& slotAt(std::byte* at) noexcept { return *reinterpret_cast<Slot*>(at); }
  static const Slot& slotAt(const std::byte* at) noexcept {
    return *reinterpret_cast<const Slot*>(at);
  }
  static bool isIdle(const SlotHead& head) noexcept {
    return head.owner.load() == 0 && head.overflow.empty();
  }
  /// Whether that time, in milliseconds of the monotonic clock, has passed. True for 0, which means no time.
  static bool isPast(std::uint64_t time) noexcept {
    if (time == 0) return true;
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(P::now().time_since_epoch());
    return time <= static_cast<std::uint64_t>(now.count());
  }

  /// Removes a dead process from the word and from `overflow`, and passes its ownership to the head of the
  /// fifo. The caller notifies every process afterwards. Idempotent: an earlier eviction may have done part
  /// of it. `tells`: mark the word abandoned if an agent of the dead process held it.
  static void evictOwner(SlotHead& head, ProcessSlot dead, bool tells) noexcept {
    if (head.overflow.has(dead)) {
      head.overflow.remove(dead);
      P::step(Step::cleaned);
    }
    for (;;) {
      const OwnerWord t(head.owner.load());
      OwnerWord to = t.without(dead);
      if (t.process() == dead) {
        const ProcessSlot next = to.head();
        to = next == kNoProcess ? to.free() : to.without(next).ownedBy(next, kNoAgent);
        if (tells && t.agent() != kNoAgent) to = to.with(OwnerWord::kAbandoned);
      }
      to = complete(t, to, kNoProcess, false, !head.overflow.empty());
      OwnerWord::Bits seen = t.bits();
      if (to == t) return;
      P::step(Step::beforeOwner);
      if (!head.owner.compare_exchange_strong(seen, to.bits())) continue;
      P::step(Step::cleaned);
      if (!to.isEmpty() && to.head() != t.head()) head.headSince.store(ticks());
    }
  }

  Slot slot_{};

 private:
  static std::uint64_t ticks() noexcept {
    const auto since =
        std::chrono::duration_cast<std::chrono::nanoseconds>(P::now().time_since_epoch());
    return static_cast<std::uint64_t>(since.count());
  }

  /// Returns `to` with the flags that follow from its other fields.
  static OwnerWord complete(OwnerWord from, OwnerWord to, ProcessSlot me, bool waits,
                            bool beyond) noexcept {
    if (to.isEmpty()) {
      to = to.with(OwnerWord::kStrict | OwnerWord::kInvited, false);
    } else if (to.isFree()) {
      to = to.with(OwnerWord::kInvited);
    } else if (to.head() != from.head()) {
      to = to.with(OwnerWord::kInvited, false);
    }
    bool queue = beyond || !to.isEmpty();
    if (!to.isFree()) {
      // This flag is all that a process knows of another process's local queue.
      const bool unknown = from.has(OwnerWord::kQueued) || to.process() != from.process();
      queue = queue || (to.process() == me ? waits : unknown);
    }
    return to.with(OwnerWord::kQueued, queue);
  }

  /// Notifies as many processes of `overflow` as the fifo has room for, round robin from behind `after`.
  void notifyOverflow(Pass& pass, OwnerWord t, ProcessSlot after) noexcept {
    ProcessSet beyond(slot_.head.overflow);
    beyond.remove(pass.me);
    for (int room = OwnerWord::kPlaces - t.waiting(); room > 0 && !beyond.empty(); --room) {
      after = beyond.behind(after);
      beyond.remove(after);
      pass.notifications.add(after);
    }
  }
};

}  // namespace boxoffice::host
