#include "waiting/wait_graph.h"

#include <algorithm>
#include <utility>

#include "platform/process_wide.h"

namespace boxoffice {

WaitGraph::Lock WaitGraph::name() {
  const std::lock_guard guard(mutex_);
  return --lastName_;
}

WaitGraph::Moment WaitGraph::now() {
  const std::lock_guard guard(mutex_);
  return ++lastMoment_;
}

WaitGraph::Id WaitGraph::wait(Claim claim) {
  const std::lock_guard guard(mutex_);
  const Id id = ++lastId_;
  Wait w;
  static_cast<Claim&>(w) = std::move(claim);
  w.id = id;
  w.entered = ++lastMoment_;
  add(waits_, std::move(w), &Place::waits);
  return id;
}

WaitGraph::Id WaitGraph::hold(Claim claim) {
  const std::lock_guard guard(mutex_);
  const Id id = ++lastId_;
  Hold hold;
  static_cast<Claim&>(hold) = std::move(claim);
  hold.id = id;
  add(holds_, std::move(hold), &Place::holds);
  return id;
}

/// Adds a wait or a hold to `all` and to its lock's place. If it throws, nothing has changed.
template <class Node>
void WaitGraph::add(std::unordered_map<Id, Node>& all, Node node, std::vector<Id> Place::*ids) {
  const Id id = node.id;
  const Lock lock = node.lock;
  all.emplace(id, std::move(node));
  try {
    (places_[lock].*ids).push_back(id);
  } catch (...) {
    all.erase(id);
    forget(lock);
    throw;
  }
}

void WaitGraph::end(Id id) noexcept {
  const std::lock_guard guard(mutex_);
  endNow(id);
}

void WaitGraph::endNow(Id id) noexcept {
  if (const auto at = waits_.find(id); at != waits_.end()) {
    const Lock lock = at->second.lock;
    std::erase(places_[lock].waits, id);
    const auto blocked = blocked_.find(at->second.agent);
    if (blocked != blocked_.end() && blocked->second.front() == id) blocked_.erase(blocked);
    waits_.erase(at);
    forget(lock);
  } else if (const auto held = holds_.find(id); held != holds_.end()) {
    const Lock lock = held->second.lock;
    std::erase(places_[lock].holds, id);
    holds_.erase(held);
    forget(lock);
  }
}

/// Drops a lock without waits and holds.
void WaitGraph::forget(Lock lock) noexcept {
  const auto at = places_.find(lock);
  if (at == places_.end()) return;
  const Place& place = at->second;
  if (place.waits.empty() && place.holds.empty() && !place.isLoose) places_.erase(at);
}

std::optional<WaitGraph::Cycle> WaitGraph::depend(Id hold, std::vector<Id> waits) {
  const std::lock_guard guard(mutex_);
  const auto at = holds_.find(hold);
  if (at == holds_.end()) return std::nullopt;
  std::sort(waits.begin(), waits.end(), std::greater<>());
  at->second.waits = waits;
  for (const Id wait : waits) {
    if (auto cycle = close(wait)) return cycle;
  }
  return std::nullopt;
}

std::optional<WaitGraph::Cycle> WaitGraph::block(Id wait) {
  const std::lock_guard guard(mutex_);
  const auto at = waits_.find(wait);
  if (at == waits_.end()) return std::nullopt;
  std::vector<Id> only{wait};
  blocked_[at->second.agent] = std::move(only);
  return close(wait);
}

void WaitGraph::loosen(Lock lock) {
  const std::lock_guard guard(mutex_);
  places_[lock].isLoose = true;
}

void WaitGraph::leave(AgentId agent) noexcept {
  const std::lock_guard guard(mutex_);
  const auto firstOf = [agent](const auto& all) {
    const auto at = std::find_if(all.begin(), all.end(),
                                 [agent](const auto& each) { return each.second.agent == agent; });
    return at == all.end() ? Id{0} : at->first;
  };
  while (const Id id = firstOf(waits_)) endNow(id);
  while (const Id id = firstOf(holds_)) endNow(id);
}

std::size_t WaitGraph::size() const {
  const std::lock_guard guard(mutex_);
  return waits_.size() + holds_.size();
}

/// Returns the waits that a hold depends on, or none when its holder may be active.
const std::vector<WaitGraph::Id>& WaitGraph::dependsOn(const Hold& hold) const {
  const auto blocked = blocked_.find(hold.agent);
  return blocked == blocked_.end() ? hold.waits : blocked->second;
}

/// Whether a writer is ahead of the reader `w`, which waits behind the reading `hold`. False with kUnknown.
bool WaitGraph::hasWriterAhead(const Wait& w, const Hold& hold) const {
  const auto isAhead = [&](Id id) {
    const Wait& other = waits_.at(id);
    if (other.want != kExclusive || other.since == kUnknown) return false;
    // An agent enters the queue in the order of its requests. It reports a waiting promise after it has entered, and
    // a blocking wait before. So the reader is behind a writer if the lock was being read when the reader asked.
    if (other.agent == w.agent) return other.since < w.since;
    return other.entered < w.since && (!isBlocking(other) || hold.since < w.since);
  };
  const std::vector<Id>& waits = places_.at(w.lock).waits;
  return std::any_of(waits.begin(), waits.end(), isAhead);
}

bool WaitGraph::isBlocking(const Wait& w) const {
  const auto blocked = blocked_.find(w.agent);
  return blocked != blocked_.end() && blocked->second.front() == w.id;
}

bool WaitGraph::isInTheWay(const Wait& w, const Hold& hold) const {
  return w.want != kShared || hold.want == kExclusive || hasWriterAhead(w, hold);
}

std::vector<WaitGraph::Hold*> WaitGraph::blockers(const Wait& w) {
  std::vector<Hold*> all;
  for (const Id id : places_.at(w.lock).holds) {
    Hold& hold = holds_.at(id);
    if (!dependsOn(hold).empty() && isInTheWay(w, hold)) all.push_back(&hold);
  }
  return all;
}

bool WaitGraph::isStuck(const Hold& hold) {
  const auto isStuckWait = [this](Id id) {
    const auto at = waits_.find(id);
    return at != waits_.end() && at->second.seen == searches_ && at->second.isStuck;
  };
  const std::vector<Id>& waits = dependsOn(hold);
  return !waits.empty() && std::all_of(waits.begin(), waits.end(), isStuckWait);
}

bool WaitGraph::isStuck(const Wait& w) {
  const std::vector<Hold*> all = blockers(w);
  if (w.want <= 0) {
    return std::any_of(all.begin(), all.end(), [this](Hold* hold) { return isStuck(*hold); });
  }
  if (w.capacity < w.want || places_.at(w.lock).isLoose) return false;
  std::int64_t left = w.capacity;
  for (const Hold* hold : all) left -= isStuck(*hold) ? hold->want : 0;
  return left < w.want;
}

/// Fills found_ with the waits that `start` may depend on. Each counts as stuck until proved otherwise.
void WaitGraph::collect(Wait& start) {
  ++searches_;
  found_.clear();
  const auto find = [this](Wait& w) {
    if (w.seen == searches_) return;
    w.seen = searches_;
    w.isStuck = true;
    found_.push_back(&w);
  };
  find(start);
  // found_ grows in the loop.
  for (std::size_t i = 0; i < found_.size(); ++i) {  // NOLINT(modernize-loop-convert)
    for (const Hold* hold : blockers(*found_[i])) {
      for (const Id id : dependsOn(*hold)) {
        if (const auto at = waits_.find(id); at != waits_.end()) find(at->second);
      }
    }
  }
}

/// Returns the cycle on which `wait` is, if any, and ends that wait.
std::optional<WaitGraph::Cycle> WaitGraph::close(Id wait) {
  const auto at = waits_.find(wait);
  if (at == waits_.end()) return std::nullopt;
  Wait& start = at->second;
  collect(start);
  for (bool isChanged = true; isChanged && start.isStuck;) {
    isChanged = false;
    for (Wait* w : found_) {
      if (!w->isStuck || isStuck(*w)) continue;
      w->isStuck = false;
      isChanged = true;
    }
  }
  if (!start.isStuck) return std::nullopt;
  Cycle cycle{.refused = wait, .steps = pathFrom(start)};
  if (cycle.steps.empty()) return std::nullopt;  // the wait is behind a cycle, but not on it
  endNow(wait);
  return cycle;
}

/// The shortest path of stuck waits and holds from `start` back to itself.
std::vector<WaitGraph::Step> WaitGraph::pathFrom(Wait& start) {
  struct Way {
    Wait* wait;
    const Hold* by;      // the hold that depends on `wait`, and blocks ...
    std::size_t before;  // ... the wait of this way, an index into `ways`
  };
  std::vector<Way> ways{{&start, nullptr, 0}};
  const auto isNew = [&](const Wait* w) {
    return std::none_of(ways.begin(), ways.end(), [&](const Way& way) { return way.wait == w; });
  };
  const auto trace = [&](std::size_t i, const Hold& last) {
    std::vector<Step> steps;
    for (; i > 0; i = ways[i].before) {
      steps.push_back({.wait = ways[i].wait->label, .hold = ways[i].by->label});
    }
    steps.push_back({.wait = start.label, .hold = last.label});
    std::reverse(steps.begin(), steps.end());
    return steps;
  };
  for (std::size_t i = 0; i < ways.size(); ++i) {
    for (const Hold* hold : blockers(*ways[i].wait)) {
      if (!isStuck(*hold)) continue;
      for (const Id id : dependsOn(*hold)) {
        Wait& next = waits_.at(id);
        if (&next == &start) return trace(i, *hold);
        if (isNew(&next)) ways.push_back({&next, hold, i});
      }
    }
  }
  return {};
}

WaitGraph& waitGraph() { return processWide<WaitGraph>(); }

}  // namespace boxoffice
