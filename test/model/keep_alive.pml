/* What keeps the event loop of the main thread alive while its waits are pending: lib/process/keep_alive.js,
 * binding/event_loop.cc (mayBeWoken) and binding/event_loop_registry.cc.
 *
 * The main thread has two waits. Another thread joins, grants one or both of them, and leaves. Each of these events sets
 * one flag, `woken`: several may come in one wake-up. The handle of the wake-up keeps the event loop alive only in the
 * state `thread`. An event loop that nothing keeps alive may end without reading a wake-up that is pending.
 *
 * Invariants:
 *   1. If the other thread had joined before the event loop ran empty, the main thread does not end while that thread is
 *      there, or with a grant that it has not read.
 *   2. The main thread ends when no other thread is there any more: it never polls for ever (an invalid end state).
 *
 * Seeded faults, each of which must be found:
 *   BUG=1  does not ask again when the event loop has run empty, so a wait that began before a thread joined is lost
 *   BUG=2  does not ask after a wake-up that brought completions
 *   BUG=3  looks at the inbox before the registry, so it misses a grant between the two
 *   BUG=4  the leaving thread wakes before it leaves the registry
 *   BUG=5  the main thread assumes that others may come
 */
#ifndef BUG
#define BUG 0
#endif
#ifndef GRANTS
#define GRANTS 1
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define reach(n) assert(REACHED != n)

#define nothing 0
#define instance 1
#define thread 2

byte waits = 2;        /* pending waits of the main thread */
byte inbox = 0;        /* grants that the main thread has not read */
bool joined = false;   /* the other thread is in the registry */
bool woken = false;    /* a wake-up of the main thread is pending */
byte kept = instance;  /* the state of KeepAlive */

/* mayBeWoken() reads twice, in this order. */
inline ask() {
  if
  :: waits == 0 -> kept = nothing
  :: else ->
    bool mayBeWoken;
#if BUG == 3
    mayBeWoken = inbox > 0;
    mayBeWoken = mayBeWoken || joined;
#elif BUG == 5
    mayBeWoken = true;
#else
    mayBeWoken = joined;
    mayBeWoken = mayBeWoken || inbox > 0;
#endif
    kept = (mayBeWoken -> thread : instance)
  fi
}

inline onWakeup() {
  woken = false;
  byte count;
  atomic { count = inbox; inbox = 0; waits = waits - count }
  if
  :: BUG == 2 && count > 0 -> if :: waits == 0 -> kept = nothing :: else fi
  :: else -> ask()
  fi
}

active proctype main_thread() {
  bool hadJoined;
  do
  :: kept == thread -> woken; onWakeup()
  :: kept != thread && woken -> onWakeup()
  :: kept != thread ->
    /* The event loop has run empty, whether or not a wake-up is pending. */
    hadJoined = joined;
    if
    :: BUG != 1 -> ask()
    :: else
    fi;
    if
    :: kept == thread -> reach(1)
    :: else -> break
    fi
  od;
  assert(!(hadJoined && waits > 0 && (joined || inbox > 0)));
  if :: waits > 0 -> reach(2) :: else -> reach(3) fi
}

active proctype other_thread() {
  byte left = GRANTS;
  atomic { joined = true };
  woken = true;
  do
  :: left > 0 -> inbox++; left--; woken = true
  :: left == 0 -> break
  od;
#if BUG == 4
  woken = true;
  joined = false
#else
  joined = false;
  woken = true
#endif
}
