// Functions by which an instance passes callbacks and memory to the process without keeping its vm context
// alive: see realm.cc.
#pragma once

#include <napi.h>

namespace boxoffice::binding {

/// An object with functions of the environment's main context.
napi_value makeRealm(napi_env env);

}  // namespace boxoffice::binding
