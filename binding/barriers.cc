// The barrier as functions over numbers; see queue_calls.h. No party is let in before the others: all go
// at once, or it breaks.
#include "queue_calls.h"

namespace boxoffice::binding {
namespace {

/// (place, parties): a ticket in the queue, kGranted for the party that completes the round, or
/// kGrantedAbandoned where the barrier is broken. There may be completions.
std::int32_t enter(const Call& call) {
  PendingTicket ticket(call.loop(), kKind<BarrierWord>, call.integer(0));
  Waiter& w = ticket.waiter();
  const Passage passage = call.lock<BarrierWord>().enter(w, call.word(1));
  if (passage == Passage::waiting) return ticket.keep();
  return passage == Passage::last ? kGranted : kGrantedAbandoned;
}

/// (ticket), in the queue: how many were missing when it had arrived.
std::int32_t missing(const Call& call) {
  return static_cast<std::int32_t>(call.loop().tickets().waiter(call.integer(0)).ask);
}

/// (place, parties, timeout in ms), which blocks this thread: how many were missing when it had arrived,
/// kGrantedAbandoned where the barrier is broken, or kNotGranted when we have broken it, out of time.
std::int32_t enterSync(const Call& call) {
  EventLoop& loop = call.loop();
  Waiter w;
  w.agent = loop.id();
  Termination termination(loop);
  const ThreadParker<Platform>::Watch watch(termination);
  const Deadline deadline = deadlineAfter(call.number(2));
  switch (call.lock<BarrierWord>().enterBlocking(w, call.word(1), deadline)) {
    case Passage::broken:
      return kGrantedAbandoned;
    case Passage::gaveUp:
      return kNotGranted;
    default:
      return static_cast<std::int32_t>(w.ask);
  }
}

/// (place): how many completions.
std::int32_t breakNow(const Call& call) {
  call.lock<BarrierWord>().breakNow();
  return call.completions();
}

/// (place, parties): how many completions.
std::int32_t reset(const Call& call) {
  call.lock<BarrierWord>().reset(call.word(1));
  return call.completions();
}

}  // namespace

void defineBarriers(Topic exports) {
  Topic barrier = exports.topic("barrier");
  barrier.add<enter>("enter");
  barrier.add<enterSync>("enterSync");
  barrier.add<missing>("missing");
  // A waiter that leaves breaks the barrier, for which there may be completions.
  barrier.add<QueueCalls<BarrierWord>::leave>("leave");
  barrier.add<breakNow>("break");
  barrier.add<reset>("reset");
}

}  // namespace boxoffice::binding
