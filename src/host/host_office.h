// What the locks that processes share have in common: the turn, which processes take (turnstile.h), and the
// private line of each process, in which its threads and promises wait as for any other lock (lot.h), by
// the address of the slot in its own mapping.
//
//   our turn: admit the head of the private line, one after the other; when nobody is left, or another
//   process has been first for longer than kPatience, the turn is passed on (and we queue again)
//
// A kind (Self) says whether the first in line may go in, and what that means:
//     bool admit(Visit&, Turn, Waiter&)   it is our turn, ungiven: lets it in, and keeps the turn for it
//                                         (Turn::ownedBy) or not; false: it has to wait, and so has the turn
//     bool tryEnter(Waiter&)              in, if that takes nobody's place
//     bool tryBefore(Waiter&)             the same, before it stands in line
//     bool isApart(const Waiter&)         it waits for something else than the turn
//     void look(Visit&)                   lets in those who are apart
//     void gone(Visit&, Waiter&)          one of them has left
//     void check(const Waiter&)           throws for one that no slot can hold
//
// Invariant, when nobody is inside: whoever is first in the private line is kept out by others, and they (or
// their death) will ring us: else it would have been let in.
#pragma once

#include <type_traits>

#include "host/turnstile.h"

namespace boxoffice::host {

template <class P, class Self, class Slot>
class HostOffice : public Turnstile<P, Slot> {
  using Base = Turnstile<P, Slot>;
  using Lots = std::remove_reference_t<decltype(P::lot())>;

 public:
  static Entry entry(bool in, const Waiter& w) noexcept { return {in, in && w.abandoned}; }

  /// As Office::enter. Throws Misuse(badArgument), too, for what no slot can hold.
  bool enter(Waiter& w) {
    self().check(w);
    if (self().tryBefore(w)) return true;
    Visit v(*this);
    Line& line = v.bucket.obtainLine();
    const bool first = line.empty();
    v.overtakes = first || w.priority > line.topPriority();
    line.enter(w);
    if (first) startPatience(line);
    v.entering = &w;
    advance(v);
    return v.in;
  }

  /// As Office::settle. Nobody is invited to compete here: a wake is an admission.
  bool settle(Waiter& w, Wake how) noexcept {
    if (how == Wake::invited) {
      auto bucket = P::lot().open(this);
      if (w.state != Waiter::State::admitted) return false;
    }
    w.state = Waiter::State::idle;
    return true;
  }

  /// As Office::leave.
  Leave leave(Waiter& w) {
    Visit v(*this);
    if (w.state == Waiter::State::idle) {
      throw Misuse(Fault::notWaiting, "this waiter waits for nothing");
    }
    if (w.state == Waiter::State::admitted) return Leave::admitted;
    v.bucket.line().leave(w);
    self().gone(v, w);
    advance(v);
    return Leave::left;
  }

  /// As Office::leaveAll.
  template <class Gone>
  void leaveAll(AgentId agent, Gone&& gone) {
    Visit v(*this);
    if (v.bucket.empty()) return;
    Line& line = v.bucket.line();
    Waiter* next = line.find(agent);
    while (next) {
      Waiter& w = *next;
      next = w.next;
      line.leave(w);
      self().gone(v, w);
      gone(w, Leave::left);
      next = line.find(agent, next);
    }
    advance(v);
  }

  /// Does a waiter of `agent` stand in the line of this process?
  bool stands(AgentId agent) const { return P::lot().stands(this, agent); }

  /// The line of this process.
  Queue queue() const { return P::lot().queue(this); }

  /// As Office::enterBlocking.
  bool enterBlocking(Waiter& w, Deadline deadline) {
    self().check(w);
    if (self().tryEnter(w)) return true;
    if (deadline != kNever && deadline <= P::now()) return false;
    if (P::lot().spin(this)([&] { return self().tryEnter(w); })) return true;
    auto& parker = P::parker();
    w.parker = &parker;
    return enter(w) || sleep(w, parker, deadline);
  }

  /// Our bell has been rung for this slot, or somebody has died: does whatever is due.
  void heard() noexcept {
    Visit v(*this);
    v.heard = true;
    advance(v);
  }

 protected:
  HostOffice() = default;
  ~HostOffice() = default;

  /// One call that holds the bucket of the slot. At its end the bucket is left, those who were admitted are
  /// woken, and bells are rung, in this order.
  struct Visit : Base::Pass {
    explicit Visit(const HostOffice& office) : Base::Pass(office), bucket(P::lot().open(&office)) {}

    typename Lots::Bucket bucket;
    Waiter* entering = nullptr;  ///< who calls: let in at once it is not woken
    AgentId leaver = kNobody;    ///< whose own waiters are at hand
    bool in = false;             ///< `entering` has been let in
    bool overtakes = false;      ///< it may take a free turn that others were invited to
    bool used = false;           ///< our turn has been of use: others may be due
  };

  /// Sees to it that whoever of ours waits is let in, or the process stands where a turn comes to it; and to
  /// neither if nobody waits.
  void advance(Visit& v) noexcept {
    for (;;) {
      self().look(v);
      Waiter* const w = first(v);
      const Turn t = Base::turn();
      if (Base::leaveMore(v, t, w != nullptr)) continue;
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
      } else if (Base::stand(v, t, !w->mayBeOvertaken)) {
        Base::leaveMore(v, Base::turn(), true);
        return;
      }
    }
  }

  /// The lock is not `agent`'s any more. False, and nothing has changed, if it was not.
  bool giveBack(Visit& v, AgentId agent, bool abandoned) noexcept {
    v.used = true;
    for (;;) {
      const Turn t = Base::turn();
      if (agent == kNobody || t.seat() != v.me || t.agent() != agent) return false;
      Waiter* const w = first(v);
      const Turn mine = t.with(Turn::kAbandoned, abandoned);
      if (w ? Base::change(v, t, mine.ownedBy(v.me, kNobody).without(v.me), true)
            : Base::passOn(v, t, mine, false)) {
        break;
      }
    }
    advance(v);
    return true;
  }

  /// Takes a turn that nobody has or waits for, or in spite of them if it `overtakes`, for one who does not
  /// stand in line, and gives it back at once unless that one keeps it.
  bool enterInPassing(Waiter& w, bool overtakes) {
    waitOut();
    Visit v(*this);
    if (!v.bucket.empty() || !self().mayFit(w)) return false;
    for (;;) {
      const Turn t = Base::turn();
      if (!t.isFree()) return false;
      if (!t.isEmpty() && (!overtakes || t.has(Turn::kStrict))) return false;
      const Turn taken = t.ownedBy(v.me, kNobody);
      if (Base::change(v, t, taken, false)) break;
    }
    v.entering = &w;
    for (Turn t = Base::turn(); t.isUngiven(v.me) && !v.in; t = Base::turn()) {
      if (!self().admit(v, t, w)) break;
    }
    advance(v);
    return v.in;
  }

  /// Lets in one of the line, or the one who calls.
  void letIn(Visit& v, Waiter& w) noexcept {
    v.used = true;
    if (v.bucket.empty()) {
      v.in = true;
      return;
    }
    Line& line = v.bucket.line();
    const bool wasHead = line.head() == &w;
    if (&w == v.entering) {
      line.leave(w);
      v.in = true;
    } else {
      v.bucket.admit(w);
    }
    if (!wasHead || line.empty()) return;
    if (line.head()->agent == w.agent) {
      line.patience = Deadline::min();
    } else {
      startPatience(line);
    }
  }

  /// `first`, or one of the leaver's own before it, within its patience (office.h).
  Waiter& preferred(Visit& v, Waiter& first) noexcept {
    if (v.leaver == kNobody || v.bucket.empty()) return first;
    Line& line = v.bucket.line();
    if (first.agent == v.leaver || !first.mayBeOvertaken || P::now() >= line.patience) return first;
    Waiter* const own = line.firstOf(v.leaver);
    return own ? *own : first;
  }

  /// Whether anybody of ours waits for the turn besides `w`.
  static bool othersWait(Visit& v, const Waiter& w) noexcept {
    const Waiter* const one = first(v);
    return one && (one != &w || v.bucket.line().behind(w));
  }

 private:
  static bool mayTake(const Visit& v, Turn t) noexcept {
    if (t.isEmpty() || t.head() == v.me) return true;
    return v.overtakes && !v.used && !t.has(Turn::kStrict);
  }

  Self& self() noexcept { return static_cast<Self&>(*this); }

  static void startPatience(Line& line) noexcept { line.patience = P::now() + kPatience; }

  /// The first of ours that waits for the turn.
  static Waiter* first(Visit& v) noexcept {
    if (v.bucket.empty()) return nullptr;
    Waiter* const w = v.bucket.line().head();
    return w && Self::isApart(*w) ? v.bucket.line().behind(*w) : w;
  }

  /// A turn that is only passed through is over in a moment: shorter than a sleep.
  void waitOut() const noexcept {
    for (int i = 0; i < P::kBusyLooks; ++i) {
      const Turn t = Base::turn();
      if (t.isFree() || t.agent() != kNobody || t.has(Turn::kLine)) return;
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
