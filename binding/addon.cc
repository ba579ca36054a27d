// The list of what JavaScript sees of C++.
#include <napi.h>

#include "arguments.h"
#include "mutex_word.h"
#include "os_semaphore.h"
#include "platform/name.h"

namespace {

using namespace boxoffice::binding;

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Agent);  // node-addon-api deletes it with its environment

  exports["platform"] = Napi::String::New(env, boxoffice::platformName());
  exports["Semaphore"] = defineSemaphore(env);
  exports["mutexLock"] = Napi::Function::New<guarded<mutexLock>>(env, "mutexLock");
  exports["mutexTryLock"] = Napi::Function::New<guarded<mutexTryLock>>(env, "mutexTryLock");
  exports["mutexUnlock"] = Napi::Function::New<guarded<mutexUnlock>>(env, "mutexUnlock");
  exports["mutexIsLocked"] = Napi::Function::New<guarded<mutexIsLocked>>(env, "mutexIsLocked");
  return exports;
}

}  // namespace

NODE_API_MODULE(boxoffice, init)
