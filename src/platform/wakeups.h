// The system calls of scope host, part 2: FIFOs with locks, a way to wait for several of them, and a
// hook for forks. Errors as in files.h.
//
// There are three implementations of FIFOs and Watch:
//   wakeups_epoll.cpp    for Linux, where a FIFO can be locked and reports that its reader has gone.
//   wakeups_select.cpp   for macOS, where it does neither: three files beside the FIFO do. Linux can use it,
//                        too (BOXOFFICE_PORTABLE), so that it is tested.
//   wakeups_windows.cpp  for Windows, where a file with locks and named events stand for the FIFO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "platform/files.h"

namespace boxoffice::platform {

/// One end of the FIFO of a process slot. What is in the files besides `fifo` differs: see the implementations.
struct FifoEnd {
  FifoEnd() = default;
  FifoEnd(FifoEnd&& other) = default;
  FifoEnd& operator=(FifoEnd&& other) noexcept;
  ~FifoEnd() { close(); }

  explicit operator bool() const noexcept { return static_cast<bool>(fifo); }
  /// Closes the files and releases the locks.
  void close() noexcept;
  /// Closes the files in the child of a fork. The locks are the parent's.
  void abandon() noexcept;

  File fifo;
  File life;  ///< on a writing end, what reports the reader's death
  File extra[2];
  bool borrows =
      false;  ///< shares the open files of the locks with a writing end, which stays open
};

/// Opens the reading end of the FIFO, and makes the FIFO if it is missing. Opens it for writing, too, so that it
/// never reads end of file.
FifoEnd openFifo(const std::string& path);
/// Opens a writing end, on which the reader's death can be watched. Returns none when there is no reader.
FifoEnd openWriter(const std::string& path);
/// Whether this writing end reports a death that has been handled, and another process may be the reader by now. Only
/// possible in wakeups_windows.cpp, which watches a process and not a FIFO.
bool isOver(const FifoEnd& writer) noexcept;
/// Like openFifo, for the FIFO of this writing end, even if its path was removed.
FifoEnd openFifoOf(const FifoEnd& writer, const std::string& path);

/// Identifies the FIFO, with the files beside it.
FileId idOf(const FifoEnd& end, const std::string& path);
/// Whether all of them still have their paths. Also true when the system refuses the check.
bool isFifoAt(const std::string& path, const FileId& id) noexcept;

// A FIFO has two locks. They belong to an open file and go with its last descriptor. A process that stands
// in for a process slot holds the first lock; a member holds both.

/// Takes the first lock. Returns false when another open file has it.
bool tryLock(const FifoEnd& end) noexcept;
/// Releases the first lock.
void unlock(const FifoEnd& end) noexcept;
/// Takes the second lock, which makes this process the member. Returns false when another open file has it, or keeps
/// it free.
bool tryLive(FifoEnd& end);
/// Keeps the second lock free; several open files may do so. Returns false when a living member holds it.
bool tryKeepFree(const FifoEnd& end) noexcept;

/// Writes a byte, if there is room. Raises no signal when the reader is gone.
void send(const FifoEnd& end) noexcept;
/// Reads and drops all pending data.
void drain(const FifoEnd& reader) noexcept;

/// Waits for several files at once. Level-triggered: an event that is not handled is reported again. Used by one
/// thread at a time.
class Watch {
 public:
  Watch();
  /// Reports `tag` when the file has something to read.
  void add(const File& file, std::uint32_t tag);
  /// Reports `tag` when this reading end has something to read.
  void addReader(const FifoEnd& reader, std::uint32_t tag);
  /// Reports `tag` when the reader of this writing end has gone.
  void addDeath(const FifoEnd& writer, std::uint32_t tag);
  /// Call this before closing the file, because a child that is being forked may still have it open.
  void remove(const File& file) noexcept;
  void removeDeath(const FifoEnd& writer) noexcept;
  /// Waits for an event, at most `atMost` ms, or for ever if that is -1. Returns the number of tags, or 0 after a
  /// timeout or a signal.
  unsigned wait(std::uint32_t (&tags)[16], int atMost) noexcept;
  void close() noexcept;

 private:
  File file_;                             // of wakeups_epoll.cpp
  std::shared_ptr<struct Watched> list_;  // of the others
};

/// Whether another process has the FIFO open in the reader's place, so that the reader's death is not reported at
/// present. Call it when that process has the first lock. False in wakeups_select.cpp once the FIFO's path was
/// removed, and always false in wakeups_windows.cpp.
bool isStoodInFor(const FifoEnd& writer);

/// Reports when files of a directory are removed or renamed, when the directory itself is, and when a byte is written
/// into one of its files, the bell.
class Removals {
 public:
  /// Watches the directory of this path, its parent and the file. Reports nothing when the system is out of resources.
  void deliver(const std::string& directory, const std::string& bell) noexcept;
  const File& file() const noexcept { return file_; }
  /// Reads and drops all pending data.
  void drain() noexcept;
  void close() noexcept;

 private:
  File file_;
  File watched_[3];  // of macOS, which watches open files
};

/// Polls a FIFO beside its owner, and leaves the bytes in it.
class LoopWakeup {
 public:
  /// Reports nothing when the system is out of resources.
  explicit LoopWakeup(const FifoEnd& reader) noexcept;
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
/// Registers functions for every fork: before it, after it in the parent, and in the child. Call once per
/// process.
void aroundForks(void (*before)(), void (*inParent)(), void (*inChild)());

}  // namespace boxoffice::platform
