// A mutex whose word lies in memory that JavaScript shares between its threads: the first two
// arguments of each function are an Int32Array and the index of the word in it.
#pragma once

#include <napi.h>

namespace boxoffice::binding {

/// (words, index, timeout in ms or undefined) -> was it locked before the timeout?
/// ERR_LOCK_DEADLOCK when this environment holds it already.
Napi::Value mutexLock(const Napi::CallbackInfo& info);
/// (words, index) -> is it locked now, by us?
Napi::Value mutexTryLock(const Napi::CallbackInfo& info);
/// (words, index); ERR_LOCK_NOT_HELD when this environment does not hold it.
Napi::Value mutexUnlock(const Napi::CallbackInfo& info);
/// (words, index) -> does anybody hold it?
Napi::Value mutexIsLocked(const Napi::CallbackInfo& info);

}  // namespace boxoffice::binding
