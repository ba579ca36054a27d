// The FIFOs of a member: its own, with the lock of its seat on it; the far ends of the others'; and one in
// which it stands in for somebody dead while it cleans up. See house.h.
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
#include "platform/bells.h"
#include "platform/files.h"

namespace boxoffice::host {

/// Held while the process forks.
std::mutex& forkGate();

class Bells {
 public:
  /// The tag of the own bell: nobody's seat.
  static constexpr std::uint32_t kOwn = kNoSeat;
  /// That of removals.
  static constexpr std::uint32_t kRemoval = kSeats;

  explicit Bells(std::string directory);
  ~Bells() { close(); }
  Bells(const Bells&) = delete;
  Bells& operator=(const Bells&) = delete;

  /// Opens the FIFO of a seat for reading and takes its lock: the number of that FIFO. 0 when somebody
  /// else has it. One at a time; until keep() or stepDown().
  std::uint64_t standIn(Seat seat);
  /// The seat that we stand in for is ours. False when another process keeps it free just now.
  bool keep();
  void stepDown() noexcept;

  /// The same for a seat that we watch, in the very FIFO that we watch.
  std::uint64_t standInForDead(Seat seat);

  /// Calls `use` if no process lives in that seat, with the FIFO of that number, and keeps others out of it
  /// meanwhile. False, without a call, if one lives there. Other processes may be cleaning up.
  bool ifDead(Seat seat, std::uint64_t number, const std::function<void()>& use) const;

  /// Hears of the death of that seat's process, be it dead already, until rest() or forget(). False when its
  /// FIFO, of that number, is not in its place.
  bool watch(Seat seat, std::uint64_t number);
  /// Does not hear of it any more, until watch().
  void rest(Seat seat) noexcept;
  void forget(Seat seat) noexcept;

  /// Whether the FIFO of that seat, of that number, is in its place.
  bool isThere(Seat seat, std::uint64_t number) const;

  /// Hears of files that are removed from the directory.
  void watchDirectory();
  void drainRemovals() noexcept { removals_.drain(); }

  /// Writes a byte into the FIFO of that seat. False when it cannot be opened.
  bool pull(Seat seat) noexcept;
  void pullOwn() noexcept;
  void drain() noexcept { platform::drain(own_); }
  /// One more ear for our own.
  platform::Ear ear() const noexcept { return platform::Ear(own_); }

  /// Waits for a byte in our own FIFO (kOwn), a death (the seat) or a removal, for so many ms; -1: for ever.
  unsigned wait(std::uint32_t (&tags)[16], int atMost) noexcept {
    return watch_.wait(tags, atMost);
  }

  void close() noexcept;
  /// In the child of a fork, which has the gate.
  void closeHere() noexcept;

 private:
  std::string pathOf(Seat seat) const;

  const std::string directory_;
  std::uint64_t device_ = 0;
  platform::Watch watch_;
  platform::File own_;
  platform::File standIn_;
  std::array<platform::File, kSeats> farEnds_;
  std::array<bool, kSeats> isWatched_{};
  platform::Removals removals_;
};

}  // namespace boxoffice::host
