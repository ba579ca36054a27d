// The list of functions that JavaScript gets, by name.
#pragma once

#include <napi.h>

#include <string>

#include "call.h"

namespace boxoffice::binding {

class Exports {
 public:
  Exports(Napi::Object exports, EventLoop& loop) : exports_(exports), loop_(loop) {}

  template <auto function>
  void add(const std::string& name) {
    const Napi::Env env = exports_.Env();
    napi_value made = nullptr;
    if (napi_create_function(env, name.c_str(), name.size(), called<function>, &loop_, &made) !=
        napi_ok) {
      throw Napi::Error::New(env);
    }
    // A function keeps the instance that it belongs to.
    if (napi_set_named_property(env, made, "anchor", exports_) != napi_ok) {
      throw Napi::Error::New(env);
    }
    exports_.Set(name, made);
  }

 private:
  Napi::Object exports_;
  EventLoop& loop_;
};

/// An environment's own: its tickets, its news, its memory.
void defineEnvironment(Exports& exports);
void defineLocks(Exports& exports);
void defineHost(Exports& exports);
void defineBarriers(Exports& exports);
void defineConditions(Exports& exports);
void defineLockManager(Exports& exports);
void defineWaitGraph(Exports& exports);
void defineWatchedThreads(Exports& exports);

}  // namespace boxoffice::binding
