/* src/host/host_latch.h: a latch, or a manual-reset event (-DEVENT), with waiters in several processes, which may die
 * at any step.
 *
 * host_gate.pml says how the model follows the C++. Besides, advance admits all local waiters, so a waiter that gives
 * up is any of them.
 *
 * Checked: a latch opens exactly when its count is used up. A waiter is admitted only by an opening that came after it
 * began to enter, or while the latch is open. At quiescence no living waiter waits though there was an opening since
 * it had entered, and the parts of dead processes are 0.
 */

/* A part: openings | waiters. The word: openings | count. */
#define WAITERS(x) ((x) & 3)
#define COUNT(w) ((w) & 3)
#define OPENINGS(x) ((x) >> 2)
#define PAIR(openings, low) (((openings) << 2) | (low))

#include "host_gate.pml"

#ifdef EVENT
#define START 1
#else
#define START 2
#endif
#ifndef TWICE
#define TWICE 1 /* number of processes that enter twice; the others enter once */
#endif
#define ENTRIES(p) ((p) <= TWICE -> 2 : 1)
#ifndef CHANGES
#define CHANGES 2 /* number of calls of countDown, or of set and reset */
#endif
#ifndef LEAVES
#define LEAVES 1 /* number of waiters that give up */
#endif

byte word = START;
byte part[N + 1];
byte queued[N + 1]; /* the length of each process's local queue */
byte changes, leaves; /* the numbers so far */
byte opened;          /* ghosts: the number of openings so far */
byte since[N + 1];    /* and when the first local waiter was counted */
byte downs;

/* The next step of a visit. */
#define LOOKS 1   /* advance: loads the word */
#define SEES 2    /* loads the part */
#define EMPTIES 3 /* sets the part to 0 */
#define JOINS 4   /* enter: joins the queue, and loads the word, or counts in the part */
#define STORES 5  /* stores the part of the first waiter */
#define QUITS 6   /* discount */
#define GONE 7    /* leaves the queue */
#define COUNTS 8  /* countDown, set */
#define CLOSES 9  /* reset */
#define TELLS 10  /* tellAll: looks at one part */
/* The next step of a cleaner. */
#define CLEARS 11
#define NOTIFIES 12
#define FREES 13

inline advance(next) {
  then = next;
  seen = 0;
  at = (queued[me] -> LOOKS : then)
}
inline admitAll() {
  assert(!COUNT(word) || opened > since[me]);
#ifndef EVENT
  assert(downs == START);
#endif
  queued[me] = 0;
  since[me] = 0;
  seen = 0;
  at = EMPTIES
}

#define MAY_CALL (!calm && ALIVE(me) && !at && !notifications)

/* BUG 2: a waiter does not look again once it is counted. BUG 3: the word does not count the openings. BUG 4: an opening
 * is told to no process. BUG 5: a waiter that comes later counts the openings anew. */
active [N] proctype process() {
  byte at, then, seen, slot, to, entries, notifications;
end:
  do
  :: d_step { MAY_DIE ->
      queued[me] = 0;
      since[me] = 0;
      entries = 0;
      notifications = 0;
      at = 0;
      then = 0;
      seen = 0;
      slot = 0;
      die()
    }
  :: d_step { ALIVE(me) && !at && notifications -> send() }
  :: d_step { ALIVE(me) && !at && !notifications && (notified & BIT(me)) ->
      notified = notified & ~BIT(me);
      advance(0)
    }
  :: d_step { MAY_CALL && entries < ENTRIES(me) -> entries++; advance(JOINS) }
  :: d_step { MAY_CALL && leaves < LEAVES && queued[me] -> leaves++; advance(QUITS) }
  :: d_step { MAY_CALL && changes < CHANGES -> changes++; at = COUNTS }
#ifdef EVENT
  :: d_step { MAY_CALL && changes < CHANGES -> changes++; at = CLOSES }
#endif

  /* advance */
  :: d_step { ALIVE(me) && at == LOOKS ->
      seen = word;
      if
      :: !COUNT(seen) -> admitAll()
      :: else -> at = SEES
      fi
    }
  :: d_step { ALIVE(me) && at == SEES ->
      if
      :: OPENINGS(seen) != OPENINGS(part[me]) -> REACH(1, COUNT(word)); admitAll()
      :: else -> at = then; seen = 0
      fi
    }
  :: d_step { ALIVE(me) && at == EMPTIES -> part[me] = 0; at = then }

  /* enter and leave */
  :: d_step { ALIVE(me) && at == JOINS ->
      queued[me]++;
      if
      :: queued[me] == 1 || BUG == 5 ->
        since[me] = (queued[me] == 1 -> opened : since[me]);
        seen = word;
        at = STORES
      :: else -> part[me]++; advance(0)
      fi
    }
  :: d_step { ALIVE(me) && at == STORES ->
      REACH(2, word != seen);
      part[me] = PAIR(OPENINGS(seen), queued[me]);
      advance(0);
      at = (BUG == 2 -> 0 : at)
    }
  :: d_step { ALIVE(me) && at == QUITS ->
      if
      :: queued[me] -> REACH(3, OPENINGS(word) != OPENINGS(part[me])); part[me]--; at = GONE
      :: else -> at = 0; then = 0 /* too late */
      fi
    }
  :: d_step { ALIVE(me) && at == GONE -> queued[me]--; since[me] = (queued[me] -> since[me] : 0); advance(0) }

  :: d_step { ALIVE(me) && at == COUNTS ->
      at = 0;
#ifdef EVENT
      word = PAIR(OPENINGS(word) + (BUG == 3 -> 0 : 1), 0);
      opened++;
      at = TELLS;
#else
      if
      :: COUNT(word) ->
        downs++;
        opened = opened + (COUNT(word) == 1 -> 1 : 0);
        at = (COUNT(word) == 1 && BUG != 4 -> TELLS : 0);
        word = (COUNT(word) == 1 -> PAIR(OPENINGS(word) + 1, 0) : word - 1);
        assert((COUNT(word) == 0) == (downs == START))
      :: else /* throws */
      fi;
#endif
      slot = (at -> 1 : 0)
    }
  :: d_step { ALIVE(me) && at == CLOSES -> word = PAIR(OPENINGS(word), 1); at = 0 }
  :: d_step { ALIVE(me) && at == TELLS ->
      notifications = (slot != me && WAITERS(part[slot]) -> notifications | BIT(slot) : notifications);
      slot++;
      if
      :: slot > N -> slot = 0; advance(0)
      :: else
      fi
    }
  od
}

#define WORKS (by[victim] && ALIVE(by[victim]))
active [2] proctype cleaner() {
  byte at;
end:
  do
  :: d_step { CLEANS(3) -> by[victim] = 3; at = CLEARS }
  :: d_step { kills < KILLS && CLEANS(3 - victim) -> by[victim] = 3 - victim; at = CLEARS }
  :: d_step { WORKS && at == CLEARS -> part[victim] = 0; at = NOTIFIES }
  :: d_step { WORKS && at == NOTIFIES -> notifyAll(); at = FREES }
  :: d_step { WORKS && at == FREES -> free(); at = 0 }
  od
}

active proctype auditor() {
  byte p;
  calm = true;
  timeout;
  d_step {
    assert(dead == cleaned && !notified);
    p = 1;
    do
    :: p <= N ->
      assert(!queued[p] || (COUNT(word) && opened == since[p]));
      assert(WAITERS(part[p]) == queued[p]);
      assert(!(dead & BIT(p)) || !part[p]);
      p++
    :: else -> break
    od
  }
}
