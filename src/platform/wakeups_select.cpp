// FIFOs for systems where a FIFO cannot be locked and does not report that its reader has gone, and select.
//
//   fifo-1        bytes for the process in slot 1, which reads them
//   life-fifo-1   no bytes, in `life`; the process in the slot has it open for writing, the others for reading: they
//                 read end of file when the process dies
//   lock-fifo-1   the first lock, by flock, in extra[0]
//   live-fifo-1   the second lock, in extra[1]
//
// This uses select, because kqueue and poll of macOS do not report the end of a FIFO.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include "platform/posix_files.h"
#include "platform/wakeups.h"

namespace boxoffice::platform {
namespace {

std::string beside(const std::string& path, const char* kind) {
  const std::size_t name = path.rfind('/') + 1;
  return path.substr(0, name) + kind + "-" + path.substr(name);
}

std::string lifeOf(const std::string& path) { return beside(path, "life"); }
std::string lockOf(const std::string& path, int which) {
  return beside(path, which == 0 ? "lock" : "live");
}

File makeLock(const std::string& path) {
  for (;;) {
    if (File found = openFile(path)) return found;
    const File made(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made && errno != EEXIST) refused(path, "made");
    // The umask may have removed permissions of the owner.
    if (made && fchmod(made.number(), 0600) != 0) refused(path, "made");
  }
}

#ifdef __APPLE__
constexpr bool kClosesUpwards = false;
#else
constexpr bool kClosesUpwards = true;
#endif

void moveAbove(File& file, const File& other, const std::string& path) {
  if (file.number() > other.number()) return;
  file = File(fcntl(file.number(), F_DUPFD_CLOEXEC, other.number() + 1));
  if (!file) refused(path, "opened");
}

/// The kernel closes the files of a dead process in the order of their numbers. The locks have to go before
/// the FIFO by which others learn of the death.
void closeLocksBeforeLife(FifoEnd& end, const std::string& path) {
  for (File& lock : end.extra) {
    kClosesUpwards ? moveAbove(end.life, lock, path) : moveAbove(lock, end.life, path);
  }
}

bool tryFlock(const File& lock, int how) noexcept {
  int result;
  do {
    result = flock(lock.number(), how | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Opens the files of these paths, whatever they are. Returns none when one is missing. Throws when this process may
/// not open one.
FifoEnd openAgain(const std::string& path) {
  const auto opened = [](const std::string& each) {
    File file(open(each.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (!file && errno == EACCES) refused(each, "opened");
    return file;
  };
  FifoEnd end;
  for (int which = 0; which < 2; ++which) end.extra[which] = opened(lockOf(path, which));
  end.life = opened(lifeOf(path));
  if (end.extra[0] && end.extra[1] && end.life) end.fifo = opened(path);
  return end;
}

/// One identity for all files of a FIFO.
FileId join(const std::vector<FileId>& ids) {
  std::uint64_t all = 0;
  for (const auto& [device, inode] : ids) all = all * 0x9E3779B97F4A7C15U + inode;
  return {ids.front().first, std::max<std::uint64_t>(all, 1)};
}

}  // namespace

FifoEnd openFifo(const std::string& path) {
  FifoEnd end;
  for (int which = 0; which < 2; ++which) end.extra[which] = makeLock(lockOf(path, which));
  end.life = makeFifo(lifeOf(path));
  end.fifo = makeFifo(path);
  closeLocksBeforeLife(end, path);
  return end;
}

FifoEnd openWriter(const std::string& path) {
  FifoEnd end;
  end.life = openIfThere(lifeOf(path), O_RDONLY);
  for (int which = 0; which < 2; ++which) end.extra[which] = openFile(lockOf(path, which));
  if (!end.life || !end.extra[0] || !end.extra[1]) return {};
  end.fifo = openIfThere(path, O_WRONLY);
  // The reader of a FIFO without a writer sees its end only if a writer has opened it after the reader did.
  if (end) openIfThere(lifeOf(path), O_WRONLY).close();
  return end;
}

FifoEnd openFifoOf(const FifoEnd& writer, const std::string& path) {
  FifoEnd end = openAgain(path);
  if (end && idOf(end, path) == idOf(writer, path)) {
    closeLocksBeforeLife(end, path);
    return end;
  }
  // The FIFO was removed, and only the open files of the locks are left.
  end = FifoEnd();
  end.borrows = true;
  for (int which = 0; which < 2; ++which) {
    end.extra[which] = File(fcntl(writer.extra[which].number(), F_DUPFD_CLOEXEC, 0));
    if (!end.extra[which]) refused(path, "opened");
  }
  return end;
}

FileId idOf(const FifoEnd& end, const std::string& path) {
  return join({idOf(end.extra[0], path), idOf(end.extra[1], path), idOf(end.life, path),
               idOf(end.fifo, path)});
}

bool isFifoAt(const std::string& path, const FileId& id) noexcept {
  std::vector<FileId> found;
  for (const std::string& each : {lockOf(path, 0), lockOf(path, 1), lifeOf(path), path}) {
    struct stat facts;
    if (lstat(each.c_str(), &facts) != 0) return errno != ENOENT && errno != ENOTDIR;
    found.emplace_back(static_cast<std::uint64_t>(facts.st_dev), facts.st_ino);
  }
  return join(found) == id;
}

bool tryLock(const FifoEnd& end) noexcept { return tryFlock(end.extra[0], LOCK_EX); }
void unlock(const FifoEnd& end) noexcept { flock(end.extra[0].number(), LOCK_UN); }
bool tryLive(FifoEnd& end) { return tryFlock(end.extra[1], LOCK_EX); }
bool tryKeepFree(const FifoEnd& end) noexcept { return tryFlock(end.extra[1], LOCK_SH); }

struct Watched {
  std::vector<std::pair<int, std::uint32_t>> files;  ///< numbers and tags
  std::vector<fd_set> sets;                          ///< for files of any number
};

Watch::Watch() : list_(std::make_shared<Watched>()) {}

void Watch::add(const File& file, std::uint32_t tag) {
  const auto sets = static_cast<std::size_t>(file.number() / FD_SETSIZE) + 1;
  if (list_->sets.size() < sets) list_->sets.resize(sets);
  list_->files.emplace_back(file.number(), tag);
}

void Watch::remove(const File& file) noexcept {
  std::erase_if(list_->files, [&](const auto& each) { return each.first == file.number(); });
}

void Watch::addReader(const FifoEnd& reader, std::uint32_t tag) { add(reader.fifo, tag); }
void Watch::addDeath(const FifoEnd& writer, std::uint32_t tag) { add(writer.life, tag); }
void Watch::removeDeath(const FifoEnd& writer) noexcept { remove(writer.life); }

void Watch::close() noexcept { list_->files.clear(); }

unsigned Watch::wait(std::uint32_t (&tags)[16], int atMost) noexcept {
  auto& [files, sets] = *list_;
  for (fd_set& set : sets) FD_ZERO(&set);
  int last = -1;
  for (const auto& [number, tag] : files) {
    FD_SET(number % FD_SETSIZE, &sets[static_cast<std::size_t>(number / FD_SETSIZE)]);
    last = std::max(last, number);
  }
  timeval limit = {};
  limit.tv_sec = atMost / 1000;
  limit.tv_usec = static_cast<decltype(limit.tv_usec)>(atMost % 1000) * 1000;
  if (select(last + 1, sets.data(), nullptr, nullptr, atMost < 0 ? nullptr : &limit) <= 0) return 0;
  unsigned count = 0;
  for (const auto& [number, tag] : files) {
    if (count == std::size(tags)) break;
    if (FD_ISSET(number % FD_SETSIZE, &sets[static_cast<std::size_t>(number / FD_SETSIZE)])) {
      tags[count++] = tag;
    }
  }
  return count;
}

bool isOver(const FifoEnd&) noexcept { return false; }

bool isStoodInFor(const FifoEnd& writer) {
  Watch watch;
  watch.addDeath(writer, 0);
  std::uint32_t tags[16];
  return watch.wait(tags, 0) == 0;
}

}  // namespace boxoffice::platform
