// What the locks that processes share have in common: ownership, which processes take (hand-off queue.h), and the
// private line of each process, in which its threads and promises wait as for any other lock (parking_lot.h), by
// the address of the slot in its own mapping.
//
//   our ownership: admit the head of the private queue, one after the other; when nobody is left, or another
//   process has been first for longer than kPatience, ownership is passed on (and we queue again)
//
// A kind (Self) says whether the first in the queue may go in, and what that means:
//     bool admit(Visit&, Turn, Waiter&)   it is our ownership, ungiven: lets it in, and keeps ownership for it
//                                         (OwnerWord::ownedBy) or not; false: it has to wait, and so has ownership
//     bool tryEnter(Waiter&)              in, if that takes nobody's place
//     bool tryBefore(Waiter&)             the same, before it stands in the queue
//     bool isApart(const Waiter&)         it waits for something else than ownership
//     void look(Visit&)                   lets in those who are apart
//     void gone(Visit&, Waiter&)          one of them has left
//     void check(const Waiter&)           throws for one that no slot can hold
//
// Invariant, when nobody is inside: whoever is first in the private queue is kept out by others, and they (or
// their death) will notify us: else it would have been let in.
#pragma once

#include <type_traits>

#include "host/handoff_queue.h"

namespace boxoffice::host {

template <class P, class Self, class Slot>
class HostLock : public HandoffQueue<P, Slot> {
  using Base = HandoffQueue<P, Slot>;
  using ParkingLots = std::remove_reference_t<decltype(P::lot())>;

 public:
  static Entry entry(bool in, const Waiter& w) noexcept { return {in, in && w.abandoned}; }

  /// As LockWord::enter. Throws Misuse(badArgument), too, for what no slot can hold.
  bool enter(Waiter& w) {
    self().check(w);
    if (self().tryBefore(w)) return true;
    Visit v(*this);
    WaitQueue& queue = v.bucket.obtainQueue();
    const bool first = queue.empty();
    v.overtakes = first || w.priority > queue.topPriority();
    queue.enter(w);
    if (first) startPatience(queue);
    v.entering = &w;
    advance(v);
    return v.in;
  }

  /// As LockWord::settle. Nobody is invited to compete here: a wake is an admission.
  bool settle(Waiter& w, Wake how) noexcept {
    if (how == Wake::invited) {
      auto bucket = P::lot().open(this);
      if (w.state != Waiter::State::admitted) return false;
    }
    w.state = Waiter::State::idle;
    return true;
  }

  /// As LockWord::leave.
  Leave leave(Waiter& w) {
    Visit v(*this);
    if (w.state == Waiter::State::idle) {
      throw Misuse(Fault::notWaiting, "this waiter waits for nothing");
    }
    if (w.state == Waiter::State::admitted) return Leave::admitted;
    v.bucket.queue().leave(w);
    self().gone(v, w);
    advance(v);
    return Leave::left;
  }

  /// As LockWord::leaveAll.
  template <class Gone>
  void leaveAll(AgentId agent, Gone&& gone) {
    Visit v(*this);
    if (v.bucket.empty()) return;
    WaitQueue& queue = v.bucket.queue();
    Waiter* next = queue.find(agent);
    while (next) {
      Waiter& w = *next;
      next = w.next;
      queue.leave(w);
      self().gone(v, w);
      gone(w, Leave::left);
      next = queue.find(agent, next);
    }
    advance(v);
  }

  /// Does a waiter of `agent` stand in the line of this process?
  bool isQueued(AgentId agent) const { return P::lot().isQueued(this, agent); }

  /// The line of this process.
  QueueSummary queue() const { return P::lot().queue(this); }

  /// As LockWord::enterBlocking.
  bool enterBlocking(Waiter& w, Deadline deadline) {
    self().check(w);
    if (self().tryEnter(w)) return true;
    if (deadline != kNever && deadline <= P::now()) return false;
    if (P::lot().spin(this)([&] { return self().tryEnter(w); })) return true;
    auto& parker = P::parker();
    w.parker = &parker;
    return enter(w) || sleep(w, parker, deadline);
  }

  /// Our wake-up has been notified for this slot, or somebody has died: does whatever is due.
  void notified() noexcept {
    Visit v(*this);
    v.notified = true;
    advance(v);
  }

 protected:
  HostLock() = default;
  ~HostLock() = default;

  /// One call that holds the bucket of the slot. At its end the bucket is left, those who were admitted are
  /// woken, and wake-ups are notified, in this order.
  struct Visit : Base::Pass {
    explicit Visit(const HostLock& word) : Base::Pass(word), bucket(P::lot().open(&word)) {}

    typename ParkingLots::Bucket bucket;
    Waiter* entering = nullptr;  ///< who calls: let in at once it is not woken
    AgentId leaver = kNobody;    ///< whose own waiters are at hand
    bool in = false;             ///< `entering` has been let in
    bool overtakes = false;      ///< it may take a free owner word that others were invited to
    bool used = false;           ///< our ownership has been of use: others may be due
  };

  /// Sees to it that whoever of ours waits is let in, or the process stands where a ownership comes to it; and to
  /// neither if nobody waits.
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
        Base::change(v, t, t.ownedBy(v.me, kNobody).without(v.me), true);
      } else if (Base::enqueue(v, t, !w->mayBeOvertaken)) {
        Base::leaveOverflow(v, Base::owner(), true);
        return;
      }
    }
  }

  /// The lock is not `agent`'s any more. False, and nothing has changed, if it was not.
  bool giveBack(Visit& v, AgentId agent, bool abandoned) noexcept {
    v.used = true;
    for (;;) {
      const OwnerWord t = Base::owner();
      if (agent == kNobody || t.process() != v.me || t.agent() != agent) return false;
      Waiter* const w = first(v);
      const OwnerWord mine = t.with(OwnerWord::kAbandoned, abandoned);
      if (w ? Base::change(v, t, mine.ownedBy(v.me, kNobody).without(v.me), true)
            : Base::passOn(v, t, mine, false)) {
        break;
      }
    }
    advance(v);
    return true;
  }

  /// Takes a ownership that nobody has or waits for, or in spite of them if it `overtakes`, for one who does not
  /// stand in the queue, and gives it back at once unless that one keeps it.
  bool enterInPassing(Waiter& w, bool overtakes) {
    waitOut();
    Visit v(*this);
    if (!v.bucket.empty() || !self().mayFit(w)) return false;
    for (;;) {
      const OwnerWord t = Base::owner();
      if (!t.isFree()) return false;
      if (!t.isEmpty() && (!overtakes || t.has(OwnerWord::kStrict))) return false;
      const OwnerWord taken = t.ownedBy(v.me, kNobody);
      if (Base::change(v, t, taken, false)) break;
    }
    v.entering = &w;
    for (OwnerWord t = Base::owner(); t.isUngiven(v.me) && !v.in; t = Base::owner()) {
      if (!self().admit(v, t, w)) break;
    }
    advance(v);
    return v.in;
  }

  /// Lets in one of the queue, or the one who calls.
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
    if (!wasHead || queue.empty()) return;
    if (queue.head()->agent == w.agent) {
      queue.patience = Deadline::min();
    } else {
      startPatience(queue);
    }
  }

  /// `first`, or one of the leaver's own before it, within its patience (lock_word.h).
  Waiter& preferred(Visit& v, Waiter& first) noexcept {
    if (v.leaver == kNobody || v.bucket.empty()) return first;
    WaitQueue& queue = v.bucket.queue();
    if (first.agent == v.leaver || !first.mayBeOvertaken || P::now() >= queue.patience)
      return first;
    Waiter* const own = queue.firstOf(v.leaver);
    return own ? *own : first;
  }

  /// Whether anybody of ours waits for ownership besides `w`.
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

  static void startPatience(WaitQueue& queue) noexcept { queue.patience = P::now() + kPatience; }

  /// The first of ours that waits for ownership.
  static Waiter* first(Visit& v) noexcept {
    if (v.bucket.empty()) return nullptr;
    Waiter* const w = v.bucket.queue().head();
    return w && Self::isApart(*w) ? v.bucket.queue().behind(*w) : w;
  }

  /// A ownership that is only passed through is over in a moment: shorter than a sleep.
  void waitOut() const noexcept {
    for (int i = 0; i < P::kBusyLooks; ++i) {
      const OwnerWord t = Base::owner();
      if (t.isFree() || t.agent() != kNobody || t.has(OwnerWord::kQueued)) return;
      P::relax();
    }
  }

  template <class Parker>
  bool sleep(Waiter& w, Parker& parker, Deadline deadline) {
    if (!parker.waitUntil(deadline)) {
      if (leave(w) == Leave::left) return false;
      parker.take();
    }
    return settle(w, Wake::admitted);
  }
};

}  // namespace boxoffice::host
