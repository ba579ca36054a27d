#include <pthread.h>

#include "platform/thread_name.h"

namespace boxoffice {

void nameThisThread(const char* name) noexcept { pthread_setname_np(pthread_self(), name); }

}  // namespace boxoffice
