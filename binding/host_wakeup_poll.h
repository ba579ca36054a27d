// Lets an event loop listen itself to the wake-ups that other processes send to this one. Then one wake-up, of the
// loop, admits its waiters. Without it there are two: of the process's listening thread, and then of the loop.
//
//   open ─▶ resting ──listen──▶ listening ──rest, at a wake-up that no waiter here needs──▶ resting
//              │                     │
//              └─── the instance or the environment ends: closed by libuv's loop, which an environment waits for, then
//                   destroyed
//
// All of it is on the loop's own thread. Where libuv has no such handle the listening thread is enough.
#pragma once

#include <napi.h>

#include "host/membership.h"

struct uv_poll_s;

namespace boxoffice::binding {

class EventLoop;

class HostWakeupPoll {
 public:
  /// For this environment, for the wake-ups of that process; null if they are not available. Lives
  /// until close() or the environment's end, and ends before the environment's locks.
  static HostWakeupPoll* open(napi_env env, EventLoop& loop, host::Membership& membership);
  HostWakeupPoll(const HostWakeupPoll&) = delete;
  HostWakeupPoll& operator=(const HostWakeupPoll&) = delete;

  const host::Membership& membership() const noexcept { return membership_; }
  void listen() noexcept;
  /// Stops listening, and destroys itself: the event loop may be gone by then.
  void close() noexcept;

 private:
  HostWakeupPoll(napi_env env, EventLoop& loop, host::Membership& membership)
      : env_(env), loop_(loop), membership_(membership), wakeup_(membership.loopWakeup()) {}
  ~HostWakeupPoll() = default;

  bool start();
  void onWakeup() noexcept;

  const napi_env env_;
  EventLoop& loop_;
  host::Membership& membership_;
  platform::LoopWakeup wakeup_;
  uv_poll_s* poll_ = nullptr;
  napi_async_cleanup_hook_handle hook_ = nullptr;
  bool listens_ = false;
  bool isClosing_ = false;
};

}  // namespace boxoffice::binding
