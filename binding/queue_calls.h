// Enters and leaves the queue of a lock, by functions over numbers: word indexes, tickets. All kinds with a queue
// share them. Lock logic is in src/ and promises are in lib/; this file only passes arguments. The comment of such a
// function has its arguments in parentheses, and its result after the colon.
#pragma once

#include "exports.h"
#include "kinds.h"
#include "outcome.h"
#include "pending_ticket.h"
#include "termination.h"

namespace boxoffice::binding {

/// Stops a blocking wait when JavaScript is terminated, or when the file of a lock of scope host was removed.
class BlockedStop final : public Stop {
 public:
  BlockedStop(Termination& termination, const void* lock)
      : termination_(termination), segment_(host::segmentAt(lock)) {}
  bool isRequested() noexcept override {
    return termination_.isRequested() || (segment_ && segment_->isGone());
  }

 private:
  Termination& termination_;
  const host::Segment* const segment_;  // null for a lock of another scope
};

template <class Lock>
struct QueueCalls {
  /// Records the grant of `w`, and returns its outcome.
  static std::int32_t inNow(const Call& call, const Waiter& w) {
    call.loop().tickets().granted(w);
    return outcomeOf(true, w);
  }

  /// (word index, ask; priority and fairness, or nothing; whether the waiter releases at once, or nothing): a ticket
  /// in the queue, or the outcome of a grant at once. Waiters of one environment never overtake each other, so no
  /// waiter is granted at once while another may be queued.
  static std::int32_t enter(const Call& call) {
    auto& lock = call.lock<Lock>();
    PendingTicket ticket(call.loop(), kKind<Lock>, call.integer(0));
    Waiter& w = ticket.waiter();
    w.ask = static_cast<std::uint32_t>(call.integer(1));
    if (call.has(2)) {
      w.priority = call.number(2);
      w.mayBeOvertaken = call.integer(3) == 0;
    }
    if (call.has(4)) w.isPassing = call.integer(4) == 1;
    w.mayOvertake = false;
    const bool in = lock.enter(w);
    if constexpr (kAdmitsWhenAsked<Lock>) call.loop().deferCompletions();
    return in ? inNow(call, w) : ticket.keep();
  }

  /// (word index, ticket), invited: the outcome of a grant, or kNotGranted while the waiter stays in the queue.
  static std::int32_t resume(const Call& call) {
    Tickets& tickets = call.loop().tickets();
    Waiter& w = tickets.waiter(call.integer(1));
    tickets.waitOf(w).isInvited = false;
    if (!call.lock<Lock>().resume(w, Wake::invited)) return kNotGranted;
    const std::int32_t outcome = inNow(call, w);
    tickets.give(w);
    return outcome;
  }

  /// Counts the grant of `w`, which has no ticket.
  static void count(const Call& call, const Waiter& w) {
    if constexpr (kIsCounted<Lock>) call.loop().shares().took(call.integer(0), taken<Lock>(w));
  }

  /// (word index, ask, timeout in ms, priority, whether strictly first come, first served), which blocks this thread:
  /// an outcome.
  static std::int32_t enterSync(const Call& call) {
    EventLoop& loop = call.loop();
    auto& lock = call.lock<Lock>();
    Waiter w;
    w.agent = loop.id();
    w.ask = static_cast<std::uint32_t>(call.integer(1));
    w.priority = call.number(3);
    w.mayBeOvertaken = call.integer(4) == 0;
    Termination termination(loop);
    BlockedStop stop(termination, &lock);
    const ThreadParker<Platform>::Watch watch(stop);
    bool in = lock.enterBlocking(w, deadlineAfter(call.number(2)));
    if (in && termination.wasRequested()) {
      passOn(lock, w);
      in = false;
    }
    if (in) count(call, w);
    return outcomeOf(in, w);
  }

  /// (word index, ask): the outcome, without waiting.
  static std::int32_t tryEnter(const Call& call) {
    auto& lock = call.lock<Lock>();
    Waiter w;
    w.agent = call.loop().id();
    w.ask = static_cast<std::uint32_t>(call.integer(1));
    const bool in = lock.enterBlocking(w, Deadline::min());
    if constexpr (kAdmitsWhenAsked<Lock>) call.loop().deferCompletions();
    if (in) count(call, w);
    return outcomeOf(in, w);
  }

  /// (word index, ask, priority, whether the caller releases at once): as `enter`, for a caller that may not wait: the
  /// outcome.
  static std::int32_t enterNow(const Call& call) {
    auto& lock = call.lock<Lock>();
    Waiter w;
    w.agent = call.loop().id();
    w.ask = static_cast<std::uint32_t>(call.integer(1));
    w.priority = call.number(2);
    w.isPassing = call.integer(3) == 1;
    w.mayOvertake = false;
    bool in = false;
    if constexpr (requires { lock.enterNow(w); }) {
      in = lock.enterNow(w);
    } else {
      in = lock.enterBlocking(w, Deadline::min());
    }
    if constexpr (kAdmitsWhenAsked<Lock>) call.loop().deferCompletions();
    if (in) count(call, w);
    return outcomeOf(in, w);
  }

  static std::int32_t queueSize(const Call& call) {
    return static_cast<std::int32_t>(call.lock<Lock>().queueSize());
  }

  /// (word index): whether a waiter of this environment is in the queue.
  static std::int32_t isQueued(const Call& call) {
    return call.lock<Lock>().isQueued(call.loop().id()) ? 1 : 0;
  }

  /// (word index, ticket): a Leave. Unless it is `left`, a completion is still to come.
  static std::int32_t leave(const Call& call) {
    Tickets& tickets = call.loop().tickets();
    Waiter& w = tickets.waiter(call.integer(1));
    const Leave how = call.lock<Lock>().leave(w);
    // This call itself may have admitted the waiter.
    if constexpr (kAdmitsWhenAsked<Lock>) {
      if (how == Leave::admitted) call.loop().deferCompletions();
    }
    tickets.left(w, how);
    return static_cast<std::int32_t>(how);
  }

  /// (word index): takes all waiters of this environment out of the queue. Returns what Completions::writeLeavers does.
  static std::int32_t leaveAll(const Call& call) {
    Completions& completions = call.loop().completions();
    completions.expectLeavers();
    call.lock<Lock>().leaveAll(
        call.loop().id(), [&completions](Waiter& w, Leave how) { completions.noteLeaver(w, how); });
    return completions.writeLeavers();
  }
};

/// (word index): calls `change`, a method of the lock, for this agent. Returns the number of completions.
template <class Lock, auto change>
std::int32_t changed(const Call& call) {
  (call.lock<Lock>().*change)(call.loop().id());
  return call.completions();
}

/// (word index): the result of `read`, a method of the lock.
template <class Lock, auto read>
std::int32_t valueOf(const Call& call) {
  return static_cast<std::int32_t>((call.lock<Lock>().*read)());
}

template <class Lock>
Topic addQueue(Topic topic) {
  using Calls = QueueCalls<Lock>;
  topic.add<Calls::enter>("enter");
  topic.add<Calls::enterSync>("enterSync");
  topic.add<Calls::tryEnter>("tryEnter");
  topic.add<Calls::enterNow>("enterNow");
  topic.add<Calls::resume>("resume");
  topic.add<Calls::leave>("leave");
  return topic;
}

}  // namespace boxoffice::binding
