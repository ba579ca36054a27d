// The barrier as functions over numbers; see queue_calls.h. No party is admitted before the others:
// all pass at once, or the barrier breaks.
#include "queue_calls.h"

namespace boxoffice::binding {
namespace {

/// (word index, parties): a ticket in the queue, kGranted for the party that completes the round, or
/// kGrantedAbandoned if the barrier is broken. There may be completions.
template <class Lock>
std::int32_t enter(const Call& call) {
  PendingTicket ticket(call.loop(), kKind<Lock>, call.integer(0));
  Waiter& w = ticket.waiter();
  const Passage passage = call.lock<Lock>().enter(w, call.word(1));
  if (passage == Passage::waiting) {
    if constexpr (kAdmitsWhenAsked<Lock>) call.loop().deferCompletions();
    return ticket.keep();
  }
  return passage == Passage::last ? kGranted : kGrantedAbandoned;
}

/// (ticket), in the queue: the number of parties missing when it arrived.
std::int32_t missing(const Call& call) {
  return static_cast<std::int32_t>(call.loop().tickets().waiter(call.integer(0)).ask);
}

/// (word index, parties, timeout in ms), which blocks this thread: the number of parties missing when it
/// arrived, kGrantedAbandoned if the barrier is broken, or kNotGranted if this call has broken it
/// by its timeout.
template <class Lock>
std::int32_t enterSync(const Call& call) {
  EventLoop& loop = call.loop();
  Waiter w;
  w.agent = loop.id();
  auto& barrier = call.lock<Lock>();
  Termination termination(loop);
  BlockedStop stop(termination, &barrier);
  const ThreadParker<Platform>::Watch watch(stop);
  const Deadline deadline = deadlineAfter(call.number(2));
  switch (barrier.enterBlocking(w, call.word(1), deadline)) {
    case Passage::broken:
      return kGrantedAbandoned;
    case Passage::gaveUp:
      return kNotGranted;
    default:
      return static_cast<std::int32_t>(w.ask);
  }
}

/// (word index): the number of completions.
template <class Lock>
std::int32_t breakNow(const Call& call) {
  call.lock<Lock>().breakNow();
  return call.completions();
}

/// (word index, parties): the number of completions.
template <class Lock>
std::int32_t reset(const Call& call) {
  call.lock<Lock>().reset(call.word(1));
  return call.completions();
}

template <class Lock>
void addBarrier(Topic barrier) {
  barrier.add<enter<Lock>>("enter");
  barrier.add<enterSync<Lock>>("enterSync");
  barrier.add<missing>("missing");
  // A waiter that leaves breaks the barrier, so there may be completions.
  barrier.add<QueueCalls<Lock>::leave>("leave");
  barrier.add<breakNow<Lock>>("break");
  barrier.add<reset<Lock>>("reset");
}

}  // namespace

void defineBarriers(Topic exports) {
  addBarrier<BarrierWord>(exports.topic("barrier"));
  addBarrier<host::HostBarrier>(exports.topic("hostBarrier"));
}

}  // namespace boxoffice::binding
