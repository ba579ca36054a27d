// The FIFOs of a member: its own, with the lock of its process slot; the writing ends of other members' FIFOs; and
// the FIFO of a dead process for which it stands in while it cleans up. See membership.h.
//
// Files are opened and closed with the fork gate held. So the list of open files is complete when the process forks,
// and the child can close them all. Otherwise the child would keep a lock, or count as a reader.
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

/// The fork gate: held while the process forks.
std::mutex& forkGate();

class Wakeups {
 public:
  /// The tag of this process's own FIFO; no member has this process slot.
  static constexpr std::uint32_t kOwn = kNoProcess;
  /// The tag of removals.
  static constexpr std::uint32_t kRemoval = kProcessSlots;

  explicit Wakeups(std::string directory);
  ~Wakeups() { close(); }
  Wakeups(const Wakeups&) = delete;
  Wakeups& operator=(const Wakeups&) = delete;

  /// Opens the FIFO of a process slot for reading and takes its lock. Returns the identity of the FIFO, or 0 when
  /// another process has the lock. Only one at a time, until keep() or stepDown().
  std::uint64_t standIn(ProcessSlot process);
  /// Takes over the process slot for which this process stands in. Returns false when another process keeps it free.
  bool keep();
  void stepDown() noexcept;

  /// As standIn(), for a process slot that this process watches, with the FIFO that it watches. Needs no descriptor.
  std::uint64_t standInForDead(ProcessSlot process);
  /// When standInForDead() has returned 0: whether watch() reports the death of the process that stands in.
  bool isStoodInFor(ProcessSlot process) const;

  /// Calls `use` if no living process has that process slot with the FIFO of that identity, and keeps others out of
  /// the slot meanwhile. Returns false, without a call, if a living process has it. Other processes may be cleaning
  /// up.
  bool ifDead(ProcessSlot process, std::uint64_t number, const std::function<void()>& use) const;

  /// Makes wait() report the death of that process, even if it is already dead, until unwatch() or forget(). Returns
  /// false when its FIFO, of that identity, is not in its place.
  bool watch(ProcessSlot process, std::uint64_t number);
  /// Stops watching until the next watch(), but keeps the FIFO open.
  void unwatch(ProcessSlot process) noexcept;
  void forget(ProcessSlot process) noexcept;

  /// Whether the FIFO of that process slot and identity is in its place.
  bool isThere(ProcessSlot process, std::uint64_t number) const;

  /// Reports files that are removed from the directory, and bytes that are written into the bell.
  void watchDirectory(const std::string& bell);
  void drainRemovals() noexcept { removals_.drain(); }

  enum class Sent {
    yes,
    notYet,  ///< for want of a descriptor or memory
    never    ///< the FIFO cannot be opened
  };
  /// Writes a byte into the FIFO of that process slot.
  Sent send(ProcessSlot process) noexcept;
  void sendOwn() noexcept;
  void drain() noexcept { platform::drain(own_); }
  /// A LoopWakeup on this process's own FIFO.
  platform::LoopWakeup loopWakeup() const noexcept { return platform::LoopWakeup(own_); }

  /// Waits for a byte in this process's own FIFO (kOwn), a death (its process slot) or a removal, at most `atMost`
  /// ms. -1 means for ever.
  unsigned wait(std::uint32_t (&tags)[16], int atMost) noexcept {
    return watch_.wait(tags, atMost);
  }

  void close() noexcept;
  /// As close(), for a caller that holds the fork gate.
  void closeHere() noexcept;

 private:
  std::string pathOf(ProcessSlot process) const;

  const std::string directory_;
  std::uint64_t device_ = 0;
  platform::Watch watch_;
  platform::FifoEnd own_;
  platform::FifoEnd standIn_;
  /// Without a descriptor for standIn_: the writing end that has the lock.
  const platform::FifoEnd* lockedWriter_ = nullptr;
  std::array<platform::FifoEnd, kProcessSlots> writers_;
  std::array<bool, kProcessSlots> isWatched_{};
  platform::Removals removals_;
};

}  // namespace boxoffice::host
