// Ownership of a slot, and how a process comes to it and passes it on (ownership.h says what is in the word).
//
//                     room in the fifo                    handed over, or free and first
//   nobody waits ───────────────────────▶ in the fifo ─────────────────────────────────▶ our ownership
//        │ no room                            ▲                                          │     │
//        └──────────▶ in `overflow` ──────────────┘ notified, and there is room      passed on ──┘     └─ our
//                                                                                            agent's
//
// One actor per process and slot: whatever C++ changes of a slot it changes with the bucket of that slot
// held (host_lock.h). JavaScript's steps come from the side, and so does the cleaning of a dead process slot.
//
// Invariants, when nobody is inside:
//   1. Only a process itself puts its process slot into the word or into `overflow`; others move it within the word, or
//      take it out when it is dead. So who has been cleaned away does not come back.
//   2. A process of which somebody waits has ownership, or stands in the fifo, or in `overflow`. Who stays in
//      `overflow` has seen the fifo not empty after its bit was set.
//   3. Whoever makes the fifo shorter, clears `queue`, or leaves ownership free with nobody in the fifo, looks
//      at `overflow` after that, and notifies as many as there is room for. So nobody is forgotten there, and
//      nobody is passed over for ever: they are notified from the one on that went last, around the corner.
//   4. Whoever hands ownership to a process, or leaves it free with somebody in the fifo, notifies it.
//   5. Bells do no harm: who is notified of one looks at everything, and does what is due. Who dies and owes a
//      wake-up is made up for by the one that everybody gets when the dead one has been cleaned away.
//
// Memory order: all of it is sequentially consistent, for 3 ("set the bit, then look at the word" against
// "change the word, then look at the bits"), and for what the kinds of lock do likewise.
#pragma once

#include <chrono>
#include <cstdint>

#include "host/owner_word.h"
#include "host/process_set.h"
#include "locks/lock_word.h"

namespace boxoffice::host {

/// The places in the slow path where tests kill a process, to see what others make of what it leaves.
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

/// Bells to notify at the end, outside every lock.
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

  /// Calls `use(process slot)` for each process that waits: as it is at this moment, for people.
  template <class Use>
  void eachWaiter(Use&& use) const {
    const OwnerWord t = owner();
    ProcessSet beyond(slot_.head.overflow);
    if (t.agent() == kNobody && !t.isFree()) use(t.process());
    for (int i = 0; i < t.waiting(); ++i) {
      use(t.at(i));
      beyond.remove(t.at(i));
    }
    beyond.each(use);
  }

 protected:
  HandoffQueue() = default;
  ~HandoffQueue() = default;

  /// What a step needs to know of the process that makes it.
  struct Pass {
    explicit Pass(const HandoffQueue& queue) : me(P::process(&queue)), notifications(&queue) {}

    const ProcessSlot me;
    Notifications<P> notifications;
    bool notified =
        false;  ///< our wake-up has been notified, and so we go before all others of `overflow`
  };

  /// Changes ownership, if it still is `from`, to `to` and whatever goes with it, and notifies who has to hear
  /// of it. `waits`: whether anybody of ours will wait then.
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

  /// After a change of what others wait for besides ownership: whoever has it looks again.
  void notifyOwner(Pass& pass) noexcept {
    const OwnerWord t = owner();
    if (!t.isFree() && t.agent() == kNobody && t.process() != pass.me)
      pass.notifications.add(t.process());
  }

  /// Whether the head of the fifo, which is another process, has waited for long enough.
  bool isOverdue(OwnerWord t) const noexcept {
    if (t.has(OwnerWord::kStrict)) return true;
    // Unsigned, so that a time that lies ahead (written by nonsense, or by another clock) is over.
    const auto patience = std::chrono::nanoseconds(kPatience).count();
    return ticks() - slot_.head.headSince.load() >= static_cast<std::uint64_t>(patience);
  }
  bool isDue(const Pass& pass, OwnerWord t) const noexcept {
    return !t.isEmpty() && t.head() != pass.me && isOverdue(t);
  }

  /// Ownership `from` is ours, and as `mine` but for others: to the head of the fifo, if it is due or one of
  /// ours, who makes way, `waits`; else it is left free.
  bool passOn(Pass& pass, OwnerWord from, OwnerWord mine, bool waits) noexcept {
    const OwnerWord others = mine.without(pass.me);
    if (others.isEmpty() || (!waits && !isOverdue(others)))
      return change(pass, from, others.free(), waits);
    const ProcessSlot next = others.head();
    OwnerWord to = others.without(next).ownedBy(next, kNobody);
    if (waits) {
      ProcessSet beyond(slot_.head.overflow);
      const bool isBeyond = beyond.has(pass.me);
      beyond.remove(pass.me);
      if (to.isEmpty() || beyond.empty()) {
        to = to.queued(pass.me);  // there is room: the one that was first has gone
      } else if (!isBeyond) {
        slot_.head.overflow.add(pass.me);
        P::step(Step::overflowAdded);
      }
    }
    return change(pass, from, to, waits);
  }

  /// Stands in the fifo, or in `overflow`, or has ownership and says that somebody waits. False: look again.
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

  /// Out of `overflow`, once we wait for nothing or stand elsewhere. Who has ownership does only with `queue`: JavaScript
  /// of ours may have taken a word that was 0 for a moment, and will leave it without a look. False: we
  /// stand there as we should, or not at all.
  bool leaveOverflow(Pass& pass, OwnerWord t, bool waits) noexcept {
    if (!slot_.head.overflow.has(pass.me)) return false;
    const bool hasTurn = t.process() == pass.me && t.has(OwnerWord::kQueued);
    if (waits && !hasTurn && !t.isQueued(pass.me)) return false;
    slot_.head.overflow.remove(pass.me);
    P::step(Step::overflowRemoved);
    // The wake-up that we may have got instead of another is for that one.
    if (!waits) notifyOverflow(pass, owner(), pass.me);
    return true;
  }

  /// Out of the fifo; and if `queue` was left on a free owner word for one that has left `overflow` since, off with it.
  /// False: look again.
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

  /// Takes a dead process out of the word and of `overflow`; its ownership goes to the next. Everybody is notified
  /// afterwards. It may have been done before, in part.
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
        to = next == kNoProcess ? to.free() : to.without(next).ownedBy(next, kNobody);
        if (tells && t.agent() != kNobody) to = to.with(OwnerWord::kAbandoned);
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

  /// The flags of `to` as they are due.
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
      // Of others' private queues we know nothing but what the flag has said.
      const bool unknown = from.has(OwnerWord::kQueued) || to.process() != from.process();
      queue = queue || (to.process() == me ? waits : unknown);
    }
    return to.with(OwnerWord::kQueued, queue);
  }

  /// Rings as many of `overflow` as there is room for in the fifo, from `after` on.
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
