// What a house does when files of its directory are missing, and where it must not mistake others for them.
#include "host/host_error.h"
#include "host/house.h"

namespace boxoffice::host {

/// In those that we do not have open; with segmentsMutex_. By the directory that is open here, and only if it is
/// ours: in one that has been made in its place that seat is another process.
void House::evictInFiles(Seat dead) {
  const platform::File place = platform::findDirectory(path_);
  const std::string path = place ? platform::pathOf(place) : "";
  if (!place || !members_.isAt(path)) return setGone();
  for (const std::string& name : platform::namesIn(place, path)) {
    if (!segments_.contains(name)) Segment::evictIn(path, name, dead);
  }
  platform::remove(asideIn(path, dead));
}

void House::inspect() noexcept {
  if (!members_.isAt(path_) || !hasAllBells()) return setGone();
  bool isNews = false;
  {
    const std::lock_guard guard(segmentsMutex_);
    for (Segment* const segment : list_) {
      if (!platform::isAt(segment->path(), segment->view().file)) isNews |= segment->setGone();
    }
  }
  if (isNews) ringAll();
}

/// Without its FIFO, the next who come would not hear of the death of one who is here.
bool House::hasAllBells() const noexcept {
  for (Seat seat = 1; seat <= kMaxSeat; ++seat) {
    const std::uint64_t bell = members_.of(seat).bell.load();
    if (!members_.joined(seat) || bells_.isThere(seat, bell)) continue;
    // It may have joined just now.
    if (members_.joined(seat) && members_.of(seat).bell.load() == bell) return false;
  }
  return true;
}

/// Each process that finds it out tells all, once: the process that wrote it down first may have been stopped or
/// killed before it told any other.
void House::setGone() noexcept {
  members_.setGone();
  if (!knowsGone_.exchange(true)) ringAll();
}

void House::checkThere() {
  if (!members_.isAt(path_)) setGone();
  if (isGone()) throw removed();
}

HostError House::removed() const {
  return {
      HostFault::segment,
      "boxoffice: files of " + directory_ +
          " have been removed while processes used them, and processes that come now may be let in "
          "beside those; end all that use this directory, then remove it"};
}

}  // namespace boxoffice::host
