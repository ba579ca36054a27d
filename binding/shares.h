// The locks of one environment that other threads may know: where they lie, how many objects of
// JavaScript stand for each, and what of them is held here, to be given back should the environment end.
#pragma once

#include <napi.h>

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
  Shares(napi_env env, Regions& regions) : env_(env), regions_(regions) {}

  /// One more object for the lock in `int32Array`: its place.
  std::int32_t shareMemory(napi_value int32Array, std::int32_t kind, std::uint32_t start);
  /// One more object for the lock of that key in a table: its place.
  std::int32_t shareKey(std::int32_t table, const std::string& key, std::int32_t kind,
                        std::uint32_t start);
  /// One more object for the lock in a slot of scope host, which has been pinned for it: its place, as given.
  std::int32_t shareSlot(std::int32_t place, const Kind& kind, host::SegmentHandle& handle,
                         std::uint32_t slot);
  /// No object of that slot has to do with its lock any more: it may go to another key. False while this
  /// environment holds the lock: a completion may be on its way to JavaScript.
  bool unpinSlot(std::int32_t place, AgentId me);
  /// The same objects come back to their slot. False when another key has it: they are forgotten here.
  bool pinSlotAgain(std::int32_t place);
  /// One object less: how many uses are left. An orphan, which we hold though no object is left, is one.
  std::int32_t unshare(std::int32_t place, AgentId me);

  /// A table by its name, until the environment ends: a number for it.
  std::int32_t openTable(const std::string& name, std::uint32_t start);
  const LockTable& table(std::int32_t table) const { return *opened(table).table; }

  /// So much of a counted lock has been taken here, or put back.
  void took(std::int32_t place, std::int32_t weight) noexcept;
  void gave(std::int32_t place, std::int32_t weight) noexcept;

  /// The environment ends: whatever it holds goes to others.
  void abandonAll(AgentId me) noexcept;

 private:
  struct Use {
    const Kind* kind = nullptr;
    void* words = nullptr;
    std::int32_t uses = 0;
    std::int64_t held = 0;  // of a counted kind
    bool isOrphan = false;
    bool isPinned = true;   // a slot of a segment only: else it may be that of another key
    host::Digest digest{};  // of the key of a slot that is not pinned
    // One of them: a key of a table, a slot of a segment, or memory of the user's.
    LockTable* table = nullptr;
    LockTable::Entry* entry = nullptr;
    host::SegmentHandle* handle = nullptr;
    std::uint32_t slot = 0;
    std::int32_t region = 0;
  };
  struct Opened {
    std::string name;
    LockTable* table = nullptr;
  };

  std::int32_t use(std::int32_t place, const Use& lock);
  Use& useAt(std::int32_t place);
  void drop(const Use& lock) noexcept;
  std::int32_t regionOf(WordPairs::Number pair);
  const Opened& opened(std::int32_t table) const;

  const napi_env env_;
  Regions& regions_;
  std::unordered_map<std::int32_t, Use> uses_;  // by place
  std::vector<Opened> tables_;
  std::vector<std::int32_t> views_;  // of regions of word pairs: their numbers here, or kNone
};

}  // namespace boxoffice::binding
