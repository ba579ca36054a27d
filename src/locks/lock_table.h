// Locks that threads share: the words of named locks, and the words in callers' memory that are in use.
//
// A lock that threads share is two words; kinds that always start as 0 have only the first:
//
//     [0]  the lock's word (see its header)
//     [1]  start: its initial word | 1.  0: no lock was constructed here yet
//
// The first agent writes both; later agents must want the same lock.
//
//   LockTable   key ─▶ words, while the key is pinned or its word differs from its start (a dead holder's
//               mutex stays until an agent was told)
//   LockTables  name ─▶ LockTable
//   Claims      address ─▶ kind of lock, while it is in use
//
// Each of these has a mutex, held for a look-up. The mutexes do not guard the words.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/copies.h"

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

/// Memory for pairs of words. It neither moves nor is returned to the system: a view of a region stays
/// valid for ever.
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
    CopyClaim claim;  // of a name
  };

  LockTable() = default;
  /// If `names` is not empty, each key is the name of a lock of that kind, and another copy of this library must not
  /// have a lock of that name. Otherwise the whole table belongs to one copy.
  explicit LockTable(std::string names) : names_(std::move(names)) {}

  /// Returns the lock of `key`, which stays in place until it has been unpinned as often. Throws Misuse(mismatch)
  /// when the lock exists with another start or in another copy of this library, and std::bad_alloc, and then changes
  /// nothing.
  Entry& pin(const std::string& key, std::uint32_t start);
  void unpin(Entry& entry) noexcept;

  /// The number of locks that differ from their start: held, waited for, set, or abandoned.
  std::size_t busy() const;
  std::vector<std::string> busyKeys() const;
  /// Whether the table has no lock at all.
  bool empty() const;

 private:
  static bool isIdle(const Entry& entry) noexcept;

  const std::string names_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

/// The tables of this process.
class LockTables {
 public:
  /// Returns the table of that name, which stays open until it has been closed as often. If `isOfNames`, its keys are
  /// names of locks, and `name` is their kind. Throws Misuse(mismatch) when its locks have another start, or another
  /// copy of this library has it open.
  LockTable& open(const std::string& name, std::uint32_t start, bool isOfNames = false);
  void close(const std::string& name) noexcept;

 private:
  struct Named {
    explicit Named(const std::string& names) : table(names) {}

    LockTable table;
    CopyClaim claim;
    std::size_t uses = 0;
    std::uint32_t start = 0;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, Named> tables_;
};

LockTables& lockTables();
WordPairs& wordPairs();

/// Claims `count` words for a lock of `kind`, until they are disclaimed as often. Throws Misuse(mismatch)
/// when a lock of another kind, with another start, or of another copy of this library lies there.
void claimWords(SharedWord* words, std::size_t count, LockKind kind, std::uint32_t start);
void disclaimWords(SharedWord* words, std::size_t count) noexcept;

}  // namespace boxoffice
