/* src/waiting/lightweight_semaphore.h: a count in front of the operating system's semaphore.
 *
 *   - Every atomic operation of the C++ is one step; so is each operation of the system's semaphore.
 *   - A deadline may pass at any moment, also while a post is available.
 *   - Spinning repeats tryWait. A failed tryWait only reads, so the model makes one call.
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
byte posts; /* the system's semaphore */

byte signalled, taken; /* ghost */
byte finished;         /* ghost: number of finished threads */
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

/* giveUp. Another waiter may take the post that was meant for this waiter. Then the count is below zero
 * again, and this waiter may leave. So it waits for the post in a series of naps, and a nap may end at any
 * moment. BUG 1: the waiter gives its count back whatever the count is. BUG 2: the waiter does not wait for a
 * post that is on its way. BUG 5: it waits without loading the count again. */
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
    :: atomic { c >= 0 && posts > 0 -> posts-- }; in = true; break
    :: c >= 0 && BUG != 5 && BUG != 2 -> REACH(1, posts == 0) /* the nap is over */
    fi
  od;
  c = 0
}

/* waitUntil. BUG 3: it reads and writes the count in two steps. */
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
      :: atomic { posts > 0 -> posts-- }; in = true
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

/* signal(n). BUG 4: it posts n times even if fewer threads sleep. */
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
      /* One call makes all its posts in one operation of the system's semaphore. */
      posts = posts + (BUG != 4 && -c < n -> -c : n)
    :: else
    fi;
    c = 0
  :: else -> break
  od;
  finished++
}

active proctype auditor() {
  timeout;
  assert(!posts);
  assert(finished - WAITERS - SIGNALLERS == (count < 0 -> count : 0)); /* every unfinished thread sleeps */
  assert(signalled == taken + (count > 0 -> count : 0));
  closing = true;
  finished == WAITERS + SIGNALLERS;
  assert(!posts && count >= 0 && signalled == taken + count)
}
