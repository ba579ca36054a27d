#include <dlfcn.h>
#include <mach-o/dyld.h>

#include "platform/process_wide.h"

namespace boxoffice::platform {

void* firstExported(const char* symbol) {
  // The images in load order, the program itself first.
  for (std::uint32_t i = 1; const char* const library = _dyld_get_image_name(i); ++i) {
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD | RTLD_FIRST);
    if (!handle) continue;
    void* const found = dlsym(handle, symbol);
    dlclose(handle);
    if (found) return found;
  }
  return nullptr;
}

}  // namespace boxoffice::platform
