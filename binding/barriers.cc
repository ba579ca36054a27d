// The barrier as functions over numbers; see locks.cc. Nobody is let in before others there: all go at
// once, or it breaks.
#include "barrier.h"
#include "draft.h"
#include "exports.h"
#include "kinds.h"
#include "leaving.h"
#include "outcome.h"

namespace boxoffice::binding {
namespace {

/// (place, parties): a ticket in line, kGranted for the one who completes the round, or
/// kGrantedAbandoned where the barrier is broken. There may be news.
std::int32_t enter(const Call& call) {
  Draft draft(call.loop());
  Waiter& w = draft.waiter();
  call.loop().stands(w, kKind<BarrierOffice>, call.integer(0));
  const Passage passage = call.lock<BarrierOffice>().enter(w, call.word(1));
  if (passage == Passage::waiting) return draft.keep();
  return passage == Passage::last ? kGranted : kGrantedAbandoned;
}

/// (ticket), in line: how many were missing when it had arrived.
std::int32_t missing(const Call& call) {
  return static_cast<std::int32_t>(call.loop().waiter(call.integer(0)).ask);
}

/// (place, parties, timeout in ms), which blocks this thread: how many were missing when it had arrived,
/// kGrantedAbandoned where the barrier is broken, or kNot when we have broken it, out of time.
std::int32_t enterSync(const Call& call) {
  EventLoop& loop = call.loop();
  Waiter w;
  w.agent = loop.id();
  EventLoop::Termination termination(loop);
  const ThreadParker<Platform>::Watch watch(termination);
  const Deadline deadline = deadlineAfter(call.number(2));
  switch (call.lock<BarrierOffice>().enterBlocking(w, call.word(1), deadline)) {
    case Passage::broken:
      return kGrantedAbandoned;
    case Passage::gaveUp:
      return kNot;
    default:
      return static_cast<std::int32_t>(w.ask);
  }
}

/// (place): how much news.
std::int32_t breakNow(const Call& call) {
  call.lock<BarrierOffice>().breakNow();
  return call.loop().news();
}

/// (place, parties): how much news.
std::int32_t reset(const Call& call) {
  call.lock<BarrierOffice>().reset(call.word(1));
  return call.loop().news();
}

}  // namespace

void defineBarriers(Exports& exports) {
  Topic barrier = exports.topic("barrier");
  barrier.add<enter>("enter");
  barrier.add<enterSync>("enterSync");
  barrier.add<missing>("missing");
  // A waiter that leaves breaks the barrier, for which there may be news.
  barrier.add<leave<BarrierOffice>>("leave");
  barrier.add<breakNow>("break");
  barrier.add<reset>("reset");
}

}  // namespace boxoffice::binding
