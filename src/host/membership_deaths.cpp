// How a membership watches the other members, and cleans up after those that die.
#include "host/kill_points.h"
#include "host/membership.h"
#include "host/process_mailbox.h"
#include "host/process_set.h"
#include "platform/host_error.h"

namespace boxoffice::host {

/// Watches exactly the processes that are members.
void Membership::watchMembers() noexcept {
  for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
    if (process == process_) continue;
    if (!members_.joined(process)) {
      wakeups_.forget(process);
      continue;
    }
    watchMember(process);
  }
}

/// Watches the process, or defers it.
void Membership::watchMember(ProcessSlot process) noexcept {
  try {
    const std::uint64_t fifo = members_.of(process).fifo.load();
    if (wakeups_.watch(process, fifo) || !members_.joined(process)) return;
    // All is well if that process left and another one joined with a new FIFO. Otherwise this process would not learn
    // of its death.
    if (members_.of(process).fifo.load() == fifo) setGone();
  } catch (const HostError& error) {
    failed(process, error);
  } catch (const std::exception&) {
    deferRetry(process);
  }
}

/// Called when this process cannot open what it needs to watch or to clean up after that process.
void Membership::failed(ProcessSlot process, const HostError& error) noexcept {
  if (error.fault() == HostFault::exhausted) return deferRetry(process);
  const std::uint64_t fifo = members_.of(process).fifo.load();
  const bool isThere = wakeups_.isThere(process, fifo) && members_.isIn(place_);
  // The process may have left, or another one may have joined, meanwhile.
  if (!members_.joined(process) || members_.of(process).fifo.load() != fifo) return;
  isThere ? setLost(error) : setGone();
}

/// Watches and wakes the deferred members. The watch of a dead one reports its death at once.
void Membership::retryDeferred() noexcept {
  ProcessSet(deferred_).each([this](ProcessSlot process) {
    deferred_.remove(process);
    if (!members_.joined(process)) return;
    watchMember(process);
    wake(process, wakeIfAsleep(members_.of(process)), true);
  });
}

/// Called when the FIFO's reader has gone: cleans up after the process, unless another process does.
void Membership::reap(ProcessSlot process) noexcept {
  wakeups_.unwatch(process);
  try {
    if (members_.joined(process)) {
      const std::uint64_t fifo = wakeups_.standInForDead(process);
      if (fifo == 0) {
        // Another process cleans up. If it dies meanwhile, its end of the FIFO closes, if it has one.
        if (wakeups_.isStoodInFor(process)) return watchMember(process);
        if (members_.joined(process)) return deferRetry(process);
        return wakeups_.forget(process);
      }
      if (members_.joined(process) && members_.of(process).fifo.load() == fifo) cleanUp(process);
    }
    wakeups_.forget(process);
  } catch (const HostError& error) {
    // The lock is free again, so another process cleans up, or this one does later.
    failed(process, error);
  } catch (const std::exception&) {
    deferRetry(process);
  }
  wakeups_.stepDown();
}

/// Cleans up after a dead process. The caller holds the lock of that process slot. May stop at any point; another
/// process then repeats it.
void Membership::cleanUp(ProcessSlot dead) {
  bool hasMore = false;
  {
    // Hold this throughout. A segment opened in between would be cleaned neither as an open segment nor as a file.
    const std::lock_guard guard(segmentsMutex_);
    for (Segment* const segment : list_) evictFrom(segment->view(), dead);
    killPoint(kOpenOnesCleaned);
    // Notify before the files are cleaned: that may fail for lack of a descriptor, and the waiters of this process
    // need none.
    notifyAll();
    hasMore = evictInFiles(dead);
  }
  killPoint(kOthersCleaned);
  // Notify first, then free the record. If this process dies in between, another one repeats both steps. In the other
  // order the notification would be lost.
  if (hasMore) notifyAll();
  killPoint(kAllTold);
  members_.free(dead);
  killPoint(kWrittenDown);
}

}  // namespace boxoffice::host
