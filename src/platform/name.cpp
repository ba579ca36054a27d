#include "platform/name.h"

#if defined(_WIN32)
#define BOXOFFICE_SYSTEM "win32"
#elif defined(__APPLE__)
#define BOXOFFICE_SYSTEM "darwin"
#else
#define BOXOFFICE_SYSTEM "linux"
#endif

#if defined(__aarch64__) || defined(_M_ARM64)
#define BOXOFFICE_PROCESSOR "arm64"
#else
#define BOXOFFICE_PROCESSOR "x64"
#endif

namespace boxoffice {

const char* platformName() noexcept { return BOXOFFICE_SYSTEM "-" BOXOFFICE_PROCESSOR; }

}  // namespace boxoffice
