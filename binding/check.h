#pragma once

#include <napi.h>

namespace boxoffice::binding {

/// Throws the pending exception of JavaScript, or one for the last status. Out of line: a check costs its function a
/// compare and a jump.
[[noreturn]] void fail(napi_env env);

/// Fails unless `status` is that of success.
inline void check(napi_env env, napi_status status) {
  if (status != napi_ok) fail(env);
}

}  // namespace boxoffice::binding
