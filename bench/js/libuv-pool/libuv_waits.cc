// A lock as an addon might naively implement it: wait() blocks a thread of libuv's pool until
// signal(n) admits n waiters.
#include <napi.h>

#include "waiting/lightweight_semaphore.h"

namespace {

boxoffice::LightweightSemaphore gate;

class Wait final : public Napi::AsyncWorker {
 public:
  explicit Wait(Napi::Env env)
      : Napi::AsyncWorker(env), deferred_(Napi::Promise::Deferred::New(env)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }
  void Execute() override { gate.wait(); }
  void OnOK() override { deferred_.Resolve(Env().Undefined()); }

 private:
  const Napi::Promise::Deferred deferred_;
};

Napi::Value wait(const Napi::CallbackInfo& info) {
  auto* const wait = new Wait(info.Env());  // deletes itself at its end
  wait->Queue();
  return wait->promise();
}

void signal(const Napi::CallbackInfo& info) {
  gate.signal(info[0].As<Napi::Number>().Int32Value());
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("wait", Napi::Function::New(env, wait));
  exports.Set("signal", Napi::Function::New(env, signal));
  return exports;
}

}  // namespace

NODE_API_MODULE(libuv_waits, init)
