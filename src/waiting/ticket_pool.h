// The waiters of one event loop, by number. A ticket is an index. Finding its waiter, taking a ticket and giving
// it back each cost a few instructions and no allocation, once the pool has grown to the longest queue it has
// seen. Only the loop's own thread uses the pool. A waiter stays in place as long as its ticket is out.
//
//   chunks_   [w0 w1 ... w255] [w256 ...]       free_  a stack of tickets
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "platform/misuse.h"
#include "waiting/waiter.h"

namespace boxoffice {

using Ticket = std::uint32_t;

class TicketPool {
 public:
  /// Returns the ticket of a fresh waiter. If it throws std::bad_alloc, nothing has changed.
  Ticket take() {
    if (free_.empty()) grow();
    const Ticket ticket = free_.back();
    free_.pop_back();
    waiter(ticket).ticket = ticket;
    ++out_;
    return ticket;
  }

  /// Gives a ticket back. Its waiter must be in no queue, with no wake on its way. Throws Misuse(badArgument)
  /// for a ticket that is not out, or whose waiter is in a queue.
  void give(Ticket ticket) {
    Waiter& w = waiter(ticket);
    if (w.ticket != ticket || w.fifo) {
      throwMisuse(Fault::badArgument, "this ticket is not out, or its waiter is still queued");
    }
    std::destroy_at(&w);
    std::construct_at(&w);
    free_.push_back(ticket);  // has room: grow reserved it
    --out_;
  }

  [[gnu::always_inline]] Waiter& waiter(Ticket ticket) {
    if (ticket >= chunks_.size() * kChunk) {
      throwMisuse(Fault::badArgument, "no such ticket");
    }
    return (*chunks_[ticket / kChunk])[ticket % kChunk];
  }

  /// The number of tickets that are out.
  std::size_t out() const noexcept { return out_; }

 private:
  static constexpr Ticket kChunk = 256;
  using Chunk = std::array<Waiter, kChunk>;

  void grow() {
    const auto first = static_cast<Ticket>(chunks_.size() * kChunk);
    free_.reserve(first + kChunk);
    chunks_.push_back(std::make_unique<Chunk>());
    // Put the lowest ticket on top, so that a short queue uses few cache lines.
    for (Ticket i = kChunk; i > 0; --i) free_.push_back(first + i - 1);
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Ticket> free_;
  std::size_t out_ = 0;
};

}  // namespace boxoffice
