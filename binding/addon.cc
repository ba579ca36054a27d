// The list of what JavaScript sees of C++.
#include <napi.h>

#include <memory>
#include <vector>

#include "event_loop.h"
#include "exports.h"
#include "platform/name.h"

namespace {

using namespace boxoffice::binding;

using Loops = std::vector<std::unique_ptr<EventLoop>>;

/// The functions for one evaluation of lib/: test runners evaluate it afresh for each file, and find
/// the addon loaded.
Napi::Value connect(const Napi::CallbackInfo& info) {
  auto& loops = *info.Env().GetInstanceData<Loops>();
  loops.push_back(std::make_unique<EventLoop>(info.Env()));
  Napi::Object functions = Napi::Object::New(info.Env());
  Exports exports(functions, *loops.back());
  defineEnvironment(exports);
  defineLocks(exports);
  defineHost(exports);
  defineBarriers(exports);
  defineConditions(exports);
  defineLockManager(exports);
  defineWaitGraph(exports);
  defineWatchedThreads(exports);
  return functions;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Loops);  // node-addon-api deletes it with its environment
  exports["platform"] = Napi::String::New(env, boxoffice::platformName());
  exports["connect"] = Napi::Function::New(env, connect, "connect");
  return exports;
}

}  // namespace

NODE_API_MODULE(boxoffice, init)
