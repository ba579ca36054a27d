// What JavaScript gets: one object of functions for each kind of lock and each topic, `native.mutex`, `native.host`.
#pragma once

#include <napi.h>

#include "call.h"

namespace boxoffice::binding {

class Topic {
 public:
  Topic(Napi::Object anchor, EventLoop& loop, Napi::Object functions)
      : anchor_(anchor), loop_(loop), functions_(functions) {}

  template <auto function>
  void add(const char* name) {
    const Napi::Env env = anchor_.Env();
    napi_value made = nullptr;
    // A function keeps the instance that it belongs to.
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, called<function>, &loop_, &made) !=
            napi_ok ||
        napi_set_named_property(env, made, "anchor", anchor_) != napi_ok) {
      throw Napi::Error::New(env);
    }
    functions_.Set(name, made);
  }

 private:
  Napi::Object anchor_;
  EventLoop& loop_;
  Napi::Object functions_;
};

class Exports {
 public:
  Exports(Napi::Object exports, EventLoop& loop) : exports_(exports), loop_(loop) {}

  Topic topic(const char* name) {
    const Napi::Object functions = Napi::Object::New(exports_.Env());
    exports_.Set(name, functions);
    return {exports_, loop_, functions};
  }

 private:
  Napi::Object exports_;
  EventLoop& loop_;
};

/// An environment's own: its tickets, its completions, its memory.
void defineEnvironment(Exports& exports);
void defineLocks(Exports& exports);
void defineRWLocks(Exports& exports);
void defineHost(Exports& exports);
void defineBarriers(Exports& exports);
void defineConditions(Exports& exports);
void defineLockManager(Exports& exports);
void defineWaitGraph(Exports& exports);
void defineWatchedThreads(Exports& exports);

}  // namespace boxoffice::binding
