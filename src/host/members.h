// The members file of a directory, mapped: the processes that are members, and their mailboxes (layout.h,
// process_mailbox.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "host/layout.h"
#include "platform/files.h"

namespace boxoffice::host {

class Members {
 public:
  /// Maps the file in this directory; the first process creates it. Throws HostError(segment) when the file
  /// is invalid.
  explicit Members(const std::string& directory);
  ~Members();
  /// Whether there is a members file of boxoffice, of any version, in this open directory.
  static bool areIn(const platform::File& directory);
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  Member& of(ProcessSlot process) const noexcept { return file_->members[process % kProcessSlots]; }
  bool joined(ProcessSlot process) const noexcept { return of(process).state.load() == kJoined; }

  /// Records that the calling process has this process slot, whose lock it holds, with the FIFO of that
  /// inode.
  void join(ProcessSlot process, std::uint64_t fifo) noexcept;
  /// Records that the process slot is free. The caller holds its lock.
  void free(ProcessSlot process) const noexcept;

  /// Whether the file still has its path.
  bool isAt(const std::string& directory) const noexcept;
  /// Whether the file is in that open directory, whatever the directory's path is.
  bool isIn(const platform::File& directory) const noexcept;
  /// Records that files of the directory were removed.
  void setGone() const noexcept { file_->header.gone.store(1); }
  bool isGone() const noexcept { return file_->header.gone.load() != 0; }

  /// Makes every process look at its mailbox, even processes whose FIFO this process cannot open.
  void ring() const noexcept;

  /// Records that this process can no longer open the files it needs. Called on one thread only.
  void setLost(std::string why);
  /// Why this process can no longer open the files, or null.
  const std::string* lost() const noexcept { return lost_.load(); }

  /// Incremented by every join.
  std::uint64_t roster() const noexcept { return file_->header.roster.load(); }

 private:
  platform::File open_;  // from the start: ring() needs it when no file can be opened any more
  MembersFile* file_;
  platform::FileId id_;
  std::string whyLost_;
  std::atomic<const std::string*> lost_{nullptr};
};

}  // namespace boxoffice::host
