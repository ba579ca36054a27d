#include "shares.h"

#include <algorithm>
#include <utility>

#include "event_loop_registry.h"
#include "platform/misuse.h"

namespace boxoffice::binding {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::size_t kRegionWords = std::size_t{2} << WordPairs::kRegionBits;
static_assert(kRegionWords == std::size_t{1} << Regions::kIndexBits);

}  // namespace

const Kind& kindOf(std::int32_t number) {
  switch (static_cast<LockKind>(number)) {
    case LockKind::mutex:
      return kKind<Mutex>;
    case LockKind::semaphore:
      return kKind<WeightedSemaphore>;
    case LockKind::autoResetEvent:
      return kKind<AutoResetEvent>;
    case LockKind::manualResetEvent:
      return kKind<ManualResetEvent>;
    case LockKind::condition:
      return kKind<ConditionVariable>;
    case LockKind::countdownLatch:
      return kKind<CountdownLatch>;
    case LockKind::barrier:
      return kKind<BarrierWord>;
    case LockKind::rwLock:
      return kKind<RWLock>;
  }
  throwMisuse(Fault::badArgument, "there is no such kind of lock");
}

const Kind& kindOf(host::Kind kind) {
  if (kind == host::Kind::mutex || kind == host::Kind::recursiveMutex ||
      kind == host::Kind::keyedMutex) {
    return kKind<host::HostMutex>;
  }
  if (kind == host::Kind::autoResetEvent) return kKind<host::HostEvent>;
  if (kind == host::Kind::barrier) return kKind<host::HostBarrier>;
  if (kind == host::Kind::condition) return kKind<host::HostCondition>;
  if (host::isGate(kind)) return kKind<host::HostLatch>;
  return host::isSemaphore(kind) ? kKind<host::HostSemaphore> : kKind<host::HostRWLock>;
}

std::int32_t Shares::shareMemory(napi_value int32Array, std::int32_t kind, std::uint32_t start) {
  Use lock{.kind = &kindOf(kind)};
  std::size_t length = 0;
  memoryOf(env_, int32Array, length);
  if (length < lock.kind->words) {
    throwMisuse(Fault::badArgument, "there is too little room for this kind of lock");
  }
  lock.region = regions_.attach(int32Array);
  const std::int32_t wordIndex = lock.region << Regions::kIndexBits;
  try {
    lock.words = regions_.word(wordIndex);
    claimWords(static_cast<SharedWord*>(lock.words), lock.kind->words, static_cast<LockKind>(kind),
               start);
  } catch (...) {
    regions_.detach(lock.region);
    throw;
  }
  try {
    return use(wordIndex, lock);
  } catch (...) {
    drop(lock);
    throw;
  }
}

std::int32_t Shares::shareKey(std::int32_t table, const std::string& key, std::int32_t kind,
                              std::uint32_t start) {
  Use lock{.kind = &kindOf(kind)};
  lock.table = opened(table).table;
  lock.entry = &lock.table->pin(key, start);
  lock.words = lock.entry->words;
  try {
    const std::int32_t region = regionOf(lock.entry->pair);
    const std::uint32_t index = 2 * (lock.entry->pair % (kRegionWords / 2));
    return use((region << Regions::kIndexBits) | static_cast<std::int32_t>(index), lock);
  } catch (...) {
    drop(lock);
    throw;
  }
}

std::int32_t Shares::shareSlot(std::int32_t wordIndex, const Kind& kind,
                               host::SegmentHandle& handle, std::uint32_t slot) {
  const Use lock{
      .kind = &kind, .words = handle.segment().slot(slot), .handle = &handle, .slot = slot};
  try {
    return use(wordIndex, lock);
  } catch (...) {
    drop(lock);
    throw;
  }
}

/// Counts a use of the lock. All its objects, or its orphan, together pin or claim it once.
std::int32_t Shares::use(std::int32_t wordIndex, const Use& lock) {
  std::unique_lock guard(mutex_);
  const auto [at, isNew] = uses_.try_emplace(wordIndex, lock);
  Use& known = at->second;
  const bool isKnown = !isNew && known.isPinned;
  if (!known.isPinned) known = lock;  // JavaScript has also forgotten the earlier objects
  guard.unlock();
  if (isKnown) drop(lock);
  if (!std::exchange(known.isOrphan, false)) ++known.uses;
  return wordIndex;
}

Shares::Recent& Shares::recentAt(std::int32_t wordIndex) noexcept {
  constexpr std::uint32_t kGolden = 0x9E3779B1;  // Fibonacci hashing: Knuth, section 6.4
  static_assert(std::tuple_size_v<decltype(recent_)> == std::size_t{1} << (32 - 26));
  return recent_[(static_cast<std::uint32_t>(wordIndex) * kGolden) >> 26];
}

Shares::Use* Shares::find(std::int32_t wordIndex) noexcept {
  Recent& recent = recentAt(wordIndex);
  if (recent.wordIndex == wordIndex) return recent.use;
  const auto at = uses_.find(wordIndex);
  if (at == uses_.end()) return nullptr;
  recent = {.wordIndex = wordIndex, .use = &at->second};
  return recent.use;
}

Shares::Use& Shares::useAt(std::int32_t wordIndex) {
  Use* const lock = find(wordIndex);
  if (!lock) throwMisuse(Fault::badArgument, "no shared lock lies there");
  return *lock;
}

void Shares::erase(std::int32_t wordIndex) noexcept {
  Recent& recent = recentAt(wordIndex);
  if (recent.wordIndex == wordIndex) recent = {};
  const std::lock_guard guard(mutex_);
  uses_.erase(wordIndex);
}

bool Shares::unpinSlot(std::int32_t wordIndex, AgentId me) {
  Use& lock = useAt(wordIndex);
  if (lock.kind->isHeld(lock.words, me, lock.held)) return false;
  lock.digest = lock.handle->unpin(lock.slot);
  lock.isPinned = false;
  return true;
}

bool Shares::pinSlotAgain(std::int32_t wordIndex) {
  Use& lock = useAt(wordIndex);
  lock.isPinned = lock.handle->pinAgain(lock.slot, lock.digest);
  if (lock.isPinned) return true;
  erase(wordIndex);
  return false;
}

std::int32_t Shares::unshare(std::int32_t wordIndex, AgentId me) {
  Use& lock = useAt(wordIndex);
  if (lock.uses == 1 && lock.isPinned && lock.kind->isHeld(lock.words, me, lock.held)) {
    lock.isOrphan = true;  // keep it, so that the lock is passed on if this environment dies
    return 1;
  }
  if (--lock.uses > 0) return lock.uses;
  const Use gone = lock;
  erase(wordIndex);
  drop(gone);
  return 0;
}

void Shares::drop(const Use& lock) noexcept {
  if (lock.entry) {
    lock.table->unpin(*lock.entry);
  } else if (lock.handle) {
    if (lock.isPinned) lock.handle->unpin(lock.slot);
  } else {
    disclaimWords(static_cast<SharedWord*>(lock.words), lock.kind->words);
    regions_.detach(lock.region);
  }
}

std::int32_t Shares::regionOf(WordPairs::Number pair) {
  const std::size_t number = pair >> WordPairs::kRegionBits;
  if (number >= views_.size()) views_.resize(number + 1, kNone);
  if (views_[number] == kNone) {
    SharedWord* const first =
        wordPairs().words(static_cast<WordPairs::Number>(number << WordPairs::kRegionBits));
    views_[number] = regions_.attach(viewOf(env_, first, kRegionWords * sizeof(SharedWord)));
  }
  return views_[number];
}

std::int32_t Shares::openTable(const std::string& name, std::uint32_t start, bool isOfNames) {
  if (freeTables_.empty()) {
    freeTables_.reserve(tables_.size() + 1);
    tables_.emplace_back();
    freeTables_.push_back(static_cast<std::int32_t>(tables_.size() - 1));
  }
  Opened opened{.name = name};
  opened.table = &lockTables().open(name, start, isOfNames);
  const std::int32_t number = freeTables_.back();
  freeTables_.pop_back();
  tables_[static_cast<std::size_t>(number)] = std::move(opened);
  return number;
}

void Shares::closeTable(std::int32_t table) {
  lockTables().close(opened(table).name);
  tables_[static_cast<std::size_t>(table)] = {};
  freeTables_.push_back(table);
}

const Shares::Opened& Shares::opened(std::int32_t table) const {
  const auto number = static_cast<std::uint32_t>(table);
  if (number >= tables_.size() || !tables_[number].table) {
    throwMisuse(Fault::badArgument, "there is no such table");
  }
  return tables_[number];
}

void Shares::took(std::int32_t wordIndex, std::int32_t weight) noexcept {
  if (Holding* const held = holding(wordIndex)) held->change(+weight);
}

void Shares::gave(std::int32_t wordIndex, std::int32_t weight) noexcept {
  if (Holding* const held = holding(wordIndex)) held->change(-weight);
}

void Shares::settle(Holding& held) noexcept {
  const std::lock_guard guard(mutex_);
  held.settle();
}

void Shares::takeOffOthers(std::int32_t wordIndex, std::int64_t most) noexcept {
  eventLoopRegistry().takeOff(*this, regions_.placeOf(wordIndex), most);
}

std::int64_t Shares::takeOff(const Regions::Place& place, std::int64_t most) noexcept {
  const std::int32_t wordIndex = regions_.wordIndexAt(place);
  const std::lock_guard guard(mutex_);
  const auto at = uses_.find(wordIndex);
  // The region's number may have passed to other memory meanwhile.
  if (at == uses_.end() || at->second.words != place.first + place.index) return 0;
  return at->second.held.takeOff(most);
}

void Shares::rested(std::int32_t wordIndex, std::int32_t change) noexcept {
  if (Use* const lock = find(wordIndex)) lock->held.resting += change;
}

void Shares::accepted(std::int32_t wordIndex) noexcept {
  if (const Use* const lock = find(wordIndex)) lock->kind->accepted(lock->words);
}

void Shares::abandonAll(AgentId me) noexcept {
  std::unordered_map<std::int32_t, Use> all;
  {
    const std::lock_guard guard(mutex_);
    all.swap(uses_);
    recent_ = {};
  }
  for (const auto& [wordIndex, lock] : all) {
    if (lock.isPinned) lock.kind->abandon(lock.words, me, lock.held);
    drop(lock);
  }
  for (const Opened& each : tables_) {
    if (each.table) lockTables().close(each.name);
  }
}

}  // namespace boxoffice::binding
