// One entry in a queue, and the parker that wakes it.
//
//              enter                     admit
//   idle ───────────────▶ waiting ───────────────▶ admitted
//    ▲                    │    ▲                       ▲
//    │ leave              │    │ too late              │ admit, or it won
//    ├────────────────────┘    │                       │
//    │      (a wake is     invite ──▶ invited ─────────┘
//    │       on its way)                 │
//    └───────────────────────────────────┘ leave
//
// Every step out of `waiting` that the waiter does not make itself sends exactly one wake, after the bucket's lock
// has been released. An invited waiter that is then admitted gets no second wake. So a waiter may be destroyed if it
// never entered a queue, if it left while `waiting`, or if it has taken its wake.
#pragma once

#include <cstdint>

#include "waiting/agent.h"

namespace boxoffice {

class Waiter;
struct Fifo;

enum class Wake : std::uint8_t {
  admitted,  ///< the waiter holds the lock
  invited    ///< the lock was left free: the waiter competes for it, and keeps its place
};

/// The recipient of a wake: a blocked thread, or an event loop.
class Parker {
 public:
  /// Called once per wake, on the thread that made the admission, outside every lock of this
  /// library. After it returns, the waker uses neither the waiter nor the parker again.
  virtual void wake(Waiter& waiter, Wake how) noexcept = 0;

 protected:
  ~Parker() = default;
};

class Waiter {
 public:
  static constexpr std::uint32_t kNoTicket = 0xFFFFFFFF;

  enum class State : std::uint8_t { idle, waiting, invited, admitted };

  Waiter() = default;
  Waiter(Parker& whom, AgentId who) : parker(&whom), agent(who) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // The order of the fields avoids padding, because a program may have very many waiters.

  // The request: set before the waiter enters, unchanged while it waits.
  Parker* parker = nullptr;
  double priority = 0;  ///< higher goes first; never NaN
  AgentId agent = kNoAgent;
  std::uint32_t ask = 1;             ///< a weight or a mode, as the lock reads it; see barrier.h
  std::uint32_t ticket = kNoTicket;  ///< for its parker: which of its waiters this is
  bool mayOvertake = true;           ///< false: older waiters of the same agent may be in the queue
  bool mayBeOvertaken = true;        ///< false: strict first come, first served (fairness: 'fifo')

  // The answer: read it once the waiter is admitted.
  bool abandoned = false;  ///< the previous holder died (or: the barrier broke)

  // Kept by a mailbox, from the wake until it is collected.
  Wake how = Wake::admitted;
  Waiter* posted = nullptr;

  void* then =
      nullptr;  ///< part of the request. Condition variable: the mutex to lock again; lock manager: the name
  bool isPassing =
      false;  ///< part of the request. Semaphore: it releases at once, and is not told of a death

  // Kept by the queue, under its bucket's lock.
  State state = State::idle;
  bool notified = false;        ///< condition variable: moved on to the mutex
  bool invitationSent = false;  ///< lock manager: an invitation is on its way, not answered yet
  bool told = false;            ///< lock manager: its client knows that it is held
  Fifo* fifo = nullptr;
  Waiter* next = nullptr;
  Waiter* previous = nullptr;
};

}  // namespace boxoffice
