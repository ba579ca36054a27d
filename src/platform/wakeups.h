// What scope host needs of the system, second part: FIFOs with locks on them, a way to wait for several
// of them, and word of forks. As for files.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/files.h"

namespace boxoffice::platform {

/// The FIFO's own end, made if it is missing: for reading and, so that it never ends, for writing.
File openFifo(const std::string& path);
/// An end to write to, and to hear of its reader's death. None when nobody reads.
File openWriter(const std::string& path);
/// The FIFO that this writing end belongs to, opened as openBell does: it may have no path any more.
File openFifoOf(const File& writer);

// A FIFO has two locks, which belong to open files and go with the last descriptor of one: a process stands in for
// the process slot with the first, and lives in it with both.

/// Takes the first lock. False when another open file has it.
bool tryLock(const File& fifo) noexcept;
/// Takes the second. False when another open file has it, or keeps it free.
bool tryLive(const File& fifo) noexcept;
/// Keeps the second free, beside others that do. False when a process lives there.
bool tryKeepFree(const File& fifo) noexcept;

/// Writes a byte, if there is room. No signal, should the reader be gone.
void send(const File& writer) noexcept;
/// Reads all there is.
void drain(const File& fifo) noexcept;

/// Waits for several files at once. Level by level: what is not dealt with is told again.
class Watch {
 public:
  Watch();
  /// Tells `tag` when there is something to read in it, or its reader has gone.
  void add(const File& file, std::uint32_t tag);
  /// Before it is closed: a child in the making may have it open still.
  void remove(const File& file) noexcept;
  /// Waits until there is something about one, for so many ms (-1: for ever); how many tags it has told. None
  /// when the time is over, or a signal came.
  unsigned wait(std::uint32_t (&tags)[16], int atMost) noexcept;
  void close() noexcept { file_.close(); }

 private:
  File file_;
};

/// Hears that files are removed from a directory, or get another name, and when it is removed itself.
class Removals {
 public:
  /// In the directory of this path, and the directory that it lies in. Deaf when the system has nothing
  /// left for it.
  void deliver(const std::string& directory) noexcept;
  const File& file() const noexcept { return file_; }
  /// Reads all there is.
  void drain() noexcept;
  void close() noexcept { file_.close(); }

 private:
  File file_;
};

/// Hears, beside its owner, that something has come into a wake-up, and leaves it there.
class LoopWakeup {
 public:
  /// Deaf when the system has nothing left for it.
  explicit LoopWakeup(const File& fifo) noexcept;
  explicit operator bool() const noexcept { return static_cast<bool>(file_); }

  /// There is something to read in it from the time something has come until forget().
  int number() const noexcept { return file_.number(); }
  void forget() noexcept;

 private:
  File file_;
};

// ---- the rest ----

std::uint32_t pid() noexcept;
void randomBytes(void* to, std::size_t count);
/// Has these called around every fork: before, in the parent after, in the child. Once per process.
void aroundForks(void (*before)(), void (*inParent)(), void (*inChild)());

}  // namespace boxoffice::platform
