// What scope host needs of the system, second part: FIFOs with locks on them, a way to wait for several of
// them, and a hook for forks. Errors as in files.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/files.h"

namespace boxoffice::platform {

/// Opens the reading end of the FIFO, made if it is missing. Also for writing, so that it never reads end
/// of file.
File openFifo(const std::string& path);
/// Opens a writing end, on which the reader's death can be polled. None when there is no reader.
File openWriter(const std::string& path);
/// As openFifo, for the FIFO of this writing end, which may have no path any more.
File openFifoOf(const File& writer);

// A FIFO has two locks. They belong to an open file and go with its last descriptor. A process that stands
// in for a process slot holds the first lock; a member holds both.

/// Takes the first lock. False when another open file has it.
bool tryLock(const File& fifo) noexcept;
/// Takes the second lock. False when another open file has it, or keeps it free.
bool tryLive(const File& fifo) noexcept;
/// Keeps the second lock free; several open files may. False when a member lives there.
bool tryKeepFree(const File& fifo) noexcept;

/// Writes a byte, if there is room. Raises no signal when the reader is gone.
void send(const File& writer) noexcept;
/// Reads everything that is there.
void drain(const File& fifo) noexcept;

/// Waits for several files at once. Level-triggered: an event that is not handled is reported again.
class Watch {
 public:
  Watch();
  /// Reports `tag` when the file has something to read, or its reader has gone.
  void add(const File& file, std::uint32_t tag);
  /// Call this before closing the file: a child that is being forked may still have it open.
  void remove(const File& file) noexcept;
  /// Waits for an event, at most `atMost` ms (-1: for ever). Returns the number of tags; 0 after a timeout
  /// or a signal.
  unsigned wait(std::uint32_t (&tags)[16], int atMost) noexcept;
  void close() noexcept { file_.close(); }

 private:
  File file_;
};

/// Reports when files of a directory are removed or renamed, and when the directory itself is.
class Removals {
 public:
  /// Watches the directory of this path and its parent. Reports nothing when the system is out of resources.
  void deliver(const std::string& directory) noexcept;
  const File& file() const noexcept { return file_; }
  /// Reads everything that is there.
  void drain() noexcept;
  void close() noexcept { file_.close(); }

 private:
  File file_;
};

/// Polls a FIFO beside its owner, and leaves the bytes in it.
class LoopWakeup {
 public:
  /// Reports nothing when the system is out of resources.
  explicit LoopWakeup(const File& fifo) noexcept;
  explicit operator bool() const noexcept { return static_cast<bool>(file_); }

  /// A descriptor that is readable from the arrival of a byte until forget().
  int number() const noexcept { return file_.number(); }
  void forget() noexcept;

 private:
  File file_;
};

// ---- the rest ----

std::uint32_t pid() noexcept;
void randomBytes(void* to, std::size_t count);
/// Has these called around every fork: before it, after it in the parent, and in the child. Call once per
/// process.
void aroundForks(void (*before)(), void (*inParent)(), void (*inChild)());

}  // namespace boxoffice::platform
