#include "mutex_word.h"

#include "arguments.h"
#include "mutex.h"

namespace boxoffice::binding {
namespace {

static_assert(sizeof(Mutex) == sizeof(std::int32_t), "a mutex is its word");

Mutex& mutexAt(const Napi::CallbackInfo& info) { return *static_cast<Mutex*>(wordAt(info)); }

Napi::Value toBoolean(const Napi::CallbackInfo& info, bool value) {
  return Napi::Boolean::New(info.Env(), value);
}

}  // namespace

Napi::Value mutexLock(const Napi::CallbackInfo& info) {
  const Deadline deadline = toDeadline(info[2]);
  Mutex& mutex = mutexAt(info);
  const AgentId me = agentOf(info);
  // No race: an agent becomes the owner, and ceases to be it, by its own calls only.
  if (mutex.owner() == me) {
    throw errorWithCode(info.Env(), "ERR_LOCK_DEADLOCK",
                        "this thread holds the mutex already and would wait for itself");
  }
  return toBoolean(info, bool(mutex.lockUntil(deadline, me)));
}

Napi::Value mutexTryLock(const Napi::CallbackInfo& info) {
  return toBoolean(info, bool(mutexAt(info).tryLock(agentOf(info))));
}

Napi::Value mutexUnlock(const Napi::CallbackInfo& info) {
  mutexAt(info).unlock(agentOf(info));
  return info.Env().Undefined();
}

Napi::Value mutexIsLocked(const Napi::CallbackInfo& info) {
  return toBoolean(info, mutexAt(info).isLocked());
}

}  // namespace boxoffice::binding
