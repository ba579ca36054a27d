// The common part of the locks of scope host: ownership, which processes acquire and hand over
// (handoff_queue.h), and the local queue of each process. In it the threads and promises of the process
// wait as for any other lock (parking_lot.h), by the address of the slot in this process's mapping.
//
//   while this process is the owner: admit the head of the local queue, one waiter after the other. Pass
//   ownership on when the local queue is empty, or when another process has been first in the fifo for
//   longer than kPatience; then enqueue again if a waiter is left.
//
// A kind of lock (Self) decides whether the first waiter may enter, and records the entry:
//     bool admit(Visit&, OwnerWord, Waiter&)
//                                         this process owns the word, ungiven: lets the waiter in, and gives
//                                         ownership to it (OwnerWord::ownedBy) or not. False: the waiter
//                                         has to wait, and this process stays the owner
//     bool tryEnter(Waiter&)              for a caller that blocks: admits it at once, or returns false
//     bool tryBefore(Waiter&)             the same for a waiter that is about to join the local queue
//     bool isApart(const Waiter&)         the waiter waits for something other than ownership
//     void look(Visit&)                   admits the waiters that are apart
//     void gone(Visit&, Waiter&)          a waiter has left the queue
//     void check(const Waiter&)           throws for a waiter that no slot can represent
//
// Invariant, while no call is in progress: if the local queue has a first waiter, other holders keep it out, and they
// (or the cleaners after their deaths) will notify this process.
#pragma once

#include <type_traits>

#include "host/handoff_queue.h"

namespace boxoffice::host {

template <class P, class Self, class Slot>
class HostLock : public HandoffQueue<P, Slot>, public QueuedLock<P, Self> {
  using Base = HandoffQueue<P, Slot>;
  using Blocking = QueuedLock<P, Self>;
  using ParkingLots = std::remove_reference_t<decltype(P::lot())>;

 public:
  /// Does what LockWord::enter does. Also throws Misuse(badArgument) for a waiter that no slot can represent.
  bool enter(Waiter& w) {
    self().check(w);
    if (self().tryBefore(w)) return true;
    Visit v(*this);
    WaitQueue& queue = v.bucket.obtainQueue();
    const bool first = queue.empty();
    v.overtakes = first || w.priority > queue.topPriority();
    queue.enter(w);
    if (first) Blocking::startPatience(queue);
    v.entering = &w;
    advance(v);
    return v.in;
  }

  /// Does what LockWord::enterNow does.
  bool enterNow(Waiter& w) {
    self().check(w);
    if (self().tryBefore(w)) return true;
    Visit v(*this);
    if (v.bucket.empty() || w.priority <= v.bucket.queue().topPriority()) return false;
    // No other process sees this entry, since this process waits already. No other thread does, since it holds the
    // bucket.
    WaitQueue& queue = v.bucket.queue();
    v.overtakes = true;
    v.entering = &w;
    queue.enter(w);
    advance(v);
    if (v.in) return true;
    queue.leave(w);
    advance(v);
    return false;
  }

  /// Does what LockWord::resume does. No waiter is invited to compete here: a wake is an admission.
  bool resume(Waiter& w, Wake how) noexcept {
    if (how == Wake::invited) {
      auto bucket = P::lot().open(this);
      if (w.state != Waiter::State::admitted) return false;
    }
    w.state = Waiter::State::idle;
    return true;
  }

  /// Does what LockWord::leave does.
  Leave leave(Waiter& w) {
    Visit v(*this);
    if (wasAdmitted(w)) return Leave::admitted;
    v.bucket.queue().leave(w);
    self().gone(v, w);
    advance(v);
    return Leave::left;
  }

  /// Does what LockWord::leaveAll does.
  template <class Gone>
  void leaveAll(AgentId agent, Gone&& gone) {
    Visit v(*this);
    if (v.bucket.empty()) return;
    v.bucket.queue().leaveAll(agent, [&](Waiter& w, bool) {
      self().gone(v, w);
      gone(w, Leave::left);
    });
    advance(v);
  }

  /// Called after a notification of this process for this slot, or a death: makes the changes that are due.
  void notified() noexcept {
    Visit v(*this);
    v.notified = true;
    advance(v);
  }

 protected:
  HostLock() = default;
  ~HostLock() = default;

  /// One call that holds the bucket of the slot. At its end it drops the bucket, wakes the admitted
  /// waiters, and notifies the other processes, in this order.
  struct Visit : Base::Pass {
    explicit Visit(const HostLock& word) : Base::Pass(word), bucket(P::lot().open(&word)) {}

    typename ParkingLots::Bucket bucket;
    Waiter* entering = nullptr;  ///< the caller's waiter: if admitted at once, it is not woken
    bool in = false;             ///< `entering` was admitted
    bool overtakes = false;      ///< `entering` may take a free word that others were invited to
    bool used = false;           ///< this ownership has served a waiter: another may be due
  };

  /// Admits the first local waiter, or queues this process for ownership. Without a local waiter, withdraws this
  /// process.
  void advance(Visit& v) noexcept {
    for (;;) {
      self().look(v);
      Waiter* const w = first(v);
      const OwnerWord t = Base::owner();
      if (Base::leaveOverflow(v, t, w != nullptr)) continue;
      if (t.isUngiven(v.me)) {
        if (w && !(v.used && Base::isDue(v, t))) {
          if (!self().admit(v, t, *w)) return;
        } else {
          Base::passOn(v, t, t, w != nullptr);
        }
      } else if (!w) {
        if (Base::drop(v, t)) return;
      } else if (t.isFree() && mayTake(v, t)) {
        Base::change(v, t, t.ownedBy(v.me, kNoAgent).without(v.me), true);
      } else if (Base::enqueue(v, t, !w->mayBeOvertaken)) {
        Base::leaveOverflow(v, Base::owner(), true);
        return;
      }
    }
  }

  /// Takes the lock back from `agent`. Returns false and changes nothing when `agent` does not hold it.
  bool giveBack(Visit& v, AgentId agent, bool abandoned) noexcept {
    v.used = true;
    for (;;) {
      const OwnerWord t = Base::owner();
      if (agent == kNoAgent || t.process() != v.me || t.agent() != agent) return false;
      Waiter* const w = first(v);
      const OwnerWord mine = t.with(OwnerWord::kAbandoned, abandoned);
      if (w ? Base::change(v, t, mine.ownedBy(v.me, kNoAgent).without(v.me), true)
            : Base::passOn(v, t, mine, false)) {
        break;
      }
    }
    advance(v);
    return true;
  }

  /// Takes the free word for a waiter that is not in the queue, and passes it on at once unless the waiter
  /// keeps it. Only if no local waiter is queued and, unless the waiter `overtakes`, no process waits.
  bool enterInPassing(Waiter& w, bool overtakes) {
    waitOut();
    Visit v(*this);
    if (!v.bucket.empty() || !self().mayFit(w)) return false;
    for (;;) {
      const OwnerWord t = Base::owner();
      if (!t.isFree()) return false;
      if (!t.isEmpty() && (!overtakes || t.has(OwnerWord::kStrict))) return false;
      const OwnerWord taken = t.ownedBy(v.me, kNoAgent);
      if (Base::change(v, t, taken, false)) break;
    }
    v.entering = &w;
    for (OwnerWord t = Base::owner(); t.isUngiven(v.me) && !v.in; t = Base::owner()) {
      if (!self().admit(v, t, w)) break;
    }
    advance(v);
    return v.in;
  }

  /// Admits `w`, a waiter of the queue or of the caller.
  void letIn(Visit& v, Waiter& w) noexcept {
    v.used = true;
    if (v.bucket.empty()) {
      v.in = true;
      return;
    }
    WaitQueue& queue = v.bucket.queue();
    const bool wasHead = queue.head() == &w;
    if (&w == v.entering) {
      queue.leave(w);
      v.in = true;
    } else {
      v.bucket.admit(w);
    }
    if (wasHead) Blocking::passedHead(queue, w);
  }

  /// Whether a local waiter other than `w` waits for ownership.
  static bool othersWait(Visit& v, const Waiter& w) noexcept {
    const Waiter* const one = first(v);
    return one && (one != &w || v.bucket.queue().behind(w));
  }

 private:
  static bool mayTake(const Visit& v, OwnerWord t) noexcept {
    if (t.isEmpty() || t.head() == v.me) return true;
    return v.overtakes && !v.used && !t.has(OwnerWord::kStrict);
  }

  Self& self() noexcept { return static_cast<Self&>(*this); }

  /// The first local waiter that waits for ownership.
  static Waiter* first(Visit& v) noexcept {
    if (v.bucket.empty()) return nullptr;
    Waiter* const w = v.bucket.queue().head();
    return w && Self::isApart(*w) ? v.bucket.queue().behind(*w) : w;
  }

  /// Waits for the end of an ownership that a process only passes through. That takes less time than a sleep.
  void waitOut() const noexcept {
    for (int i = 0; i < P::kBusyLooks; ++i) {
      const OwnerWord t = Base::owner();
      if (t.isFree() || t.agent() != kNoAgent || t.has(OwnerWord::kQueued)) return;
      P::relax();
    }
  }
};

}  // namespace boxoffice::host
