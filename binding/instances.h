// The instances of our JavaScript in one environment. Test runners evaluate the package afresh for each test file, in
// a vm context of its own, and find the addon loaded: each evaluation is an instance, with an event loop of its own
// here.
//
// An instance is known by its anchor: the object with its functions, which JavaScript reaches as long as it can call
// one of them. The anchor keeps what C++ calls (callbacks.h); C++ keeps nothing of an instance, so that a vm
// context can be collected. Only while another agent can end one of its waits the anchor is kept (keep_alive.h).
// An instance whose anchor has been collected ends as an environment does: see teardown.cc.
#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "thread_wakeup.h"

namespace boxoffice::binding {

class Instances {
 public:
  explicit Instances(napi_env env);
  ~Instances();
  Instances(const Instances&) = delete;
  Instances& operator=(const Instances&) = delete;

  /// A new instance; its functions, the anchor.
  napi_value begin();
  /// The anchor of that loop has been collected: it is destroyed.
  void end(EventLoop& loop) noexcept;

 private:
  void endAll() noexcept;

  const napi_env env_;
  ThreadWakeup wakeup_;
  std::vector<std::unique_ptr<EventLoop>> all_;
};

}  // namespace boxoffice::binding
