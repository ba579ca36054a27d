// wakeups.h on Windows, which has no named FIFO on which a process can wait without a partner. These stand for one:
//
//   fifo-1    a file with two locks, on bytes that it does not have, and a record of the member in the slot
//   bytes     an event of the member: it is set from send() until drain()
//   left      an event of the member, which sets it when it leaves
//
// An end of a FIFO has the file in `fifo`, `bytes` in extra[0] and `left` in extra[1]. A writing end also has the
// member's process in `life`, which reports its death. The events have random names, which are in the record, so that
// no other program can have made them before. A member that leaves erases its record and releases its locks before it
// sets `left`, and Windows closes the files of a process before it ends. So a process that learns of a death finds the
// locks free, or held by a process that cleans up.
#include <iterator>
#include <new>
#include <utility>

#include "platform/wakeups.h"
#include "platform/windows_files.h"

extern "C" BOOLEAN NTAPI SystemFunction036(void* to, ULONG count);  // RtlGenRandom()

namespace boxoffice::platform {
namespace {

/// The member in the slot of a FIFO, as the file of the FIFO names it.
struct Record {
  std::uint64_t start;  ///< of the process: Windows gives its id to another one later
  std::uint64_t process;
  std::uint64_t name[2];  ///< of its events

  bool operator==(const Record&) const = default;
};

/// The places of the two locks, beyond the end of the file.
constexpr std::uint64_t kLockAt[] = {std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 1};

bool tryRange(const FifoEnd& end, int which, DWORD how) noexcept {
  OVERLAPPED place = placeAt(kLockAt[which]);
  return LockFileEx(handleOf(end.fifo), how | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0;
}

/// The event of that kind of the member.
File memberEvent(const wchar_t* kind, const Record& record) {
  wchar_t name[96];
  swprintf(name, std::size(name), L"Global\\boxoffice-%ls-%016llx%016llx", kind,
           static_cast<unsigned long long>(record.name[0]),
           static_cast<unsigned long long>(record.name[1]));
  return eventOf(name, false);
}

Record readRecord(const File& file) noexcept {
  Record record = {};
  OVERLAPPED place = placeAt(0);
  DWORD count = 0;
  if (!ReadFile(handleOf(file), &record, sizeof record, &count, &place) || count != sizeof record)
    return {};
  return record;
}

bool writeRecord(const File& file, const Record& record) noexcept {
  OVERLAPPED place = placeAt(0);
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

/// Opens the process of the record. Returns none when it has ended, or does not let this process wait for it.
File processOf(const Record& record) noexcept {
  File process = fileOf(OpenProcess(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE,
                                    static_cast<DWORD>(record.process)));
  if (process && startOf(handleOf(process)) != record.start) process.close();
  return process;
}

/// Completes a writing end, which has its file: finds the member in the slot, whose death the watch then reports. If
/// there is no such member, or this process may not wait for it, the watch reports a death at once, and this process
/// looks again later.
void findMember(FifoEnd& end) {
  const Record record = readRecord(end.fifo);
  if (record.process == 0) {
    end.life = eventOf(nullptr, true);
    return;
  }
  File bytes = memberEvent(L"bytes", record);
  File left = memberEvent(L"left", record);
  File process = processOf(record);
  // A member that leaves erases its record, and then sets the event. If it did so before this process opened the event, this
  // process has made a new event, which no process sets.
  const bool isThere = process && readRecord(end.fifo) == record;
  end.life = isThere ? std::move(process) : eventOf(nullptr, true);
  end.extra[0] = std::move(bytes);
  end.extra[1] = std::move(left);
}

}  // namespace

File eventOf(const wchar_t* name, bool isSet) {
  File event = fileOf(CreateEventW(ownAttributes(), TRUE, isSet, name));
  if (!event) refused("an event", "opened");
  return event;
}

FifoEnd openFifo(const std::string& path) {
  FifoEnd end;
  end.fifo = openForGood(path, true);
  return end;
}

FifoEnd openWriter(const std::string& path) {
  FifoEnd end;
  end.fifo = openForGood(path, false);
  if (end) findMember(end);
  return end;
}

// The writing end keeps the file in its place.
FifoEnd openFifoOf(const FifoEnd&, const std::string& path) { return openFifo(path); }

bool isOver(const FifoEnd& writer) noexcept {
  const auto isSet = [](const File& event) {
    return event && WaitForSingleObject(handleOf(event), 0) == WAIT_OBJECT_0;
  };
  return isSet(writer.life) || isSet(writer.extra[1]);
}

FifoEnd& FifoEnd::operator=(FifoEnd&& other) noexcept {
  close();
  fifo = std::move(other.fifo);
  life = std::move(other.life);
  for (int i = 0; i < 2; ++i) extra[i] = std::move(other.extra[i]);
  return *this;
}

void FifoEnd::close() noexcept {
  const bool isMember = extra[1] && !life;
  if (isMember) writeRecord(fifo, {});
  fifo.close();
  if (isMember) SetEvent(handleOf(extra[1]));
  for (File& each : extra) each.close();
  life.close();
}

// A process cannot fork here.
void FifoEnd::abandon() noexcept { close(); }

FileId idOf(const FifoEnd& end, const std::string& path) { return idOf(end.fifo, path); }

bool isFifoAt(const std::string& path, const FileId& id) noexcept { return isAt(path, id); }

bool tryLock(const FifoEnd& end) noexcept { return tryRange(end, 0, LOCKFILE_EXCLUSIVE_LOCK); }

void unlock(const FifoEnd& end) noexcept {
  OVERLAPPED place = placeAt(kLockAt[0]);
  UnlockFileEx(handleOf(end.fifo), 0, 1, 0, &place);
}

bool tryLive(FifoEnd& end) {
  if (!tryRange(end, 1, LOCKFILE_EXCLUSIVE_LOCK)) return false;
  letUserWait();
  Record record = {startOf(GetCurrentProcess()), GetCurrentProcessId(), {}};
  randomBytes(record.name, sizeof record.name);
  end.extra[0] = memberEvent(L"bytes", record);
  end.extra[1] = memberEvent(L"left", record);
  if (!writeRecord(end.fifo, record)) refused("the file of this process", "written");
  return true;
}

bool tryKeepFree(const FifoEnd& end) noexcept { return tryRange(end, 1, 0); }

void send(const FifoEnd& end) noexcept { SetEvent(handleOf(end.extra[0])); }
void drain(const FifoEnd& reader) noexcept { ResetEvent(handleOf(reader.extra[0])); }

// The watch reports a process that has ended until it is unwatched, even while another process cleans up.
bool isStoodInFor(const FifoEnd&) { return false; }

// Windows needs no byte as a bell: see touch(). The directory reports renamed and removed files. Its parent need not
// be watched, because Windows does not move a directory with open files.
void Removals::deliver(const std::string& directory, const std::string&) noexcept {
  constexpr DWORD kEvents = FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_DIR_NAME;
  try {
    file_ = fileOf(FindFirstChangeNotificationW(wide(directory).c_str(), FALSE, kEvents));
  } catch (const std::bad_alloc&) {
    // Then removals are not reported.
  }
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
