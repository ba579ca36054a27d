// wakeups.h on Windows, which has no FIFOs with a name that a process can wait for without a partner. In place of one:
//
//   fifo-1    a file with two locks, on bytes that it does not have, and a record of the member in the slot
//   byte      an event of a name made from the file's identity: it is set from send() until drain()
//   left      an event of a name made from the record: the member sets it when it leaves
//
// An end of a FIFO has the byte in `fifo` and the file in locks[0]. A member's own end has `left` in `life`. A writing
// end has the member's process in `life`, which reports its death, and `left` in locks[1]. The record goes, and the
// locks go, before the event of `left` is set, and a process ends after Windows has closed its files. So a process that
// hears of a death finds the locks free, or held by a process that cleans up.
#include <iterator>
#include <list>
#include <mutex>
#include <vector>

#include "platform/wakeups.h"
#include "platform/windows_files.h"

extern "C" BOOLEAN NTAPI SystemFunction036(void* to, ULONG count);  // RtlGenRandom()

namespace boxoffice::platform {
namespace {

/// Who lives in the slot of a FIFO.
struct Record {
  std::uint64_t
      start;  ///< when the process began, since Windows gives a process id to another process later
  std::uint32_t process;
  std::uint32_t tag;  ///< another one for each member of a process
};

constexpr DWORD kLockAt[] = {0, 1};  // above the first 4 GB

OVERLAPPED placeOf(int which) noexcept {
  OVERLAPPED place = {};
  place.Offset = kLockAt[which];
  place.OffsetHigh = 1;
  return place;
}

bool tryRange(const FifoEnd& end, int which, DWORD how) noexcept {
  OVERLAPPED place = placeOf(which);
  return LockFileEx(handleOf(end.locks[0]), how | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0;
}

std::wstring nameOf(const wchar_t* kind, std::uint64_t first, std::uint64_t second) {
  wchar_t name[96];
  swprintf(name, std::size(name), L"Global\\boxoffice-%ls-%llx-%llx", kind,
           static_cast<unsigned long long>(first), static_cast<unsigned long long>(second));
  return name;
}

/// The event of that name, or one of its own without a name.
File eventOf(const wchar_t* name, bool isSet, const std::string& path) {
  File event = fileOf(CreateEventW(ownAttributes(), TRUE, isSet, name));
  if (!event) refused(path, "opened");
  return event;
}

File byteOf(const File& file, const std::string& path) {
  const auto [volume, number] = idOf(file, path);
  return eventOf(nameOf(L"byte", volume, number).c_str(), false, path);
}

File leftOf(const Record& record, const std::string& path) {
  const std::uint64_t whole = std::uint64_t{record.tag} << 32 | record.process;
  return eventOf(nameOf(L"left", record.start, whole).c_str(), false, path);
}

Record readRecord(const File& file) noexcept {
  Record record = {};
  OVERLAPPED place = {};
  DWORD count = 0;
  if (!ReadFile(handleOf(file), &record, sizeof record, &count, &place) || count != sizeof record)
    return {};
  return record;
}

bool writeRecord(const File& file, const Record& record) noexcept {
  OVERLAPPED place = {};
  DWORD count = 0;
  return WriteFile(handleOf(file), &record, sizeof record, &count, &place) &&
         count == sizeof record;
}

std::uint64_t startOf(HANDLE process) noexcept {
  FILETIME start;
  FILETIME other;
  if (!GetProcessTimes(process, &start, &other, &other, &other)) return 0;
  return std::uint64_t{start.dwHighDateTime} << 32 | start.dwLowDateTime;
}

/// The process of the record; none when it has ended.
File processOf(const Record& record, const std::string& path) {
  if (record.process == 0) return {};
  File process =
      fileOf(OpenProcess(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE, record.process));
  if (!process && GetLastError() != ERROR_INVALID_PARAMETER) refused(path, "watched");
  if (process && startOf(handleOf(process)) != record.start) process.close();
  return process;
}

/// Completes the writing end, which has its file: finds who lives in the slot, so that the watch reports its end.
void findMember(FifoEnd& end, const std::string& path) {
  const Record record = readRecord(end.locks[0]);
  File process = processOf(record, path);
  File left = process ? leftOf(record, path) : File();
  // A member takes back its record before it sets the event. If that was before we opened the event, the event is another
  // one, which is set by none.
  const Record now = readRecord(end.locks[0]);
  if (!process || now.tag != record.tag || now.process != record.process) {
    process = eventOf(nullptr, true, path);
    left = eventOf(nullptr, true, path);
  }
  end.life = std::move(process);
  end.locks[1] = std::move(left);
}

}  // namespace

FifoEnd openFifo(const std::string& path) {
  FifoEnd end;
  end.locks[0] = makeOrOpenFile(path);
  end.fifo = byteOf(end.locks[0], path);
  return end;
}

FifoEnd openWriter(const std::string& path) {
  FifoEnd end;
  end.locks[0] = openFile(path);
  if (!end.locks[0]) return end;
  end.fifo = byteOf(end.locks[0], path);
  findMember(end, path);
  return end;
}

// The writing end keeps the file in its place.
FifoEnd openFifoOf(const FifoEnd&, const std::string& path) { return openFifo(path); }

FifoEnd& FifoEnd::operator=(FifoEnd&& other) noexcept {
  close();
  fifo = std::move(other.fifo);
  life = std::move(other.life);
  for (int i = 0; i < 2; ++i) locks[i] = std::move(other.locks[i]);
  return *this;
}

void FifoEnd::close() noexcept {
  const bool isMember = life && !locks[1];
  if (isMember) writeRecord(locks[0], {});
  for (File& each : locks) each.close();
  if (isMember) SetEvent(handleOf(life));
  life.close();
  fifo.close();
}

// A process cannot fork here.
void FifoEnd::abandon() noexcept { close(); }

FileId idOf(const FifoEnd& end, const std::string& path) { return idOf(end.locks[0], path); }

bool isFifoAt(const std::string& path, const FileId& id) noexcept { return isAt(path, id); }

bool tryLock(const FifoEnd& end) noexcept { return tryRange(end, 0, LOCKFILE_EXCLUSIVE_LOCK); }

void unlock(const FifoEnd& end) noexcept {
  OVERLAPPED place = placeOf(0);
  UnlockFileEx(handleOf(end.locks[0]), 0, 1, 0, &place);
}

bool tryLive(FifoEnd& end) {
  if (!tryRange(end, 1, LOCKFILE_EXCLUSIVE_LOCK)) return false;
  Record record = {startOf(GetCurrentProcess()), GetCurrentProcessId(), 0};
  randomBytes(&record.tag, sizeof record.tag);
  end.life = leftOf(record, "the event of this process");
  if (!writeRecord(end.locks[0], record)) refused("the file of this process", "written");
  return true;
}

bool tryKeepFree(const FifoEnd& end) noexcept { return tryRange(end, 1, 0); }

void send(const FifoEnd& end) noexcept { SetEvent(handleOf(end.fifo)); }
void drain(const FifoEnd& reader) noexcept { ResetEvent(handleOf(reader.fifo)); }

/// Windows waits for 64 handles at once. Those above are waited for by its pool, which tells us by `signal`.
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

  File signal = eventOf(nullptr, false, "an event");
  std::vector<Handle> direct;
  std::mutex mutex;  ///< guards isSet of all in `pooled`
  std::list<Pooled> pooled;

  ~Watched() {
    for (Pooled& each : pooled) UnregisterWaitEx(each.wait, INVALID_HANDLE_VALUE);
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
      return;
    }
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

void Watch::addDeath(const FifoEnd& writer, std::uint32_t tag) {
  add(writer.life, tag);
  add(writer.locks[1], tag);
}

void Watch::removeDeath(const FifoEnd& writer) noexcept {
  remove(writer.life);
  remove(writer.locks[1]);
}

unsigned Watch::wait(std::uint32_t (&tags)[16], int atMost) noexcept {
  HANDLE handles[MAXIMUM_WAIT_OBJECTS];
  const auto& direct = list_->direct;
  const auto count = static_cast<DWORD>(direct.size());
  for (DWORD i = 0; i < count; ++i) handles[i] = direct[i].handle;
  handles[count] = handleOf(list_->signal);
  unsigned found = 0;
  // One call returns the first of the handles that are set.
  for (DWORD next = 0, limit = static_cast<DWORD>(atMost); next < count + 1 && found < 16;) {
    const DWORD set = WaitForMultipleObjects(count + 1 - next, handles + next, FALSE, limit);
    if (set >= WAIT_OBJECT_0 + count + 1 - next) return found;
    next += set - WAIT_OBJECT_0;
    if (next < count) tags[found++] = direct[next].tag;
    ++next;
    limit = 0;
  }
  const std::lock_guard guard(list_->mutex);
  bool isAny = false;
  for (const auto& each : list_->pooled) {
    if (each.isSet && found < 16) tags[found++] = each.watched.tag;
    isAny |= each.isSet;
  }
  if (!isAny) ResetEvent(handleOf(list_->signal));
  return found;
}

// The process that has ended is reported until it is unwatched, whoever cleans up.
bool isStoodInFor(const FifoEnd&) { return false; }

// No byte is needed as a bell: see touch(). Renamed and removed files are reported by the directory. Its parent need not
// be watched: Windows moves no directory that has open files.
void Removals::deliver(const std::string& directory, const std::string&) noexcept {
  file_ = fileOf(FindFirstChangeNotificationW(
      wide(directory).c_str(), FALSE, FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_DIR_NAME));
}

void Removals::drain() noexcept { FindNextChangeNotification(handleOf(file_)); }

void Removals::close() noexcept {
  if (file_) FindCloseChangeNotification(handleOf(file_));
  file_.release();
}

// libuv polls only sockets: the listening thread wakes the event loop.
LoopWakeup::LoopWakeup(const FifoEnd&) noexcept {}
void LoopWakeup::forget() noexcept {}

std::uint32_t pid() noexcept { return GetCurrentProcessId(); }

void randomBytes(void* to, std::size_t count) {
  if (!SystemFunction036(to, static_cast<ULONG>(count)))
    host::throwLack("random bytes", textOf(GetLastError()));
}

void aroundForks(void (*)(), void (*)(), void (*)()) {}

}  // namespace boxoffice::platform
