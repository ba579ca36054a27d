// How a membership notices that files of its directory are missing, and keeps off files that replaced them.
#include "host/membership.h"
#include "platform/host_error.h"

namespace boxoffice::host {

/// Cleans up in the files that this process does not have open. The caller holds segmentsMutex_. Works on
/// the opened directory, and only if it is ours: in a directory that replaced it, the process slot belongs
/// to another process.
void Membership::evictInFiles(ProcessSlot dead) {
  const platform::File place = platform::findDirectory(path_);
  const std::string path = place ? platform::pathOf(place) : "";
  if (!place || !members_.isAt(path)) return setGone();
  for (const std::string& name : platform::namesIn(place, path)) {
    if (!segments_.contains(name)) Segment::evictIn(path, name, dead);
  }
  platform::remove(asideIn(path, dead));
}

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

/// Without a member's FIFO, processes that join later would not hear of its death.
bool Membership::hasAllFifos() const noexcept {
  for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
    const std::uint64_t fifo = members_.of(process).fifo.load();
    if (!members_.joined(process) || wakeups_.isThere(process, fifo)) continue;
    // It may have left, or joined anew, since the look.
    if (members_.joined(process) && members_.of(process).fifo.load() == fifo) return false;
  }
  return true;
}

/// Each process that finds the removal notifies every process, once: the process that recorded it first may
/// have been stopped or killed before it did.
void Membership::setGone() noexcept {
  members_.setGone();
  if (!knowsGone_.exchange(true)) notifyAll();
}

void Membership::checkThere() {
  if (!members_.isAt(path_)) setGone();
  if (isGone()) throw removed();
}

HostError Membership::removed() const {
  return {
      HostFault::segment,
      "boxoffice: files of " + directory_ +
          " have been removed while processes used them, and processes that come now may be let in "
          "beside those; end all that use this directory, then remove it"};
}

}  // namespace boxoffice::host
