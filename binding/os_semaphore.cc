#include "os_semaphore.h"

#include <chrono>
#include <memory>
#include <system_error>

#include "arguments.h"
#include "misuse.h"
#include "named.h"
#include "platform/semaphore.h"

namespace boxoffice::binding {
namespace {

class SemaphoreWrap : public Napi::ObjectWrap<SemaphoreWrap> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Semaphore",
                       {InstanceMethod<&SemaphoreWrap::wait>("wait"),
                        InstanceMethod<&SemaphoreWrap::tryWait>("tryWait"),
                        InstanceMethod<&SemaphoreWrap::signal>("signal")});
  }

  explicit SemaphoreWrap(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    const int initial = info[0].IsUndefined() ? 0 : toCount(info[0], "initial", Semaphore::kMax);
    try {
      semaphore_ = info[1].IsUndefined() ? std::make_shared<Semaphore>(initial)
                                         : Named<Semaphore>::open(toName(info[1]), initial);
    } catch (const std::system_error& error) {
      throw Napi::Error::New(info.Env(), error.what());
    }
  }

 private:
  static std::string toName(const Napi::Value& value) {
    if (!value.IsString()) throw Napi::TypeError::New(value.Env(), "name must be a string");
    return value.As<Napi::String>().Utf8Value();
  }

  Napi::Value wait(const Napi::CallbackInfo& info) {
    if (info[0].IsUndefined()) {
      semaphore_->wait();
      return Napi::Boolean::New(info.Env(), true);
    }
    const std::chrono::milliseconds timeout(toCount(info[0], "timeoutMs", Semaphore::kMax));
    return Napi::Boolean::New(info.Env(), semaphore_->waitFor(timeout));
  }

  Napi::Value tryWait(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), semaphore_->tryWait());
  }

  void signal(const Napi::CallbackInfo& info) {
    const int n = info[0].IsUndefined() ? 1 : toCount(info[0], "n", Semaphore::kMax);
    try {
      semaphore_->signal(n);
    } catch (const Misuse& misuse) {
      throw Napi::RangeError::New(info.Env(), misuse.what());
    }
  }

  std::shared_ptr<Semaphore> semaphore_;
};

}  // namespace

Napi::Function defineSemaphore(Napi::Env env) { return SemaphoreWrap::define(env); }

}  // namespace boxoffice::binding
