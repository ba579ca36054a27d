// A read-write lock over a FIFO queue: readers share, a writer is alone, and no waiter starves. New readers
// and writers queue behind earlier waiters, but may take a free lock within the head's patience. One reader
// may upgrade; a writer may downgrade.
//
//     31 ................. 6 | 5         | 4         | 3      | 2        | 1     | 0
//     readers, or the writer | abandoned | upgrading | writer | hand-off | waker | queue
//
//   free                   0
//   read by n              n readers; more readers enter while the queue is empty
//   upgrading              n readers, one of which waits (first in the queue) to become the writer; no
//                          new readers. Once the others have released, it is the writer.
//   written                writer | its agent
//   abandoned              a writer died: the next holder is told (as in mutex.h). A reader that dies has
//                          left nothing half written.
//
// With 2^26 - 1 readers, another reader waits in the queue: the count cannot overflow into the bits beside it.
// Memory order: exits are acq_rel. Several readers' exits add up to one hand-off to a writer. The writer never
// reads the word, so it must get all of their releases from the reader that hands over.
#pragma once

#include <algorithm>

#include "locks/lock_word.h"
#include "locks/mutex.h"
#include "platform/misuse.h"

namespace boxoffice {

struct RWLockRules {
  using Word = std::uint32_t;
  static constexpr Word kWaker = 2;
  static constexpr Word kHandOff = 4;
  static constexpr Word kWriter = 8;
  static constexpr Word kUpgrading = 16;
  static constexpr Word kAbandoned = 32;
  static constexpr Word kQueueBits = 1 | kWaker | kHandOff;
  static constexpr int kCountShift = 6;
  static constexpr Word kOne = 1U << kCountShift;
  static constexpr Word kMaxReaders = (1U << (32 - kCountShift)) - 1;

  // What a waiter asks for (Waiter::ask).
  static constexpr std::uint32_t kRead = 1;
  static constexpr std::uint32_t kWrite = 2;
  static constexpr std::uint32_t kUpgrade = 3;

  static Word count(Word word) noexcept { return word >> kCountShift; }
  static bool written(Word word) noexcept { return (word & kWriter) != 0; }
  static Word readers(Word word) noexcept { return written(word) ? 0 : count(word); }
  static AgentId writer(Word word) noexcept { return written(word) ? count(word) : kNoAgent; }

  static bool isFree(Word word) noexcept { return !written(word) && count(word) == 0; }
  /// Whether the change may admit a waiter. A reader that is not the last to leave admits only an upgrading one.
  static bool makesRoom(Word from, Word to) noexcept {
    return readers(from) <= readers(to) || readers(to) == 0 || (to & kUpgrading) ||
           readers(from) == kMaxReaders;
  }
  static void check(const Waiter& w) { checkedAgent(w.agent); }
  static bool fits(Word word, const Waiter& w) noexcept {
    if (written(word)) return false;
    if (w.ask == kUpgrade) return count(word) == 1;
    if (w.ask == kWrite) return count(word) == 0;
    return !(word & kUpgrading) && count(word) < kMaxReaders;
  }
  static Word take(Word word, Waiter& w) noexcept {
    w.abandoned = (word & kAbandoned) != 0;
    if (w.ask == kRead) return (word & ~kAbandoned) + kOne;
    return (word & kQueueBits) | kWriter | (w.agent << kCountShift);
  }
};

enum class Upgrade : std::uint8_t { refused, granted, waiting, late };

/// Blocks the calling thread for an upgrade of a lock of any scope. Returns refused, granted, or late when the
/// deadline passed. If the deadline has passed before, there is no side effect: no reader is kept out, and no other
/// upgrade is refused.
template <class P, class Lock>
Upgrade upgradeBlocking(Lock& lock, Waiter& w, Deadline deadline) {
  auto& parker = P::parker();
  w.parker = &parker;
  const bool mayWait = deadline == kNever || deadline > P::now();
  const Upgrade start = lock.enterUpgrade(w, mayWait ? Upgrade::waiting : Upgrade::late);
  if (start != Upgrade::waiting) return start;
  if (!parker.waitUntil(deadline)) {
    if (lock.leave(w) == Leave::left) return Upgrade::late;
    parker.take();
  }
  lock.resume(w, Wake::admitted);
  return Upgrade::granted;
}

template <class P>
class BasicRWLock : public LockWord<P, RWLockRules> {
  using Base = LockWord<P, RWLockRules>;
  using Rules = RWLockRules;

 public:
  using typename Base::Word;

  constexpr BasicRWLock() : Base(0) {}

  Entry lockRead(AgentId me = P::agent()) { return lockReadUntil(kNever, me); }
  Entry lockWrite(AgentId me = P::agent()) { return lockWriteUntil(kNever, me); }

  /// Not granted when the deadline passed first.
  Entry lockReadUntil(Deadline deadline, AgentId me = P::agent()) {
    return block(Rules::kRead, deadline, me);
  }
  Entry lockWriteUntil(Deadline deadline, AgentId me = P::agent()) {
    return block(Rules::kWrite, deadline, me);
  }

  /// Never block. They may take a free lock ahead of its queue, within the head's patience.
  Entry tryLockRead() { return attempt(Rules::kRead, kNoAgent); }
  Entry tryLockWrite(AgentId me = P::agent()) { return attempt(Rules::kWrite, checkedAgent(me)); }

  /// Throws Misuse(notHolder) when there is no reader. The waiters of agent `me` may go first within the
  /// patience of the head.
  void unlockRead(AgentId me = P::agent()) {
    Base::change(me, [](Word word) {
      if (Rules::readers(word) == 0) {
        throwMisuse(Fault::notHolder, "read unlock of a lock without readers");
      }
      return word - Rules::kOne;
    });
  }

  /// Throws Misuse(notHolder) and changes nothing when `me` is not the writer.
  void unlockWrite(AgentId me = P::agent()) {
    Base::change(me, [me](Word word) { return noWriter(word, me); });
  }

  /// Makes the writer a reader, with no other writer in between, and admits the readers at the head of the queue.
  /// Throws Misuse(notHolder) and changes nothing when `me` is not the writer. `tell` as in abandonReads.
  void downgrade(AgentId me = P::agent(), bool tell = false) {
    Base::change(me, [me, tell](Word word) {
      return (noWriter(word, me) + Rules::kOne) | (tell ? Rules::kAbandoned : 0);
    });
  }

  /// Makes a reader the writer once the other readers have released, ahead of every queued waiter. Not granted when
  /// another reader is upgrading (the two would deadlock: release the read lock) or when the deadline
  /// passed first; then the caller still reads. Throws Misuse(notHolder) when there is no reader.
  Entry upgrade(AgentId me = P::agent()) { return upgradeUntil(kNever, me); }

  Entry upgradeUntil(Deadline deadline, AgentId me = P::agent()) {
    Waiter w;
    w.agent = me;
    return Base::entry(upgradeBlocking(w, deadline) == Upgrade::granted, w);
  }

  /// Unlocks for an agent that died writing, and tells the next holder. Returns false when `dead` does not write.
  bool abandon(AgentId dead) {
    bool held = false;
    Base::change(kNoAgent, [dead, &held](Word word) {
      held = dead != kNoAgent && Rules::writer(word) == dead;
      return held ? noWriter(word, dead) | Rules::kAbandoned : word;
    });
    return held;
  }

  /// Ends up to `count` reads of an agent that died. With `tell` the next holder is told of a death: the agent died
  /// before it heard that it had been granted an abandoned lock.
  void abandonReads(std::uint32_t count, bool tell = false) {
    Base::change(kNoAgent, [count, tell](Word word) {
      const Word back = std::min(count, Rules::readers(word)) << Rules::kCountShift;
      return (word - back) | (tell ? Rules::kAbandoned : 0);
    });
  }

  /// Admits readers at the head of the queue while the lock is read: they were invited when the lock was free,
  /// and are still on their way.
  void hurry(AgentId me = P::agent()) {
    Base::change(me, [](Word word) { return word; });
  }

  std::uint32_t readers() const noexcept { return Rules::readers(Base::word()); }
  AgentId writer() const noexcept { return Rules::writer(Base::word()); }

  // For callers with a waiter of their own (lock_word.h): w.ask is Rules::kRead or kWrite.
  Leave leave(Waiter& w) {
    // The upgrade excluded new readers: giving it up admits them again.
    const Word claim = w.ask == Rules::kUpgrade ? Rules::kUpgrading : 0;
    return Base::leave(w, [claim](Word word) { return word & ~claim; });
  }

  template <class Gone>
  void leaveAll(AgentId agent, Gone&& gone) {
    Word claim = 0;
    const auto leaves = [&claim, &gone](Waiter& w, Leave how) {
      if (w.ask == Rules::kUpgrade) claim = Rules::kUpgrading;
      gone(w, how);
    };
    Base::leaveAll(agent, leaves, [&claim](Word word) { return word & ~claim; });
  }

  using Upgrade = boxoffice::Upgrade;
  Upgrade upgradeBlocking(Waiter& w, Deadline deadline) {
    return boxoffice::upgradeBlocking<P>(*this, w, deadline);
  }

  /// Upgrades, or enters the queue as its head and returns Upgrade::waiting; then w is woken once it is the writer.
  /// `otherwise` is the result when it would have to wait. If that is late, w does not wait.
  Upgrade enterUpgrade(Waiter& w, Upgrade otherwise = Upgrade::waiting) {
    checkedAgent(w.agent);
    w.ask = Rules::kUpgrade;
    const double priority = w.priority;
    auto bucket = P::lot().open(this);
    WaitQueue& waiters = bucket.obtainQueue();
    waiters.enterFirst(w);
    Word word = this->word_.load(std::memory_order_relaxed);
    for (;;) {
      const Upgrade how = upgradeFrom(word, w, otherwise);
      Word next = word;
      if (how == Upgrade::granted) next = Rules::take(word, w);
      if (how == Upgrade::waiting) {
        next = Base::Bits::with(word | Rules::kUpgrading, Base::Bits::of(waiters));
      }
      if (this->word_.compare_exchange_weak(word, next, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
        if (how != Upgrade::waiting) {
          waiters.leave(w);
          w.priority = priority;  // the waiter may enter anew, to write
        }
        if (Rules::readers(word) == 0) {
          throwMisuse(Fault::notHolder, "upgrade of a lock without readers");
        }
        return how;
      }
    }
  }

 private:
  static Upgrade upgradeFrom(Word word, const Waiter& w, Upgrade otherwise) {
    if (Rules::readers(word) == 0 || (word & Rules::kUpgrading)) return Upgrade::refused;
    return Rules::fits(word, w) ? Upgrade::granted : otherwise;
  }

  static Word noWriter(Word word, AgentId me) {
    if (Rules::writer(word) != me || me == kNoAgent) {
      throwMisuse(Fault::notHolder, "the caller does not hold the write lock");
    }
    return word & Base::Bits::kAll;
  }

  Entry block(std::uint32_t mode, Deadline deadline, AgentId me) {
    Waiter w;
    w.agent = checkedAgent(me);
    w.ask = mode;
    return Base::entry(Base::enterBlocking(w, deadline), w);
  }

  Entry attempt(std::uint32_t mode, AgentId me) {
    Waiter w;
    w.agent = me;
    w.ask = mode;
    return Base::entry(Base::tryEnter(w), w);
  }
};

using RWLock = BasicRWLock<Platform>;

}  // namespace boxoffice
