// The dependencies between waits and holds of locks that detect deadlocks: combines the call chains that
// lib/diagnostics knows in each environment, for the whole process.
//
// A wait is one acquire in a queue. A hold is one grant whose holder cannot continue: it depends on waits, and
// continues when any of them ends. Holds of active holders are not in the graph.
//
//   wait ──blocked by──▶ hold ──depends on──▶ wait ──▶ ...
//
//   a hold is stuck    when each wait that it depends on is stuck; all holds of an agent that blocks in a wait
//                      depend on that wait alone
//   a wait is stuck    exclusive or for writing: when one hold of its lock is stuck
//                      for reading: when a writing hold is stuck, or, with a writer ahead in the queue, a reading
//                      hold
//                      of a semaphore: when its stuck holds leave fewer units than the wait wants
//
// The largest set for which this is true is in a deadlock, or behind one. A wait that closes a cycle in this set is
// refused, so no cycle remains.
//
// 1. A wait ends here before any waiter behind it may be granted the lock, and a hold ends here before its
//    lock is released. So an entry here is current, or is a wait that was granted its lock and does not know
//    it yet. No stuck hold blocks such a wait: the lock was released, and that hold had ended before.
// 2. A new hold blocks no wait at first. It becomes stuck only by a later call of depend() or block(). So such
//    a call completes each cycle, and searches for it.
//
// One mutex guards all of it. That is enough, because only diagnostics uses it, on acquires that wait anyway.
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
  /// The address of the word of a lock that threads share. Other locks have a number below 0.
  using Lock = std::int64_t;
  /// Identifies a wait or a hold; never 0, and never reused.
  using Id = std::uint64_t;
  /// A point in the order of calls to now().
  using Moment = std::uint64_t;

  /// What a claim wants: one of these, or a number of units of a semaphore.
  static constexpr std::int64_t kExclusive = 0;
  static constexpr std::int64_t kShared = -1;

  /// The moment of a wait whose place in the queue does not follow from the time of its request.
  static constexpr Moment kUnknown = 0;

  struct Claim {
    Lock lock = 0;
    std::int64_t want = kExclusive;
    std::int64_t capacity = 0;  ///< of a semaphore; 0: agents release units that they did not take
    AgentId agent = kNoAgent;
    Moment since = kUnknown;  ///< the time of the request, or of the grant
    std::string label;        ///< returned as part of a cycle
  };

  /// A wait in a cycle, and a hold of the same holder, for which the previous step waits.
  struct Step {
    std::string wait;
    std::string hold;
  };
  struct Cycle {
    Id refused = 0;  ///< the wait that closed it, which has ended here
    std::vector<Step> steps;
  };

  /// A number for a lock that only one agent knows.
  Lock name();
  Moment now();

  Id wait(Claim claim);
  Id hold(Claim claim);
  /// Ends a wait or a hold. Idempotent.
  void end(Id id) noexcept;
  /// Records that the holder of `hold` goes on only when one of `waits` ends. Returns the cycle that this
  /// closes.
  std::optional<Cycle> depend(Id hold, std::vector<Id> waits);
  /// Records that the agent of `wait` blocks until the wait ends. Returns the cycle that this closes.
  std::optional<Cycle> block(Id wait);
  /// Records that more units were released than taken: from now on no wait for this lock counts as stuck.
  void loosen(Lock lock);
  /// An agent has ended: ends all its waits and holds.
  void leave(AgentId agent) noexcept;

  /// For tests: the number of waits and holds.
  std::size_t size() const;

 private:
  struct Wait : Claim {
    Id id = 0;
    Moment entered = 0;
    // Used by one search.
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

  template <class Node>
  void add(std::unordered_map<Id, Node>& all, Node node, std::vector<Id> Place::*ids);
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
  std::unordered_map<AgentId, std::vector<Id>> blocked_;  // the wait in which each agent blocks
  std::vector<Wait*> found_;                              // filled by collect
  std::uint64_t searches_ = 0;
  Id lastId_ = 0;
  Lock lastName_ = 0;
  Moment lastMoment_ = 0;
};

/// The graph of this process.
WaitGraph& waitGraph();

}  // namespace boxoffice
