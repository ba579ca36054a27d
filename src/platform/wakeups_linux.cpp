#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

#include "platform/posix_files.h"
#include "platform/wakeups.h"

namespace boxoffice::platform {

File openFifo(const std::string& path) {
  const bool isNew = mkfifo(path.c_str(), 0600) == 0;
  if (!isNew && errno != EEXIST) refused(path, "made");
  // The umask may have removed permissions of the owner.
  if (isNew && chmod(path.c_str(), 0600) != 0) refused(path, "made");
  File fifo(open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!fifo) refused(path, "opened");
  const struct stat facts = statOf(fifo, path);
  if (!S_ISFIFO(facts.st_mode))
    fail(path, "is not a FIFO; remove it while no process uses the directory");
  checkOwner(facts, S_IRWXG | S_IRWXO, path);
  return fifo;
}

File openWriter(const std::string& path) {
  File end(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!end && errno != ENXIO && errno != ENOENT) refused(path, "opened");
  return end;
}

File openFifoOf(const File& writer) {
  const std::string path = pathOf(writer);
  File fifo(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fifo) refused(path, "opened");
  return fifo;
}

namespace {

bool tryRange(const File& fifo, short type, off_t start, off_t length) noexcept {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return fcntl(fifo.number(), F_OFD_SETLK, &lock) == 0;
}

}  // namespace

bool tryLock(const File& fifo) noexcept { return tryRange(fifo, F_WRLCK, 0, 1); }
bool tryLive(const File& fifo) noexcept { return tryRange(fifo, F_WRLCK, 1, 0); }
bool tryKeepFree(const File& fifo) noexcept { return tryRange(fifo, F_RDLCK, 1, 0); }

void send(const File& writer) noexcept {
  // A FIFO has no MSG_NOSIGNAL. SIGPIPE goes to the writing thread: block it, and consume it unless one was
  // pending before.
  sigset_t pipe;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  sigpending(&pending);
  const char byte = 0;
  const bool gone = write(writer.number(), &byte, 1) < 0 && errno == EPIPE;
  if (gone && sigismember(&pending, SIGPIPE) == 0) {
    const timespec now = {};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void drain(const File& fifo) noexcept {
  char bytes[256];
  while (read(fifo.number(), bytes, sizeof bytes) == sizeof bytes) {
  }
}

Watch::Watch() : file_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!file_) throw std::system_error(errno, std::generic_category(), "epoll_create1");
}

void Watch::add(const File& file, std::uint32_t tag) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u32 = tag;
  if (epoll_ctl(file_.number(), EPOLL_CTL_ADD, file.number(), &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

void Watch::remove(const File& file) noexcept {
  epoll_ctl(file_.number(), EPOLL_CTL_DEL, file.number(), nullptr);
}

void Removals::deliver(const std::string& directory) noexcept {
  file_ = File(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!file_) return;
  constexpr std::uint32_t kEvents =
      IN_DELETE | IN_DELETE_SELF | IN_MOVED_FROM | IN_MOVE_SELF | IN_ONLYDIR;
  const std::string outer = directory.substr(0, directory.rfind('/'));
  const bool hears = inotify_add_watch(file_.number(), directory.c_str(), kEvents) >= 0 &&
                     inotify_add_watch(file_.number(), outer.c_str(), kEvents) >= 0;
  if (!hears) file_.close();
}

void Removals::drain() noexcept {
  // Room for an event with the longest name.
  char bytes[512];
  while (read(file_.number(), bytes, sizeof bytes) > 0) {
  }
}

unsigned Watch::wait(std::uint32_t (&tags)[16], int atMost) noexcept {
  epoll_event events[16];
  const int count = epoll_wait(file_.number(), events, 16, atMost);
  for (int i = 0; i < count; ++i) tags[i] = events[i].data.u32;
  return count < 0 ? 0 : static_cast<unsigned>(count);
}

// The inner epoll is edge-triggered, so forget() consumes an event although the byte is still there. Event
// loops can poll the epoll descriptor level-triggered.
LoopWakeup::LoopWakeup(const File& fifo) noexcept : file_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!file_) return;
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLET;
  if (epoll_ctl(file_.number(), EPOLL_CTL_ADD, fifo.number(), &event) != 0) file_.close();
}

void LoopWakeup::forget() noexcept {
  epoll_event event;
  epoll_wait(file_.number(), &event, 1, 0);
}

std::uint32_t pid() noexcept { return static_cast<std::uint32_t>(getpid()); }

void randomBytes(void* to, std::size_t count) {
  // Requests of up to 256 bytes are answered whole, or not at all.
  ssize_t got;
  do {
    got = getrandom(to, count, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(count)) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

void aroundForks(void (*before)(), void (*inParent)(), void (*inChild)()) {
  const int error = pthread_atfork(before, inParent, inChild);
  if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_atfork");
}

}  // namespace boxoffice::platform
