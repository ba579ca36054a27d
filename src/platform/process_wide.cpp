#include "platform/process_wide.h"

#include <map>
#include <mutex>
#include <string>

#include "platform/published.h"

// Set by the build to a digest of the sources: copies that differ must not share objects.
#ifndef BOXOFFICE_DIGEST
#error "BOXOFFICE_DIGEST is missing"
#endif
#define BOXOFFICE_JOIN(prefix, digest) prefix##digest
#define BOXOFFICE_NAMED(prefix, digest) BOXOFFICE_JOIN(prefix, digest)
#define BOXOFFICE_REGISTRY BOXOFFICE_NAMED(boxoffice_process_wide_, BOXOFFICE_DIGEST)

/// This copy's registry.
BOXOFFICE_PUBLISHED void* BOXOFFICE_REGISTRY(const char* name, void* (*make)()) {
  struct Registry {
    std::mutex mutex;
    std::map<std::string, void*> all;
  };
  static auto* const registry = new Registry;
  const std::lock_guard guard(registry->mutex);
  void*& one = registry->all[name];
  if (!one) one = make();
  return one;
}
BOXOFFICE_PUBLISH(BOXOFFICE_REGISTRY);

namespace boxoffice {

const char* digestOfSources() noexcept { return BOXOFFICE_TEXT_OF(BOXOFFICE_DIGEST); }

void* findProcessWide(const char* name, void* (*make)()) {
  using Find = void* (*)(const char* name, void* (*make)());
  static const auto first =
      reinterpret_cast<Find>(platform::firstPublished(BOXOFFICE_TEXT_OF(BOXOFFICE_REGISTRY)));
  return first ? first(name, make) : BOXOFFICE_REGISTRY(name, make);
}

}  // namespace boxoffice
