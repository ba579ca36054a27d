// The common part of the events, latches, barriers and condition variables of scope host: a word, and a part for
// each process (GateSlot). The threads and promises of a process wait in its local queue, by the address of the
// slot in this process's mapping. The part of the process tells the others that it waits.
//
//   a waiter arrives  it counts itself in the part of its process, then reads the word
//   the word changes  by one compare-and-swap; then every process whose part counts waiters is notified
//   a notification    the process reads the word and its part, and admits the local waiters that are due
//
// Memory order: everything is sequentially consistent. Of "count, then look at the word" and "change the word,
// then look at the counts" one sees the other. So a waiter sees the change, or its process is notified. If a
// process dies before it notifies, its eviction notifies every process instead.
//
// The lower half of a part is the number of its process's waiters. Each kind defines the upper half.
//
// A gate that no process has open begins anew (beginAnew in segment_file.cpp). So no value of a word may recur: when
// the lower half has an earlier value again, the upper half has changed.
#pragma once

#include "host/handoff_queue.h"

namespace boxoffice::host {

template <class P>
class GateParts {
 public:
  GateParts(const GateParts&) = delete;
  GateParts& operator=(const GateParts&) = delete;

  /// Calls `use(process)` for each process that waits: a snapshot, for listings.
  template <class Use>
  void eachWaiter(Use&& use) const {
    for (ProcessSlot process = 1; process <= kMaxProcess; ++process) {
      if (waiters(slot_.parts[process].load()) > 0) use(process);
    }
  }

 protected:
  using Bits = std::uint64_t;

  GateParts() = default;
  ~GateParts() = default;

  /// One call that holds the bucket of the slot. At its end it drops the bucket, wakes the admitted waiters,
  /// and notifies the other processes, in this order.
  struct Visit {
    explicit Visit(GateParts& gate)
        : me(P::process(&gate)),
          part(gate.slot_.parts[me]),
          notifications(&gate),
          bucket(P::lot().open(&gate)) {}

    /// The number of waiters in this process's queue.
    std::size_t size() noexcept { return bucket.empty() ? 0 : bucket.queue().size(); }
    Waiter* head() noexcept { return bucket.empty() ? nullptr : bucket.queue().head(); }

    /// Admits a waiter of the queue.
    void letIn(Waiter& w, bool abandoned = false) noexcept {
      w.abandoned = abandoned;
      if (&w == entering) {
        bucket.queue().leave(w);
        in = true;
      } else {
        bucket.admit(w);
      }
    }

    const ProcessSlot me;
    Word64& part;  ///< of this process
    Notifications<P> notifications;
    typename std::remove_reference_t<decltype(P::lot())>::Bucket bucket;
    Waiter* entering = nullptr;  ///< the caller's waiter: if admitted at once, it is not woken
    bool in = false;             ///< `entering` was admitted
  };

  static constexpr Bits kOne = Bits{1} << 32;  // in the upper half

  static constexpr std::uint32_t lower(Bits bits) noexcept {
    return static_cast<std::uint32_t>(bits);
  }
  static constexpr std::uint32_t upper(Bits bits) noexcept {
    return static_cast<std::uint32_t>(bits >> 32);
  }
  static constexpr Bits pair(std::uint32_t high, std::uint32_t low) noexcept {
    return Bits{high} << 32 | low;
  }
  static constexpr std::uint32_t waiters(Bits part) noexcept { return lower(part) & kCount; }

  /// Notifies every other process that waits.
  void tellAll(Visit& v) noexcept {
    eachWaiter([&v](ProcessSlot process) {
      if (process != v.me) v.notifications.add(process);
    });
  }

  /// Replaces a word of the slot. If it is no longer `from`, returns false and sets `from` to its current value.
  static bool change(Word64& word, Bits& from, Bits to) noexcept {
    P::step(Step::beforeOwner);
    if (!word.compare_exchange_strong(from, to)) return false;
    P::step(Step::afterOwner);
    return true;
  }

  static GateSlot& slotAt(std::byte* at) noexcept { return *reinterpret_cast<GateSlot*>(at); }

  static constexpr std::uint32_t kCount = (1U << 30) - 1;
  GateSlot slot_{};
};

/// A kind of gate (Self) has:
///     void advance(Visit&)   admits the local waiters that are due
///     void count(Visit&)     counts one more waiter, which is in the local queue
///     bool discount(Visit&)  counts one waiter less, which is still in the local queue. False if it may be due
///     bool tryEnter(Waiter&) for a caller that blocks: admits it at once, or returns false
template <class P, class Self>
class HostGate : public GateParts<P>, public QueuedLock<P, Self> {
 protected:
  using typename GateParts<P>::Visit;

 public:
  /// Admits the waiter (true), or queues it.
  bool enter(Waiter& w) {
    Visit v(*this);
    self().advance(v);
    v.bucket.obtainQueue().enter(w);
    v.entering = &w;
    self().count(v);
    P::step(Step::joined);
    self().advance(v);
    return v.in;
  }

  /// Does what LockWord::resume does. No waiter is invited to compete here: a wake is an admission.
  bool resume(Waiter& w, Wake) noexcept {
    w.state = Waiter::State::idle;
    return true;
  }

  /// Does what LockWord::leave does.
  Leave leave(Waiter& w) {
    Visit v(*this);
    do {
      self().advance(v);
      if (wasAdmitted(w)) return Leave::admitted;
    } while (!self().discount(v));
    P::step(Step::parted);
    v.bucket.queue().leave(w);
    self().advance(v);
    return Leave::left;
  }

  /// Called after a notification of this process for this slot, or a death: makes the changes that are due.
  void notified() noexcept {
    Visit v(*this);
    self().advance(v);
  }

  /// Accepts every waiter.
  static void check(const Waiter&) noexcept {}

 protected:
  HostGate() = default;
  ~HostGate() = default;

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }
};

}  // namespace boxoffice::host
