// `native.layout`: the constants of C++ that JavaScript needs, because it reads words and makes uncontended changes
// without a call.
#include "host/layout.h"

#include <bit>
#include <cstddef>
#include <initializer_list>

#include "completions.h"
#include "exports.h"
#include "host/owner_word.h"
#include "keep_alive.h"
#include "kinds.h"
#include "locks/lock_manager.h"
#include "outcome.h"
#include "regions.h"
#include "waiting/wait_graph.h"

namespace boxoffice::binding {
namespace {

/// A name and its number: of an enumerator or a constant of any integer type.
struct Number {
  template <class T>
  constexpr Number(const char* of, T value) noexcept
      : name(of), number(static_cast<std::int32_t>(value)) {}

  const char* name;
  std::int32_t number;
};

void add(Topic& layout, const char* name, std::initializer_list<Number> numbers) {
  Topic topic = layout.topic(name);
  for (const Number& one : numbers) topic.add(one.name, one.number);
}

/// The index of a field in a slot, in words of 32 bits.
constexpr std::size_t wordAt(std::size_t offset) noexcept { return offset / sizeof(std::int32_t); }

void addAnswers(Topic& layout) {
  add(layout, "outcomes",
      {{"granted", kGranted},
       {"grantedAbandoned", kGrantedAbandoned},
       {"notGranted", kNotGranted},
       {"refused", kRefused},
       {"stolen", kStolen}});
  add(layout, "completions",
      {{"admitted", Completions::kAdmitted},
       {"admittedAbandoned", Completions::kAdmittedAbandoned},
       {"invited", Completions::kInvited},
       {"bits", Completions::kWhatBits},
       {"most", Completions::kMost}});
  add(layout, "leavers",
      {{"bits", Completions::kLeaverBits}, {"invited", Completions::kInvitedLeaver}});
  add(layout, "leaves",
      {{"left", Leave::left}, {"leftAwake", Leave::leftAwake}, {"admitted", Leave::admitted}});
  add(layout, "keepAlive",
      {{"nothing", KeepAlive::Level::nothing},
       {"instance", KeepAlive::Level::instance},
       {"thread", KeepAlive::Level::thread}});
  add(layout, "conditionAnswers", {{"notified", kNotified}, {"abandoned", kNotifiedAbandoned}});
  add(layout, "requestAnswers",
      {{"waiting", kWaiting},
       {"granted", kGrantedNow},
       {"grantedAbandoned", kGrantedNowAbandoned},
       {"bits", kAnswerBits}});
  add(layout, "requestManners",
      {{"wait", LockManager::Manner::wait},
       {"ifAvailable", LockManager::Manner::ifAvailable},
       {"steal", LockManager::Manner::steal}});
  add(layout, "requestModes", {{"bits", kModeBits}, {"held", kHeldRequest}});
  add(layout, "waitGraph", {{"exclusive", WaitGraph::kExclusive}, {"shared", WaitGraph::kShared}});
}

// JavaScript uses the same bit for every word.
static_assert(host::OwnerWord::kQueued == BarrierWord::kQueued);

void addWords(Topic& layout) {
  add(layout, "words", {{"indexBits", Regions::kIndexBits}, {"queued", BarrierWord::kQueued}});
  add(layout, "lockKinds",
      {{"mutex", LockKind::mutex},
       {"semaphore", LockKind::semaphore},
       {"autoResetEvent", LockKind::autoResetEvent},
       {"manualResetEvent", LockKind::manualResetEvent},
       {"condition", LockKind::condition},
       {"countdownLatch", LockKind::countdownLatch},
       {"barrier", LockKind::barrier},
       {"rwLock", LockKind::rwLock}});
  add(layout, "mutex",
      {{"waker", MutexRules::kWaker},
       {"handOff", MutexRules::kHandOff},
       {"ownerShift", MutexRules::kOwnerShift}});
  add(layout, "rwLock",
      {{"writer", RWLockRules::kWriter},
       {"countShift", RWLockRules::kCountShift},
       {"read", RWLockRules::kRead},
       {"write", RWLockRules::kWrite},
       {"upgrade", RWLockRules::kUpgrade}});
  add(layout, "semaphore", {{"valueShift", WeightedSemaphoreRules::kValueShift}});
  add(layout, "event", {{"set", AutoResetEventRules::kSet}});
  add(layout, "countdownLatch", {{"countShift", CountdownLatchRules::kCountShift}});
  add(layout, "barrier",
      {{"broken", BarrierWord::kBroken}, {"missingShift", BarrierWord::kMissingShift}});
}

void addHostSlots(Topic& layout) {
  using host::Kind;
  constexpr auto held = host::OwnerWord::held(host::kNoProcess, 1).bits();
  add(layout, "host",
      {{"ownerShift", std::countr_zero(held)},
       {"strictInHighHalf", host::OwnerWord::kStrict >> 32},
       {"mutexRest", wordAt(offsetof(host::MutexSlot, rest))},
       {"writeRest", wordAt(offsetof(host::RWLockSlot, writeRest))},
       {"readRest", wordAt(offsetof(host::RWLockSlot, readRest))},
       {"restAt", host::kRestAt},
       {"semaphoreOwed", wordAt(offsetof(host::SemaphoreSlot, owed))},
       {"semaphoreRest", wordAt(offsetof(host::SemaphoreSlot, rest))},
       {"released", host::kReleased}});
  add(layout, "hostKinds",
      {{"mutex", Kind::mutex},
       {"read-write lock", Kind::rwLock},
       {"semaphore", Kind::semaphore},
       {"keyed mutex", Kind::keyedMutex},
       {"keyed read-write lock", Kind::keyedRWLock},
       {"keyed semaphore", Kind::keyedSemaphore},
       {"lock manager", Kind::lockManager},
       {"recursive mutex", Kind::recursiveMutex},
       {"auto-reset event", Kind::autoResetEvent},
       {"manual-reset event", Kind::manualResetEvent},
       {"countdown latch", Kind::countdownLatch},
       {"barrier", Kind::barrier},
       {"condition variable", Kind::condition}});
}

}  // namespace

void defineLayout(Topic exports) {
  Topic layout = exports.topic("layout");
  addAnswers(layout);
  addWords(layout);
  addHostSlots(layout);
}

}  // namespace boxoffice::binding
