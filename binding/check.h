#pragma once

#include <napi.h>

namespace boxoffice::binding {

/// Throws the pending exception of JavaScript, or one for the last status. Out of line, so that a check adds only a
/// compare and a jump to its function.
[[noreturn]] void fail(napi_env env);

/// Throws unless `status` is napi_ok.
inline void check(napi_env env, napi_status status) {
  if (status != napi_ok) fail(env);
}

}  // namespace boxoffice::binding
