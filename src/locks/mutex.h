// A mutex: Preshing's non-recursive benaphore with an owner, a queue and bounded overtaking.
//
// The word (it may lie in a SharedArrayBuffer; JavaScript makes the steps marked *):
//
//     31 ........ 4 | 3         | 2        | 1     | 0
//     owner's agent | abandoned | hand-off | waker | queue
//
//   free                  0                     * compare-and-swap ▶ held
//   held                  owner                 * compare-and-swap ▶ free
//   held, queue            owner | queue          unlock through the bucket, also with `hand-off`
//   held, queue, waker     owner | queue | waker  * compare-and-swap ▶ free, queue, waker
//   free, queue, waker     queue | waker          * compare-and-swap ▶ held, queue, waker
//   free, abandoned       abandoned             a holder died with an empty queue: the next holder is told
//
// queue, waker, hand-off: see lock_word.h.
// abandoned: set when the holder died (abandon) and the mutex was not handed over at once. The next
//     holder clears it and is told. While it is set, JavaScript's steps fail, and C++ handles the word.
//     Never set while held.
// Mutual exclusion: the owner field leaves 0 by a compare-and-swap from 0 or by a hand-off in the
// bucket, and returns to 0 only by its owner, or by abandon in its stead.
#pragma once

#include "locks/lock_word.h"
#include "platform/misuse.h"

namespace boxoffice {

struct MutexRules {
  using Word = std::uint32_t;
  static constexpr Word kWaker = 2;
  static constexpr Word kHandOff = 4;
  static constexpr Word kAbandoned = 8;
  static constexpr int kOwnerShift = 4;

  static AgentId owner(Word word) noexcept { return word >> kOwnerShift; }
  /// The word while `agent` holds the mutex and no waiter is queued.
  static Word held(AgentId agent) noexcept { return agent << kOwnerShift; }
  static bool isFree(Word word) noexcept { return owner(word) == kNoAgent; }
  static bool makesRoom(Word, Word to) noexcept { return isFree(to); }
  static void check(const Waiter& w) { checkedAgent(w.agent); }
  static bool fits(Word word, const Waiter&) noexcept { return isFree(word); }
  static Word take(Word word, Waiter& w) noexcept {
    w.abandoned = (word & kAbandoned) != 0;
    return (word & ~kAbandoned) | held(w.agent);
  }
};

template <class P>
class BasicMutex : public LockWord<P, MutexRules> {
  using Base = LockWord<P, MutexRules>;
  using Rules = MutexRules;

 public:
  using typename Base::Word;

  constexpr BasicMutex() : Base(0) {}

  // These throw Misuse(badArgument) unless `me` is an agent's id (agent.h).

  /// Waits until the caller holds the mutex. Throws std::bad_alloc only, and then holds nothing. Not
  /// recursive: an agent that locks a mutex it holds deadlocks.
  Entry lock(AgentId me = P::agent()) { return lockUntil(kNever, me); }

  /// Never blocks. May take a free mutex ahead of its queue, within the head's patience.
  Entry tryLock(AgentId me = P::agent()) {
    Waiter w;
    w.agent = checkedAgent(me);
    return Base::entry(Base::tryEnter(w), w);
  }

  /// Not granted when `timeout` passed first; a timeout of zero or less never sleeps.
  Entry lockFor(Timeout timeout, AgentId me = P::agent()) {
    return lockUntil(deadlineIn(timeout), me);
  }

  Entry lockUntil(Deadline deadline, AgentId me = P::agent()) {
    Word free = 0;
    if (this->word_.compare_exchange_strong(free, Rules::held(checkedAgent(me)),
                                            std::memory_order_acquire, std::memory_order_relaxed)) {
      return {.granted = true};
    }
    Waiter w;
    w.agent = me;
    return Base::entry(Base::enterBlocking(w, deadline), w);
  }

  /// Unlocks, and admits the next waiter. Throws Misuse(notHolder) and changes nothing when `me` does not hold the
  /// mutex.
  void unlock(AgentId me = P::agent()) {
    Word held = Rules::held(me);
    if (me != kNoAgent && this->word_.compare_exchange_strong(held, 0, std::memory_order_release,
                                                              std::memory_order_relaxed)) {
      return;
    }
    Base::change(me, [me](Word word) { return released(word, me); });
  }

  /// As unlock, for an agent that may have waiters in the queue.
  void unlockQueued(AgentId me) {
    Base::changeQueued(me, [me](Word word) { return released(word, me); });
  }

  /// Unlocks for an agent that died, and tells the next holder. Returns false when `dead` does not hold the mutex.
  bool abandon(AgentId dead) {
    bool held = false;
    Base::change(kNoAgent, [dead, &held](Word word) {
      held = dead != kNoAgent && Rules::owner(word) == dead;
      return held ? released(word, dead) | Rules::kAbandoned : word;
    });
    return held;
  }

  AgentId owner() const noexcept { return Rules::owner(Base::word()); }
  bool isLocked() const noexcept { return owner() != kNoAgent; }

  /// Enters for a waiter that was notified of a condition, which is woken when it holds the mutex. noexcept, because
  /// without memory for a queue nothing could ever wake the waiter.
  void enterFor(Waiter& w) noexcept {
    if (!Base::enter(w)) return;
    {
      // Its agent may be dying and may look for it: see BasicConditionVariable::leaveMutex.
      auto bucket = P::lot().open(this);
      w.state = Waiter::State::admitted;
    }
    w.parker->wake(w, Wake::admitted);
  }

 private:
  static Word released(Word word, AgentId me) {
    if (Rules::owner(word) != me || me == kNoAgent) {
      throwMisuse(Fault::notHolder, "unlock of a mutex that the caller does not hold");
    }
    return word & Base::Bits::kAll;
  }
};

using Mutex = BasicMutex<Platform>;

}  // namespace boxoffice
