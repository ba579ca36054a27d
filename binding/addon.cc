// The list of what JavaScript sees of C++.
#include <napi.h>

#include "event_loop.h"
#include "locks.h"
#include "platform/name.h"

namespace {

using namespace boxoffice::binding;

Napi::Object init(Napi::Env env, Napi::Object exports) {
  auto* const loop = new EventLoop(env);
  env.SetInstanceData(loop);  // node-addon-api deletes it with its environment
  exports["platform"] = Napi::String::New(env, boxoffice::platformName());
  defineLocks(exports, *loop);
  return exports;
}

}  // namespace

NODE_API_MODULE(boxoffice, init)
