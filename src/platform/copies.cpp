#include "platform/copies.h"

#include <iterator>
#include <map>
#include <mutex>
#include <new>

#include "platform/misuse.h"
#include "platform/process_wide.h"
#include "platform/published.h"

/// The registry of the first loaded copy serves all.
// NOLINTNEXTLINE(readability-identifier-naming): release/prebuild.js exports such names.
BOXOFFICE_PUBLISHED const boxoffice::Copies* boxoffice_process_wide_1();

namespace boxoffice {
namespace {

class Registry {
 public:
  const char* join(const std::string& digest, const char* path) {
    const std::lock_guard guard(mutex_);
    const auto [at, isNew] = paths_.try_emplace(digest, path);
    if (!isNew || paths_.size() == 1) return nullptr;
    return (at == paths_.begin() ? std::next(at) : paths_.begin())->second.c_str();
  }

  void* claim(const std::string& digest, const char* resource, const char** holder) {
    const std::lock_guard guard(mutex_);
    const auto at = claims_.try_emplace(resource, Claim{.digest = digest}).first;
    if (at->second.digest != digest) {
      const auto found = paths_.find(at->second.digest);
      *holder = found == paths_.end() ? "this program" : found->second.c_str();
      return nullptr;
    }
    ++at->second.uses;
    return &*at;
  }

  void disclaim(void* claim) {
    const std::lock_guard guard(mutex_);
    auto& [resource, one] = *static_cast<Claims::value_type*>(claim);
    if (--one.uses == 0) claims_.erase(resource);
  }

 private:
  struct Claim {
    std::string digest;
    std::size_t uses = 0;
  };
  using Claims = std::map<std::string, Claim>;

  std::mutex mutex_;
  /// The path of a copy, by digest. A path is never removed: other copies keep pointers to it.
  std::map<std::string, std::string> paths_;
  Claims claims_;
};

Registry& registry() {
  static auto* const one = new Registry;
  return *one;
}

// No exception may reach another copy, which another compiler may have built.

const char* join(const char* digest, const char* path) noexcept {
  try {
    return registry().join(digest, path);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* claim(const char* digest, const char* resource, const char** holder) noexcept {
  *holder = nullptr;
  try {
    return registry().claim(digest, resource, holder);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void disclaim(void* claim) noexcept { registry().disclaim(claim); }

const Copies& copies() {
  using Get = const Copies* (*)();
  static const auto first =
      reinterpret_cast<Get>(platform::firstPublished("boxoffice_process_wide_1"));
  static const Copies& found = first ? *first() : *boxoffice_process_wide_1();
  return found;
}

}  // namespace

const char* joinCopies(const std::string& path) {
  return copies().join(digestOfSources(), path.c_str());
}

CopyClaim::CopyClaim(const std::string& resource, const char* what) {
  const char* holder = nullptr;
  claim_ = copies().claim(digestOfSources(), resource.c_str(), &holder);
  if (claim_) return;
  if (!holder) throw std::bad_alloc();
  throwMisuse(Fault::mismatch, std::string(what) + " is in use by another copy of boxoffice, at " +
                                   holder + ": install one version");
}

CopyClaim::~CopyClaim() {
  if (claim_) copies().disclaim(claim_);
}

}  // namespace boxoffice

BOXOFFICE_PUBLISHED const boxoffice::Copies* boxoffice_process_wide_1() {
  static constexpr boxoffice::Copies all{
      .join = boxoffice::join, .claim = boxoffice::claim, .disclaim = boxoffice::disclaim};
  return &all;
}
BOXOFFICE_PUBLISH(boxoffice_process_wide_1);
