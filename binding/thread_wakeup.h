// The wake-up handle of a thread, one for all instances of its environment. With it any thread can make an event loop
// run.
#pragma once

#include <napi.h>

#include <mutex>
#include <vector>

namespace boxoffice::binding {

class EventLoop;

class ThreadWakeup {
 public:
  explicit ThreadWakeup(napi_env env);
  ThreadWakeup(const ThreadWakeup&) = delete;
  ThreadWakeup& operator=(const ThreadWakeup&) = delete;

  /// Makes room for one more event loop of this thread, so that wake() allocates nothing.
  void expect(std::size_t loops);
  /// Called from any thread, for a loop that has not ended. Makes its thread call onWakeup(), once for all calls
  /// until then.
  void wake(EventLoop& loop) noexcept;
  /// Call this when `loop` is about to be destroyed.
  void forget(const EventLoop& loop) noexcept;
  /// Records that one more instance, or one less, keeps the process alive.
  void keepAlive(bool alive) noexcept;

 private:
  void openOutside() noexcept;
  napi_status open() noexcept;
  EventLoop* next() noexcept;

  const napi_env env_;
  std::size_t alive_ = 0;
  std::mutex mutex_;
  napi_threadsafe_function handle_ = nullptr;  // null while its environment ends
  std::vector<EventLoop*> woken_;              // with room for all
};

}  // namespace boxoffice::binding
