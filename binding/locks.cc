// Mutexes, semaphores, events and latches as functions over numbers: see queue_calls.h.
#include "queue_calls.h"

namespace boxoffice::binding {
namespace {

/// (place): how many completions, or kNotGranted when we do not hold it.
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

/// (place, weight): how many completions.
template <class Lock>
std::int32_t semaphoreRelease(const Call& call) {
  call.lock<Lock>().release(call.integer(1), call.loop().id());
  call.loop().shares().gave(call.integer(0), call.integer(1));
  return call.completions();
}

/// (place): for how many ms more the head of the queue may be overtaken.
template <class Lock>
double mutexPatience(const Call& call) {
  return std::chrono::duration<double, std::milli>(call.lock<Lock>().patience()).count();
}

/// (place, weight): how many completions. As a mutex's "abandon".
template <class Lock>
std::int32_t semaphoreAbandon(const Call& call) {
  call.lock<Lock>().reclaim(call.integer(1), Lock::kMax);
  call.loop().shares().gave(call.integer(0), call.integer(1));
  return call.completions();
}

/// (place, value): how many completions.
template <class Lock>
std::int32_t semaphoreSetValue(const Call& call) {
  call.lock<Lock>().setValue(call.integer(1), call.loop().id());
  return call.completions();
}

/// (place)
void manualResetEventReset(const Call& call) { call.lock<ManualResetEvent>().reset(); }

/// (place, n): how many completions.
std::int32_t countdownLatchCountDown(const Call& call) {
  call.lock<CountdownLatch>().countDown(call.word(1), call.loop().id());
  return call.completions();
}

template <class Lock>
Topic addMutex(Topic topic) {
  addQueue<Lock>(topic);
  topic.add<QueueCalls<Lock>::stands>("stands");
  topic.add<QueueCalls<Lock>::queueSize>("queueSize");
  topic.add<mutexPatience<Lock>>("patience");
  topic.add<mutexUnlock<Lock>>("unlock");
  // For a grant after a holder had died that goes again at once: the next waiter is told in its stead.
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

  Topic autoResetEvent = addQueue<AutoResetEvent>(exports.topic("autoResetEvent"));
  autoResetEvent.add<changed<AutoResetEvent, &AutoResetEvent::signal>>("signal");
  Topic manualResetEvent = addQueue<ManualResetEvent>(exports.topic("manualResetEvent"));
  manualResetEvent.add<changed<ManualResetEvent, &ManualResetEvent::set>>("set");
  manualResetEvent.add<manualResetEventReset>("reset");
  Topic countdownLatch = addQueue<CountdownLatch>(exports.topic("countdownLatch"));
  countdownLatch.add<countdownLatchCountDown>("countDown");
}

}  // namespace boxoffice::binding
