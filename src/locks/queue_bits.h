// The bits of a lock's word that its queue owns, and the rules for them. lock_word.h applies the rules.
//
// The holder of the bucket alone changes them:
//   kQueued   a waiter is in the word's queue.
//   kWaker    the designated waker: a waiter of the queue has been invited and is on its way. It will
//             take the word, or clear the bit and ask the next release to call the head again. Set
//             when a free word is left to competition; cleared when that waiter takes the word,
//             finds it taken, is handed it, or leaves the queue (timeout, abort, death).
//   kHandOff  the next release hands the word to the head. Set by the invited head that finds the
//             word taken once its patience is over, and from the start while the head may not be
//             overtaken (fairness: 'fifo'); cleared when that head has left the queue.
//
// Invariants, outside a bucket:
//   1. kQueued is set exactly while a waiter is in the queue; kWaker exactly while a queued waiter is
//      invited; kHandOff only with kQueued.
//   2. While kQueued is clear, any agent may change the word by compare-and-swap (JavaScript too).
//   3. While kQueued is set, only the holder of the bucket changes the word. There are three exceptions, each
//      one compare-and-swap that leaves the queue's bits alone (JavaScript too): an agent takes a word that
//      isFree and does not have kHandOff; a release makes no room; a release with kWaker and without
//      kHandOff leaves the word free, since the waker is sure to look at it.
//   4. A free word with kQueued has kWaker and does not have kHandOff.
//   5. No waiter that fits is at the head of the queue, unless kWaker is set.
#pragma once

#include <cstdint>

#include "waiting/wait_queue.h"

namespace boxoffice {

/// The rest of the Rules of a lock whose waiters are only admitted in the order of their queue.
struct InOrder {
  using Word = std::uint32_t;
  static constexpr Word kWaker = 0;
  static constexpr Word kHandOff = 0;
  static bool isFree(Word) noexcept { return false; }
  static bool makesRoom(Word, Word) noexcept { return true; }
  static void check(const Waiter&) noexcept {}
};

template <class P, class Rules>
struct QueueBits {
  using Word = std::uint32_t;
  static constexpr Word kQueued = 1;
  static constexpr Word kWaker = Rules::kWaker;
  static constexpr Word kHandOff = Rules::kHandOff;
  static constexpr Word kAll = kQueued | kWaker | kHandOff;

  /// The queue's bits of the word once `gone` has left the queue.
  static Word of(const WaitQueue& queue, const Waiter* gone = nullptr) noexcept {
    const Waiter* head = queue.head();
    bool handsOff = queue.handsOff;
    if (head && head == gone) {
      head = queue.behind(*gone);
      handsOff = false;
    }
    if (!head) return 0;
    Word bits = kQueued;
    if (queue.invited() && queue.invited() != gone) bits |= kWaker;
    if (handsOff || !head->mayBeOvertaken) bits |= kHandOff;
    return bits;
  }
  static Word with(Word word, Word bits) noexcept { return (word & ~kAll) | bits; }

  /// Whether w, which is not in the queue, may take the word.
  static bool isOpen(Word word, const Waiter& w) noexcept {
    if (!(word & kQueued)) return true;
    return w.mayOvertake && Rules::isFree(word) && !(word & kHandOff);
  }

  /// Whether the word may change without the bucket (invariant 3).
  static bool mayChange(Word from, Word to) noexcept {
    if (!(from & kQueued) || !Rules::makesRoom(from, to)) return true;
    return kWaker && (from & (kWaker | kHandOff)) == kWaker && Rules::isFree(to);
  }

  /// Returns the next waiter to admit when the word is `word`: the head, or a waiter of the leaver, which overtakes
  /// the head. Returns none if the head does not fit, or if waiters compete for a free word.
  static Waiter* choose(const WaitQueue& queue, AgentId leaver, Word word) {
    Waiter* const head = queue.head();
    if (!head || !Rules::fits(word, *head)) return nullptr;
    if (head->agent == leaver || !head->mayBeOvertaken || queue.handsOff) return head;
    if (P::now() >= queue.patience) return head;
    Waiter* const own = queue.firstOf(leaver);
    if (own && Rules::fits(word, *own)) return own;
    return Rules::isFree(word) ? nullptr : head;
  }
};

}  // namespace boxoffice
