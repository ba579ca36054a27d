#include <dlfcn.h>
#include <mach-o/dyld.h>

#include <cstdint>

#include "platform/published.h"

namespace boxoffice::platform {

void* firstPublished(const char* name) {
  if (void* const found = dlsym(RTLD_MAIN_ONLY, name)) return found;
  // The images in load order, the program itself first.
  for (std::uint32_t i = 1; const char* const library = _dyld_get_image_name(i); ++i) {
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD | RTLD_FIRST);
    if (!handle) continue;
    void* const found = dlsym(handle, name);
    dlclose(handle);
    if (found) return found;
  }
  return nullptr;
}

}  // namespace boxoffice::platform
