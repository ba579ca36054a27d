// The order in which the callers of a process take locks: a graph with an edge from A to B if a caller asked for B
// while it held A. An edge that closes a circle means that callers can deadlock, even if none has yet.
//
// The idea is from lockdep, the "runtime locking correctness validator" of Linux: the nodes are classes of locks, not
// objects, and a report shows the first occurrence of each edge.
//
// Invariants: 1. an edge is added once, with the label of its first occurrence. 2. add() reports each circle once, to
// the caller that adds the edge that closes it.
//
// One mutex guards all of it: callers remember the edges that they have added, so add() is rare.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace boxoffice {

class LockOrder {
 public:
  /// The most edges that are kept, because programs may make any number of names.
  static constexpr std::size_t kMostEdges = 4096;

  /// Adds the edge from `from` to `to`. Returns the labels of a shortest way back from `to` to `from`, in order.
  /// Returns none if there is no way back, or if the edge is known.
  std::vector<std::string> add(const std::string& from, const std::string& to,
                               const std::string& label);

  std::size_t size() const;

 private:
  using Edges =
      std::unordered_map<std::string, std::string>;  // the labels, by the lock that they lead to

  std::vector<std::string> way(const std::string& from, const std::string& to) const;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Edges> edges_;
  std::size_t size_ = 0;
};

/// Returns the graph of this process, which all threads use.
LockOrder& lockOrder();

}  // namespace boxoffice
