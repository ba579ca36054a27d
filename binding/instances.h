// The instances of this package's JavaScript in one environment. Test runners evaluate the package
// anew for each test file, in a separate vm context, while the addon stays loaded. Each evaluation
// is an instance, with its own event loop here.
//
// An instance is identified by its anchor: the object with its functions, which JavaScript reaches
// as long as it can call one of them. The anchor keeps the functions alive that C++ calls
// (callbacks.h). C++ keeps nothing of an instance alive, so that a vm context can be collected,
// except that it keeps the anchor while another agent can end one of the instance's waits
// (keep_alive.h). An instance whose anchor has been collected ends as an environment does: see
// teardown.cc.
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

  /// Makes a new instance, and returns its functions, the anchor.
  napi_value begin();
  /// Called when the loop's anchor has been collected: destroys the loop.
  void end(EventLoop& loop) noexcept;

 private:
  void endAll() noexcept;

  const napi_env env_;
  ThreadWakeup wakeup_;
  std::vector<std::unique_ptr<EventLoop>> all_;
};

}  // namespace boxoffice::binding
