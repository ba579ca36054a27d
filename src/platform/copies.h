// Copies of this library with different sources in one process: two versions, or two builds. They do not share their
// objects (process_wide.h), so for one name or one memory each copy would have a different lock. Therefore a copy
// claims what it has a lock for, and the other copies get an error.
#pragma once

#include <string>
#include <utility>

namespace boxoffice {

/// The interface between copies of any version and compiler. Neither these functions nor the names of resources may
/// change. A changed interface needs another name than boxoffice_process_wide_1, and a copy must then look for both.
struct Copies {
  /// Registers the copy at `path`, whose sources have this digest. Returns the path of a copy with another digest,
  /// but only for the first copy of this digest; else null.
  const char* (*join)(const char* digest, const char* path) noexcept;
  /// Returns a claim on `resource`, or null: then `holder` is the path of the copy that has it, or null if memory has
  /// run out. A copy may claim a resource several times, and must disclaim it as often.
  void* (*claim)(const char* digest, const char* resource, const char** holder) noexcept;
  void (*disclaim)(void* claim) noexcept;
};

/// Returns the path of another copy, the first time that this copy joins and differs from it; else null.
const char* joinCopies(const std::string& path);

/// While a claim exists, copies with other sources cannot claim the resource.
class CopyClaim {
 public:
  CopyClaim() noexcept = default;
  /// `what` names the resource in the message. Throws Misuse(mismatch) if another copy has it, and std::bad_alloc.
  CopyClaim(const std::string& resource, const char* what);
  CopyClaim(CopyClaim&& other) noexcept : claim_(std::exchange(other.claim_, nullptr)) {}
  CopyClaim& operator=(CopyClaim&& other) noexcept {
    std::swap(claim_, other.claim_);
    return *this;
  }
  ~CopyClaim();

  explicit operator bool() const noexcept { return claim_ != nullptr; }

 private:
  void* claim_ = nullptr;
};

}  // namespace boxoffice
