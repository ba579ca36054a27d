// The parts of wakeups.h that use system calls of Linux.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

#include "platform/host_error.h"
#include "platform/wakeups.h"

namespace boxoffice::platform {

void send(const FifoEnd& end) noexcept {
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
  const bool gone = write(end.fifo.number(), &byte, 1) < 0 && errno == EPIPE;
  if (gone && sigismember(&pending, SIGPIPE) == 0) {
    const timespec now = {};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Removals::deliver(const std::string& directory, const std::string& bell) noexcept {
  file_ = File(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!file_) return;
  constexpr std::uint32_t kEvents =
      IN_DELETE | IN_DELETE_SELF | IN_MOVED_FROM | IN_MOVE_SELF | IN_ONLYDIR;
  const std::string outer = directory.substr(0, directory.rfind('/'));
  const bool hears = inotify_add_watch(file_.number(), directory.c_str(), kEvents) >= 0 &&
                     inotify_add_watch(file_.number(), outer.c_str(), kEvents) >= 0 &&
                     inotify_add_watch(file_.number(), bell.c_str(), IN_MODIFY) >= 0;
  if (!hears) file_.close();
}

void Removals::drain() noexcept {
  // Room for an event with the longest name.
  char bytes[512];
  while (read(file_.number(), bytes, sizeof bytes) > 0) {
  }
}

// The inner epoll is edge-triggered, so forget() consumes an event although the byte is still there. Event
// loops can poll the epoll descriptor level-triggered.
LoopWakeup::LoopWakeup(const FifoEnd& reader) noexcept : file_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!file_) return;
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLET;
  if (epoll_ctl(file_.number(), EPOLL_CTL_ADD, reader.fifo.number(), &event) != 0) file_.close();
}

void LoopWakeup::forget() noexcept {
  epoll_event event;
  epoll_wait(file_.number(), &event, 1, 0);
}

void randomBytes(void* to, std::size_t count) {
  // Requests of up to 256 bytes are answered whole, or not at all.
  ssize_t got;
  do {
    got = getrandom(to, count, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(count)) {
    host::throwLack("random bytes", std::generic_category().message(errno));
  }
}

}  // namespace boxoffice::platform
