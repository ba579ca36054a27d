// What JavaScript gets: one object of functions for each kind of lock and each topic, `native.mutex`, `native.host`.
#pragma once

#include <napi.h>

#include "call.h"
#include "check.h"

namespace boxoffice::binding {

class Topic {
 public:
  /// All of them: `functions`, the anchor of its instance (instances.h).
  Topic(Napi::Object functions, EventLoop& loop) : Topic(functions, functions, loop) {}

  Topic topic(const char* name) {
    const Napi::Object functions = Napi::Object::New(anchor_.Env());
    functions_.Set(name, functions);
    return {anchor_, functions, loop_};
  }

  template <auto function>
  void add(const char* name) {
    const Napi::Env env = anchor_.Env();
    napi_value made = nullptr;
    check(env, napi_create_function(env, name, NAPI_AUTO_LENGTH, called<function>, &loop_, &made));
    // A function keeps the instance that it belongs to.
    check(env, napi_set_named_property(env, made, "anchor", anchor_));
    functions_.Set(name, made);
  }

 private:
  Topic(Napi::Object anchor, Napi::Object functions, EventLoop& loop)
      : anchor_(anchor), functions_(functions), loop_(loop) {}

  Napi::Object anchor_;
  Napi::Object functions_;
  EventLoop& loop_;
};

/// An environment's own: its tickets, its completions, its memory.
void defineEnvironment(Topic exports);
void defineLocks(Topic exports);
void defineRWLocks(Topic exports);
void defineHost(Topic exports);
void defineBarriers(Topic exports);
void defineConditions(Topic exports);
void defineLockManager(Topic exports);
void defineWaitGraph(Topic exports);
void defineWatchedThreads(Topic exports);

}  // namespace boxoffice::binding
