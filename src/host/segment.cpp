#include "host/segment.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "host/kill_points.h"
#include "host/membership.h"
#include "host/names.h"
#include "host/segment_map.h"
#include "platform/files.h"
#include "platform/host_error.h"
#include "platform/misuse.h"
#include "platform/process_wide.h"
#include "platform/wakeups.h"

namespace boxoffice::host {
namespace {

using platform::File;
using platform::FileFacts;
using platform::FileId;

std::array<std::atomic<Evict>, kKinds> evicts{};

[[noreturn]] void broken(const std::string& path, const char* what) {
  throw HostError(HostFault::segment,
                  "boxoffice: " + path + " " + what + "; remove the file while no process uses it");
}

/// Mappings without a segment. They stay mapped and serve the next open: workers that come and go open the
/// same files again and again.
class Retired {
 public:
  void add(const SegmentView& view) {
    const std::lock_guard guard(mutex_);
    all_.insert_or_assign(view.file, view);
  }
  /// The mapping of that file; null if there is none.
  std::byte* take(const FileId& file, std::uint64_t size) {
    const std::lock_guard guard(mutex_);
    const auto found = all_.find(file);
    if (found == all_.end() || found->second.plan.fileSize != size) return nullptr;
    auto* const memory = reinterpret_cast<std::byte*>(found->second.header);
    all_.erase(found);
    return memory;
  }

 private:
  std::mutex mutex_;
  std::map<FileId, SegmentView> all_;
};

Retired& retired() { return processWide<Retired>(); }

/// Fills `view` from the header, reading each word once. Returns what is wrong with it, or null.
const char* read(const SegmentHeader& header, std::uint64_t size, Kind kind, SegmentView& view) {
  if (header.magic != kSegmentMagic) return "is not a file of boxoffice";
  if (header.version != kVersion || header.layout != kLayout) {
    return "was made by another version of boxoffice, whose locks are laid out differently";
  }
  const std::uint32_t capacity = header.capacity;
  if (header.kind != static_cast<std::uint32_t>(kind))
    return "is of another kind than its name says";
  if (capacity == 0 || capacity > kMaxCapacity) return "is damaged: it has no capacity";
  view.kind = kind;
  view.plan = planOf(kind, capacity);
  view.start = header.start;
  view.id = header.id;
  if (header.buckets != view.plan.buckets || header.slots != view.plan.slots ||
      header.stride != view.plan.stride || view.id == 0) {
    return "is damaged: its header contradicts itself";
  }
  if (size != view.plan.fileSize || header.fileSize != size) {
    return "has not the size that its header says";
  }
  return nullptr;
}

/// Maps the segment of an open file. `again`: may reuse a retired mapping.
SegmentView viewOf(const File& file, std::uint64_t size, Kind kind, const std::string& path,
                   bool again) {
  if (size < kPage) broken(path, "is too short");
  SegmentView view;
  view.file = platform::idOf(file, path);
  std::byte* memory = again ? retired().take(view.file, size) : nullptr;
  if (!memory) memory = platform::map(file, size, path);
  view.header = reinterpret_cast<SegmentHeader*>(memory);
  if (const char* const wrong = read(*view.header, size, kind, view)) {
    platform::unmap(memory, size);
    broken(path, wrong);
  }
  view.buckets = reinterpret_cast<KeyBucket*>(memory + view.plan.bucketsAt);
  view.slots = memory + view.plan.slotsAt;
  return view;
}

void unmap(const SegmentView& view) noexcept {
  platform::unmap(reinterpret_cast<std::byte*>(view.header), view.plan.fileSize);
}

/// Writes the header of an unused segment. All other words are 0.
void fill(std::byte* memory, const SegmentOptions& options, const Plan& plan) {
  auto& header = *reinterpret_cast<SegmentHeader*>(memory);
  header.magic = kSegmentMagic;
  header.version = kVersion;
  header.layout = kLayout;
  header.fileSize = plan.fileSize;
  header.kind = static_cast<std::uint32_t>(options.kind);
  header.capacity = plan.capacity;
  header.buckets = plan.buckets;
  header.slots = plan.slots;
  header.stride = plan.stride;
  header.start = options.start;
  while (header.id == 0) platform::randomBytes(&header.id, sizeof header.id);
  platform::randomBytes(header.secret, sizeof header.secret);
  // Tokens do not fall when the clock is set back, unless the file was removed just before.
  header.fence.store(wallClock());
  if (options.kind == Kind::semaphore) {
    reinterpret_cast<SemaphoreSlot*>(memory + plan.slotsAt)->value.store(options.start);
  }
}

void checkOptions(const SegmentOptions& options) {
  if (strideOf(options.kind) == 0)
    throw Misuse(Fault::badArgument, "there is no such kind of lock");
  if (!evictOf(options.kind)) {
    throw Misuse(Fault::badArgument, "nobody has said how this kind of lock is cleaned up");
  }
  if (options.capacity > kMaxCapacity) {
    throw Misuse(Fault::badArgument,
                 "the capacity of a lock of scope host is at most 16777216 keys");
  }
}

}  // namespace

void setEvict(Kind kind, Evict evict) noexcept {
  evicts[static_cast<std::size_t>(kind) % kKinds].store(evict);
}

Evict evictOf(Kind kind) noexcept { return evicts[static_cast<std::size_t>(kind) % kKinds].load(); }

Segment& Segment::open(Membership& membership, const SegmentOptions& options) {
  membership.check();
  checkOptions(options);
  const std::string file = fileName(options.kind, options.name);
  const std::lock_guard guard(membership.segmentsMutex_);
  const auto found = membership.segments_.find(file);
  if (found != membership.segments_.end()) {
    if (isUsable(membership, *found->second)) {
      found->second->checkSame(options);
      return *found->second;
    }
    membership.removed_.push_back(std::move(found->second));
    membership.segments_.erase(found);
  }
  const std::string path = membership.path() + "/" + file;
  membership.checkThere();
  const SegmentView view = obtain(membership, options, path);
  // In a directory that replaced ours, our process slot belongs to another process. That process may have
  // set the same bit, so the bit stays.
  membership.checkThere();
  try {
    checkUsers(membership, path, *view.header);
    std::unique_ptr<Segment> segment(new Segment(membership, options, path, view));
    segment->checkSame(options);
    return membership.add(file, std::move(segment));
  } catch (...) {
    view.header->users.remove(membership.process());
    unmap(view);
    throw;
  }
}

/// Refuses a file with a user that is not a member: a process that joined with another members file, since
/// removed. Such a process cannot be notified, and its death goes unheard. Cleaning up clears the bit
/// before it frees the process slot, so a member that left leaves no bit.
void Segment::checkUsers(const Membership& membership, const std::string& path,
                         const SegmentHeader& header) {
  for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
    if (!header.users.has(process) || membership.isMember(process)) continue;
    // The process may have left since, and another one joined.
    if (!header.users.has(process) || membership.isMember(process)) continue;
    throw HostError(
        HostFault::segment,
        "boxoffice: " + path +
            " has been used by a process that is not known in its "
            "directory, of which files must have been removed; end all processes that use "
            "this directory and remove it, or choose another one");
  }
}

/// Throws when the file of a segment in use is gone. False when the file is gone, and this process does not
/// use it.
bool Segment::isUsable(Membership& membership, Segment& segment) {
  membership.checkThere();
  const SegmentView& view = segment.view();
  if (!segment.isGone() && platform::isAt(segment.path(), view.file)) return true;
  if (segment.setGone()) membership.notifyAll();
  if (segment.hasListener()) throw segment.removed();
  return false;
}

/// Maps the file of this path, made if there is none, and adds our bit to its users.
SegmentView Segment::obtain(Membership& membership, const SegmentOptions& options,
                            const std::string& path) {
  for (;;) {
    const File file = platform::openFile(path);
    if (!file) {
      make(membership, options, path);
      continue;
    }
    const FileFacts facts = platform::factsOf(file, path);
    // A copied file may have holes, and the disk may be full when they are first written to.
    if (facts.allocated < facts.size) platform::allocate(file, facts.size, path);
    const SegmentView view = viewOf(file, facts.size, options.kind, path, true);
    view.header->users.add(membership.process());
    killPoint(kUserNoted);
    if (platform::factsOf(file, path).linked) return view;
    unmap(view);  // removed in between: no other process will find it
  }
}

/// Makes the file, unless another process is faster.
void Segment::make(Membership& membership, const SegmentOptions& options, const std::string& path) {
  const std::string aside = Membership::asideIn(membership.path(), membership.process());
  const Plan plan = planOf(
      options.kind, options.capacity != 0 ? options.capacity : defaultCapacity(options.kind));
  const File file = platform::createFile(aside, plan.fileSize);
  killPoint(kFileMade);
  std::byte* const memory = platform::map(file, plan.fileSize, aside);
  fill(memory, options, plan);
  platform::unmap(memory, plan.fileSize);
  killPoint(kFileFilled);
  if (!platform::rename(aside, path)) platform::remove(aside);
  killPoint(kFileNamed);
}

Segment::Segment(Membership& membership, const SegmentOptions& options, std::string path,
                 const SegmentView& view)
    : membership_(membership),
      name_(options.name),
      path_(std::move(path)),
      view_(view),
      reads_(strideOf(view.kind) == sizeof(RWLockSlot) ? view.plan.slots : 0) {
  mapSegment(reinterpret_cast<const std::byte*>(view.header), view.plan.fileSize, this);
}

Segment::~Segment() {
  unmapSegment(reinterpret_cast<const std::byte*>(view_.header), view_.plan.fileSize);
  try {
    retired().add(view_);
  } catch (const std::bad_alloc&) {
    // The mapping stays, and the next open maps the file once more.
  }
}

void Segment::checkSame(const SegmentOptions& options) const {
  if (isKeyed(options.kind) && options.capacity != 0 && options.capacity != capacity()) {
    throw Misuse(Fault::mismatch, "'" + name_ + "' is there already, with a capacity of " +
                                      std::to_string(capacity()) + " keys");
  }
  if (isSemaphore(options.kind) && options.start != start()) {
    throw Misuse(Fault::mismatch,
                 "'" + name_ + "' is there already, as a semaphore of " + std::to_string(start()));
  }
}

std::byte* Segment::slot(std::uint32_t index) const {
  std::byte* const slot = view_.slot(index);
  if (!slot) throw Misuse(Fault::badArgument, "the segment has no slot of that number");
  return slot;
}

std::uint32_t Segment::slotOf(const void* address) const noexcept {
  return static_cast<std::uint32_t>((static_cast<const std::byte*>(address) - view_.slots) /
                                    static_cast<std::ptrdiff_t>(view_.plan.stride));
}

bool Segment::isGone() const noexcept {
  return view_.header->gone.load() != 0 || membership_.isGone();
}

HostError Segment::removed() const {
  if (membership_.isGone()) return membership_.removed();
  return {
      HostFault::segment,
      "boxoffice: " + path_ +
          " has been removed while processes used it, and processes that come now may be let in "
          "beside those; end all that use it"};
}

bool Segment::hasListener() noexcept {
  const std::lock_guard guard(listenerMutex_);
  return listener_ != nullptr;
}

void Segment::setListener(SegmentListener* listener) noexcept {
  {
    const std::lock_guard guard(listenerMutex_);
    listener_ = listener;
  }
  // The wake-up thread may have reported a removal while there was no listener.
  if (listener && isGone()) membership_.notifyAll();
}

void Segment::deliver(std::uint32_t slot) noexcept {
  const std::lock_guard guard(listenerMutex_);
  // The slot number comes from the members file, which may be corrupt.
  if (listener_ && slot < slots()) listener_->notified(slot);
}

void Segment::rescan() noexcept {
  const std::lock_guard guard(listenerMutex_);
  if (listener_) listener_->rescan();
}

void Segment::evict(const SegmentView& view, ProcessSlot dead) {
  if (!view.header->users.has(dead)) return;
  const Evict clean = evictOf(view.kind);
  if (!clean)
    throw Misuse(Fault::badArgument, "nobody has said how this kind of lock is cleaned up");
  clean(view, dead);
  view.header->users.remove(dead);
}

void Segment::evictIn(const std::string& directory, const std::string& file, ProcessSlot dead) {
  const Kind kind = kindOfFile(file);
  if (kind == Kind{}) return;
  const std::string path = directory + "/" + file;
  SegmentView view;
  try {
    const File opened = platform::openFile(path);
    if (!opened) return;
    view = viewOf(opened, platform::factsOf(opened, path).size, kind, path, false);
  } catch (const HostError& error) {
    if (error.fault() == HostFault::exhausted) throw;
    return;  // no process can use the file; open reports why
  }
  try {
    evict(view, dead);
  } catch (...) {
    unmap(view);
    throw;
  }
  unmap(view);
}

}  // namespace boxoffice::host
