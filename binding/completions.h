// What has happened to the tickets of an event loop, until JavaScript has read it. It does so from an Int32Array:
//
//   [0, kMost)          completions: a ticket, and in the low two bits what has happened to it
//   [kMost]             a number that it finds there without a call of its own (post)
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tickets.h"

namespace boxoffice::binding {

class Completions {
 public:
  enum What : std::int32_t { kAdmitted, kAdmittedAbandoned, kInvited };
  static constexpr std::int32_t kMost = 1024;
  static constexpr std::int32_t kSize = kMost + 1;

  explicit Completions(Tickets& tickets) : tickets_(tickets) {}

  /// Where JavaScript reads: room for kSize.
  void attach(std::int32_t* buffer) noexcept { buffer_ = buffer; }

  bool isEmpty() const noexcept { return !first_; }
  void append(Waiter& w) noexcept;
  /// The first one, which is not for JavaScript any more; null where there is none.
  Waiter* takeFirst() noexcept { return first_ ? std::exchange(first_, first_->posted) : nullptr; }
  /// Writes and forgets them: how many, at most kMost.
  std::int32_t write();

  /// The waiters that leave a queue all at once, in batches like these: `ticket << 1 | invited`. Room for them is made
  /// first: while they leave nothing may throw.
  void expectLeavers() { leavers_.reserve(tickets_.inUse()); }
  void noteLeaver(Waiter& w, Leave how) noexcept;
  std::int32_t writeLeavers();

  void post(std::int32_t state) noexcept { buffer_[kMost] = state; }

 private:
  Tickets& tickets_;
  std::int32_t* buffer_ = nullptr;
  // Linked by `posted`, which their mailbox is done with.
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  std::vector<std::int32_t> leavers_;
  std::size_t leaversWritten_ = 0;
};

}  // namespace boxoffice::binding
