/* src/locks/auto_reset_event.h: signallers and waiters, with and without a deadline.
 *
 * Checked: a signal admits exactly one waiter, or sets the event, or finds it set; the waiter that takes the
 * event sees every write published by the signals it takes; the event is never set while a waiter is queued; at
 * quiescence a process sleeps only because the event is not set; invariants 1, 3 and 4 of lock_word.h; one
 * wake for each step out of the queue; no waiter is overtaken more often than promised.
 */

#ifndef N
#define N 3
#endif
#ifndef PATIENCE
#define PATIENCE 1
#endif
#ifndef TWICE
#define TWICE N
#endif
#define ROUNDS(p) ((p) < TWICE -> 2 : 1) /* processes below TWICE make two visits */

/* With SHARED, processes 0 and 2 share one agent. */
#ifdef SHARED
#define AGENT(p) ((p) == 2 -> 1 : (p) + 1)
#else
#define AGENT(p) ((p) + 1)
#endif

#define SET 2
#define INITIAL 0
#define WAKER 0
#define HANDOFF 0
#define ISFREE(w) false
#define MAKESROOM(w, v) true
#define FITS(w, p) (((w) & SET) != 0)
#define TAKE(w, p) ((w) & ~SET)
#define TELL(w, p) skip

#define SIGNAL 1
#define LEAVE 2
#define LEFT(w) (op == SIGNAL -> (w) | SET : (w))

#define CHANGED(w) if \
                   :: op == SIGNAL && !((w) & SET) -> signals++ \
                   :: else \
                   fi; \
                   if \
                   :: op == SIGNAL -> owed = owed | BIT(me); carried = carried | BIT(me) \
                   :: else \
                   fi; \
                   REACH(11, op == SIGNAL && ((w) & SET))
#define ENTERED(w) assert(owed == carried); \
                   owed = 0; \
                   carried = 0; \
                   takes++

byte signals; /* ghost: number of signals that did not find the event set */
byte takes;   /* ghost: number of times the event was taken */
byte owed;    /* ghost: processes that signalled since the last take, a bit each */
byte carried; /* ghost: processes whose release the word carries, a bit each */

#include "lock_word.pml"

byte let;      /* ghost: number of admitted waiters */
byte finished; /* ghost */
bool closing;  /* quiescence: a process that still sleeps may end */

/* signal. BUG 11: a signal that finds the event set does not write the word. BUG 12: a signal sets the event
 * even while waiters are queued. */
inline signal() {
  op = SIGNAL;
  if
  :: atomic { BUG == 11 && (word & SET) -> owed = owed | BIT(me) }
  :: atomic { BUG == 12 -> word = word | SET }
  :: BUG != 12 -> change(AGENT(me))
  fi;
  op = 0
}

active [N] proctype visitor() {
  LOCK_WORD_LOCALS;
  byte round;
  do
  :: round < ROUNDS(me) ->
    round++;
    if
    :: true -> signal()
    :: true ->
      tryEnter(true);
      if
      :: in
      :: !in -> enterByBucket(true)
      :: !in /* tryWait */
      fi;
      if
      :: state[me] == IDLE
      :: else ->
        if
        :: true -> sleep(closing, LEAVE)
        :: true -> sleep(true, LEAVE)
        fi
      fi;
      atomic {
        let = let + in;
        in = false
      }
    fi
  :: else -> break
  od;
  finished++
}

active proctype auditor() {
  timeout;
  assert(finished + size == N); /* every unfinished process sleeps in the queue */
  assert(!(word & SET) || !size);
  assert(signals == takes + ((word & SET) != 0));
  closing = true;
  finished == N;
  d_step {
    assert(let == takes);
    assert((word & ~SET) == 0);
    assert(!size && !patience && bucket == NONE);
    i = 0;
    do
    :: i < N -> assert(!sem[i] && state[i] == IDLE); i++
    :: else -> break
    od
  }
}
