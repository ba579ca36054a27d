// The addon's exports.
#include <napi.h>

#include "instances.h"
#include "platform/name.h"
#include "realm.h"

namespace {

using namespace boxoffice::binding;

/// Returns the functions for one evaluation of lib/.
Napi::Value connect(const Napi::CallbackInfo& info) {
  return {info.Env(), info.Env().GetInstanceData<Instances>()->begin()};
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Instances(env));  // node-addon-api deletes it with its environment
  exports["platform"] = Napi::String::New(env, boxoffice::platformName());
  exports["realm"] = makeRealm(env);
  exports["connect"] = Napi::Function::New(env, connect, "connect");
  return exports;
}

}  // namespace

NODE_API_MODULE(boxoffice, init)
