// Holds the events of an event loop's tickets until JavaScript reads them from an Int32Array:
//
//   [0, kMost)          completions: a ticket, and an event (What) in the low kWhatBits
//   [kMost]             a number that JavaScript reads without a call (post)
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tickets.h"

namespace boxoffice::binding {

class Completions {
 public:
  enum What : std::int32_t { kAdmitted, kAdmittedAbandoned, kInvited };
  static constexpr int kWhatBits = 2;
  /// A waiter that has left its queue: its ticket is in the bits above kLeaverBits, and kInvitedLeaver says whether an
  /// invitation is on its way.
  static constexpr int kLeaverBits = 1;
  static constexpr std::int32_t kInvitedLeaver = 1;
  static constexpr std::int32_t kMost = 1024;
  static constexpr std::int32_t kSize = kMost + 1;

  explicit Completions(Tickets& tickets) : tickets_(tickets) {}

  /// Sets the memory that JavaScript reads: kSize numbers.
  void attach(std::int32_t* buffer) noexcept { buffer_ = buffer; }

  bool isEmpty() const noexcept { return !first_; }
  void append(Waiter& w) noexcept;
  /// Removes the first completion, which JavaScript then does not get; null if there is none.
  Waiter* takeFirst() noexcept { return first_ ? std::exchange(first_, first_->posted) : nullptr; }
  /// Writes and forgets completions, at most kMost. Returns their number.
  std::int32_t write();

  /// Reserves memory for waiters that leave a queue together, because nothing may throw while they leave.
  void expectLeavers() { leavers_.reserve(tickets_.inUse()); }
  void noteLeaver(Waiter& w, Leave how) noexcept;
  std::int32_t writeLeavers();

  void post(std::int32_t state) noexcept { buffer_[kMost] = state; }

 private:
  Tickets& tickets_;
  std::int32_t* buffer_ = nullptr;
  // The completions, linked by `posted`, which their mailbox no longer uses.
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  std::vector<std::int32_t> leavers_;
  std::size_t leaversWritten_ = 0;
};

}  // namespace boxoffice::binding
