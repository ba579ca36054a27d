// On Windows libuv polls only sockets. The wake-up thread of the process is enough.
#include "host_wakeup_poll.h"

namespace boxoffice::binding {

HostWakeupPoll* HostWakeupPoll::open(napi_env, EventLoop&, host::Membership&) { return nullptr; }
void HostWakeupPoll::listen() noexcept {}
void HostWakeupPoll::close() noexcept {}

}  // namespace boxoffice::binding
