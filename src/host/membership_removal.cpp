// What a membership does when files of its directory are missing, and where it must not mistake others for them.
#include "host/membership.h"
#include "platform/host_error.h"

namespace boxoffice::host {

/// In those that we do not have open; with segmentsMutex_. By the directory that is open here, and only if it is
/// ours: in one that has been made in its place that process slot is another process.
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

/// Without its FIFO, the next who come would not hear of the death of one who is here.
bool Membership::hasAllFifos() const noexcept {
  for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
    const std::uint64_t fifo = members_.of(process).fifo.load();
    if (!members_.joined(process) || wakeups_.isThere(process, fifo)) continue;
    // It may have joined just now.
    if (members_.joined(process) && members_.of(process).fifo.load() == fifo) return false;
  }
  return true;
}

/// Each process that finds it out tells all, once: the process that wrote it down first may have been stopped or
/// killed before it told any other.
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
