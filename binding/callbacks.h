// The JavaScript functions that an event loop calls, as passed to start(). The anchor, the object
// with the functions of its instance (instances.h), keeps them alive. C++ keeps only the anchor,
// and that only while keep(true) is in force.
#pragma once

#include <napi.h>

namespace boxoffice::binding {

class Callbacks {
 public:
  explicit Callbacks(napi_env env) : env_(env) {}

  /// A weak reference to the anchor.
  void anchorAt(napi_ref anchor) noexcept { anchor_ = anchor; }
  /// Sets the functions, and keeps `completions`, an Int32Array, alive, too. `probe` does nothing: if it
  /// can be called, JavaScript still runs.
  void start(napi_value completions, napi_value onWakeup, napi_value probe);
  void keep(bool kept) noexcept;
  /// Calls onWakeup. For a caller within a callback of the environment.
  void callOnWakeup() noexcept;
  /// Calls onWakeup. For a caller directly on the loop, with no JavaScript below it.
  void callOnWakeupFromLoop() noexcept;
  /// Whether JavaScript can run: false while it is being terminated.
  bool canRun() noexcept;
  void clear() noexcept;

 private:
  const napi_env env_;
  napi_ref anchor_ = nullptr;
  napi_ref onWakeup_ = nullptr;
  napi_ref probe_ = nullptr;
};

}  // namespace boxoffice::binding
