// An instance ends, in the middle of whatever it was doing where its environment ends: its waiters leave their lines, what was
// granted to it too late is passed on, and the locks it holds are given to the next as abandoned.
#include "event_loop.h"
#include "instances.h"
#include "neighbours.h"
#include "wait_graph.h"
#include "watched_threads.h"

namespace boxoffice::binding {

void EventLoop::end() noexcept {
  {
    // From here on wakes are not for JavaScript any more.
    const std::lock_guard guard(bellMutex_);
    isEnding_ = true;
  }
  // Before any lock changes hands: see src/wait_graph.h.
  waitGraph().leave(id_);
  lockManager().forget(lockClient_);
  takeUnread();
  leaveLines();
  awaitWakes();
  while (!allRung()) farewell_.wait();
  if (kept_ == Keep::eventLoop) instances_.keepAlive(false);
  for (const napi_ref ref : {anchor_, look_, onNews_}) {
    if (ref) napi_delete_reference(env_, ref);
  }
  shares_.abandonAll(id_);
  hosts_.clear();
  regions_.clear();
  watchedThreads().leave(id_);
  // Last: whoever is alone from now on has been told of all that came from us.
  neighbours().leave(*this);
}

void* EventLoop::lockAt(const Stand& stand) const {
  return stand.place == kNoPlace ? nullptr : regions_.word(stand.place);
}

/// Every wake that has come, from other threads and our own.
template <class Take>
void EventLoop::takeWakes(Take&& take) {
  collect();
  while (firstNews_) take(*std::exchange(firstNews_, firstNews_->posted));
}

/// Wakes that JavaScript has not read.
void EventLoop::takeUnread() {
  takeWakes([this](Waiter& w) {
    Stand& stand = stands_[w.ticket];
    if (w.how == Wake::admitted) {
      const Stand late = std::exchange(stand, {});
      late.kind->passOn(lockAt(late), w);
    } else if (stand.gone) {
      stand = {};
    } else {
      stand.told = true;
    }
  });
}

void EventLoop::leaveLines() {
  for (Stand& stand : stands_) {
    if (!stand.kind) continue;
    Waiter& w = tickets_.waiter(static_cast<Ticket>(&stand - stands_.data()));
    const Leave how = stand.gone ? Leave::leftAwake : stand.kind->quit(lockAt(stand), w);
    stand.gone = how == Leave::leftAwake;
    if (how == Leave::left) continue;
    if (!stand.told) {
      ++owed_;  // its wake is on its way, and we must be there to take it
    } else if (how == Leave::admitted) {
      stand.kind->passOn(lockAt(stand), w);
    }
  }
}

void EventLoop::awaitWakes() {
  for (;;) {
    takeWakes([this](Waiter& w) {
      --owed_;
      const Stand& stand = stands_[w.ticket];
      if (!stand.gone) stand.kind->passOn(lockAt(stand), w);
    });
    if (owed_ == 0) return;
    farewell_.wait();
  }
}

}  // namespace boxoffice::binding
