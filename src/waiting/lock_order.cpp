#include "waiting/lock_order.h"

#include <algorithm>
#include <unordered_set>

#include "platform/process_wide.h"

namespace boxoffice {

std::vector<std::string> LockOrder::add(const std::string& from, const std::string& to,
                                        const std::string& label) {
  const std::lock_guard guard(mutex_);
  if (size_ == kMostEdges) return {};
  Edges& edges = edges_[from];
  if (edges.contains(to)) return {};
  std::vector<std::string> labels = way(to, from);  // before the edge, which it cannot use
  edges.try_emplace(to, label);
  ++size_;
  return labels;
}

std::size_t LockOrder::size() const {
  const std::lock_guard guard(mutex_);
  return size_;
}

/// Returns the labels of a shortest way, by breadth-first search.
std::vector<std::string> LockOrder::way(const std::string& from, const std::string& to) const {
  struct Step {
    const std::string* lock;
    std::size_t before;
    const std::string* label;
  };
  std::vector<Step> steps{{&from, 0, nullptr}};
  std::unordered_set<std::string> seen{from};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto edges = edges_.find(*steps[i].lock);
    if (edges == edges_.end()) continue;
    for (const auto& [lock, label] : edges->second) {
      if (!seen.insert(lock).second) continue;
      steps.push_back({&lock, i, &label});
      if (lock != to) continue;
      std::vector<std::string> labels;
      for (std::size_t at = steps.size() - 1; at > 0; at = steps[at].before) {
        labels.push_back(*steps[at].label);
      }
      std::reverse(labels.begin(), labels.end());
      return labels;
    }
  }
  return {};
}

LockOrder& lockOrder() { return processWide<LockOrder>(); }

}  // namespace boxoffice
