/* src/waiting/lightweight_semaphore.h: a count in front of the semaphore of the operating system.
 *
 *   - Every atomic operation of the C++ is one step; so is each operation of the semaphore below.
 *   - A deadline may pass at any moment, also when a post is there to be taken.
 *   - Spinning is tryWait again: a look that fails has only read, so one stands for all.
 *
 * Checked: no signal is lost or invented, no post is left behind, no thread sleeps while a signal is
 * available, and a waiter that gives up leaves no trace.
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

#ifndef WAITERS
#define WAITERS 3
#endif
#ifndef SIGNALLERS
#define SIGNALLERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef SIGNALS
#define SIGNALS 2 /* by each signaller */
#endif

short count;
byte bouncer; /* the semaphore below */

byte signalled, taken; /* ghost */
byte finished;         /* ghost: how many are done */
bool closing;          /* quiescence: a thread that still sleeps may give up */

/* tryWait */
inline tryWait() {
  c = count;
  do
  :: atomic { c > 0 ->
      if
      :: count == c -> count = c - 1; in = true; break
      :: else -> c = count
      fi
    }
  :: else -> break
  od;
  c = 0
}

/* giveUp. Another waiter may take the admission that was on its way to this one: then the count is below
 * zero again, and this one may leave. So the wait for it is a series of naps, and a nap may end at any
 * moment. BUG 1: the count is given back whatever it is. BUG 2: an admission on its way is not waited
 * for. BUG 5: it is waited for without looking at the count again. */
inline giveUp() {
  do
  :: BUG == 1 -> atomic { count = count + 1 }; break
  :: BUG != 1 ->
    c = count;
    do
    :: atomic { c < 0 ->
        if
        :: count == c -> count = c + 1; break
        :: else -> c = count
        fi
      }
    :: else -> break
    od;
    if
    :: c < 0 -> break
    :: c >= 0 && BUG == 2 -> in = true; break
    :: atomic { c >= 0 && bouncer > 0 -> bouncer-- }; in = true; break
    :: c >= 0 && BUG != 5 && BUG != 2 -> REACH(1, bouncer == 0) /* the nap is over */
    fi
  od;
  c = 0
}

/* waitUntil. BUG 3: the count is read and written in two steps. */
inline wait(timed) {
  tryWait();
  if
  :: in
  :: !in && timed /* the deadline has passed already */
  :: !in ->
    if
    :: BUG == 3 ->
      c = count;
      count = c - 1
    :: else -> atomic { c = count; count = c - 1 } /* fetch_sub */
    fi;
    if
    :: c > 0 -> in = true
    :: else ->
      if
      :: atomic { bouncer > 0 -> bouncer-- }; in = true
      :: (timed || closing) -> giveUp()
      fi
    fi;
    c = 0
  fi
}

active [WAITERS] proctype waiter() {
  short c;
  byte round;
  bool in;
  do
  :: round < ROUNDS ->
    round++;
    if
    :: true -> wait(false)
    :: true -> wait(true)
    fi;
    atomic {
      taken = taken + in;
      in = false
    }
  :: else -> break
  od;
  finished++
}

/* signal(n). BUG 4: it posts n, however few sleep. */
active [SIGNALLERS] proctype signaller() {
  short c;
  byte n, left = SIGNALS;
  do
  :: left > 0 ->
    if
    :: n = 1
    :: left > 1 -> n = 2
    fi;
    left = left - n;
    c = count;
    do
    :: atomic {
        if
        :: count == c -> count = c + n; signalled = signalled + n; break
        :: else -> c = count
        fi
      }
    od;
    if
    :: c < 0 ->
      REACH(2, -c < n);
      /* The posts of one call are one operation of the semaphore. */
      bouncer = bouncer + (BUG != 4 && -c < n -> -c : n)
    :: else
    fi;
    c = 0
  :: else -> break
  od;
  finished++
}

active proctype auditor() {
  timeout;
  assert(!bouncer);
  assert(finished - WAITERS - SIGNALLERS == (count < 0 -> count : 0)); /* the others are asleep */
  assert(signalled == taken + (count > 0 -> count : 0));
  closing = true;
  finished == WAITERS + SIGNALLERS;
  assert(!bouncer && count >= 0 && signalled == taken + count)
}
