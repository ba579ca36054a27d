/* src/locks/mutex.h: threads, an event loop's tickets, callers that only try, JavaScript's two steps, and
 * holders that die.
 *
 * Checked: mutual exclusion; invariants 1, 3 and 4 of lock_word.h (invariant 2 is a permission, which the model
 * uses: every process takes and frees the word without the bucket while kQueued is clear); no process sleeps for
 * ever; one wake for each step out of the queue; the head competes in vain only while its patience lasts, and is
 * not overtaken after that; after a death, exactly one later holder is told; at the end the word has its initial
 * value.
 * With LIVE, processes come for ever, and every queued waiter gets in.
 */

#ifndef N
#define N 3
#endif
#ifndef PATIENCE
#define PATIENCE 2
#endif
#ifndef TWICE
#define TWICE 1
#endif
#define ROUNDS(p) ((p) < TWICE -> 2 : 1) /* processes below TWICE make two visits */

/* With SHARED, processes 0 and 2 are tickets of one agent. */
#ifdef SHARED
#define AGENT(p) ((p) == 2 -> 1 : (p) + 1)
#else
#define AGENT(p) ((p) + 1)
#endif
#define MORTAL(p) ((p) == 1)

#define INITIAL 0
#define WAKER 2
#define HANDOFF 4
#define ABANDONED 8
#define OWNER(w) ((w) >> 4)
#define HELD(p) (AGENT(p) << 4)

/* With FIFO, process 0 may not be overtaken (fairness: 'fifo'). */
#ifdef FIFO
#define STRICT(p) ((p) == 0)
#endif

#define ISFREE(w) (OWNER(w) == NOBODY)
#define MAKESROOM(w, v) ISFREE(v)
#define FITS(w, p) ISFREE(w)
#define TAKE(w, p) (((w) & ~ABANDONED) | HELD(p))
#define TELL(w, p) told[p] = ((w) & ABANDONED) != 0

#define UNLOCK 1
#define ABANDON 2
#define LEAVE 3
/* UNLOCK: the holder releases. ABANDON: an agent dies, which may or may not hold the mutex. */
#define LEFT(w) (op == UNLOCK -> (w) & BITS : \
                (op == ABANDON && OWNER(w) == AGENT(me) -> ((w) & BITS) | ABANDONED : (w)))
#define ENTERED(w) skip
#define CHANGED(w) assert(op != UNLOCK || OWNER(w) == AGENT(me)); \
                   REACH(11, op == ABANDON && ((w) & HAS_QUEUE) && OWNER(w) == AGENT(me))

bool told[N]; /* Waiter::abandoned */

#include "lock_word.pml"

byte inside;   /* ghost */
byte deaths;   /* ghost: number of holders that died */
byte heard;    /* ghost: number of holders that were told of a death */
byte finished; /* ghost */

/* JavaScript's acquire of a word without a queue, also the first step of lockUntil. tryEnter models the other. */
inline takeFree() {
  atomic {
    if
    :: word == 0 -> put(HELD(me)); told[me] = false; in = true
    :: else
    fi
  }
}

/* JavaScript's release of a word without a queue, also the first step of unlock. change models the other. */
inline freeAlone() {
  atomic {
    if
    :: word == HELD(me) -> put(0); in = false
    :: else
    fi
  }
}

/* Holds the mutex for a while. */
inline work() {
  d_step {
    assert(OWNER(word) == AGENT(me));
    assert(!inside);
    inside++;
    heard = heard + told[me];
    told[me] = false
  };
  inside--
}

inline unlock() {
  freeAlone();
  if
  :: in -> op = UNLOCK;
    if
    :: true -> change(AGENT(me))
    :: true -> changeQueued(AGENT(me)) /* an event loop with waiters of its own */
    fi;
    in = false
  :: else
  fi
}

active [N] proctype visitor() {
  LOCK_WORD_LOCALS;
  byte round;
  do
  :: round < ROUNDS(me) ->
#ifndef LIVE
    round++;
#endif
    takeFree();
    if
    :: in
    :: else ->
      if
      :: true -> tryEnter(true)        /* tryLock */
      :: true ->                       /* enterBlocking */
        tryEnter(true);
        if
        :: in
        :: else -> enterByBucket(true)
        fi
      :: true ->                       /* a ticket that may not overtake its agent's older tickets */
        tryEnter(false);
        if
        :: in
        :: else -> enterByBucket(false)
        fi
      fi
    fi;
    if
    :: state[me] == IDLE
    :: else ->
      if
      :: true -> sleep(false, LEAVE)
#ifndef LIVE
      :: true -> sleep(true, LEAVE)
#endif
      fi
    fi;
    if
    :: in ->
      work();
      if
      :: true -> unlock()
#ifndef LIVE
      :: MORTAL(me) -> deaths++; in = false; op = ABANDON; change(NOBODY); break
#endif
      fi
#ifndef LIVE
    :: !in && MORTAL(me) -> op = ABANDON; change(NOBODY); break
#endif
    :: !in
    fi
  :: else -> break
  od;
  finished++
}

active proctype auditor() {
  finished == N;
  d_step {
    assert(word == 0 || (word == ABANDONED && deaths == heard + 1));
    assert(word != 0 || deaths == heard);
    assert(!size && invited == NONE && !patience && !handsOff && bucket == NONE);
    i = 0;
    do
    :: i < N -> assert(!sem[i] && state[i] == IDLE); i++
    :: else -> break
    od
  }
}

#ifdef LIVE
/* Every queued waiter acquires the mutex. (With LIVE no waiter gives up, so a waiter leaves the queue only when
 * it acquires.) */
#define stands(p) (state[p] == WAITING || state[p] == INVITED)
ltl served { [] (stands(0) -> <> !stands(0)) }
#endif
