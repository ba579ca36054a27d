#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "platform/published.h"

namespace boxoffice::platform {
namespace {

struct Publisher {
  std::string library;  // empty: the program itself
  void* function = nullptr;
};

struct Search {
  const char* name = nullptr;
  std::size_t modules = 0;
  std::vector<Publisher> found;
};

/// The function of that name in a segment of notes, or null.
void* findIn(const char* at, const char* end, std::size_t alignment, const char* name) {
  const auto aligned = [=](std::size_t size) { return (size + alignment - 1) & ~(alignment - 1); };
  while (end - at > static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char* const noteName = at + sizeof note;
    const char* const content = at + aligned(sizeof note + note.n_namesz);
    if (note.n_namesz == std::strlen(name) + 1 && std::memcmp(noteName, name, note.n_namesz) == 0) {
      std::int32_t distance = 0;
      std::memcpy(&distance, content, sizeof distance);
      return const_cast<char*>(content) + distance;
    }
    at = content + aligned(note.n_descsz);
  }
  return nullptr;
}

int findInModule(dl_phdr_info* info, std::size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  // The program comes first. Only glibc leaves its name empty.
  const bool isProgram = search.modules++ == 0;
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives numbers.
    const auto* const notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    const std::size_t alignment = segment.p_align == 8 ? 8 : 4;
    void* const function = findIn(notes, notes + segment.p_memsz, alignment, search.name);
    if (function) search.found.push_back({isProgram ? "" : info->dlpi_name, function});
  }
  return 0;
}

}  // namespace

void* firstPublished(const char* name) {
  // Visit the modules in load order. Call dlopen only after the walk, because the walk holds a lock of the loader.
  Search search;
  search.name = name;
  dl_iterate_phdr(findInModule, &search);
  for (const auto& [library, function] : search.found) {
    if (library.empty()) return function;
    // Another thread may be loading the library: its functions work once dlopen returns.
    void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    dlclose(handle);
    return function;
  }
  return nullptr;
}

}  // namespace boxoffice::platform
