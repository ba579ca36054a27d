// Condition variables as functions over numbers; see queue_calls.h. A waiter is first in the condition's
// queue, and then in the queue of the mutex, where it completes. At scope host it completes when it is
// notified, and JavaScript acquires the mutex.
#include "queue_calls.h"

namespace boxoffice::binding {
namespace {

/// (word index, word index of a mutex that the caller holds, whether strictly in order, whether to leave a
/// death to the next holder): a ticket. The mutex is unlocked, so there may be completions.
std::int32_t enterCondition(const Call& call) {
  PendingTicket ticket(call.loop(), kKind<ConditionVariable>, call.integer(0));
  Waiter& w = ticket.waiter();
  w.mayOvertake = false;
  w.mayBeOvertaken = call.integer(2) == 0;
  call.lock<ConditionVariable>().enter(w, call.lock<Mutex>(1), call.integer(3) != 0);
  return ticket.keep();
}

/// (word index, ticket), invited to the mutex.
std::int32_t resumeCondition(const Call& call) {
  Tickets& tickets = call.loop().tickets();
  Waiter& w = tickets.waiter(call.integer(1));
  tickets.waitOf(w).isInvited = false;
  if (!static_cast<Mutex*>(w.then)->resume(w, Wake::invited)) return kNotGranted;
  const std::int32_t outcome = outcomeOf(true, w);
  tickets.give(w);
  return outcome;
}

/// (word index, ticket): a Leave. `admitted` if the waiter was notified: its completion comes once it has
/// the mutex.
std::int32_t leaveCondition(const Call& call) {
  Tickets& tickets = call.loop().tickets();
  Waiter& w = tickets.waiter(call.integer(1));
  if (!call.lock<ConditionVariable>().leave(w)) return static_cast<std::int32_t>(Leave::admitted);
  tickets.give(w);
  return static_cast<std::int32_t>(Leave::left);
}

/// (word index, word index of a mutex that the caller holds, timeout in ms, whether strictly in order, whether
/// to leave a death to the next holder), which blocks this thread: the bits of WaitAnswer. The mutex
/// is locked again, even if the timeout passed first.
std::int32_t waitSync(const Call& call) {
  EventLoop& loop = call.loop();
  Termination termination(loop);
  const ThreadParker<Platform>::Watch watch(termination);
  const auto outcome = call.lock<ConditionVariable>().waitUntil(
      call.lock<Mutex>(1), deadlineAfter(call.number(2)), loop.id(), call.integer(3) != 0,
      call.integer(4) != 0);
  if (termination.wasRequested()) {
    if (outcome.entry.abandoned) {
      call.lock<Mutex>(1).abandon(loop.id());
    } else if (outcome.entry) {
      call.lock<Mutex>(1).unlock(loop.id());
    }
    if (outcome.notified) call.lock<ConditionVariable>().notifyOne();
    return 0;
  }
  return (outcome.notified ? kNotified : 0) | (outcome.entry.abandoned ? kNotifiedAbandoned : 0);
}

/// (word index, whether all): the number of completions.
template <class Lock>
std::int32_t notify(const Call& call) {
  auto& condition = call.lock<Lock>();
  call.integer(1) != 0 ? condition.notifyAll() : condition.notifyOne();
  return call.completions();
}

/// (word index): a ticket in the queue. The caller holds the mutex, and releases it next.
std::int32_t enterHost(const Call& call) {
  PendingTicket ticket(call.loop(), kKind<host::HostCondition>, call.integer(0));
  call.lock<host::HostCondition>().enter(ticket.waiter());
  return ticket.keep();
}

/// (word index). Called for an admitted waiter when this environment has released the mutex again.
void returned(const Call& call) {
  call.lock<host::HostCondition>().returned();
  call.loop().shares().gave(call.integer(0), 1);
}

}  // namespace

void defineConditions(Topic exports) {
  Topic condition = exports.topic("condition");
  condition.add<enterCondition>("enter");
  condition.add<resumeCondition>("resume");
  condition.add<leaveCondition>("leave");
  condition.add<waitSync>("waitSync");
  condition.add<QueueCalls<ConditionVariable>::isQueued>("isQueued");
  condition.add<notify<ConditionVariable>>("notify");

  Topic hostCondition = exports.topic("hostCondition");
  hostCondition.add<enterHost>("enter");
  hostCondition.add<QueueCalls<host::HostCondition>::leave>("leave");
  hostCondition.add<notify<host::HostCondition>>("notify");
  hostCondition.add<returned>("returned");
}

}  // namespace boxoffice::binding
