// The instances of our JavaScript in one environment. Test runners evaluate the package afresh for each test file, in
// a vm context of its own, and find the addon loaded: each evaluation is an instance, with an event loop of its own
// here.
//
// An instance is known by its anchor: the object with its functions, which JavaScript reaches as long as it can call
// one of them. The anchor keeps what C++ calls (EventLoop::start); C++ keeps nothing of an instance, so that a vm
// context can be collected. Only while another agent can end one of its waits the anchor is kept (EventLoop::keepAlive).
// An instance whose anchor has been collected ends as an environment does: see farewell.cc.
#pragma once

#include <napi.h>

#include <memory>
#include <mutex>
#include <vector>

namespace boxoffice::binding {

class EventLoop;

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

  /// From any thread, for a loop that has not ended: calls its hear(), once for all calls until then.
  void call(EventLoop& loop) noexcept;
  /// One more or one less instance keeps the process alive.
  void keepAlive(bool alive) noexcept;

 private:
  void start();
  void endAll() noexcept;
  EventLoop* nextRung() noexcept;

  const napi_env env_;
  std::vector<std::unique_ptr<EventLoop>> all_;
  std::size_t alive_ = 0;
  std::mutex mutex_;
  napi_threadsafe_function bell_ = nullptr;  // null: its environment is ending
  std::vector<EventLoop*> rung_;             // with room for all
};

}  // namespace boxoffice::binding
