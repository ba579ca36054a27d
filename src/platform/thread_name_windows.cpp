#define NOMINMAX  // windows.h would make macros of min and max
#include <windows.h>

#include "platform/thread_name.h"

// Windows 10 and later have it, as Node.js requires. The headers of mingw-w64 lack it before version 11.
extern "C" WINBASEAPI HRESULT WINAPI SetThreadDescription(HANDLE thread, PCWSTR name);

namespace boxoffice {

void nameThisThread(const char* name) noexcept {
  wchar_t wide[kMaxThreadName + 1] = {};
  for (unsigned i = 0; i < kMaxThreadName && name[i]; ++i) wide[i] = static_cast<wchar_t>(name[i]);
  SetThreadDescription(GetCurrentThread(), wide);
}

}  // namespace boxoffice
