// Memory that locks of an environment lie in, by numbers: JavaScript knows a word by its place, the
// number of its region and its index there.
#pragma once

#include <napi.h>

#include <unordered_map>
#include <vector>

namespace boxoffice::binding {

class Regions {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 18;  // 32 - kIndexBits
  static constexpr int kIndexBits = 14;                       // as in lib/process/words.js

  explicit Regions(napi_env env) : env_(env) {}

  /// A number for this memory, the same one for the same, which is kept alive until it has been detached
  /// as often.
  /// Its vm context is kept, too: it is to be the main one (realm.h).
  std::int32_t attach(napi_value int32Array);
  void detach(std::int32_t region);
  /// The Int32Array that it was attached as.
  napi_value array(std::int32_t region) const;
  /// The address of a word. Misuse(badArgument) where there is none.
  void* word(std::int32_t place) const;

  /// The environment ends.
  void clear() noexcept;

 private:
  struct Region {
    std::int32_t* words = nullptr;
    std::size_t length = 0;
    napi_ref array = nullptr;
    std::int32_t uses = 1;
  };

  const Region& at(std::int32_t region) const;

  const napi_env env_;
  std::vector<Region> all_;
  std::vector<std::int32_t> free_;
  std::unordered_map<std::int32_t*, std::int32_t> known_;
};

/// Memory that is ours for good as JavaScript sees it: not shared in its eyes, but Atomics work on it. No finalizer: it
/// stays when the Int32Array is collected.
napi_value viewOf(napi_env env, void* words, std::size_t bytes);

/// An Int32Array's memory. Not through its ArrayBuffer: Node 20 cannot give us a shared one.
std::int32_t* memoryOf(napi_env env, napi_value array, std::size_t& length);

}  // namespace boxoffice::binding
