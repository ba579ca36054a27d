// For systems without scope host, which have no wake-ups of other processes.
#include "host_wakeup_poll.h"

namespace boxoffice::binding {

HostWakeupPoll* HostWakeupPoll::open(napi_env, EventLoop&, host::Membership&) { return nullptr; }
void HostWakeupPoll::listen() noexcept {}
void HostWakeupPoll::close() noexcept {}

}  // namespace boxoffice::binding
