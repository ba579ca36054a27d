// wakeups.h on Windows, which has no FIFOs with a name that a process can wait for without a partner. In place of one:
//
//   fifo-1    a file with two locks, on bytes that it does not have, and a record of the member in the slot
//   bytes     an event of the member: it is set from send() until drain()
//   left      an event of the member, which sets it when it leaves
//
// An end of a FIFO has the file in `fifo`, `bytes` in extra[0] and `left` in extra[1]. A writing end has the member's process
// in `life`, too, which reports its death. The events have random names, which are in the record, so that no other program
// can have made them before. The record goes, and the locks go, before `left` is set, and a process ends after Windows has
// closed its files. So a process that hears of a death finds the locks free, or held by a process that cleans up.
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

/// The places of the two locks, which the file does not reach.
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

/// The process of the record; none when it has ended, or does not let this one wait for it.
File processOf(const Record& record) noexcept {
  File process = fileOf(OpenProcess(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE,
                                    static_cast<DWORD>(record.process)));
  if (process && startOf(handleOf(process)) != record.start) process.close();
  return process;
}

/// Completes the writing end, which has its file: finds the member in the slot, whose end the watch then reports. If there is
/// no such member, or this process may not wait for it, the watch reports the end at once, and this process looks again later.
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

// A process that has ended is reported until it is unwatched, also while another process cleans up.
bool isStoodInFor(const FifoEnd&) { return false; }

// No byte is needed as a bell: see touch(). Renamed and removed files are reported by the directory. Its parent need not
// be watched: Windows moves no directory that has open files.
void Removals::deliver(const std::string& directory, const std::string&) noexcept {
  constexpr DWORD kEvents = FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_DIR_NAME;
  try {
    file_ = fileOf(FindFirstChangeNotificationW(wide(directory).c_str(), FALSE, kEvents));
  } catch (const std::bad_alloc&) {
    // Removals are not reported then.
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
