// Tests of the read-write lock, apart from main: they also run with weakened memory orders.
#pragma once

#include "suite.h"

namespace boxoffice::relacy {

template <class Test, class P, int kThreads>
struct RWLockSuite : Suite<Test, P, kThreads> {
  BasicRWLock<P> lock;
  Payload payload;
  int writes = 0;

  void write() {
    payload.add();
    ++writes;
  }

  void read() { payload.read(); }

  void resumed() {
    RL_ASSERT((wordOf<P, RWLockRules>(lock) == 0));
    RL_ASSERT(payload.read() == writes);
  }
};

/// The first kReaders threads read, the others write, some of them with a deadline.
template <class P, int kReaders, int kWriters, bool kTimed = false>
struct ReadersAndWriters
    : RWLockSuite<ReadersAndWriters<P, kReaders, kWriters, kTimed>, P, kReaders + kWriters> {
  void thread(unsigned index) {
    // The first reader and the first writer have a deadline.
    const Deadline deadline = kTimed && (index == 0 || index == kReaders) ? P::kSoon : kNever;
    for (int round = 0; round < 2; ++round) {
      if (index < kReaders) {
        if (!this->lock.lockReadUntil(deadline)) continue;
        this->read();
        this->lock.unlockRead();
      } else {
        if (!this->lock.lockWriteUntil(deadline)) continue;
        this->write();
        this->lock.unlockWrite();
      }
    }
  }
};

/// Two readers upgrade to write what they have read, and a third thread writes, too. At most one
/// reader can wait to upgrade; the other is refused and starts over.
template <class P, bool kTimed>
struct UpgradingReaders : RWLockSuite<UpgradingReaders<P, kTimed>, P, 3> {
  void thread(unsigned index) {
    if (index == 2) {
      this->lock.lockWrite();
      this->write();
      this->lock.unlockWrite();
      return;
    }
    this->lock.lockRead();
    const int seen = this->payload.read();
    if (this->lock.upgradeUntil(kTimed ? P::kSoon : kNever)) {
      RL_ASSERT(this->payload.read() == seen);
      this->write();
      this->lock.unlockWrite();
    } else {
      RL_ASSERT(this->payload.read() == seen);
      this->lock.unlockRead();
      this->lock.lockWrite();
      this->write();
      this->lock.unlockWrite();
    }
  }

  void resumed() {
    RL_ASSERT(this->writes == 3);
    RWLockSuite<UpgradingReaders, P, 3>::resumed();
  }
};

/// A downgrade: the writer still reads its own write, since no other writer enters in between.
template <class P>
struct Downgrade : RWLockSuite<Downgrade<P>, P, 3> {
  void thread(unsigned index) {
    if (index == 2) {
      this->lock.lockRead();
      this->read();
      this->lock.unlockRead();
      return;
    }
    this->lock.lockWrite();
    this->write();
    const int wrote = this->payload.read();
    this->lock.downgrade();
    RL_ASSERT(this->payload.read() == wrote);
    this->lock.unlockRead();
  }
};

template <class P>
struct TryReadAndWrite : RWLockSuite<TryReadAndWrite<P>, P, 3> {
  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      if (index == 0) {
        this->lock.lockWrite();
        this->write();
        this->lock.unlockWrite();
      } else if (index == 1 && this->lock.tryLockWrite()) {
        this->write();
        this->lock.unlockWrite();
      } else if (this->lock.tryLockRead()) {
        this->read();
        this->lock.unlockRead();
      }
    }
  }
};

/// A writer dies; exactly one later holder is told.
template <class P>
struct AbandonedWrite : RWLockSuite<AbandonedWrite<P>, P, 3> {
  int told = 0;

  void thread(unsigned index) {
    if (index == 2) {
      told += this->lock.lockRead().abandoned;
      this->read();
      this->lock.unlockRead();
      return;
    }
    told += this->lock.lockWrite().abandoned;
    this->write();
    if (index == 0) {
      RL_ASSERT(this->lock.abandon(P::agent()));
    } else {
      this->lock.unlockWrite();
    }
  }

  void resumed() {
    const bool last = wordOf<P, RWLockRules>(this->lock) == RWLockRules::kAbandoned;
    RL_ASSERT(last || (wordOf<P, RWLockRules>(this->lock) == 0));
    RL_ASSERT(told == (last ? 0 : 1));
  }
};

}  // namespace boxoffice::relacy
