// The FIFOs of a member: its own, with the lock of its process slot on it; the writing end of the others'; and one in
// which it stands in for somebody dead while it cleans up. See membership.h.
//
// All are opened and closed with the gate of forks shut, so that whatever is open when the process forks
// is known here, and the child, which would keep a lock or pass for a reader, closes it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "host/layout.h"
#include "platform/files.h"
#include "platform/wakeups.h"

namespace boxoffice::host {

/// Held while the process forks.
std::mutex& forkGate();

class Wakeups {
 public:
  /// The tag of the own wake-up: nobody's process slot.
  static constexpr std::uint32_t kOwn = kNoProcess;
  /// That of removals.
  static constexpr std::uint32_t kRemoval = kProcessSlots;

  explicit Wakeups(std::string directory);
  ~Wakeups() { close(); }
  Wakeups(const Wakeups&) = delete;
  Wakeups& operator=(const Wakeups&) = delete;

  /// Opens the FIFO of a process slot for reading and takes its lock: the number of that FIFO. 0 when somebody
  /// else has it. One at a time; until keep() or stepDown().
  std::uint64_t standIn(ProcessSlot process);
  /// The process slot that we stand in for is ours. False when another process keeps it free just now.
  bool keep();
  void stepDown() noexcept;

  /// The same for a process slot that we watch, in the very FIFO that we watch.
  std::uint64_t standInForDead(ProcessSlot process);

  /// Calls `use` if no process lives in that process slot, with the FIFO of that number, and keeps others out of it
  /// meanwhile. False, without a call, if one lives there. Other processes may be cleaning up.
  bool ifDead(ProcessSlot process, std::uint64_t number, const std::function<void()>& use) const;

  /// Hears of the death of that process slot's process, be it dead already, until rest() or forget(). False when its
  /// FIFO, of that number, is not in its place.
  bool watch(ProcessSlot process, std::uint64_t number);
  /// Does not hear of it any more, until watch().
  void rest(ProcessSlot process) noexcept;
  void forget(ProcessSlot process) noexcept;

  /// Whether the FIFO of that process slot, of that number, is in its place.
  bool isThere(ProcessSlot process, std::uint64_t number) const;

  /// Hears of files that are removed from the directory.
  void watchDirectory();
  void drainRemovals() noexcept { removals_.drain(); }

  /// Writes a byte into the FIFO of that process slot. False when it cannot be opened.
  bool send(ProcessSlot process) noexcept;
  void sendOwn() noexcept;
  void drain() noexcept { platform::drain(own_); }
  /// One more loop wake-up for our own.
  platform::LoopWakeup loopWakeup() const noexcept { return platform::LoopWakeup(own_); }

  /// Waits for a byte in our own FIFO (kOwn), a death (the process slot) or a removal, for so many ms; -1: for ever.
  unsigned wait(std::uint32_t (&tags)[16], int atMost) noexcept {
    return watch_.wait(tags, atMost);
  }

  void close() noexcept;
  /// In the child of a fork, which has the gate.
  void closeHere() noexcept;

 private:
  std::string pathOf(ProcessSlot process) const;

  const std::string directory_;
  std::uint64_t device_ = 0;
  platform::Watch watch_;
  platform::File own_;
  platform::File standIn_;
  std::array<platform::File, kProcessSlots> writers_;
  std::array<bool, kProcessSlots> isWatched_{};
  platform::Removals removals_;
};

}  // namespace boxoffice::host
