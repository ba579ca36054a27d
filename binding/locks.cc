// The locks as functions over numbers: where the word is, which ticket. Lock logic is in src/, and
// promises are in lib/; here is only the passing of arguments.
#include "draft.h"
#include "exports.h"
#include "kinds.h"
#include "leaving.h"
#include "outcome.h"

namespace boxoffice::binding {
namespace {

constexpr std::int32_t kStolen = -5;  // beside Outcome

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

/// (place)
std::int32_t hostSemaphoreValue(const Call& call) {
  return call.lock<host::HostSemaphore>().value();
}

/// (place)
std::int32_t hostRWLockReaders(const Call& call) {
  return static_cast<std::int32_t>(call.lock<host::HostRWLock>().readers());
}

/// (place)
std::int32_t hostRWLockIsWritten(const Call& call) {
  return call.lock<host::HostRWLock>().isWritten() ? 1 : 0;
}

/// (place): in, in place of all others.
std::int32_t hostRWLockSteal(const Call& call) {
  Waiter w;
  w.agent = call.loop().id();
  call.lock<host::HostRWLock>().steal(w);
  call.loop().postponeNews();
  call.loop().postEra(w.era);
  return outcomeOf(true, w);
}

/// (place, era): whether what was granted then has been stolen.
std::int32_t hostRWLockIsLost(const Call& call) {
  const bool lost = call.lock<host::HostRWLock>().isLost(call.word(1));
  if (lost) call.loop().shares().lost(call.integer(0), call.word(1));
  call.loop().postponeNews();
  return lost ? 1 : 0;
}

/// (place, era, whether it was granted to write): how much news, or kStolen where nothing of it was left to end.
std::int32_t hostRWLockEnd(const Call& call) {
  auto& lock = call.lock<host::HostRWLock>();
  const bool writes = call.integer(2) != 0;
  const bool ended =
      writes ? lock.endWrite(call.loop().id(), call.word(1)) : lock.endRead(call.word(1));
  if (ended && !writes) call.loop().shares().gave(call.integer(0), 1);
  if (ended) return call.loop().news();
  call.loop().shares().lost(call.integer(0), call.word(1));
  call.loop().postponeNews();
  return kStolen;
}

template <class Lock>
void addQueue(Topic& topic) {
  topic.add<enter<Lock>>("enter");
  topic.add<enterSync<Lock>>("enterSync");
  topic.add<tryEnter<Lock>>("tryEnter");
  topic.add<settle<Lock>>("settle");
  topic.add<leave<Lock>>("leave");
}

template <class Lock>
Topic addMutex(Topic topic) {
  addQueue<Lock>(topic);
  topic.add<leaveAll<Lock>>("leaveAll");
  topic.add<stands<Lock>>("stands");
  topic.add<mutexUnlock<Lock>>("unlock");
  topic.add<mutexAbandon<Lock>>("abandon");
  return topic;
}

template <class Lock>
Topic addSemaphore(Topic topic) {
  addQueue<Lock>(topic);
  topic.add<leaveAll<Lock>>("leaveAll");
  topic.add<semaphoreRelease<Lock>>("release");
  topic.add<semaphoreAbandon<Lock>>("abandon");
  topic.add<semaphoreSetValue<Lock>>("setValue");
  return topic;
}

template <class Lock>
Topic addRWLock(Topic topic) {
  addQueue<Lock>(topic);
  topic.add<leaveAll<Lock>>("leaveAll");
  topic.add<stands<Lock>>("stands");
  topic.add<rwLockUnlockRead<Lock>>("unlockRead");
  topic.add<rwLockUnlockWrite<Lock>>("unlockWrite");
  topic.add<rwLockAbandon<Lock>>("abandon");
  topic.add<rwLockDowngrade<Lock>>("downgrade");
  topic.add<rwLockUpgrade<Lock>>("upgrade");
  topic.add<rwLockUpgradeSync<Lock>>("upgradeSync");
  topic.add<rwLockHurry<Lock>>("hurry");
  return topic;
}

}  // namespace

void defineLocks(Exports& exports) {
  Topic mutex = addMutex<Mutex>(exports.topic("mutex"));
  mutex.add<queueSize<Mutex>>("queueSize");
  mutex.add<topPriority<Mutex>>("topPriority");
  Topic semaphore = addSemaphore<WeightedSemaphore>(exports.topic("semaphore"));
  semaphore.add<queueSize<WeightedSemaphore>>("queueSize");
  semaphore.add<topPriority<WeightedSemaphore>>("topPriority");
  Topic rwLock = addRWLock<RWLock>(exports.topic("rwLock"));
  rwLock.add<queueSize<RWLock>>("queueSize");

  addMutex<host::HostMutex>(exports.topic("hostMutex"));
  Topic hostSemaphore = addSemaphore<host::HostSemaphore>(exports.topic("hostSemaphore"));
  hostSemaphore.add<hostSemaphoreValue>("value");
  Topic hostRWLock = addRWLock<host::HostRWLock>(exports.topic("hostRWLock"));
  hostRWLock.add<hostRWLockReaders>("readers");
  hostRWLock.add<hostRWLockIsWritten>("isWritten");
  hostRWLock.add<hostRWLockSteal>("steal");
  hostRWLock.add<hostRWLockIsLost>("isLost");
  hostRWLock.add<hostRWLockEnd>("end");

  Topic autoResetEvent = exports.topic("autoResetEvent");
  addQueue<AutoResetEvent>(autoResetEvent);
  autoResetEvent.add<autoResetEventSignal>("signal");
  Topic manualResetEvent = exports.topic("manualResetEvent");
  addQueue<ManualResetEvent>(manualResetEvent);
  manualResetEvent.add<manualResetEventSet>("set");
  manualResetEvent.add<manualResetEventReset>("reset");
  Topic countdownLatch = exports.topic("countdownLatch");
  addQueue<CountdownLatch>(countdownLatch);
  countdownLatch.add<countdownLatchCountDown>("countDown");
}

}  // namespace boxoffice::binding
