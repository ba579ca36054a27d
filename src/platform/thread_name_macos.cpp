#include <pthread.h>

#include "platform/thread_name.h"

namespace boxoffice {

void nameThisThread(const char* name) noexcept { pthread_setname_np(name); }

}  // namespace boxoffice
