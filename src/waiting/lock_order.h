// The order in which the callers of a process take locks: a graph whose edge from A to B says that a caller asked for B
// while it held A. An edge that closes a circle means that callers can deadlock, though none has yet.
//
// The idea is that of lockdep, the "runtime locking correctness validator" of Linux: classes of locks, not objects, and
// the first sight of each edge is what the report shows.
//
// Invariants: 1. an edge is added once, with the label of its first sight. 2. each circle is reported by the edge that
// closes it, once: by add(), to one caller.
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
  /// Names of locks may be made without end. Beyond this number no edge is added.
  static constexpr std::size_t kMostEdges = 4096;

  /// Adds the edge from `from` to `to`. Returns the labels of the edges that lead back from `to` to `from`, as few as
  /// there can be, in their order; none if there is no way back, or if the edge is known.
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

/// That of this process, which all threads use.
LockOrder& lockOrder();

}  // namespace boxoffice
