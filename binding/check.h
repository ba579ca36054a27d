#pragma once

#include <napi.h>

namespace boxoffice::binding {

/// Throws the pending exception of JavaScript, or one for `status`.
inline void check(napi_env env, napi_status status) {
  if (status != napi_ok) throw Napi::Error::New(env);
}

}  // namespace boxoffice::binding
