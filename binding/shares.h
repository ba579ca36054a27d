// The locks of one environment that other threads may use: their places, the number of JavaScript objects for each,
// and the holds of this environment, which must be given back if it ends.
#pragma once

#include <napi.h>

#include <array>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/segment_handle.h"
#include "kinds.h"
#include "locks/lock_table.h"
#include "regions.h"

namespace boxoffice::binding {

class Shares {
 public:
  Shares(napi_env env, Regions& regions) : env_(env), regions_(regions) {
    uses_.rehash(16);  // by a power of two libc++ does not divide
  }

  /// Adds an object for the lock in `int32Array`. Returns its word index.
  std::int32_t shareMemory(napi_value int32Array, std::int32_t kind, std::uint32_t start);
  /// Adds an object for the lock of that key in a table. Returns its word index.
  std::int32_t shareKey(std::int32_t table, const std::string& key, std::int32_t kind,
                        std::uint32_t start);
  /// Adds an object for the lock in a slot of scope host, which the caller has pinned. Returns `wordIndex`.
  std::int32_t shareSlot(std::int32_t wordIndex, const Kind& kind, host::SegmentHandle& handle,
                         std::uint32_t slot);
  /// Unpins a slot whose lock no object uses any more, so that it may go to another key. Returns false while this
  /// environment holds the lock. (The completion of that grant may still be on its way to JavaScript.)
  bool unpinSlot(std::int32_t wordIndex, AgentId me);
  /// Pins the slot for the same objects again. Returns false if another key has it, and forgets the objects.
  bool pinSlotAgain(std::int32_t wordIndex);
  /// Removes an object. Returns how many uses are left. An orphan, held without an object, counts
  /// as one.
  std::int32_t unshare(std::int32_t wordIndex, AgentId me);

  /// Opens the table of that name until closeTable() or the end of the environment. Returns its number.
  std::int32_t openTable(const std::string& name, std::uint32_t start, bool isOfNames);
  /// Closes the table. Another table may get its number.
  void closeTable(std::int32_t table);
  const LockTable& table(std::int32_t table) const { return *opened(table).table; }

  /// Records that this environment has acquired or released `weight` of a counted lock.
  void took(std::int32_t wordIndex, std::int32_t weight) noexcept;
  void gave(std::int32_t wordIndex, std::int32_t weight) noexcept;
  /// Returns what this environment holds of the lock there, or null if no lock is there.
  Holding* holding(std::int32_t wordIndex) noexcept {
    Use* const lock = find(wordIndex);
    if (!lock) return nullptr;
    if (!lock->held.isSettled()) settle(lock->held);
    return &lock->held;
  }
  /// Takes up to `most` units off the counts of other environments. This one releases them without holding them, and
  /// the deaths of the others must not put them back a second time.
  void takeOffOthers(std::int32_t wordIndex, std::int64_t most) noexcept;
  /// Called from any thread. Takes up to `most` off the count of the lock there, and returns how many.
  std::int64_t takeOff(const Regions::Place& place, std::int64_t most) noexcept;
  /// Adds `change` to the number of its units that rest: see Holding.
  void rested(std::int32_t wordIndex, std::int32_t change) noexcept;

  /// Records that JavaScript is told of an admission there.
  void accepted(std::int32_t wordIndex) noexcept;

  /// Called when the environment ends: passes its holds on.
  void abandonAll(AgentId me) noexcept;

 private:
  struct Use {
    const Kind* kind = nullptr;
    void* words = nullptr;
    std::int32_t uses = 0;
    Holding held{};  // of a counted kind
    bool isOrphan = false;
    bool isPinned = true;   // for a slot of a segment; if not, the slot may be another key's
    host::Digest digest{};  // of the key of a slot that is not pinned
    // Where the lock lies: a key of a table, a slot of a segment, or the user's memory.
    LockTable* table = nullptr;
    LockTable::Entry* entry = nullptr;
    host::SegmentHandle* handle = nullptr;
    std::uint32_t slot = 0;
    std::int32_t region = 0;
  };
  struct Opened {
    std::string name;
    LockTable* table = nullptr;  // null: closed
  };

  /// A cache of uses that were found before. A look-up in std::unordered_map divides, which costs an eighth of an
  /// uncontended release.
  struct Recent {
    std::int32_t wordIndex = -1;
    Use* use = nullptr;
  };

  std::int32_t use(std::int32_t wordIndex, const Use& lock);
  /// Returns the use there, or null if there is none.
  Use* find(std::int32_t wordIndex) noexcept;
  Use& useAt(std::int32_t wordIndex);
  void erase(std::int32_t wordIndex) noexcept;
  void settle(Holding& held) noexcept;
  Recent& recentAt(std::int32_t wordIndex) noexcept;
  void drop(const Use& lock) noexcept;
  std::int32_t regionOf(WordPairs::Number pair);
  const Opened& opened(std::int32_t table) const;

  const napi_env env_;
  Regions& regions_;
  std::mutex mutex_;  // held to change uses_, or to read it in another thread: see holding.h
  std::unordered_map<std::int32_t, Use> uses_;  // by word index
  std::array<Recent, 64> recent_;
  std::vector<Opened> tables_;
  std::vector<std::int32_t> freeTables_;  // numbers of closed tables, with room for all
  std::vector<std::int32_t> views_;       // by region of word pairs: its number here, or kNone
};

}  // namespace boxoffice::binding
