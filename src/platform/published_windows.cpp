#include <windows.h>
// psapi.h needs windows.h before it.
#include <psapi.h>

#include <vector>

#include "platform/published.h"

namespace boxoffice::platform {

void* firstPublished(const char* name) {
  // The modules in load order, the program itself first.
  std::vector<HMODULE> modules(1024);
  DWORD bytes = 0;
  const auto size = static_cast<DWORD>(modules.size() * sizeof(HMODULE));
  if (!K32EnumProcessModules(GetCurrentProcess(), modules.data(), size, &bytes)) return nullptr;
  if (bytes < size) modules.resize(bytes / sizeof(HMODULE));
  for (const HMODULE module : modules) {
    const FARPROC found = GetProcAddress(module, name);
    if (found) return reinterpret_cast<void*>(found);
  }
  return nullptr;
}

}  // namespace boxoffice::platform
