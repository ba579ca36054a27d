#include "locks/lock_table.h"

#include <utility>

#include "platform/misuse.h"
#include "platform/process_wide.h"

namespace boxoffice {
namespace {

constexpr std::uint32_t kStarted = 1;

/// Initializes the lock if it is new. Returns false when it exists with another start.
bool started(SharedWord* words, std::uint32_t start) noexcept {
  const std::uint32_t found = words[1].load(std::memory_order_relaxed);
  if (found == 0) {
    words[0].store(start, std::memory_order_relaxed);
    words[1].store(start | kStarted, std::memory_order_release);
    return true;
  }
  return found == (start | kStarted);
}

[[noreturn]] void throwOtherStart(std::uint32_t found) {
  throw OtherStart("a lock began there with another value: construct it alike, or use other memory",
                   found);
}

void checkStarted(SharedWord* words, std::uint32_t start) {
  if (!started(words, start)) throwOtherStart(words[1].load(std::memory_order_relaxed) & ~kStarted);
}

struct Claim {
  LockKind kind;
  std::size_t part;  // index of the word in its lock
  std::size_t uses = 0;
  CopyClaim copy;
};

std::string resourceOf(const SharedWord* word) {
  return "memory " + std::to_string(reinterpret_cast<std::uintptr_t>(word));
}

struct Claims {
  std::mutex mutex;
  std::unordered_map<const SharedWord*, Claim> all;
};

Claims& claims() { return processWide<Claims>(); }

}  // namespace

const char* nameOf(LockKind kind) noexcept {
  switch (kind) {
    case LockKind::mutex:
      return "a mutex";
    case LockKind::semaphore:
      return "a semaphore";
    case LockKind::autoResetEvent:
      return "an auto-reset event";
    case LockKind::manualResetEvent:
      return "a manual-reset event";
    case LockKind::countdownLatch:
      return "a countdown latch";
    case LockKind::barrier:
      return "a barrier";
    case LockKind::condition:
      return "a condition variable";
    case LockKind::rwLock:
      break;
  }
  return "a read-write lock";
}

WordPairs::Number WordPairs::take() {
  const std::lock_guard guard(mutex_);
  if (free_.empty()) {
    const auto first = static_cast<Number>(regions_.size()) << kRegionBits;
    free_.reserve((regions_.size() + 1) << kRegionBits);
    regions_.push_back(std::make_unique<SharedWord[]>(std::size_t{2} << kRegionBits));
    for (Number i = kPairs; i > 0; --i) free_.push_back(first + i - 1);
  }
  const Number pair = free_.back();
  free_.pop_back();
  return pair;
}

void WordPairs::give(Number pair) noexcept {
  SharedWord* const both = words(pair);
  both[0].store(0, std::memory_order_relaxed);
  both[1].store(0, std::memory_order_relaxed);
  const std::lock_guard guard(mutex_);
  free_.push_back(pair);  // has room: take reserved it
}

SharedWord* WordPairs::words(Number pair) const noexcept {
  const std::lock_guard guard(mutex_);
  return &regions_[pair >> kRegionBits][std::size_t{2} * (pair & (kPairs - 1))];
}

LockTable::Entry& LockTable::pin(const std::string& key, std::uint32_t start) {
  const std::lock_guard guard(mutex_);
  const auto [at, isNew] = entries_.try_emplace(key);
  Entry& entry = at->second;
  if (isNew) {
    try {
      if (!names_.empty()) entry.claim = CopyClaim(names_ + ' ' + key, "this name");
      entry.pair = wordPairs().take();
    } catch (...) {
      entries_.erase(at);
      throw;
    }
    entry.key = &at->first;
    entry.words = wordPairs().words(entry.pair);
    entry.pins = 0;
  }
  checkStarted(entry.words, start);
  ++entry.pins;
  return entry;
}

void LockTable::unpin(Entry& entry) noexcept {
  const std::lock_guard guard(mutex_);
  if (--entry.pins > 0 || !isIdle(entry)) return;
  wordPairs().give(entry.pair);
  entries_.erase(*entry.key);
}

bool LockTable::isIdle(const Entry& entry) noexcept {
  const std::uint32_t start = entry.words[1].load(std::memory_order_relaxed) & ~kStarted;
  return entry.words[0].load(std::memory_order_relaxed) == start;
}

std::size_t LockTable::busy() const {
  const std::lock_guard guard(mutex_);
  std::size_t count = 0;
  for (const auto& [key, entry] : entries_) count += isIdle(entry) ? 0U : 1U;
  return count;
}

std::vector<std::string> LockTable::busyKeys() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> keys;
  for (const auto& [key, entry] : entries_) {
    if (!isIdle(entry)) keys.push_back(key);
  }
  return keys;
}

bool LockTable::empty() const {
  const std::lock_guard guard(mutex_);
  return entries_.empty();
}

LockTable& LockTables::open(const std::string& name, std::uint32_t start, bool isOfNames) {
  const std::lock_guard guard(mutex_);
  const auto found = tables_.find(name);
  if (found == tables_.end()) {
    CopyClaim claim = isOfNames ? CopyClaim() : CopyClaim(name, "this name");
    Named& made = tables_.try_emplace(name, isOfNames ? name : "").first->second;
    made.claim = std::move(claim);
    made.start = start;
    made.uses = 1;
    return made.table;
  }
  Named& named = found->second;
  if (named.start != start) throwOtherStart(named.start);
  ++named.uses;
  return named.table;
}

void LockTables::close(const std::string& name) noexcept {
  const std::lock_guard guard(mutex_);
  const auto at = tables_.find(name);
  // Abandoned locks, whose next holder is to be told, keep their table.
  if (--at->second.uses == 0 && at->second.table.empty()) tables_.erase(at);
}

LockTables& lockTables() { return processWide<LockTables>(); }

WordPairs& wordPairs() { return processWide<WordPairs>(); }

void claimWords(SharedWord* words, std::size_t count, LockKind kind, std::uint32_t start) {
  const std::lock_guard guard(claims().mutex);
  auto& all = claims().all;
  const auto check = [&](bool fits, LockKind found) {
    if (!fits)
      throwMisuse(Fault::mismatch, std::string("this memory is in use by ") + nameOf(found));
  };
  // The second word of a lock cannot be the first word of another lock.
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = all.find(words + i);
    if (found == all.end()) continue;
    check(found->second.kind == kind && found->second.part == i, found->second.kind);
  }
  try {
    for (std::size_t i = 0; i < count; ++i) {
      const auto [at, isNew] = all.try_emplace(words + i);
      if (!isNew) continue;
      at->second.kind = kind;
      at->second.part = i;
      at->second.copy = CopyClaim(resourceOf(words + i), "this memory");
    }
    if (count > 1) checkStarted(words, start);
  } catch (...) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto made = all.find(words + i);
      if (made != all.end() && made->second.uses == 0) all.erase(made);
    }
    throw;
  }
  for (std::size_t i = 0; i < count; ++i) ++all.find(words + i)->second.uses;
}

void disclaimWords(SharedWord* words, std::size_t count) noexcept {
  const std::lock_guard guard(claims().mutex);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = claims().all.find(words + i);
    if (--at->second.uses == 0) claims().all.erase(at);
  }
}

}  // namespace boxoffice
