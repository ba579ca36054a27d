// Mutexes, semaphores, events and latches as functions over numbers: see queue_calls.h.
#include "queue_calls.h"

namespace boxoffice::binding {
namespace {

/// (word index): the number of completions, or kNotGranted if this environment does not hold the mutex.
template <class Lock>
std::int32_t mutexUnlock(const Call& call) {
  auto& mutex = call.lock<Lock>();
  if (mutex.owner() != call.loop().id()) return kNotGranted;
  if constexpr (std::is_same_v<Lock, Mutex>) {
    mutex.unlockQueued(call.loop().id());
  } else {
    mutex.unlock(call.loop().id());
  }
  return call.completions();
}

/// (word index, weight): the number of completions.
template <class Lock>
std::int32_t semaphoreRelease(const Call& call) {
  auto& lock = call.lock<Lock>();
  const std::int32_t weight = call.integer(1);
  Shares& shares = call.loop().shares();
  Holding* const held = shares.holding(call.integer(0));
  const std::int64_t others = held ? weight - held->count() : weight;
  if (others > 0 && returnsUnits(lock)) {
    if (lock.value() > Lock::kMax - weight) {
      throwMisuse(Fault::overflow, "semaphore value above its maximum");
    }
    // Do this first: once the units are released, another thread may take them, and their former holder may die.
    shares.takeOffOthers(call.integer(0), others);
  }
  lock.release(weight, call.loop().id());
  if (held) held->change(-weight);
  return call.completions();
}

/// (word index): the time in ms for which the head of the queue may still be overtaken.
template <class Lock>
double mutexPatience(const Call& call) {
  return std::chrono::duration<double, std::milli>(call.lock<Lock>().patience()).count();
}

/// (word index, weight): the number of completions. As "abandon" of a mutex.
template <class Lock>
std::int32_t semaphoreAbandon(const Call& call) {
  call.lock<Lock>().reclaim(call.integer(1), Lock::kMax);
  call.loop().shares().gave(call.integer(0), call.integer(1));
  return call.completions();
}

/// (word index, change): counts units that this environment has released, but keeps until the end of their minHold.
void semaphoreRest(const Call& call) {
  call.lock<host::HostSemaphore>().rest(call.integer(1));
  call.loop().shares().rested(call.integer(0), call.integer(1));
}

/// (word index). Makes the next holder learn of a death.
void semaphoreTellNext(const Call& call) { call.lock<host::HostSemaphore>().tellNext(); }

/// (word index, value): the number of completions.
template <class Lock>
std::int32_t semaphoreSetValue(const Call& call) {
  call.lock<Lock>().setValue(call.integer(1), call.loop().id());
  return call.completions();
}

/// (word index)
template <class Lock>
void resetEvent(const Call& call) {
  call.lock<Lock>().reset();
}

/// (word index, n): the number of completions.
template <class Lock>
std::int32_t countDown(const Call& call) {
  call.lock<Lock>().countDown(call.word(1), call.loop().id());
  return call.completions();
}

template <class Lock>
Topic addMutex(Topic topic) {
  addQueue<Lock>(topic);
  topic.add<QueueCalls<Lock>::isQueued>("isQueued");
  topic.add<QueueCalls<Lock>::queueSize>("queueSize");
  topic.add<mutexPatience<Lock>>("patience");
  topic.add<mutexUnlock<Lock>>("unlock");
  // For a grant that reports a death which no caller has seen: the next grant reports it instead.
  topic.add<changed<Lock, &Lock::abandon>>("abandon");
  return topic;
}

template <class Lock>
Topic addSemaphore(Topic topic) {
  addQueue<Lock>(topic);
  topic.add<QueueCalls<Lock>::leaveAll>("leaveAll");
  topic.add<semaphoreRelease<Lock>>("release");
  topic.add<semaphoreAbandon<Lock>>("abandon");
  topic.add<semaphoreSetValue<Lock>>("setValue");
  return topic;
}

}  // namespace

void defineLocks(Topic exports) {
  addMutex<Mutex>(exports.topic("mutex"));
  addMutex<host::HostMutex>(exports.topic("hostMutex"));

  Topic semaphore = addSemaphore<WeightedSemaphore>(exports.topic("semaphore"));
  semaphore.add<QueueCalls<WeightedSemaphore>::queueSize>("queueSize");
  Topic hostSemaphore = addSemaphore<host::HostSemaphore>(exports.topic("hostSemaphore"));
  hostSemaphore.add<valueOf<host::HostSemaphore, &host::HostSemaphore::value>>("value");
  hostSemaphore.add<semaphoreRest>("rest");
  hostSemaphore.add<semaphoreTellNext>("tellNext");

  Topic autoResetEvent = addQueue<AutoResetEvent>(exports.topic("autoResetEvent"));
  autoResetEvent.add<changed<AutoResetEvent, &AutoResetEvent::signal>>("signal");
  Topic manualResetEvent = addQueue<ManualResetEvent>(exports.topic("manualResetEvent"));
  manualResetEvent.add<changed<ManualResetEvent, &ManualResetEvent::set>>("set");
  manualResetEvent.add<resetEvent<ManualResetEvent>>("reset");
  Topic countdownLatch = addQueue<CountdownLatch>(exports.topic("countdownLatch"));
  countdownLatch.add<countDown<CountdownLatch>>("countDown");

  Topic hostEvent = addQueue<host::HostEvent>(exports.topic("hostEvent"));
  hostEvent.add<changed<host::HostEvent, &host::HostEvent::signal>>("signal");
  Topic hostLatch = addQueue<host::HostLatch>(exports.topic("hostLatch"));
  hostLatch.add<changed<host::HostLatch, &host::HostLatch::set>>("set");
  hostLatch.add<resetEvent<host::HostLatch>>("reset");
  hostLatch.add<countDown<host::HostLatch>>("countDown");
}

}  // namespace boxoffice::binding
