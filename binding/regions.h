// The memory of an environment's locks. JavaScript identifies a word by its word index: the number of a region, and
// the word's offset in it.
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

  /// Returns the number of this memory, always the same. Keeps the memory alive until it has been detached as often
  /// as attached. That also keeps its vm context alive, which should be the main context (realm.h).
  std::int32_t attach(napi_value int32Array);
  void detach(std::int32_t region);
  /// The attached Int32Array.
  napi_value array(std::int32_t region) const;
  /// Returns the address of a word. Throws Misuse(badArgument) if there is none.
  [[gnu::always_inline]] void* word(std::int32_t wordIndex) const {
    const auto number = static_cast<std::uint32_t>(wordIndex) >> kIndexBits;
    const auto index = static_cast<std::uint32_t>(wordIndex) & ((1U << kIndexBits) - 1);
    if (number >= all_.size() || index >= all_[number].length) failAtWord();
    return all_[number].words + index;
  }

  /// The place of a word, for environments that have other numbers for its region.
  struct Place {
    std::int32_t* first;  // of the region
    std::uint32_t index;
  };
  Place placeOf(std::int32_t wordIndex) const;
  /// Called from any thread. Returns the word index in this environment, or -1 if the region is not attached.
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

/// Makes an Int32Array over memory of the addon that is never freed. It is not shared memory, but Atomics
/// work on it. Needs no finalizer, because the memory outlives the Int32Array.
napi_value viewOf(napi_env env, void* words, std::size_t bytes);

/// Returns the memory of an Int32Array. Does not use its buffer, because Node 20 cannot return a shared one.
std::int32_t* memoryOf(napi_env env, napi_value array, std::size_t& length);

}  // namespace boxoffice::binding
