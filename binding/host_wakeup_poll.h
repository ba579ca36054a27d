// Lets an event loop listen to the wake-ups that other processes send to this one. Then one wake-up, of the loop,
// admits its waiters. Without this there are two: of the process's wake-up thread, and then of the loop.
//
//   open ─▶ resting ──listen──▶ listening ──rest, at a wake-up that no waiter here needs──▶ resting
//              │                     │
//              └─── the instance or the environment ends: closed by libuv's loop, which an environment waits for, then
//                   destroyed
//
// All of it runs on the loop's thread. If libuv has no such handle, the wake-up thread is enough.
#pragma once

#include <napi.h>

#include "host/membership.h"

struct uv_poll_s;

namespace boxoffice::binding {

class EventLoop;

class HostWakeupPoll {
 public:
  /// Makes a poll for the wake-ups of this process's membership. Returns null if polls are not available. It lives
  /// until close() or the end of the environment, and ends before the environment's locks.
  static HostWakeupPoll* open(napi_env env, EventLoop& loop, host::Membership& membership);
  HostWakeupPoll(const HostWakeupPoll&) = delete;
  HostWakeupPoll& operator=(const HostWakeupPoll&) = delete;

  const host::Membership& membership() const noexcept { return membership_; }
  void listen() noexcept;
  /// Stops listening. The object destroys itself later, when the event loop may be gone.
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
