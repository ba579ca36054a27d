#include "host/segment_file.h"

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <new>

#include "host/kill_points.h"
#include "host/names.h"
#include "platform/host_error.h"
#include "platform/misuse.h"
#include "platform/process_wide.h"
#include "platform/wakeups.h"

namespace boxoffice::host {
namespace {

using platform::File;

std::array<std::atomic<Evict>, kKinds> evicts{};

std::atomic<Evict>& evictAt(Kind kind) { return evicts[static_cast<std::size_t>(kind) % kKinds]; }

Evict evictOf(Kind kind) {
  const Evict clean = evictAt(kind).load();
  if (!clean) throwMisuse(Fault::badArgument, "setEvict has not been called for this kind of lock");
  return clean;
}

[[noreturn]] void broken(const std::string& path, const char* what) {
  throw HostError(HostFault::segment,
                  "boxoffice: " + path + " " + what + "; remove the file while no process uses it");
}

/// Mappings without a segment. They stay mapped.
class Retired {
 public:
  void add(const SegmentView& view) {
    const std::lock_guard guard(mutex_);
    all_.insert_or_assign(view.file, view);
  }
  /// Returns the mapping of that file, or null if there is none.
  std::byte* take(const platform::FileId& file, std::uint64_t size) {
    const std::lock_guard guard(mutex_);
    const auto found = all_.find(file);
    if (found == all_.end() || found->second.plan.fileSize != size) return nullptr;
    auto* const memory = reinterpret_cast<std::byte*>(found->second.header);
    all_.erase(found);
    return memory;
  }

 private:
  std::mutex mutex_;
  std::map<platform::FileId, SegmentView> all_;
};

Retired& retired() { return processWide<Retired>(); }

/// Fills `view` from the header, and reads each word once. Returns what is wrong with the header, or null.
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
    return "is damaged: its size differs from the size in its header";
  }
  return nullptr;
}

/// Maps the segment of an open file. With `again` it may reuse a retired mapping.
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

std::uint64_t wallClock() noexcept {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(
      duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
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
  header.rows.store(kFirstRows);
  while (header.id == 0) platform::randomBytes(&header.id, sizeof header.id);
  platform::randomBytes(header.secret, sizeof header.secret);
  // A token can only be smaller than an earlier one if the file was removed and the clock was set back.
  header.fence.store(wallClock());
  if (options.kind == Kind::semaphore) {
    auto& slot = *reinterpret_cast<SemaphoreSlot*>(memory + plan.slotsAt);
    slot.value.store(options.start);
    slot.start.store(options.start);
  }
}

/// Puts a gate into its initial state, unless another process uses it. This process is not among the users yet. Any
/// process that uses the gate is. So if such a process has changed the word, either this finds it, or the change here
/// fails.
void beginAnew(const SegmentView& view, ProcessSlot process, const IfDead& ifDead) {
  Word64& word = reinterpret_cast<GateSlot*>(view.slots)->word;
  const auto start = static_cast<std::uint32_t>(view.start);
  std::uint64_t seen = 0;
  std::uint64_t to = 0;
  do {
    seen = word.load();
    for (ProcessSlot user = 1; user <= kMaxProcess; ++user) {
      if (user == process || !view.header->users.has(user)) continue;
      if (!ifDead(user, [&] { evictOf(view.kind)(view, user); })) return;
    }
    to = static_cast<std::uint32_t>(seen) == start ? seen : ((seen >> 32) + 1) << 32 | start;
  } while (!word.compare_exchange_strong(seen, to));
}

void unmap(const SegmentView& view) noexcept {
  platform::unmap(reinterpret_cast<std::byte*>(view.header), view.plan.fileSize);
}

/// Creates the file, unless another process is faster.
void make(const SegmentOptions& options, const std::string& path, const std::string& aside) {
  const Plan plan = planOf(
      options.kind, options.capacity != 0 ? options.capacity : defaultCapacity(options.kind));
  const File file = platform::createFile(aside, allocatedSize(plan, kFirstRows));
  platform::setSize(file, plan.fileSize, aside);
  killPoint(kFileMade);
  std::byte* const memory = platform::map(file, plan.fileSize, aside);
  fill(memory, options, plan);
  platform::unmap(memory, plan.fileSize);
  killPoint(kFileFilled);
  if (!platform::rename(aside, path)) platform::remove(aside);
  killPoint(kFileNamed);
}

/// Allocates holes. A copied file may have them where the original has none, and the disk may be full at the first
/// write.
void allocateHoles(const File& file, const platform::FileFacts& facts, const SegmentView& view,
                   const std::string& path) {
  const std::uint64_t size = allocatedSize(view.plan, view.rows());
  if (facts.allocated >= size) return;
  try {
    platform::allocate(file, size, path);
  } catch (...) {
    retire(view);
    throw;
  }
}

}  // namespace

void setEvict(Kind kind, Evict evict) noexcept { evictAt(kind).store(evict); }

void checkOptions(const SegmentOptions& options) {
  if (strideOf(options.kind) == 0) throwMisuse(Fault::badArgument, "there is no such kind of lock");
  evictOf(options.kind);
  if (options.capacity > kMaxCapacity) {
    throwMisuse(Fault::badArgument,
                "the capacity of a lock of scope host is at most 16777216 keys");
  }
}

SegmentView openSegmentFile(const SegmentOptions& options, const std::string& path,
                            const std::string& aside, ProcessSlot process, const IfDead& ifDead) {
  for (;;) {
    const File file = platform::openFile(path);
    if (!file) {
      make(options, path, aside);
      continue;
    }
    const platform::FileFacts facts = platform::factsOf(file, path);
    const SegmentView view = viewOf(file, facts.size, options.kind, path, true);
    allocateHoles(file, facts, view, path);
    if (isGate(view.kind)) beginAnew(view, process, ifDead);
    view.header->users.add(process);
    killPoint(kUserNoted);
    if (platform::factsOf(file, path).linked) return view;
    unmap(view);  // The file was removed meanwhile: no other process will find it.
  }
}

bool growSegmentFile(const SegmentView& view, std::uint32_t rows, const std::string& path) {
  const File file = platform::openFile(path);
  if (!file || platform::idOf(file, path) != view.file) return false;
  platform::allocate(file, allocatedSize(view.plan, rows), path);
  std::uint32_t seen = view.header->rows.load();
  while (seen < rows && !view.header->rows.compare_exchange_strong(seen, rows)) {
  }
  return true;
}

void retire(const SegmentView& view) noexcept {
  try {
    retired().add(view);
  } catch (const std::bad_alloc&) {
    // The mapping leaks, and the next open maps the file once more.
  }
}

bool evictFrom(const SegmentView& view, ProcessSlot dead) {
  if (!view.header->users.has(dead)) return false;
  evictOf(view.kind)(view, dead);
  view.header->users.remove(dead);
  return true;
}

bool evictInFile(const File& directory, const std::string& name, ProcessSlot dead) {
  const Kind kind = kindOfFile(name);
  if (kind == Kind{}) return false;
  SegmentView view;
  try {
    // Its rights may have changed since a process opened it. A link to a file of another directory is refused: there
    // the process slot belongs to another process.
    const File opened = platform::openOwnFile(name, directory);
    if (!opened) return false;
    view = viewOf(opened, platform::factsOf(opened, name).size, kind, name, false);
  } catch (const HostError& error) {
    if (error.fault() == HostFault::exhausted || platform::isDenied(name, directory)) throw;
    return false;  // no process can use the file; open reports why
  }
  try {
    const bool found = evictFrom(view, dead);
    unmap(view);
    return found;
  } catch (...) {
    unmap(view);
    throw;
  }
}

}  // namespace boxoffice::host
