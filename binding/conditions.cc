// The condition variable as functions over numbers; see queue_calls.h. A waiter stands in its queue first,
// and then in the queue of the mutex, where it completes.
#include "queue_calls.h"

namespace boxoffice::binding {
namespace {

/// (place, place of a mutex that we hold, whether strictly in order): a ticket. The mutex is unlocked: there may be completions.
std::int32_t enterCondition(const Call& call) {
  PendingTicket ticket(call.loop(), kKind<ConditionVariable>, call.integer(0));
  Waiter& w = ticket.waiter();
  w.mayOvertake = false;
  w.mayBeOvertaken = call.integer(2) == 0;
  call.lock<ConditionVariable>().enter(w, call.lock<Mutex>(1));
  return ticket.keep();
}

/// (place, ticket), invited to the mutex.
std::int32_t settleCondition(const Call& call) {
  Tickets& tickets = call.loop().tickets();
  Waiter& w = tickets.waiter(call.integer(1));
  tickets.waitOf(w).isInvited = false;
  if (!static_cast<Mutex*>(w.then)->settle(w, Wake::invited)) return kNotGranted;
  const std::int32_t outcome = outcomeOf(true, w);
  tickets.give(w);
  return outcome;
}

/// (place, ticket): a Leave. `admitted` when it was notified: its completion comes once it has the mutex.
std::int32_t leaveCondition(const Call& call) {
  Tickets& tickets = call.loop().tickets();
  Waiter& w = tickets.waiter(call.integer(1));
  if (!call.lock<ConditionVariable>().leave(w)) return static_cast<std::int32_t>(Leave::admitted);
  tickets.give(w);
  return static_cast<std::int32_t>(Leave::left);
}

/// (place, place of a mutex that we hold, timeout in ms, whether strictly in order), which blocks this thread: kNotGranted when the timeout
/// passed first. The mutex is locked again in any case.
std::int32_t waitSync(const Call& call) {
  EventLoop& loop = call.loop();
  Termination termination(loop);
  const ThreadParker<Platform>::Watch watch(termination);
  const auto outcome = call.lock<ConditionVariable>().waitUntil(
      call.lock<Mutex>(1), deadlineAfter(call.number(2)), loop.id(), call.integer(3) != 0);
  if (termination.wasRequested()) {
    if (outcome.entry.abandoned) {
      call.lock<Mutex>(1).abandon(loop.id());
    } else if (outcome.entry) {
      call.lock<Mutex>(1).unlock(loop.id());
    }
    if (outcome.notified) call.lock<ConditionVariable>().notifyOne();
    return kNotGranted;
  }
  return outcome.notified ? kGranted : kNotGranted;
}

/// (place, whether all): how many completions.
std::int32_t notify(const Call& call) {
  call.integer(1) != 0 ? call.lock<ConditionVariable>().notifyAll()
                       : call.lock<ConditionVariable>().notifyOne();
  return call.completions();
}

}  // namespace

void defineConditions(Topic exports) {
  Topic condition = exports.topic("condition");
  condition.add<enterCondition>("enter");
  condition.add<settleCondition>("settle");
  condition.add<leaveCondition>("leave");
  condition.add<waitSync>("waitSync");
  condition.add<QueueCalls<ConditionVariable>::stands>("stands");
  condition.add<notify>("notify");
}

}  // namespace boxoffice::binding
