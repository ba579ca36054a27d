// The parts of wakeups.h that are the same on all POSIX systems.
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "platform/host_error.h"
#include "platform/posix_files.h"
#include "platform/wakeups.h"

namespace boxoffice::platform {

File makeFifo(const std::string& path) {
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

File openIfThere(const std::string& path, int mode) {
  File end(open(path.c_str(), mode | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!end && errno != ENXIO && errno != ENOENT) refused(path, "opened");
  return end;
}

FifoEnd& FifoEnd::operator=(FifoEnd&& other) noexcept {
  close();
  fifo = std::move(other.fifo);
  life = std::move(other.life);
  for (int i = 0; i < 2; ++i) extra[i] = std::move(other.extra[i]);
  borrows = std::exchange(other.borrows, false);
  return *this;
}

void FifoEnd::close() noexcept {
  if (borrows) {
    for (const File& lock : extra) flock(lock.number(), LOCK_UN);
  }
  abandon();
}

void FifoEnd::abandon() noexcept {
  fifo.close();
  life.close();
  for (File& lock : extra) lock.close();
  borrows = false;
}

void drain(const FifoEnd& reader) noexcept {
  char bytes[256];
  while (read(reader.fifo.number(), bytes, sizeof bytes) == sizeof bytes) {
  }
}

void Removals::close() noexcept {
  file_.close();
  for (File& each : watched_) each.close();
}

std::uint32_t pid() noexcept { return static_cast<std::uint32_t>(getpid()); }

void aroundForks(void (*before)(), void (*inParent)(), void (*inChild)()) {
  const int error = pthread_atfork(before, inParent, inChild);
  if (error != 0) host::throwLack("fork handler", std::generic_category().message(error));
}

}  // namespace boxoffice::platform
