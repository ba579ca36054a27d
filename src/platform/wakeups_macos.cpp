// The parts of wakeups.h that use system calls of macOS.
#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "platform/wakeups.h"

namespace boxoffice::platform {
namespace {

File makeQueue() noexcept {
  File queue(kqueue());
  if (queue) fcntl(queue.number(), F_SETFD, FD_CLOEXEC);
  return queue;
}

/// Reports an event of the file once, until it happens again.
bool report(const File& queue, const File& file, std::int16_t filter,
            std::uint32_t events) noexcept {
  struct kevent wanted;
  EV_SET(&wanted, static_cast<std::uintptr_t>(file.number()), filter, EV_ADD | EV_CLEAR, events, 0,
         nullptr);
  return kevent(queue.number(), &wanted, 1, nullptr, 0, nullptr) == 0;
}

bool takeEvent(const File& queue) noexcept {
  struct kevent event;
  const timespec now = {};
  return kevent(queue.number(), nullptr, 0, &event, 1, &now) > 0;
}

}  // namespace

void send(const FifoEnd& end) noexcept {
  // SIGPIPE would go to the process, not to this thread alone.
  fcntl(end.fifo.number(), F_SETNOSIGPIPE, 1);
  const char byte = 0;
  static_cast<void>(write(end.fifo.number(), &byte, 1));
}

void Removals::deliver(const std::string& directory, const std::string& bell) noexcept {
  file_ = makeQueue();
  if (!file_) return;
  constexpr std::uint32_t kEvents = NOTE_WRITE | NOTE_DELETE | NOTE_RENAME | NOTE_REVOKE;
  const std::string outer = directory.substr(0, directory.rfind('/'));
  const std::string* const paths[] = {&directory, &outer, &bell};
  for (int i = 0; i < 3; ++i) {
    watched_[i] = File(open(paths[i]->c_str(), O_EVTONLY | O_CLOEXEC));
    if (!watched_[i] || !report(file_, watched_[i], EVFILT_VNODE, kEvents)) return close();
  }
}

void Removals::drain() noexcept {
  while (takeEvent(file_)) {
  }
}

// EV_CLEAR makes an event of each byte, so forget() consumes one although the byte is still there. Event
// loops can poll the queue.
LoopWakeup::LoopWakeup(const FifoEnd& reader) noexcept : file_(makeQueue()) {
  if (file_ && !report(file_, reader.fifo, EVFILT_READ, 0)) file_.close();
}

void LoopWakeup::forget() noexcept { takeEvent(file_); }

void randomBytes(void* to, std::size_t count) { arc4random_buf(to, count); }

}  // namespace boxoffice::platform
