// The members file of a directory, mapped: who is there, and their mailboxes (layout.h, process_mailbox.h).
#pragma once

#include <cstdint>
#include <string>

#include "host/layout.h"
#include "platform/files.h"

namespace boxoffice::host {

class Members {
 public:
  /// The file in this directory, made by whoever comes first. HostError(segment) when it is not what it
  /// should be.
  explicit Members(const std::string& directory);
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  Member& of(ProcessSlot process) const noexcept { return file_->members[process % kProcessSlots]; }
  bool joined(ProcessSlot process) const noexcept { return of(process).state.load() == kJoined; }

  /// Writes down that the calling process has this process slot, whose lock it holds, and the FIFO of that number.
  void join(ProcessSlot process, std::uint64_t fifo) noexcept;
  /// That nobody has it; by who holds its lock.
  void free(ProcessSlot process) const noexcept;

  /// Whether the file has its path still.
  bool isAt(const std::string& directory) const noexcept;
  /// Writes down that files of the directory are gone.
  void setGone() const noexcept { file_->header.gone.store(1); }
  bool isGone() const noexcept { return file_->header.gone.load() != 0; }

  /// Grows with every join.
  std::uint64_t roster() const noexcept { return file_->header.roster.load(); }

 private:
  MembersFile* file_;
  platform::FileId id_;
};

/// Microseconds since 1970.
std::uint64_t wallClock() noexcept;

}  // namespace boxoffice::host
