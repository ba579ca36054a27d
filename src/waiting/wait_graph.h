// Who waits for whom, among locks that are to tell of deadlocks: what lib/diagnostics knows of the chains of
// calls in each environment, put together for the process.
//
// A wait is one acquire that stands in the queue. A hold is one grant whose holder cannot go on: it depends on
// waits, and goes on when any of them ends. Holds of those who are doing something are not here at all.
//
//   wait ──blocked by──▶ hold ──depends on──▶ wait ──▶ ...
//
//   a hold is stuck    when each wait that it depends on is stuck; an agent that blocks in a wait has all of
//                      its holds depend on that wait alone
//   a wait is stuck    for itself alone or for writing: when one hold of its lock is stuck
//                      for reading: when one that writes is, or one that reads, if a writer is ahead in the queue
//                      of a semaphore: when what its stuck holds leave is less than it wants
//
// The greatest set for which this is true is in a deadlock, or behind one; whoever closes a cycle of it is
// refused, so that none stays.
//
// 1. A wait ends here before anybody who waits behind it may be told so, and a hold ends here before its lock
//    does. So what is here is still true, or is about a wait that has been granted its lock and has not heard
//    of it: no stuck hold is in its way then, since the lock was let go of and the hold had ended before.
// 2. A new hold is in nobody's way at first, and becomes stuck by a later call of depend() or block() only.
//    A cycle is therefore there from one such call on, and that call looks for it.
//
// All under one mutex: this is for those who look for a mistake, and who wait anyway.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "waiting/agent.h"

namespace boxoffice {

class WaitGraph {
 public:
  /// A lock that threads share is the address of its word. Others have a number of their own, below 0.
  using Lock = std::int64_t;
  /// Of a wait or a hold; never 0, and never used again.
  using Id = std::uint64_t;
  /// Calls to now() are in order.
  using Moment = std::uint64_t;

  /// What is wanted: one of these, or how much of a semaphore.
  static constexpr std::int64_t kExclusive = 0;
  static constexpr std::int64_t kShared = -1;

  /// Of a wait whose place in the queue does not follow from when it asked.
  static constexpr Moment kUnknown = 0;

  struct Claim {
    Lock lock = 0;
    std::int64_t want = kExclusive;
    std::int64_t capacity = 0;  ///< of a semaphore; 0: others put back what they have not taken
    AgentId agent = kNobody;
    Moment since = kUnknown;  ///< when it asked, or began to hold
    std::string label;        ///< given back in a cycle
  };

  /// One who waits, and what it holds that the one before it waits for.
  struct Step {
    std::string wait;
    std::string hold;
  };
  struct Cycle {
    Id refused = 0;  ///< the wait that closed it, which has ended here
    std::vector<Step> steps;
  };

  /// A number for a lock that one agent alone knows.
  Lock name();
  Moment now();

  Id wait(Claim claim);
  Id hold(Claim claim);
  /// A wait or a hold, which may have ended before.
  void end(Id id) noexcept;
  /// The holder of `hold` goes on when one of `waits` ends, and not before. The cycle that one of them closes.
  std::optional<Cycle> depend(Id hold, std::vector<Id> waits);
  /// The agent of `wait` does nothing before that ends. The cycle that it closes.
  std::optional<Cycle> block(Id wait);
  /// More is put back than was taken: nobody who waits for it is known to be stuck, from now on.
  void loosen(Lock lock);
  /// What `from` was is `to` from now on.
  void move(Lock from, Lock to);
  /// An agent has ended: all that it has here ends, too.
  void leave(AgentId agent) noexcept;

  /// For tests: how many waits and holds there are.
  std::size_t size() const;

 private:
  struct Wait : Claim {
    Id id = 0;
    Moment entered = 0;
    // Of one search.
    std::uint64_t seen = 0;
    bool isStuck = false;
  };
  struct Hold : Claim {
    Id id = 0;
    std::vector<Id> waits;
  };
  struct Place {
    bool isLoose = false;
    std::vector<Id> waits;
    std::vector<Id> holds;
  };

  std::optional<Cycle> close(Id wait);
  void collect(Wait& start);
  bool isStuck(const Wait& w);
  bool isStuck(const Hold& hold);
  bool isInTheWay(const Wait& w, const Hold& hold) const;
  bool hasWriterAhead(const Wait& w, const Hold& hold) const;
  bool isBlocking(const Wait& w) const;
  std::vector<Hold*> blockers(const Wait& w);
  const std::vector<Id>& dependsOn(const Hold& hold) const;
  std::vector<Step> pathFrom(Wait& start);
  void endNow(Id id) noexcept;
  void forget(Lock lock) noexcept;

  mutable std::mutex mutex_;
  std::unordered_map<Id, Wait> waits_;
  std::unordered_map<Id, Hold> holds_;
  std::unordered_map<Lock, Place> places_;
  std::unordered_map<AgentId, std::vector<Id>> blocked_;  // the one wait that each is blocked in
  std::vector<Wait*> found_;                              // by collect
  std::uint64_t searches_ = 0;
  Id lastId_ = 0;
  Lock lastName_ = 0;
  Moment lastMoment_ = 0;
};

/// The process's.
WaitGraph& waitGraph();

}  // namespace boxoffice
