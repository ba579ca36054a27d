// An event loop that uses a lock as JavaScript does: many waits pending at once, some of them
// cancelled, and holds that last across turns of the loop.
#pragma once

#include <algorithm>
#include <memory>

#include "stress.h"

namespace boxoffice::test {

/// Counts how the loops' waits ended.
struct LoopTally {
  std::atomic<long> in{0};
  std::atomic<long> left{0};
  std::atomic<long> leftAwake{0};
  std::atomic<long> tooLate{0};
};

/// The steps of one visit of a loop to the lock.
template <class Lock>
struct Visit {
  Lock& lock;
  std::function<void(Waiter&, Dice&)> ask;  ///< sets a new waiter's options
  std::function<void(Waiter&)> in;          ///< the waiter was admitted
  std::function<void(Waiter&)> out;         ///< releases the lock
};

template <class Lock>
class EventLoop final : private Wakeup {
 public:
  EventLoop(Visit<Lock> visit, LoopTally& tally, int seed)
      : visit_(std::move(visit)), tally_(tally), dice_(seed) {}
  ~EventLoop() { giveAgentId(id_); }

  void run(int turns) {
    for (int i = 0; i < turns; ++i) turn();
    while (!pending_.empty() || !inside_.empty()) {
      while (!inside_.empty()) letOneOut();
      if (!pending_.empty()) woken_.wait();
      collect();
    }
  }

 private:
  static constexpr std::size_t kMostPending = 8;

  struct Ticket : Waiter {
    using Waiter::Waiter;
    bool cancelled = false;
    bool tooLate = false;
  };

  void send() noexcept override { woken_.signal(); }

  void turn() {
    switch (dice_(8)) {
      case 0:
      case 1:
      case 2:
        if (pending_.size() < kMostPending) begin();
        break;
      case 3:
        if (!pending_.empty()) cancelOne();
        break;
      case 4:
      case 5:
        if (!inside_.empty()) letOneOut();
        break;
      default:
        collect();
    }
    if (pending_.size() == kMostPending && inside_.empty()) {
      woken_.wait();
      collect();
    }
  }

  void begin() {
    auto ticket = std::make_unique<Ticket>(mailbox_, id_);
    ticket->mayOvertake = pending_.empty();
    visit_.ask(*ticket, dice_);
    if (visit_.lock.enter(*ticket)) {
      goIn(std::move(ticket));
    } else {
      pending_.push_back(std::move(ticket));
    }
  }

  void cancelOne() {
    const auto at = pending_.begin() + dice_(static_cast<int>(pending_.size()));
    Ticket& ticket = **at;
    if (ticket.cancelled || ticket.tooLate) return;
    switch (visit_.lock.leave(ticket)) {
      case Leave::left:
        ++tally_.left;
        pending_.erase(at);
        break;
      case Leave::leftAwake:
        ++tally_.leftAwake;
        ticket.cancelled = true;
        break;
      case Leave::admitted:
        ++tally_.tooLate;
        ticket.tooLate = true;
    }
  }

  void collect() {
    mailbox_.collect([this](Waiter& w, Wake how) {
      const auto at = std::find_if(pending_.begin(), pending_.end(),
                                   [&](const auto& ticket) { return ticket.get() == &w; });
      Ticket& ticket = **at;
      if (!ticket.cancelled && !visit_.lock.resume(w, how)) return;
      std::unique_ptr<Ticket> done = std::move(*at);
      pending_.erase(at);
      if (!done->cancelled) goIn(std::move(done));
    });
  }

  void goIn(std::unique_ptr<Ticket> ticket) {
    ++tally_.in;
    visit_.in(*ticket);
    inside_.push_back(std::move(ticket));
  }

  void letOneOut() {
    visit_.out(*inside_.back());
    inside_.pop_back();
  }

  Visit<Lock> visit_;
  LoopTally& tally_;
  Dice dice_;
  const AgentId id_ = takeAgentId();
  LightweightSemaphore woken_;
  Mailbox mailbox_{*this};
  std::vector<std::unique_ptr<Ticket>> pending_;
  std::vector<std::unique_ptr<Ticket>> inside_;
};

}  // namespace boxoffice::test
