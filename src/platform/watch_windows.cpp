// Watch of wakeups.h on Windows.
#include <algorithm>
#include <list>
#include <mutex>
#include <vector>

#include "platform/wakeups.h"
#include "platform/windows_files.h"

namespace boxoffice::platform {

/// Windows waits for at most 64 handles at once. Its thread pool waits for the others, and sets `signal`.
struct Watched {
  static constexpr std::size_t kDirect = MAXIMUM_WAIT_OBJECTS - 1;

  struct Handle {
    HANDLE handle;
    std::uint32_t tag;
  };
  struct Pooled {
    Watched& all;
    Handle watched;
    HANDLE wait = nullptr;
    bool isSet = false;
  };

  File signal = eventOf(nullptr, false);
  std::vector<Handle> direct;
  std::mutex mutex;  ///< guards isSet of all in `pooled`
  std::list<Pooled> pooled;

  ~Watched() { clear(); }

  void clear() noexcept {
    direct.clear();
    for (Pooled& each : pooled) UnregisterWaitEx(each.wait, INVALID_HANDLE_VALUE);
    pooled.clear();
  }

  void add(HANDLE handle, std::uint32_t tag) {
    if (direct.size() < kDirect) return direct.push_back({handle, tag});
    Pooled& added = pooled.emplace_back(*this, Handle{handle, tag});
    if (RegisterWaitForSingleObject(&added.wait, handle, onSet, &added, INFINITE,
                                    WT_EXECUTEINWAITTHREAD | WT_EXECUTEONLYONCE)) {
      return;
    }
    const std::string why = textOf(GetLastError());
    pooled.pop_back();
    host::throwLack("wait of its pool", why);
  }

  void remove(HANDLE handle) noexcept {
    std::erase_if(direct, [handle](const Handle& each) { return each.handle == handle; });
    for (auto each = pooled.begin(); each != pooled.end(); ++each) {
      if (each->watched.handle != handle) continue;
      // Waits until onSet() has returned.
      UnregisterWaitEx(each->wait, INVALID_HANDLE_VALUE);
      pooled.erase(each);
      resetUnlessSet();
      return;
    }
  }

  void resetUnlessSet() noexcept {
    const std::lock_guard guard(mutex);
    const auto isSet = [](const Pooled& each) { return each.isSet; };
    if (std::none_of(pooled.begin(), pooled.end(), isSet)) ResetEvent(handleOf(signal));
  }

  static void CALLBACK onSet(void* context, BOOLEAN) {
    auto& self = *static_cast<Pooled*>(context);
    const std::lock_guard guard(self.all.mutex);
    self.isSet = true;
    SetEvent(handleOf(self.all.signal));
  }
};

Watch::Watch() : list_(std::make_shared<Watched>()) {}

void Watch::add(const File& file, std::uint32_t tag) { list_->add(handleOf(file), tag); }
void Watch::remove(const File& file) noexcept { list_->remove(handleOf(file)); }

void Watch::addReader(const FifoEnd& reader, std::uint32_t tag) { add(reader.extra[0], tag); }

void Watch::addDeath(const FifoEnd& writer, std::uint32_t tag) {
  add(writer.life, tag);
  if (!writer.extra[1]) return;
  try {
    add(writer.extra[1], tag);
  } catch (...) {
    remove(writer.life);
    throw;
  }
}

void Watch::removeDeath(const FifoEnd& writer) noexcept {
  remove(writer.life);
  remove(writer.extra[1]);
}

void Watch::close() noexcept { list_->clear(); }

namespace {

/// The tags that wait() found, each once.
struct Found {
  std::uint32_t (&tags)[16];
  unsigned count = 0;

  void add(std::uint32_t tag) noexcept {
    if (count < 16 && std::find(tags, tags + count, tag) == tags + count) tags[count++] = tag;
  }
};

}  // namespace

unsigned Watch::wait(std::uint32_t (&tags)[16], int atMost) noexcept {
  HANDLE handles[MAXIMUM_WAIT_OBJECTS];
  const auto& direct = list_->direct;
  const auto count = static_cast<DWORD>(direct.size());
  for (DWORD i = 0; i < count; ++i) handles[i] = direct[i].handle;
  handles[count] = handleOf(list_->signal);
  Found found{tags};
  // One call returns the first of the handles that are set.
  auto limit = static_cast<DWORD>(atMost);
  for (DWORD next = 0; next <= count; ++next) {
    const DWORD set = WaitForMultipleObjects(count + 1 - next, handles + next, FALSE, limit);
    // Windows has no memory for the wait, so pause before the next attempt.
    if (set == WAIT_FAILED) Sleep(10);
    if (set >= WAIT_OBJECT_0 + count + 1 - next) return found.count;
    next += set - WAIT_OBJECT_0;
    if (next < count) found.add(direct[next].tag);
    limit = 0;
  }
  const std::lock_guard guard(list_->mutex);
  for (const auto& each : list_->pooled) {
    if (each.isSet) found.add(each.watched.tag);
  }
  return found.count;
}

}  // namespace boxoffice::platform
