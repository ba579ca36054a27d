#include "host/lock_kinds.h"

namespace boxoffice::host {
namespace {

template <class Lock>
void evictSingle(const SegmentView& view, ProcessSlot dead) {
  Lock::evict(view.slot(0), dead);
}

template <class Lock>
void evictKeyed(const SegmentView& view, ProcessSlot dead) {
  const KeyArea area(view);
  evictKeys<HostPlatform>(area, dead,
                          [&](std::uint32_t slot) { Lock::evict(view.slot(slot), dead); });
}

template <class Lock>
KeyLocks functionsOf() {
  return {Lock::isUnused, Lock::isForgettable, Lock::reset};
}

}  // namespace

void notified(Kind kind, std::byte* slot) noexcept {
  switch (kind) {
    case Kind::autoResetEvent:
      return reinterpret_cast<HostEvent*>(slot)->notified();
    case Kind::manualResetEvent:
    case Kind::countdownLatch:
      return reinterpret_cast<HostLatch*>(slot)->notified();
    case Kind::barrier:
      return reinterpret_cast<HostBarrier*>(slot)->notified();
    case Kind::condition:
      return reinterpret_cast<HostCondition*>(slot)->notified();
    default:
      withLock(kind, slot, [](auto& lock) { lock.notified(); });
  }
}

KeyLocks keyLocksOf(Kind kind) {
  if (kind == Kind::keyedMutex) return functionsOf<HostMutex>();
  if (kind == Kind::keyedSemaphore) return functionsOf<HostSemaphore>();
  return functionsOf<HostRWLock>();
}

void setEvicts() {
  setEvict(Kind::mutex, evictSingle<HostMutex>);
  setEvict(Kind::recursiveMutex, evictSingle<HostMutex>);
  setEvict(Kind::rwLock, evictSingle<HostRWLock>);
  setEvict(Kind::semaphore, evictSingle<HostSemaphore>);
  setEvict(Kind::keyedMutex, evictKeyed<HostMutex>);
  setEvict(Kind::keyedRWLock, evictKeyed<HostRWLock>);
  setEvict(Kind::keyedSemaphore, evictKeyed<HostSemaphore>);
  setEvict(Kind::lockManager, evictKeyed<HostRWLock>);
  setEvict(Kind::autoResetEvent, evictSingle<HostEvent>);
  setEvict(Kind::manualResetEvent, evictSingle<HostLatch>);
  setEvict(Kind::countdownLatch, evictSingle<HostLatch>);
  setEvict(Kind::barrier, evictSingle<HostBarrier>);
  setEvict(Kind::condition, evictSingle<HostCondition>);
}

}  // namespace boxoffice::host
