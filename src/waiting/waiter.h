// One entry in a queue, and whom to tell when its turn has come.
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
// Every step out of `waiting` that is not the waiter's own sends exactly one wake, after the
// bucket's lock is dropped; an invited waiter that is then admitted gets no second one. So a
// waiter may be destroyed when it never stood in a queue, when it has left while `waiting`, or
// when it has taken its wake.
#pragma once

#include <cstdint>

#include "waiting/agent.h"

namespace boxoffice {

class Waiter;
struct Fifo;

enum class Wake : std::uint8_t {
  admitted,  ///< the lock is yours
  invited    ///< the lock was free a moment ago: come and try, you keep your place
};

/// Whoever can be told that its turn has come: a blocked thread, or an event loop.
class Parker {
 public:
  /// Called once per wake, on the thread that made the admission, outside every lock of this
  /// library. After it returns the waker touches neither the waiter nor the parker again.
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

  // There may be very many of them: ordered so that nothing is lost between the fields.

  // What the waiter asks for: set before it enters, left alone while it waits.
  Parker* parker = nullptr;
  double priority = 0;  ///< higher goes first; never NaN
  AgentId agent = kNobody;
  std::uint32_t ask = 1;  ///< a weight or a mode, as the box office reads it; see barrier.h
  std::uint32_t ticket = kNoTicket;  ///< for its parker: which of its waiters this is
  bool mayOvertake = true;           ///< false: older waiters of the same agent may be in the queue
  bool mayBeOvertaken = true;        ///< false: strict first come, first served (fairness: 'fifo')

  // What the waiter is told: to be read once it is in.
  bool abandoned = false;  ///< the holder before us died (or: our barrier broke)

  // Kept by a mailbox, from the wake until it is collected.
  Wake how = Wake::admitted;
  Waiter* posted = nullptr;

  void* then =
      nullptr;  ///< asked for, too. Condition variable: the mutex to go on to; lock manager: the name

  // Kept by the queue, under its bucket's lock.
  State state = State::idle;
  bool notified = false;  ///< condition variable: moved on to the mutex
  bool invitationSent =
      false;          ///< lock manager: an invitation has been sent, and not been answered
  bool told = false;  ///< lock manager: its client knows that it is held
  Fifo* fifo = nullptr;
  Waiter* next = nullptr;
  Waiter* previous = nullptr;
};

}  // namespace boxoffice
