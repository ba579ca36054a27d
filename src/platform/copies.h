// Copies of this library with different sources in one process: two versions, or two builds. They do not share their
// objects (process_wide.h), so each would have a lock of its own for one name or one memory. A copy claims what it has a
// lock for, and the other copies get an error.
#pragma once

#include <string>
#include <utility>

namespace boxoffice {

/// What copies of any version and compiler have in common. Neither these functions nor the names of resources may
/// change: another form needs another name than boxoffice_process_wide_1, and a copy must then ask for both.
struct Copies {
  /// Registers the copy at `path`, whose sources have this digest. Returns the path of a copy with another digest,
  /// the first time that this digest comes; else null.
  const char* (*join)(const char* digest, const char* path) noexcept;
  /// Returns a claim on `resource`, or null: then `holder` is the path of the copy that has it, or null where
  /// memory has run out. A copy may claim a resource several times, and disclaims it as often.
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
