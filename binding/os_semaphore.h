#pragma once

#include <napi.h>

namespace boxoffice::binding {

/// The class Semaphore(initial, name?): wait(timeoutMs?), tryWait(), signal(n?).
Napi::Function defineSemaphore(Napi::Env env);

}  // namespace boxoffice::binding
