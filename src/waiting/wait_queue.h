// The queue of waiters for one word: first come, first served within a priority, higher priorities first.
// Entering, leaving from anywhere and admitting the head are O(1); with k distinct priorities waiting at
// once, O(log k).
//
//   levels_   5.0 ─▶ [w3]
//             0.0 ─▶ [w1] ⇄ [w2] ⇄ [w4]      head() is w3
//
// A WaitQueue has no lock. Its bucket in the parking lot guards it.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "platform/clock.h"
#include "platform/misuse.h"
#include "waiting/waiter.h"

namespace boxoffice {

/// Whether a waiter that is about to leave its queue has already been admitted. Throws Misuse(notWaiting) when it
/// does not wait.
inline bool wasAdmitted(const Waiter& w) {
  if (w.state == Waiter::State::idle) {
    throwMisuse(Fault::notWaiting, "this waiter waits for nothing");
  }
  return w.state == Waiter::State::admitted;
}

/// Throws Misuse(badArgument) for a priority that is NaN.
inline void checkPriority(const Waiter& w) {
  if (std::isnan(w.priority)) throwMisuse(Fault::badArgument, "a priority cannot be NaN");
}

struct Fifo {
  Waiter* head = nullptr;
  Waiter* tail = nullptr;

  void pushBack(Waiter& w) noexcept { insert(w, tail, nullptr); }
  void pushFront(Waiter& w) noexcept { insert(w, nullptr, head); }

  void remove(Waiter& w) noexcept {
    (w.previous ? w.previous->next : head) = w.next;
    (w.next ? w.next->previous : tail) = w.previous;
  }

 private:
  void insert(Waiter& w, Waiter* previous, Waiter* next) noexcept {
    w.previous = previous;
    w.next = next;
    (previous ? previous->next : head) = &w;
    (next ? next->previous : tail) = &w;
  }
};

class WaitQueue {
 public:
  /// How far behind the head to look for an agent's own next waiter. The bound keeps a release O(1). With
  /// more than this many waiters of other agents in front, a hand-off to them pays for itself.
  static constexpr int kLook = 16;

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  Waiter* head() const noexcept { return empty() ? nullptr : levels_.begin()->second.head; }

  /// Returns the waiter behind `w`, which is in this queue, or null for the last one.
  Waiter* behind(const Waiter& w) const noexcept {
    if (w.next) return w.next;
    const auto level = levels_.upper_bound(w.priority);
    return level == levels_.end() ? nullptr : level->second.head;
  }

  /// The priority that a new waiter must exceed to go ahead of every queued waiter.
  double topPriority() const noexcept {
    return empty() ? -std::numeric_limits<double>::infinity() : levels_.begin()->first;
  }

  /// Enters the queue. Throws std::bad_alloc, or Misuse(badArgument) for a priority that is NaN, and then changes
  /// nothing.
  void enter(Waiter& w) {
    checkPriority(w);
    Fifo& fifo = level(w.priority);
    fifo.pushBack(w);
    joined(w, fifo);
  }

  /// Enters ahead of every queued waiter, whatever its priority: a reader that upgrades.
  void enterFirst(Waiter& w) {
    w.priority = std::numeric_limits<double>::infinity();
    Fifo& fifo = level(w.priority);
    fifo.pushFront(w);
    joined(w, fifo);
  }

  void leave(Waiter& w) noexcept {
    if (head() == &w) handsOff = false;
    w.fifo->remove(w);
    if (!w.fifo->head) drop(w.priority);
    --size_;
    if (invited_ == &w) invited_ = nullptr;
    w.fifo = nullptr;
    w.state = Waiter::State::idle;
  }

  /// Takes all waiters of `agent` out of the queue, and calls `gone(waiter, isAwake)` for each. `isAwake` tells
  /// whether it was invited.
  template <class Gone>
  void leaveAll(AgentId agent, Gone&& gone) {
    for (Waiter* next = find(agent); next;) {
      Waiter& w = *next;
      next = w.next;
      const bool isAwake = w.state == Waiter::State::invited;
      leave(w);
      gone(w, isAwake);
      next = find(agent, next);
    }
  }

  /// The first waiter of `agent` near the head and of its priority, or null.
  Waiter* firstOf(AgentId agent) const noexcept {
    Waiter* w = head();
    for (int i = 0; w && i < kLook; ++i, w = w->next) {
      if (w->agent == agent) return w;
      if (!w->mayBeOvertaken) break;
    }
    return nullptr;
  }

  /// A waiter of `agent`, however far back: the first from `start` on within its priority, or else the
  /// first in the queue, or null.
  Waiter* find(AgentId agent, Waiter* start = nullptr) const noexcept {
    if (Waiter* w = ofAgent(agent, start)) return w;
    for (const auto& [priority, fifo] : levels_) {
      if (Waiter* w = ofAgent(agent, fifo.head)) return w;
    }
    return nullptr;
  }

  /// Calls `use(waiter)` for each waiter, in the order of the queue.
  template <class Use>
  void each(Use&& use) const {
    for (const auto& [priority, fifo] : levels_) {
      for (const Waiter* w = fifo.head; w; w = w->next) use(*w);
    }
  }

  /// The one waiter that has been woken and competes for the free word. So there is one wake, not one per release.
  Waiter* invited() const noexcept { return invited_; }
  void invite(Waiter& w) noexcept {
    w.state = Waiter::State::invited;
    invited_ = &w;
  }
  void uninvite(Waiter& w) noexcept {
    w.state = Waiter::State::waiting;
    invited_ = nullptr;
  }

  // The end of the head's patience. The default has passed: no waiter overtakes the head.
  Deadline patience = Deadline::min();
  // The head found the word taken after its patience was over: the next release hands over to it.
  bool handsOff = false;

  // The chain of queues in one slot of the WaitQueueTable.
  const void* address = nullptr;
  WaitQueue* chain = nullptr;

 private:
  using Levels = std::map<double, Fifo, std::greater<>>;

  Fifo& level(double priority) {
    if (!levels_.empty() && levels_.begin()->first == priority) return levels_.begin()->second;
    const auto found = levels_.find(priority);
    if (found != levels_.end()) return found->second;
    if (!spare_) return levels_[priority];
    spare_.key() = priority;
    return levels_.insert(std::move(spare_)).position->second;
  }

  // Keep the node of a level for the next use, because nearly every queue has one level for its whole life.
  void drop(double priority) noexcept { spare_ = levels_.extract(priority); }

  static Waiter* ofAgent(AgentId agent, Waiter* w) noexcept {
    while (w && w->agent != agent) w = w->next;
    return w;
  }

  void joined(Waiter& w, Fifo& fifo) noexcept {
    w.fifo = &fifo;
    w.state = Waiter::State::waiting;
    ++size_;
  }

  Levels levels_;
  Levels::node_type spare_;
  Waiter* invited_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace boxoffice
