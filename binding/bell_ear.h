// How an event loop hears the bell of a house itself. Its waiters are then admitted by one wake, that of the
// loop, and not by two, the bell thread's and then the loop's, one after the other.
//
//   open ─▶ resting ──listen──▶ listening ──rest, at a bell that nobody here waits for──▶ resting
//              │                     │
//              └─── the instance or the environment ends: closed by libuv's loop, which an environment waits for, then
//                   destroyed
//
// All of it is on the loop's own thread. Where it cannot be had there is none, and the bell thread is enough.
#pragma once

#include <napi.h>

#include "host/house.h"

struct uv_poll_s;

namespace boxoffice::binding {

class EventLoop;

class BellEar {
 public:
  /// Of this environment, for the bell of that house; null where there are none. Lives until close() or the
  /// environment ends, and is gone before its locks are.
  static BellEar* open(napi_env env, EventLoop& loop, host::House& house);
  BellEar(const BellEar&) = delete;
  BellEar& operator=(const BellEar&) = delete;

  const host::House& house() const noexcept { return house_; }
  void listen() noexcept;
  /// It hears no more, and destroys itself: the event loop may be gone by then.
  void close() noexcept;

 private:
  BellEar(napi_env env, EventLoop& loop, host::House& house)
      : env_(env), loop_(loop), house_(house), ear_(house.ear()) {}
  ~BellEar() = default;

  bool start();
  void onBell() noexcept;

  const napi_env env_;
  EventLoop& loop_;
  host::House& house_;
  platform::Ear ear_;
  uv_poll_s* poll_ = nullptr;
  napi_async_cleanup_hook_handle hook_ = nullptr;
  bool listens_ = false;
  bool isClosing_ = false;
};

}  // namespace boxoffice::binding
