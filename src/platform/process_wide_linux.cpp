#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

#include "platform/process_wide.h"

namespace boxoffice::platform {

void* firstExported(const char* symbol) {
  // The libraries, in load order. dlopen comes after the walk, which holds a lock of the loader.
  std::vector<std::string> libraries;
  const auto note = [](dl_phdr_info* info, std::size_t, void* all) {
    static_cast<std::vector<std::string>*>(all)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &libraries);
  for (const std::string& library : libraries) {
    if (library.empty()) continue;  // the program itself
    void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    void* const found = dlsym(handle, symbol);
    dlclose(handle);
    // dlsym also searches the library's dependencies; none of them is a copy of this library.
    if (found) return found;
  }
  return nullptr;
}

}  // namespace boxoffice::platform
