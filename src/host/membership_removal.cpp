// How a membership detects that files of its directory are missing, and avoids files that replaced them.
#include "host/membership.h"
#include "host/process_mailbox.h"
#include "platform/host_error.h"

namespace boxoffice::host {

void Membership::inspect() noexcept {
  if (!members_.isAt(path_) || !hasAllFifos()) return setGone();
  bool isNew = false;
  {
    const std::lock_guard guard(segmentsMutex_);
    for (Segment* const segment : list_) {
      if (!platform::isAt(segment->path(), segment->view().file)) isNew |= segment->setGone();
    }
  }
  if (isNew) notifyAll();
}

/// Whether the FIFOs of all members are in their places. Without a member's FIFO, processes that join later would not
/// learn of its death.
bool Membership::hasAllFifos() const noexcept {
  for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
    const std::uint64_t fifo = members_.of(process).fifo.load();
    if (!members_.joined(process) || wakeups_.isThere(process, fifo)) continue;
    // The process may have left, or another one may have joined, meanwhile.
    if (members_.joined(process) && members_.of(process).fifo.load() == fifo) return false;
  }
  return true;
}

/// Each process that finds the removal notifies every process, once, because the process that recorded it first may
/// have been stopped or killed before it did.
void Membership::setGone() noexcept {
  members_.setGone();
  if (!knowsGone_.exchange(true)) notifyAll();
}

/// Records that this process can no longer open the files that it needs, so that it may miss the deaths of others. It
/// gets no more locks. It keeps the locks that it holds, and nothing changes for the others.
void Membership::setLost(const HostError& error) noexcept {
  if (members_.lost()) return;
  try {
    const HostError lost(HostFault::segment, std::string(error.what()) +
                                                 "; it could when it constructed its first lock of "
                                                 "scope host: construct such locks after "
                                                 "the process has changed its user (setuid), and "
                                                 "leave the rights of the directory as they are");
    members_.setLost(lost.what());
  } catch (const std::bad_alloc&) {
    return;  // the next failure will record it
  }
  wake(process_, postAll(members_.of(process_)));
}

void Membership::checkThere() {
  if (!members_.isAt(path_)) setGone();
  if (isGone() || isLost()) throw removed();
}

HostError Membership::removed() const {
  if (isLost()) return {HostFault::segment, *members_.lost()};
  return {HostFault::segment,
          "boxoffice: files of " + directory_ +
              " have been removed while processes used them, and new processes may be admitted "
              "beside those; end all that use this directory, then remove it"};
}

HostError Membership::removed(const Segment& segment) const {
  if (isGone() || (isLost() && segment.header().gone.load() == 0)) return removed();
  return {HostFault::segment,
          "boxoffice: " + segment.path() +
              " has been removed while processes used it, and new processes may be admitted "
              "beside those; end all that use it"};
}

}  // namespace boxoffice::host
