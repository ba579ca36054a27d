// Locks that threads share: where the words of locks with a name lie, and what is known of words that
// lie in memory of the user's.
//
// A lock that threads share is two words, but for the kinds that start as 0 anyway, which are one:
//
//     [0]  the word of its box office (see there)
//     [1]  start: the word that it began with | 1.  0: nobody has constructed a lock here yet
//
// Whoever comes first writes both; whoever comes later must want the same lock.
//
//   LockTable   key ─▶ words, for as long as somebody has the key pinned or its word is not as at first
//               (a dead holder's mutex stays until somebody has been told)
//   LockTables  name ─▶ LockTable
//   Claims      address ─▶ kind of lock, for as long as somebody uses it
//
// Each is guarded by a mutex of its own, held for a look-up. The words are not: they belong to their
// box offices.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace boxoffice {

enum class LockKind : std::uint8_t {
  mutex,
  semaphore,
  autoResetEvent,
  manualResetEvent,
  condition,
  countdownLatch,
  barrier,
  rwLock
};

/// "a mutex", for messages.
const char* nameOf(LockKind kind) noexcept;

using SharedWord = std::atomic<std::uint32_t>;

/// Memory for pairs of words, which stay where they are and are never given back to the system: a view
/// of a region stays good for ever.
class WordPairs {
 public:
  using Number = std::uint32_t;
  static constexpr int kRegionBits = 13;  // pairs in a region

  /// A pair of zeros. Throws std::bad_alloc, and then nothing has changed.
  Number take();
  void give(Number pair) noexcept;
  SharedWord* words(Number pair) const noexcept;

 private:
  static constexpr std::uint32_t kPairs = 1U << kRegionBits;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<SharedWord[]>> regions_;
  std::vector<Number> free_;
};

/// Locks of one kind, by key.
class LockTable {
 public:
  struct Entry {
    const std::string* key;
    WordPairs::Number pair;
    SharedWord* words;
    std::uint32_t pins;
  };

  /// The lock of `key`, which stays there until it has been unpinned as often. Throws Misuse(mismatch)
  /// when it is there and began with another word, and std::bad_alloc; then nothing has changed.
  Entry& pin(const std::string& key, std::uint32_t start);
  void unpin(Entry& entry) noexcept;

  /// How many are not as they began: held, waited for, set, or left behind by one that died.
  std::size_t busy() const;
  std::vector<std::string> busyKeys() const;
  /// Has it no lock at all?
  bool empty() const;

 private:
  static bool isIdle(const Entry& entry) noexcept;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

/// The process's.
class LockTables {
 public:
  /// The table of that name, until it has been closed as often.
  /// Throws Misuse(mismatch) when its locks begin with another word.
  LockTable& open(const std::string& name, std::uint32_t start);
  void close(const std::string& name) noexcept;

 private:
  struct Named {
    LockTable table;
    std::size_t uses = 0;
    std::uint32_t start = 0;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, Named> tables_;
};

LockTables& lockTables();
WordPairs& wordPairs();

/// A lock of `kind` lies in `count` words from here on, until it has been disclaimed as often. Throws
/// Misuse(mismatch) when another kind lies there, or one that began with another word.
void claimWords(SharedWord* words, std::size_t count, LockKind kind, std::uint32_t start);
void disclaimWords(SharedWord* words, std::size_t count) noexcept;

}  // namespace boxoffice
