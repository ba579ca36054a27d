// A call from JavaScript with numbers as arguments and result: the form of every function that acquires or releases
// a lock. It uses raw Node-API, since a wrapped call costs three times as much.
#pragma once

#include <napi.h>

#include <string>
#include <type_traits>

#include "check.h"
#include "event_loop.h"

namespace boxoffice::binding {

class Call {
 public:
  Call(napi_env env, napi_callback_info info) : env_(env) {
    void* data = nullptr;
    check(env_, napi_get_cb_info(env, info, &count_, arguments_, nullptr, &data));
    loop_ = static_cast<EventLoop*>(data);
  }

  EventLoop& loop() const noexcept { return *loop_; }
  /// Writes the completions that this call has caused for JavaScript. Returns their number.
  std::int32_t completions() const { return loop_->completions().write(); }
  napi_env env() const noexcept { return env_; }
  napi_value operator[](int i) const noexcept { return arguments_[i]; }

  [[gnu::always_inline]] std::int32_t integer(int i) const {
    std::int32_t value = 0;
    check(env_, napi_get_value_int32(env_, arguments_[i], &value));
    return value;
  }
  double number(int i) const {
    double value = 0;
    check(env_, napi_get_value_double(env_, arguments_[i], &value));
    return value;
  }

  /// The bits of a lock's word.
  std::uint32_t word(int i) const { return static_cast<std::uint32_t>(integer(i)); }
  std::string text(int i) const;

  /// Whether the caller passed this argument.
  bool has(std::size_t i) const noexcept { return i < count_; }

  /// The lock whose word index is argument `i`.
  template <class Lock>
  [[gnu::always_inline]] Lock& lock(int i = 0) const {
    static_assert(std::is_standard_layout_v<Lock> && sizeof(Lock) % sizeof(std::int32_t) == 0,
                  "a lock begins with its word");
    return *static_cast<Lock*>(loop_->regions().word(integer(i)));
  }

  [[gnu::always_inline]] napi_value result(std::int32_t value) const {
    napi_value made = nullptr;
    check(env_, napi_create_int32(env_, value, &made));
    return made;
  }
  napi_value result(double value) const;
  static napi_value result(napi_value value) noexcept { return value; }

 private:
  static constexpr std::size_t kMost = 5;

  const napi_env env_;
  EventLoop* loop_ = nullptr;
  std::size_t count_ = kMost;
  napi_value arguments_[kMost];
};

/// The result of `function` as a JavaScript value.
template <auto function>
napi_value answer(const Call& call) {
  if constexpr (std::is_void_v<decltype(function(call))>) {
    function(call);
    return nullptr;
  } else {
    return call.result(function(call));
  }
}

/// Calls `function`, and converts its C++ exceptions to JavaScript exceptions. All functions share it, because each
/// exception handler makes the binary larger.
napi_value receive(napi_env env, napi_callback_info info,
                   napi_value (*function)(const Call& call)) noexcept;

/// Wraps `function` as a Node-API callback.
template <auto function>
napi_value called(napi_env env, napi_callback_info info) noexcept {
  return receive(env, info, answer<function>);
}

}  // namespace boxoffice::binding
