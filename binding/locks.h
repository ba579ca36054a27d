#pragma once

#include <napi.h>

namespace boxoffice::binding {

class EventLoop;

/// The functions of all locks, for the agent `loop`.
void defineLocks(Napi::Object exports, EventLoop& loop);

}  // namespace boxoffice::binding
