// The memory of an environment's locks, by numbers: JavaScript identifies a word by its index: the
// number of its region, and the offset there.
#pragma once

#include <napi.h>

#include <mutex>
#include <unordered_map>
#include <vector>

namespace boxoffice::binding {

class Regions {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 18;  // 32 - kIndexBits
  static constexpr int kIndexBits = 14;

  explicit Regions(napi_env env) : env_(env) {}

  /// Returns a number for this memory, always the same. The memory is kept alive until it has been detached as
  /// often as attached. So is its vm context, which should be the main context (realm.h).
  std::int32_t attach(napi_value int32Array);
  void detach(std::int32_t region);
  /// The attached Int32Array.
  napi_value array(std::int32_t region) const;
  /// The address of a word. Misuse(badArgument) if there is none.
  [[gnu::always_inline]] void* word(std::int32_t wordIndex) const {
    const auto number = static_cast<std::uint32_t>(wordIndex) >> kIndexBits;
    const auto index = static_cast<std::uint32_t>(wordIndex) & ((1U << kIndexBits) - 1);
    if (number >= all_.size() || index >= all_[number].length) failAtWord();
    return all_[number].words + index;
  }

  /// A word, for environments which have other numbers for its region.
  struct Place {
    std::int32_t* first;  // of the region
    std::uint32_t index;
  };
  Place placeOf(std::int32_t wordIndex) const;
  /// Called from any thread: the word index here, or -1 if the region is not attached.
  std::int32_t wordIndexAt(const Place& place) const noexcept;

  /// Called when the environment ends.
  void clear() noexcept;

 private:
  struct Region {
    std::int32_t* words = nullptr;
    std::size_t length = 0;
    napi_ref array = nullptr;
    std::int32_t uses = 1;
  };

  const Region& at(std::int32_t region) const;
  [[noreturn]] static void failAtWord();

  const napi_env env_;
  std::vector<Region> all_;
  std::vector<std::int32_t> free_;
  mutable std::mutex mutex_;  // held to change known_, or to read it in another thread
  std::unordered_map<std::int32_t*, std::int32_t> known_;
};

/// Memory of the addon, never freed, as JavaScript sees it: not a SharedArrayBuffer, but Atomics
/// work on it. No finalizer: the memory outlives the Int32Array.
napi_value viewOf(napi_env env, void* words, std::size_t bytes);

/// An Int32Array's memory. Not through its ArrayBuffer, because Node 20 cannot return a shared one.
std::int32_t* memoryOf(napi_env env, napi_value array, std::size_t& length);

}  // namespace boxoffice::binding
