/* src/locks/rw_lock.h: readers, writers, readers that upgrade and writers that downgrade; some of each give up.
 *
 * Checked: readers share and a writer is alone; no writer enters during a downgrade; an upgrade is refused
 * while another upgrade waits, so the two never wait for each other; no process sleeps for ever; a newcomer
 * queues behind earlier waiters; invariants 1, 3 and 4 of lock_word.h; one wake for each step out of the queue;
 * at the end the word has its initial value.
 * With LIVE, processes come for ever, and every queued waiter gets in.
 */

#ifndef N
#define N 3
#endif
#ifndef PATIENCE
#define PATIENCE 1
#endif
#ifndef TWICE
#define TWICE 1
#endif
#define ROUNDS(p) ((p) < TWICE -> 2 : 1) /* processes below TWICE make two visits */

/* Which processes write, and which upgrade and downgrade. With LIVE, only the watched process does both, to
 * keep the search small. */
#ifdef LIVE
#define WRITES(p) ((p) != 1)
#define CHANGES(p) ((p) == 0)
#else
#define WRITES(p) true
#define CHANGES(p) true
#endif

/* With SHARED, processes 0 and 2 are tickets of one agent. */
#ifdef SHARED
#define AGENT(p) ((p) == 2 -> 1 : (p) + 1)
#else
#define AGENT(p) ((p) + 1)
#endif

#define WAKER 2
#define HANDOFF 4
#define WRITER 8
#define UPGRADING 16
#define ONE 64
#define COUNT(w) ((w) >> 6)
#define WRITTEN(w) (((w) & WRITER) != 0)

/* Waiter::ask */
#define READ 0
#define WRITE 1
#define UPGRADE 2

#define INITIAL 0
#define ISFREE(w) (!WRITTEN(w) && COUNT(w) == 0)
#define FITS(w, p) (!WRITTEN(w) && ((ask[p] == UPGRADE && COUNT(w) == 1) || \
                                    (ask[p] == WRITE && COUNT(w) == 0) || \
                                    (ask[p] == READ && !((w) & UPGRADING))))
#define READERS(w) (WRITTEN(w) -> 0 : COUNT(w))
#define MAKESROOM(w, v) (READERS(w) <= READERS(v) || READERS(v) == 0 || ((v) & UPGRADING))
#define TAKE(w, p) (ask[p] == READ -> (w) + ONE : ((w) & BITS) | WRITER | (AGENT(p) << 6))
#define TELL(w, p) skip

/* BUG 11: an upgrader that gives up leaves its claim. BUG 13: a downgrade is an unlock. */
#define UNLOCK_READ 1
#define UNLOCK_WRITE 2
#define DOWNGRADE 3
#define LEAVE 4
#define LEAVE_UPGRADE 5
#define LEFT(w) (op == UNLOCK_READ -> (w) - ONE : \
                (op == UNLOCK_WRITE -> (w) & BITS : \
                (op == DOWNGRADE -> ((w) & BITS) + (BUG == 13 -> 0 : ONE) : \
                (op == LEAVE_UPGRADE && BUG != 11 -> (w) & ~UPGRADING : (w)))))
#define CHANGED(w) assert(op != UNLOCK_READ || (!WRITTEN(w) && COUNT(w) > 0)); \
                   assert((op != UNLOCK_WRITE && op != DOWNGRADE) || \
                          (WRITTEN(w) && COUNT(w) == AGENT(me))); \
                   REACH(11, op == LEAVE_UPGRADE && size > 0); \
                   REACH(12, op == DOWNGRADE && size > 0 && ask[queue[0]] == READ)
#define ENTERED(w) skip

byte ask[N];

#include "lock_word.pml"

byte readers, writers; /* ghost: number of holders */
byte finished;         /* ghost */

/* tryEnter. BUG 14: newcomers ignore the queue. */
inline tryNow() {
  if
  :: BUG == 14 ->
    atomic {
      if
      :: FITS(word, me) -> overtakes(word, false); word = TAKE(word, me); in = true
      :: else
      fi
    }
  :: else -> tryEnter(true)
  fi
}

/* WaitQueue::enterFirst. The previous head is no longer the head. */
inline queueEnterFirst(p) {
  i = size;
  do
  :: i > 0 -> queue[i] = queue[i - 1]; i--
  :: else -> break
  od;
  queue[0] = p;
  size++;
  state[p] = WAITING;
  passed = 0
}

/* enterUpgrade: sets `in`, queues the process, or refuses. BUG 12: two processes may wait to upgrade. */
inline enterUpgrade() {
  open();
  ask[me] = UPGRADE;
  w = word;
  do
  :: atomic {
      assert(!WRITTEN(w) && COUNT(w) > 0);
      done = (w & UPGRADING) && BUG != 12; /* refused */
      after = w;
      if
      :: done
      :: !done && FITS(w, me) -> after = TAKE(w, me)
      :: else ->
        bits = HAS_QUEUE | (invited != NONE -> WAKER : 0) | (handsOff || STRICT(me) -> HANDOFF : 0);
        after = WITHBITS(w | UPGRADING)
      fi;
      if
      :: word != w -> w = word
      :: else ->
        put(after);
        if
        :: done -> REACH(13, true)
        :: !done && FITS(w, me) -> in = true
        :: else -> queueEnterFirst(me)
        fi;
        done = false;
        break
      fi
    }
  od;
  close()
}

inline unlock(how) {
  op = how;
  change(AGENT(me))
}

active [N] proctype visitor() {
  LOCK_WORD_LOCALS;
  byte round;
  bool writes;
  do
  :: round < ROUNDS(me) ->
#ifndef LIVE
    round++;
#endif
    if
    :: ask[me] = READ
    :: WRITES(me) -> ask[me] = WRITE
    fi;
    tryNow();
    if
    :: in
    :: !in -> enterByBucket(true)
    :: !in /* tryLockRead, tryLockWrite */
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
    :: in && ask[me] == READ ->
      in = false;
      d_step { assert(!writers); readers++ };
      if
      :: true /* still reads, then releases */
      :: CHANGES(me) ->
        enterUpgrade();
        if
        :: state[me] == IDLE
        :: else ->
          if
          :: true -> sleep(false, LEAVE_UPGRADE)
#ifndef LIVE
          :: true -> sleep(true, LEAVE_UPGRADE)
#endif
          fi
        fi
      fi;
      atomic {
        readers--;
        writes = in;
        in = false
      };
      if
      :: !writes -> unlock(UNLOCK_READ)
      :: else
      fi
    :: in && ask[me] == WRITE -> in = false; writes = true
    :: !in
    fi;

    if
    :: writes ->
      d_step { assert(!writers && !readers); writers++ };
      d_step { writers--; writes = false };
      if
      :: true -> unlock(UNLOCK_WRITE)
      :: CHANGES(me) ->
        unlock(DOWNGRADE);
        d_step { assert(!writers); readers++ };
        readers--;
        unlock(UNLOCK_READ)
      fi
    :: else
    fi;
    ask[me] = READ
  :: else -> break
  od;
  finished++
}

active proctype auditor() {
  finished == N;
  d_step {
    assert(word == 0);
    assert(!size && !patience && !handsOff && bucket == NONE);
    i = 0;
    do
    :: i < N -> assert(!sem[i] && state[i] == IDLE); i++
    :: else -> break
    od
  }
}

#ifdef LIVE
/* Every queued waiter (reader, writer or upgrader) is admitted. */
#define stands(p) (state[p] == WAITING)
ltl served { [] (stands(0) -> <> !stands(0)) }
#endif
