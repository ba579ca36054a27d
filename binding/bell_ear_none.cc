// Systems without scope host: there is no bell to hear.
#include "bell_ear.h"

namespace boxoffice::binding {

BellEar* BellEar::open(napi_env, EventLoop&, host::House&) { return nullptr; }
void BellEar::listen() noexcept {}
void BellEar::close() noexcept {}

}  // namespace boxoffice::binding
