// The exports to JavaScript: one object of functions per kind of lock and per topic, `native.mutex`, `native.host`,
// and the numbers of layout.cc.
#pragma once

#include <napi.h>

#include "call.h"

namespace boxoffice::binding {

class Topic {
 public:
  /// The topic that contains all others: `functions`, the anchor of its instance (instances.h).
  Topic(Napi::Object functions, EventLoop& loop) : Topic(functions, functions, loop) {}

  Topic topic(const char* name);

  void add(const char* name, std::int32_t number);

  template <auto function>
  void add(const char* name) {
    add(name, called<function>);
  }

 private:
  Topic(Napi::Object anchor, Napi::Object functions, EventLoop& loop)
      : anchor_(anchor), functions_(functions), loop_(loop) {}
  void add(const char* name, napi_callback callback);

  Napi::Object anchor_;
  Napi::Object functions_;
  EventLoop& loop_;
};

/// The functions of the environment itself: its tickets, its completions, its memory.
void defineLayout(Topic exports);
void defineEnvironment(Topic exports);
void defineLocks(Topic exports);
void defineRWLocks(Topic exports);
void defineHost(Topic exports);
void defineBarriers(Topic exports);
void defineConditions(Topic exports);
void defineLockManager(Topic exports);
void defineWaitGraph(Topic exports);
void defineLockOrder(Topic exports);
void defineWatchedThreads(Topic exports);

}  // namespace boxoffice::binding
