// Keeps an instance, or its thread, alive for the pending waits of an event loop.
#pragma once

#include <utility>

#include "callbacks.h"
#include "hosts.h"
#include "thread_wakeup.h"

namespace boxoffice::binding {

class KeepAlive {
 public:
  /// `instance` keeps the JavaScript of this instance, so that a wait can be admitted. `thread` also keeps the
  /// thread alive, because another thread or process may end a wait.
  enum class Level : std::int32_t { nothing, instance, thread };

  KeepAlive(Callbacks& callbacks, Hosts& hosts, ThreadWakeup& wakeup)
      : callbacks_(callbacks), hosts_(hosts), wakeup_(wakeup) {}

  void set(Level level) noexcept {
    const Level before = std::exchange(level_, level);
    if (before == level) return;
    if (before == Level::nothing) callbacks_.keep(true);
    if (level == Level::nothing) callbacks_.keep(false);
    if (level == Level::thread) hosts_.listen();
    if (level == Level::thread || before == Level::thread) {
      wakeup_.keepAlive(level == Level::thread);
    }
  }
  bool keepsThread() const noexcept { return level_ == Level::thread; }

 private:
  Callbacks& callbacks_;
  Hosts& hosts_;
  ThreadWakeup& wakeup_;
  Level level_ = Level::nothing;
};

}  // namespace boxoffice::binding
