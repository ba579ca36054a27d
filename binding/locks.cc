// The locks as functions over numbers: where the word is, which ticket. Lock logic is in src/, and
// promises are in lib/; here is only the passing of arguments.
#include "draft.h"
#include "exports.h"
#include "kinds.h"
#include "leaving.h"
#include "outcome.h"

namespace boxoffice::binding {
namespace {

/// `w` is in, and needs its ticket no more.
std::int32_t inNow(const Call& call, const Waiter& w) {
  call.loop().took(w);
  call.loop().postEra(w.era);
  return outcomeOf(true, w);
}

/// (place, ask, priority and fairness or nothing): a ticket in line, or in at once. Waiters of one
/// environment never overtake each other, so none of them goes in while the line may hold another.
template <class Lock>
std::int32_t enter(const Call& call) {
  auto& lock = call.lock<Lock>();
  Draft draft(call.loop());
  Waiter& w = draft.waiter();
  w.ask = static_cast<std::uint32_t>(call.integer(1));
  if (call.has(2)) {
    w.priority = call.number(2);
    w.mayBeOvertaken = call.integer(3) == 0;
  }
  w.mayOvertake = false;
  call.loop().stands(w, kKind<Lock>, call.integer(0));
  const bool in = lock.enter(w);
  if constexpr (kAdmitsWhenAsked<Lock>) call.loop().postponeNews();
  return in ? inNow(call, w) : draft.keep();
}

/// (place, ticket), invited: in now, or still in line.
template <class Lock>
std::int32_t settle(const Call& call) {
  Waiter& w = call.loop().waiter(call.integer(1));
  call.loop().answers(w);
  if (!call.lock<Lock>().settle(w, Wake::invited)) return kNot;
  const std::int32_t outcome = inNow(call, w);
  call.loop().give(w);
  return outcome;
}

/// `w`, which has no ticket, is in.
template <class Lock>
void count(const Call& call, const Waiter& w) {
  if constexpr (kIsCounted<Lock>) call.loop().shares().took(call.integer(0), taken<Lock>(w), w.era);
  call.loop().postEra(w.era);
}

/// Ends a wait for a lock of scope host when its file turns out to be removed, and as Termination.
class HostStop final : public Stop {
 public:
  HostStop(EventLoop::Termination& termination, const void* lock)
      : termination_(termination), segment_(*host::segmentAt(lock)) {}
  bool isRequested() noexcept override { return termination_.isRequested() || segment_.isGone(); }

 private:
  EventLoop::Termination& termination_;
  const host::Segment& segment_;
};

/// The same for any other lock.
class OwnStop final : public Stop {
 public:
  OwnStop(EventLoop::Termination& termination, const void*) : termination_(termination) {}
  bool isRequested() noexcept override { return termination_.isRequested(); }

 private:
  EventLoop::Termination& termination_;
};

template <class Lock>
using StopOf = std::conditional_t<kAdmitsWhenAsked<Lock>, HostStop, OwnStop>;

/// (place, ask, timeout in ms, priority, whether strictly first come, first served), which blocks this
/// thread.
template <class Lock>
std::int32_t enterSync(const Call& call) {
  EventLoop& loop = call.loop();
  auto& lock = call.lock<Lock>();
  Waiter w;
  w.agent = loop.id();
  w.ask = static_cast<std::uint32_t>(call.integer(1));
  w.priority = call.number(3);
  w.mayBeOvertaken = call.integer(4) == 0;
  EventLoop::Termination termination(loop);
  StopOf<Lock> stop(termination, &lock);
  const ThreadParker<Platform>::Watch watch(stop);
  bool in = lock.enterBlocking(w, deadlineAfter(call.number(2)));
  if (in && termination.wasRequested()) {
    passOn(lock, w);
    in = false;
  }
  if (in) count<Lock>(call, w);
  return outcomeOf(in, w);
}

/// (place, ask): in at once, or not at all.
template <class Lock>
std::int32_t tryEnter(const Call& call) {
  auto& lock = call.lock<Lock>();
  Waiter w;
  w.agent = call.loop().id();
  w.ask = static_cast<std::uint32_t>(call.integer(1));
  const bool in = lock.enterBlocking(w, Deadline::min());
  if constexpr (kAdmitsWhenAsked<Lock>) call.loop().postponeNews();
  if (in) count<Lock>(call, w);
  return outcomeOf(in, w);
}

template <class Lock>
std::int32_t queueSize(const Call& call) {
  return static_cast<std::int32_t>(call.lock<Lock>().queue().size);
}

/// (place): whether a promise of ours waits there.
template <class Lock>
std::int32_t stands(const Call& call) {
  return call.lock<Lock>().stands(call.loop().id()) ? 1 : 0;
}

template <class Lock>
double topPriority(const Call& call) {
  return call.lock<Lock>().queue().topPriority;
}

/// (place): how much news, or kNot when we do not hold it.
template <class Lock>
std::int32_t mutexUnlock(const Call& call) {
  auto& mutex = call.lock<Lock>();
  if (mutex.owner() != call.loop().id()) return kNot;
  if constexpr (std::is_same_v<Lock, Mutex>) {
    mutex.unlockInLine(call.loop().id());
  } else {
    mutex.unlock(call.loop().id());
  }
  return call.loop().news();
}

/// (place): how much news. For one that was let in after a holder had died, and goes again at once: the
/// next one is told in its stead.
template <class Lock>
std::int32_t mutexAbandon(const Call& call) {
  call.lock<Lock>().abandon(call.loop().id());
  return call.loop().news();
}

/// (place, weight): how much news.
template <class Lock>
std::int32_t semaphoreRelease(const Call& call) {
  call.lock<Lock>().release(call.integer(1), call.loop().id());
  call.loop().shares().gave(call.integer(0), call.integer(1));
  return call.loop().news();
}

/// (place, weight): how much news. As mutexAbandon.
template <class Lock>
std::int32_t semaphoreAbandon(const Call& call) {
  call.lock<Lock>().reclaim(call.integer(1), Lock::kMax);
  call.loop().shares().gave(call.integer(0), call.integer(1));
  return call.loop().news();
}

/// (place, value): how much news.
template <class Lock>
std::int32_t semaphoreSetValue(const Call& call) {
  call.lock<Lock>().setValue(call.integer(1), call.loop().id());
  return call.loop().news();
}

/// (place): how much news.
std::int32_t autoResetEventSignal(const Call& call) {
  call.lock<AutoResetEvent>().signal(call.loop().id());
  return call.loop().news();
}

/// (place): how much news.
std::int32_t manualResetEventSet(const Call& call) {
  call.lock<ManualResetEvent>().set(call.loop().id());
  return call.loop().news();
}

/// (place)
std::int32_t manualResetEventReset(const Call& call) {
  call.lock<ManualResetEvent>().reset();
  return 0;
}

/// (place): how much news.
template <class Lock>
std::int32_t rwLockUnlockRead(const Call& call) {
  call.lock<Lock>().unlockRead(call.loop().id());
  call.loop().shares().gave(call.integer(0), 1);
  return call.loop().news();
}

/// (place): how much news.
template <class Lock>
std::int32_t rwLockUnlockWrite(const Call& call) {
  call.lock<Lock>().unlockWrite(call.loop().id());
  return call.loop().news();
}

/// (place, whether we write it, or read): how much news. As mutexAbandon.
template <class Lock>
std::int32_t rwLockAbandon(const Call& call) {
  if (call.integer(1) != 0) {
    call.lock<Lock>().abandon(call.loop().id());
  } else {
    call.lock<Lock>().abandonReads(1, true);
    call.loop().shares().gave(call.integer(0), 1);
  }
  return call.loop().news();
}

/// (place), which we write: how much news.
template <class Lock>
std::int32_t rwLockDowngrade(const Call& call) {
  call.lock<Lock>().downgrade(call.loop().id());
  call.loop().shares().took(call.integer(0), 1);
  return call.loop().news();
}

/// (place), which we read: a ticket in line, or how else it has ended.
template <class Lock>
std::int32_t rwLockUpgrade(const Call& call) {
  Draft draft(call.loop());
  Waiter& w = draft.waiter();
  call.loop().stands(w, kKind<Lock>, call.integer(0));
  const auto how = call.lock<Lock>().enterUpgrade(w);
  if constexpr (kAdmitsWhenAsked<Lock>) call.loop().postponeNews();
  if (how == Lock::Upgrade::waiting) return draft.keep();
  return how == Lock::Upgrade::granted ? inNow(call, w) : kRefused;
}

/// (place, timeout in ms), which blocks this thread.
template <class Lock>
std::int32_t rwLockUpgradeSync(const Call& call) {
  Waiter w;
  w.agent = call.loop().id();
  EventLoop::Termination termination(call.loop());
  StopOf<Lock> stop(termination, &call.lock<Lock>());
  const ThreadParker<Platform>::Watch watch(stop);
  const auto how = call.lock<Lock>().upgradeBlocking(w, deadlineAfter(call.number(1)));
  if (how == Lock::Upgrade::refused) return kRefused;
  if (how == Lock::Upgrade::late) return kNot;
  if (termination.wasRequested()) {
    passOn(call.lock<Lock>(), w);
    return kNot;
  }
  count<Lock>(call, w);
  return outcomeOf(true, w);
}

/// (place), which we read: how much news.
template <class Lock>
std::int32_t rwLockHurry(const Call& call) {
  call.lock<Lock>().hurry(call.loop().id());
  return call.loop().news();
}

/// (place, n): how much news.
std::int32_t countdownLatchCountDown(const Call& call) {
  call.lock<CountdownLatch>().countDown(call.word(1), call.loop().id());
  return call.loop().news();
}

template <class Lock>
void addLine(Exports& exports, const std::string& lock) {
  exports.add<enter<Lock>>(lock + "Enter");
  exports.add<enterSync<Lock>>(lock + "EnterSync");
  exports.add<tryEnter<Lock>>(lock + "TryEnter");
  exports.add<settle<Lock>>(lock + "Settle");
  exports.add<leave<Lock>>(lock + "Leave");
  exports.add<leaveAll<Lock>>(lock + "LeaveAll");
  exports.add<queueSize<Lock>>(lock + "QueueSize");
  exports.add<stands<Lock>>(lock + "Stands");
  exports.add<topPriority<Lock>>(lock + "TopPriority");
}

template <class Lock>
void addMutex(Exports& exports, const std::string& lock) {
  addLine<Lock>(exports, lock);
  exports.add<mutexUnlock<Lock>>(lock + "Unlock");
  exports.add<mutexAbandon<Lock>>(lock + "Abandon");
}

template <class Lock>
void addSemaphore(Exports& exports, const std::string& lock) {
  addLine<Lock>(exports, lock);
  exports.add<semaphoreRelease<Lock>>(lock + "Release");
  exports.add<semaphoreAbandon<Lock>>(lock + "Abandon");
  exports.add<semaphoreSetValue<Lock>>(lock + "SetValue");
}

template <class Lock>
void addRWLock(Exports& exports, const std::string& lock) {
  addLine<Lock>(exports, lock);
  exports.add<rwLockUnlockRead<Lock>>(lock + "UnlockRead");
  exports.add<rwLockUnlockWrite<Lock>>(lock + "UnlockWrite");
  exports.add<rwLockAbandon<Lock>>(lock + "Abandon");
  exports.add<rwLockDowngrade<Lock>>(lock + "Downgrade");
  exports.add<rwLockUpgrade<Lock>>(lock + "Upgrade");
  exports.add<rwLockUpgradeSync<Lock>>(lock + "UpgradeSync");
  exports.add<rwLockHurry<Lock>>(lock + "Hurry");
}

}  // namespace

void defineLocks(Exports& exports) {
  addMutex<Mutex>(exports, "mutex");
  addSemaphore<WeightedSemaphore>(exports, "semaphore");
  addRWLock<RWLock>(exports, "rwLock");
  addMutex<host::HostMutex>(exports, "hostMutex");
  addSemaphore<host::HostSemaphore>(exports, "hostSemaphore");
  addRWLock<host::HostRWLock>(exports, "hostRWLock");
  addLine<AutoResetEvent>(exports, "autoResetEvent");
  exports.add<autoResetEventSignal>("autoResetEventSignal");
  addLine<ManualResetEvent>(exports, "manualResetEvent");
  exports.add<manualResetEventSet>("manualResetEventSet");
  exports.add<manualResetEventReset>("manualResetEventReset");
  addLine<CountdownLatch>(exports, "countdownLatch");
  exports.add<countdownLatchCountDown>("countdownLatchCountDown");
}

}  // namespace boxoffice::binding
