// From JavaScript's arguments to C++'s, and from C++'s exceptions to JavaScript's.
#pragma once

#include <napi.h>

#include "agent.h"
#include "misuse.h"
#include "platform/clock.h"

namespace boxoffice::binding {

/// One per environment: the main thread and each worker are agents of their own.
struct Agent {
  Agent() : id(takeAgentId()) {}
  ~Agent() { giveAgentId(id); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  const AgentId id;
};

inline AgentId agentOf(const Napi::CallbackInfo& info) {
  return info.Env().GetInstanceData<Agent>()->id;
}

/// `value` as a whole number from 0 to `most`. Throws TypeError when it is no number, and RangeError
/// when it is another one; both name the argument.
int toCount(const Napi::Value& value, const char* name, int most);

/// The word at `words[index]`, where info[0] is an Int32Array and info[1] an index into it.
void* wordAt(const Napi::CallbackInfo& info);

/// Milliseconds from now; undefined and Infinity mean no deadline. RangeError for NaN and below 0.
Deadline toDeadline(const Napi::Value& milliseconds);

/// For faults that users tell apart by `error.code`.
Napi::Error errorWithCode(Napi::Env env, const char* code, const char* message);

[[noreturn]] void rethrow(Napi::Env env, const Misuse& misuse);

/// A function for JavaScript. Only Napi::Error may leave it.
template <Napi::Value (*function)(const Napi::CallbackInfo&)>
Napi::Value guarded(const Napi::CallbackInfo& info) {
  try {
    return function(info);
  } catch (const Misuse& misuse) {
    rethrow(info.Env(), misuse);
  } catch (const std::bad_alloc&) {
    throw Napi::Error::New(info.Env(), "boxoffice: out of memory");
  }
}

}  // namespace boxoffice::binding
