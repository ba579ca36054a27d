// One instance of this package's JavaScript (instances.h) as an agent: its tickets, the memory of
// its locks, and the delivery of its wakes:
//
//   a wake in a turn of this loop     ──▶ completions ──▶ the call that caused it returns them to JavaScript
//   a wake by another thread          ──▶ inbox ──▶ thread wake-up: one callback on the loop ──▶ completions
//   a wake-up by another process      ──▶ the loop itself, when it sleeps (host_wakeup_poll.h) ──▶ completions
#pragma once

#include <napi.h>

#include <thread>
#include <utility>

#include "callbacks.h"
#include "completions.h"
#include "hosts.h"
#include "inbox.h"
#include "keep_alive.h"
#include "locks/lock_manager.h"
#include "regions.h"
#include "shares.h"
#include "tickets.h"
#include "waiting/agent.h"

namespace boxoffice::binding {

class EventLoop final : public Parker {
 public:
  EventLoop(napi_env env, ThreadWakeup& wakeup);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// See Callbacks::start; the Int32Array has Completions::kSize.
  void start(napi_value completions, napi_value onWakeup, napi_value probe);

  AgentId id() const noexcept { return id_; }
  std::thread::id thread() const noexcept { return thread_; }
  Regions& regions() noexcept { return regions_; }
  Shares& shares() noexcept { return shares_; }
  Hosts& hosts() noexcept { return hosts_; }
  LockManager::Client& lockClient() noexcept { return lockClient_; }
  Callbacks& callbacks() noexcept { return callbacks_; }
  KeepAlive& keepAlive() noexcept { return keepAlive_; }
  Tickets& tickets() noexcept { return tickets_; }
  Completions& completions() noexcept { return completions_; }
  Inbox& inbox() noexcept { return inbox_; }

  void wake(Waiter& w, Wake how) noexcept override;
  /// Turns the posts of other threads into completions.
  void collect() noexcept;
  /// Called by the wake-up of the thread.
  void onWakeup() noexcept;
  /// Called by the loop itself, at a wake-up of this process: admits waiters of any of its threads.
  /// Returns false when no waiter of this loop needs it, and the process's listening thread can do
  /// it alone.
  bool onHostWakeup(host::Membership& membership) noexcept;
  /// Called from any thread: wakes the loop even without completions.
  void wakeLater() noexcept { inbox_.wakeLoop(); }
  /// Makes a later wake-up deliver the completions of a call that does not return them.
  void deferCompletions() noexcept {
    if (!completions_.isEmpty()) wakeLater();
  }
  /// Whether another thread has an event loop, or a loop that has ended left completions for this one.
  bool mayBeWoken() noexcept;

  /// Called when JavaScript has ended: its environment ends, or it can no longer reach this loop.
  /// Removes everything of this loop from everywhere; it may then be destroyed. See teardown.cc.
  void end() noexcept;

  /// Exists while a call is about to return to JavaScript, and returns the completions with it.
  class Turn {
   public:
    explicit Turn(const EventLoop* loop) noexcept : before_(std::exchange(current, loop)) {}
    ~Turn() { current = before_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const EventLoop* const before_;
  };

 private:
  static thread_local const EventLoop* current;

  const napi_env env_;
  const AgentId id_ = takeAgentId();
  const std::thread::id thread_ = std::this_thread::get_id();
  Callbacks callbacks_;
  Regions regions_;
  Shares shares_;
  Hosts hosts_;
  KeepAlive keepAlive_;
  Tickets tickets_;
  Completions completions_;
  Inbox inbox_;
  LockManager::Client lockClient_{id_};
};

}  // namespace boxoffice::binding
