// FIFOs that can be locked, and epoll.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "platform/posix_files.h"
#include "platform/wakeups.h"

namespace boxoffice::platform {
namespace {

bool tryRange(const File& fifo, short type, off_t start, off_t length) noexcept {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return fcntl(fifo.number(), F_OFD_SETLK, &lock) == 0;
}

[[noreturn]] void lack(const char* what) {
  host::throwLack(what, std::generic_category().message(errno));
}

}  // namespace

FifoEnd openFifo(const std::string& path) {
  FifoEnd end;
  end.fifo = makeFifo(path);
  return end;
}

FifoEnd openWriter(const std::string& path) {
  FifoEnd end;
  end.fifo = openIfThere(path, O_WRONLY);
  return end;
}

FifoEnd openFifoOf(const FifoEnd& writer, const std::string& path) {
  const std::string link = "/proc/self/fd/" + std::to_string(writer.fifo.number());
  FifoEnd end;
  end.fifo = File(open(link.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!end) refused(path, "opened");
  return end;
}

FileId idOf(const FifoEnd& end, const std::string& path) { return idOf(end.fifo, path); }

bool isFifoAt(const std::string& path, const FileId& id) noexcept { return isAt(path, id); }

bool tryLock(const FifoEnd& end) noexcept { return tryRange(end.fifo, F_WRLCK, 0, 1); }
void unlock(const FifoEnd& end) noexcept { tryRange(end.fifo, F_UNLCK, 0, 1); }
bool tryLive(FifoEnd& end) { return tryRange(end.fifo, F_WRLCK, 1, 0); }
bool tryKeepFree(const FifoEnd& end) noexcept { return tryRange(end.fifo, F_RDLCK, 1, 0); }

Watch::Watch() : file_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!file_) lack("epoll instance");
}

void Watch::add(const File& file, std::uint32_t tag) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u32 = tag;
  if (epoll_ctl(file_.number(), EPOLL_CTL_ADD, file.number(), &event) != 0) {
    lack("room in an epoll instance");
  }
}

void Watch::remove(const File& file) noexcept {
  epoll_ctl(file_.number(), EPOLL_CTL_DEL, file.number(), nullptr);
}

void Watch::addReader(const FifoEnd& reader, std::uint32_t tag) { add(reader.fifo, tag); }
void Watch::addDeath(const FifoEnd& writer, std::uint32_t tag) { add(writer.fifo, tag); }
void Watch::removeDeath(const FifoEnd& writer) noexcept { remove(writer.fifo); }

void Watch::close() noexcept { file_.close(); }

unsigned Watch::wait(std::uint32_t (&tags)[16], int atMost) noexcept {
  epoll_event events[16];
  const int count = epoll_wait(file_.number(), events, 16, atMost);
  for (int i = 0; i < count; ++i) tags[i] = events[i].data.u32;
  return count < 0 ? 0 : static_cast<unsigned>(count);
}

bool isOver(const FifoEnd&) noexcept { return false; }

bool isStoodInFor(const FifoEnd& writer) {
  pollfd file = {};
  file.fd = writer.fifo.number();
  return poll(&file, 1, 0) == 0;
}

}  // namespace boxoffice::platform
