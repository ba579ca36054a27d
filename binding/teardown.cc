// Ends an instance, perhaps in the middle of any operation if its environment ends. Its waiters leave their
// queues, late grants go to the next waiters, and the locks that it holds go to the next holders as
// abandoned.
#include "event_loop.h"
#include "event_loop_registry.h"
#include "waiting/wait_graph.h"
#include "watched_threads.h"

namespace boxoffice::binding {
namespace {

class Teardown {
 public:
  explicit Teardown(EventLoop& loop) : loop_(loop) {}

  /// Handles every wake that has arrived and that JavaScript has not read.
  void takeUnread() {
    takeWakes([this](Waiter& w, Tickets::Wait& wait) {
      if (w.how == Wake::admitted) {
        const Tickets::Wait late = std::exchange(wait, {});
        passOn(late, w);
      } else if (wait.hasLeft) {
        wait = {};
      } else {
        wait.isInvited = true;
      }
    });
  }

  void leaveQueues() {
    loop_.tickets().each([this](Waiter& w, Tickets::Wait& wait) {
      const Leave how = wait.hasLeft ? Leave::leftAwake : wait.kind->quit(lockOf(wait), w);
      wait.hasLeft = how == Leave::leftAwake;
      if (how == Leave::left) return;
      if (!wait.isInvited) {
        ++due_;
      } else if (how == Leave::admitted) {
        passOn(wait, w);
      }
    });
  }

  /// Waits for the wakes that are on their way to this loop, because it must exist to receive them.
  void awaitWakes() {
    for (;;) {
      takeWakes([this](Waiter& w, const Tickets::Wait& wait) {
        --due_;
        if (!wait.hasLeft) passOn(wait, w);
      });
      if (due_ == 0) break;
      loop_.inbox().await();
    }
    while (!loop_.inbox().isQuiet()) loop_.inbox().await();
  }

 private:
  template <class Take>
  void takeWakes(Take&& take) {
    loop_.collect();
    while (Waiter* const w = loop_.completions().takeFirst()) take(*w, loop_.tickets().waitOf(*w));
  }

  void* lockOf(const Tickets::Wait& wait) {
    return wait.wordIndex == Tickets::kNoWord ? nullptr : loop_.regions().word(wait.wordIndex);
  }
  void passOn(const Tickets::Wait& wait, const Waiter& w) { wait.kind->passOn(lockOf(wait), w); }

  EventLoop& loop_;
  std::size_t due_ = 0;
};

}  // namespace

void EventLoop::end() noexcept {
  inbox_.close();
  // Do this before any lock changes hands: see src/waiting/wait_graph.h.
  waitGraph().leave(id_);
  lockManager().forget(lockClient_);
  Teardown teardown(*this);
  teardown.takeUnread();
  teardown.leaveQueues();
  teardown.awaitWakes();
  keepAlive_.set(KeepAlive::Level::nothing);
  callbacks_.clear();
  shares_.abandonAll(id_);
  hosts_.clear();
  regions_.clear();
  watchedThreads().leave(id_);
  // Leave the registry last, so that a loop that is alone afterwards has received everything from this one.
  eventLoopRegistry().leave(*this);
}

}  // namespace boxoffice::binding
