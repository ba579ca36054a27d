// The open segments of a membership.
#include <algorithm>

#include "host/membership.h"
#include "host/names.h"
#include "platform/host_error.h"

namespace boxoffice::host {
namespace {

/// The name under which this process makes a file, before the file gets its own.
std::string asideOf(ProcessSlot process) { return "new-" + std::to_string(process); }

}  // namespace

Segment& Membership::open(const SegmentOptions& options) {
  check();
  checkOptions(options);
  const std::string file = fileName(options.kind, options.name);
  const std::lock_guard guard(segmentsMutex_);
  const auto found = segments_.find(file);
  if (found != segments_.end()) {
    if (isUsable(*found->second)) {
      found->second->checkSame(options);
      return *found->second;
    }
    removed_.push_back(std::move(found->second));
    segments_.erase(found);
  }
  const std::string path = path_ + "/" + file;
  checkThere();
  const SegmentView view =
      openSegmentFile(options, path, path_ + "/" + asideOf(process_), process_,
                      [this](ProcessSlot user, const std::function<void()>& use) {
                        if (!ifDead(user, use)) return false;
                        // A process that cleans up at the same time may have notified already.
                        notifyAll();
                        return true;
                      });
  // In a directory that replaced this one, the process slot belongs to another process. That process may have set the
  // same bit, so do not clear the bit.
  checkThere();
  try {
    checkUsers(path, *view.header);
    std::unique_ptr<Segment> segment(new Segment(*this, members_, options.name, path, view));
    segment->checkSame(options);
    return add(file, std::move(segment));
  } catch (...) {
    view.header->users.remove(process_);
    retire(view);  // not unmap(): if the Segment was made, its destructor has retired the mapping
    throw;
  }
}

/// Throws if the file has a user that is not a member: a process that joined with another members file, which was
/// removed since. This process could not notify it, nor learn of its death. A member that left leaves no bit, because
/// cleaning up clears the bit before it frees the process slot.
void Membership::checkUsers(const std::string& path, const SegmentHeader& header) const {
  for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
    if (!header.users.has(process) || isMember(process)) continue;
    // That process may have left since, and another one may have joined.
    if (!header.users.has(process) || isMember(process)) continue;
    throw HostError(
        HostFault::segment,
        "boxoffice: " + path +
            " has been used by a process that is not known in its "
            "directory, of which files must have been removed; end all processes that use "
            "this directory and remove it, or choose another one (option directory or "
            "BOXOFFICE_DIRECTORY)");
  }
}

/// Throws when the file of a segment in use is gone. Returns false when the file is gone and this process does not
/// use the segment.
bool Membership::isUsable(Segment& segment) {
  checkThere();
  const SegmentView& view = segment.view();
  if (!segment.isGone() && platform::isAt(segment.path(), view.file)) return true;
  if (segment.setGone()) notifyAll();
  if (segment.hasListener()) throw removed(segment);
  return false;
}

/// The caller holds segmentsMutex_.
Segment& Membership::add(const std::string& file, std::unique_ptr<Segment> segment) {
  for (const Segment* const other : list_) {
    if (other->id() != segment->id()) continue;
    throw HostError(HostFault::segment, "boxoffice: " + segment->path() + " is a copy of " +
                                            other->path() + "; remove it while no process uses it");
  }
  list_.reserve(list_.size() + 1);
  const auto added = segments_.emplace(file, std::move(segment)).first;
  list_.push_back(added->second.get());
  return *added->second;
}

void Membership::setListener(Segment& segment, SegmentListener* listener) noexcept {
  segment.setListener(listener);
  // The wake-up thread may have reported a removal while there was no listener.
  if (listener && segment.isGone()) notifyAll();
}

void Membership::deliver(std::uint32_t segment, std::uint32_t slot) noexcept {
  Segment* notified = nullptr;
  {
    const std::lock_guard guard(segmentsMutex_);
    const auto found = std::find_if(list_.begin(), list_.end(), [segment](const Segment* each) {
      return each->id() == segment;
    });
    if (found == list_.end()) return;
    notified = *found;
  }
  notified->deliver(slot);
}

void Membership::rescan() noexcept {
  for (std::size_t i = 0;; ++i) {
    Segment* next = nullptr;
    {
      const std::lock_guard guard(segmentsMutex_);
      if (i >= list_.size()) return;
      next = list_[i];
    }
    next->rescan();
  }
}

/// Cleans up in the files that this process does not have open. A file may have the name of a removed one that this
/// process has open. Returns whether there was something to do. The caller holds segmentsMutex_. Works on the directory
/// that was opened when this process joined: in a directory that replaced it, the process slot belongs to another
/// process.
bool Membership::evictInFiles(ProcessSlot dead) {
  // This also applies to a renamed directory, where the files are as they were.
  if (!members_.isAt(path_)) setGone();
  if (!members_.isIn(place_)) return false;
  bool found = false;
  for (const std::string& name : platform::namesIn(place_, path_)) {
    const auto open = segments_.find(name);
    const bool isOpen = open != segments_.end() && !open->second->isGone() &&
                        platform::isAt(name, open->second->view().file, place_);
    if (!isOpen) found |= evictInFile(place_, name, dead);
  }
  platform::remove(asideOf(dead), place_);
  return found;
}

}  // namespace boxoffice::host
