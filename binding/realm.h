// What an instance of our JavaScript lends to the process without lending it its vm context: see realm.cc.
#pragma once

#include <napi.h>

namespace boxoffice::binding {

/// An object with functions of the environment's main context.
napi_value makeRealm(napi_env env);

}  // namespace boxoffice::binding
