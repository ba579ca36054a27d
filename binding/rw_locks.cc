// Read-write locks as functions over numbers: see queue_calls.h.
#include "queue_calls.h"

namespace boxoffice::binding {
namespace {

/// (word index): the number of completions.
template <class Lock>
std::int32_t unlockRead(const Call& call) {
  call.lock<Lock>().unlockRead(call.loop().id());
  call.loop().shares().gave(call.integer(0), 1);
  return call.completions();
}

/// (word index, 1 to end a write or 0 to end a read): the number of completions. For a grant that reports a death
/// which no caller has seen: the next grant reports it instead.
template <class Lock>
std::int32_t abandonGrant(const Call& call) {
  if (call.integer(1) != 0) {
    call.lock<Lock>().abandon(call.loop().id());
  } else {
    call.lock<Lock>().abandonReads(1, true);
    call.loop().shares().gave(call.integer(0), 1);
  }
  return call.completions();
}

/// (word index of a lock that the caller holds to write): the number of completions.
template <class Lock>
std::int32_t downgrade(const Call& call) {
  call.lock<Lock>().downgrade(call.loop().id());
  call.loop().shares().took(call.integer(0), 1);
  return call.completions();
}

/// (word index of a lock that the caller holds to read): a ticket in the queue, or another outcome.
template <class Lock>
std::int32_t upgrade(const Call& call) {
  PendingTicket ticket(call.loop(), kKind<Lock>, call.integer(0));
  Waiter& w = ticket.waiter();
  const auto how = call.lock<Lock>().enterUpgrade(w);
  if constexpr (kAdmitsWhenAsked<Lock>) call.loop().deferCompletions();
  if (how == Lock::Upgrade::waiting) return ticket.keep();
  return how == Lock::Upgrade::granted ? QueueCalls<Lock>::inNow(call, w) : kRefused;
}

/// (word index, timeout in ms), which blocks this thread.
template <class Lock>
std::int32_t upgradeSync(const Call& call) {
  Waiter w;
  w.agent = call.loop().id();
  Termination termination(call.loop());
  BlockedStop stop(termination, &call.lock<Lock>());
  const ThreadParker<Platform>::Watch watch(stop);
  const auto how = call.lock<Lock>().upgradeBlocking(w, deadlineAfter(call.number(1)));
  if (how == Lock::Upgrade::refused) return kRefused;
  if (how == Lock::Upgrade::late) return kNotGranted;
  if (termination.wasRequested()) {
    passOn(call.lock<Lock>(), w);
    return kNotGranted;
  }
  QueueCalls<Lock>::count(call, w);
  return outcomeOf(true, w);
}

template <class Lock>
Topic addRWLock(Topic topic) {
  addQueue<Lock>(topic);
  topic.add<QueueCalls<Lock>::leaveAll>("leaveAll");
  topic.add<QueueCalls<Lock>::isQueued>("isQueued");
  topic.add<unlockRead<Lock>>("unlockRead");
  topic.add<changed<Lock, &Lock::unlockWrite>>("unlockWrite");
  topic.add<abandonGrant<Lock>>("abandon");
  topic.add<downgrade<Lock>>("downgrade");
  topic.add<upgrade<Lock>>("upgrade");
  topic.add<upgradeSync<Lock>>("upgradeSync");
  topic.add<changed<Lock, &Lock::hurry>>("hurry");
  return topic;
}

}  // namespace

void defineRWLocks(Topic exports) {
  Topic rwLock = addRWLock<RWLock>(exports.topic("rwLock"));
  rwLock.add<QueueCalls<RWLock>::queueSize>("queueSize");

  Topic hostRWLock = addRWLock<host::HostRWLock>(exports.topic("hostRWLock"));
  hostRWLock.add<valueOf<host::HostRWLock, &host::HostRWLock::readers>>("readers");
  hostRWLock.add<valueOf<host::HostRWLock, &host::HostRWLock::isWritten>>("isWritten");
}

}  // namespace boxoffice::binding
