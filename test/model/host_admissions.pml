/* src/host/admission_gate.h with host_event.h, or with host_condition.h (-DCONDITION): which waiter gets an admission,
 * among several processes that may die at any step.
 *
 * host_gate.pml says how the model follows the C++. Besides:
 *   - The field `times` of an event's word counts to four only.
 *   - `accepting` counts the admitted waiters of a process that have not accepted yet. They accept at any time.
 *   - passOn is called for an agent with one such waiter.
 *   - With OPENS, a process that opens the event also evicts a dead process that is still a member (beginAnew in
 *     segment_file.cpp), beside the cleaner.
 *
 * Checked: a part never has more admissions than waiters. At quiescence no living waiter waits though its part has an
 * admission for it or the event is set; the parts of dead processes are 0; and no signal is lost: those that were
 * accepted, plus the one that is set, plus those that found the event set already, are no fewer than those that were
 * given. They are more only where a process has died while it passed one on. (A condition variable is never set. A
 * notification of a dead process ends if its cleaner finds no other waiter.)
 */

#include "host_gate.pml"

#ifndef TWICE
#define TWICE 0 /* number of processes that enter twice; the others enter once */
#endif
#define ENTRIES(p) ((p) <= TWICE -> 2 : 1)
#ifndef SIGNALS
#define SIGNALS 1 /* number of signals, by any process */
#endif
#ifndef LEAVES
#define LEAVES 0 /* number of waiters that give up */
#endif
#ifndef TRIES
#define TRIES 0 /* number of times that a caller takes the set event without waiting */
#endif
#ifndef AGENTS
#define AGENTS 0 /* number of agents that die with an admission */
#endif
#ifndef OPENS
#define OPENS 0
#endif

/* A part: admissions | waiters */
#define ONE 16
#define GIVEN(x) ((x) >> 4)
#define WAITERS(x) ((x) & 15)
#define PAIR(n) ((n) * (ONE + 1))
#define DUE(x) (GIVEN(x) + queued[me] > WAITERS(x))

/* The word: times | last (3 bits) | set */
#define SET 1
#define LAST(w) (((w) >> 1) & 7)
#define SERVED(w, p) (((w) & ~14) | ((p) << 1))
#define LATER(w) (((w) & 15) | (((w) + 16) & 48))

byte word;
byte part[N + 1];
byte queued[N + 1]; /* the length of each process's local queue */
byte accepting[N + 1];

byte signals, leaves, tries, agents; /* the numbers so far */

byte given;      /* ghosts: signals that were given to a process, or set the event */
byte accepted;
byte merged;     /* those that found the event set already, or no other waiter after a death */
byte doubled;    /* those that are given once more, because a process died while it passed them on */
byte passing[3]; /* the number of signals that the cleaner after process 1 or 2 is passing on */

/* The next step of a visit. */
#define LOOKS 1   /* advance: loads the part */
#define SEES 2    /* loads the word */
#define RAISES 3  /* counts a signal of the set event */
#define TAKES 4   /* tryEnter: clears the set event */
#define LOWERS 5  /* or takes the signal back */
#define COUNTS 6  /* enter: counts the waiter */
#define GIVES 7   /* give: loads the word */
#define SCANS 8   /* giveBehind: looks at one part, and may add an admission */
#define SERVES 9  /* records the process that was served */
#define SETS 10   /* sets the event */
#define TELLS 11  /* tellAll: looks at one part */
#define YIELDS 12 /* leave: discounts the waiter */
#define GONE 13   /* and takes it out of the queue */
#define PASSES 14 /* passOn: takes the admission of the dead agent's waiter out */
#define OPENS_ALL 15 /* notifyAll: gives one part as many admissions as waiters */
/* The next step of a cleaner. */
#define BEGINS 16 /* passOnGiven: loads the part */
#define FORGETS 17 /* forgets its waiters */
#define REMOVES 18 /* takes an admission out that another process has got */
#define CLEARS 19
#define NOTIFIES 20
#define FREES 21

/* The visit goes on with advance, and then with the step `next`. */
inline advance(next) {
  then = next;
  at = (queued[me] -> LOOKS : then)
}
inline letIn() {
  queued[me]--;
  accepting[me]++;
  place = (place -> place - 1 : 0);
  at = (queued[me] -> LOOKS : then)
}

inline give() {
  seen = word;
  slot = LAST(seen);
  left = N;
  to = 0;
  at = SCANS
}

/* One step of giveBehind. */
inline scan(except) {
  slot = slot % N + 1;
  left--;
  if
  :: slot != except && WAITERS(part[slot]) > GIVEN(part[slot]) ->
    part[slot] = part[slot] + ONE;
    to = slot;
    left = 0;
    at = SERVES
  :: else -> at = (left -> SCANS : SETS)
  fi
}

inline serve() {
#ifdef CONDITION
  word = SERVED(0, to);
#else
  word = (word == seen -> LATER(SERVED(seen, to)) : word);
#endif
  seen = 0;
  slot = 0
}

inline endVisit() {
  at = 0;
  then = 0;
  now = 0;
  seen = 0;
  slot = 0;
  left = 0;
  to = 0;
  place = 0;
  isNew = false
}

/* BUG 5: a waiter clears the set event before it counts the signal. BUG 6: no process is told of the set event.
 * BUG 7: a waiter that leaves does not see that it is due. */
#define MAY_CALL (!calm && ALIVE(me) && !at && !notifications)
active [N] proctype process() {
  byte at, then, now, seen, slot, left, to, place, entries, notifications;
  bool isNew;
end:
  do
  :: d_step { MAY_DIE ->
      doubled = doubled + ((at == TAKES || at == LOWERS || at == PASSES) -> 1 : 0);
      /* An agent's death: this process now passes on the same admission. */
      doubled = doubled + (at && !isNew && then == PASSES && at != PASSES -> 1 : 0);
      doubled = doubled + (by[1] == me -> passing[1] : 0) + (by[2] == me -> passing[2] : 0);
      passing[1] = (by[1] == me -> 0 : passing[1]);
      passing[2] = (by[2] == me -> 0 : passing[2]);
      queued[me] = 0;
      accepting[me] = 0;
      entries = 0;
      notifications = 0;
      endVisit();
      die()
    }
  :: d_step { ALIVE(me) && !at && notifications -> send() }
  :: d_step { ALIVE(me) && !at && !notifications && (notified & BIT(me)) ->
      notified = notified & ~BIT(me);
      advance(0)
    }
  :: d_step { MAY_CALL && entries < ENTRIES(me) ->
      entries++;
#ifdef CONDITION
      at = COUNTS
#else
      advance(COUNTS)
#endif
    }
  :: d_step { MAY_CALL && signals < SIGNALS ->
      signals++;
      isNew = true;
      at = GIVES
    }
  :: d_step { MAY_CALL && agents < AGENTS && accepting[me] ->
      agents++;
      accepting[me]--;
      then = PASSES;
      at = GIVES
    }
  :: d_step { MAY_CALL && leaves < LEAVES && queued[me] ->
      leaves++;
      place = queued[me];
      advance(YIELDS)
    }
  :: d_step { MAY_CALL && leaves < LEAVES && queued[me] > 1 ->
      leaves++;
      place = 1;
      advance(YIELDS)
    }
  /* What holds no bucket: accepted, and tryEnter. */
  :: d_step { ALIVE(me) && accepting[me] ->
      accepting[me]--;
      accepted++;
      assert(GIVEN(part[me]));
      part[me] = part[me] - ONE - 1
    }
#ifndef CONDITION
  :: d_step { ALIVE(me) && !calm && tries < TRIES && (word & SET) ->
      tries++;
      accepted++;
      word = LATER(word & ~SET)
    }
#endif

  /* advance */
  :: d_step { ALIVE(me) && at == LOOKS ->
      now = part[me];
      if
      :: DUE(now) -> now = 0; letIn()
      :: else ->
#ifdef CONDITION
        now = 0;
        at = then
#else
        at = SEES
#endif
      fi
    }
  :: d_step { ALIVE(me) && at == SEES ->
      if
      :: word & SET -> at = (BUG == 5 -> TAKES : RAISES)
      :: else -> now = 0; at = then
      fi
    }
  :: d_step { ALIVE(me) && at == RAISES ->
      at = (part[me] == now -> TAKES : LOOKS);
      part[me] = (part[me] == now -> part[me] + ONE : part[me]);
      now = 0;
      if
      :: BUG == 5 -> letIn()
      :: else
      fi
    }
  :: d_step { ALIVE(me) && at == TAKES ->
      if
      :: (word & SET) && BUG == 5 -> word = LATER(word & ~SET); now = part[me]; at = RAISES
      :: (word & SET) && BUG != 5 -> word = LATER(word & ~SET); letIn()
      :: else -> REACH(1, true); at = (BUG == 5 -> LOOKS : LOWERS)
      fi
    }
  :: d_step { ALIVE(me) && at == LOWERS ->
      REACH(2, word & SET);
      part[me] = part[me] - ONE;
      at = LOOKS
    }

  /* enter and leave */
  :: d_step { ALIVE(me) && at == COUNTS ->
      queued[me]++;
      part[me]++;
#ifdef CONDITION
      endVisit()
#else
      advance(0)
#endif
    }
  :: d_step { ALIVE(me) && at == YIELDS && !place -> REACH(3, true); endVisit() } /* too late */
  :: d_step { ALIVE(me) && at == YIELDS && place ->
      if
      :: DUE(part[me]) && BUG != 7 -> at = LOOKS; REACH(4, place > 1)
      :: else -> part[me]--; at = GONE
      fi
    }
  :: d_step { ALIVE(me) && at == GONE -> queued[me]--; place = 0; advance(0) }

  /* signal and notifyOne */
  :: d_step { ALIVE(me) && at == GIVES -> give() }
  :: d_step { ALIVE(me) && at == SCANS ->
      scan(0);
      given = given + (to && isNew -> 1 : 0);
      isNew = isNew && !to
    }
  :: d_step { ALIVE(me) && at == SERVES ->
      serve();
      notifications = notifications | (to != me -> BIT(to) : 0);
      to = 0;
      advance(then)
    }
#ifdef CONDITION
  :: d_step { ALIVE(me) && at == SETS ->
      merged = merged + (isNew -> 0 : 1);
      isNew = false;
      seen = 0;
      slot = 0;
      advance(then)
    }
  :: d_step { MAY_CALL && signals < SIGNALS ->
      signals++;
      slot = 1;
      at = OPENS_ALL
    }
  :: d_step { ALIVE(me) && at == OPENS_ALL ->
      given = given + WAITERS(part[slot]) - GIVEN(part[slot]);
      notifications = (slot != me && WAITERS(part[slot]) > GIVEN(part[slot]) -> notifications | BIT(slot) : notifications);
      part[slot] = PAIR(WAITERS(part[slot]));
      slot++;
      if
      :: slot > N -> slot = 0; advance(0)
      :: else
      fi
    }
#else
  :: d_step { ALIVE(me) && at == SETS ->
      if
      :: word != seen -> give()
      :: else ->
        given = given + isNew;
        isNew = false;
        merged = merged + (word & SET);
        word = LATER(seen | SET);
        seen = 0;
        slot = 1;
        if
        :: BUG == 6 -> slot = 0; advance(then)
        :: else -> at = TELLS
        fi
      fi
    }
  :: d_step { ALIVE(me) && at == TELLS ->
      notifications = (slot != me && WAITERS(part[slot]) -> notifications | BIT(slot) : notifications);
      slot++;
      if
      :: slot > N -> slot = 0; advance(then)
      :: else
      fi
    }
#endif
  :: d_step { ALIVE(me) && at == PASSES -> part[me] = part[me] - ONE - 1; endVisit() }
  od
}

/* The third cleaner is the process that opens the event. It holds the slot of process 1 free, but has no other lock. */
#define OPENER (_pid == N + 2)
#define WORKS (OPENER || (by[victim] && ALIVE(by[victim])))

inline goOn() {
  at = (!had -> CLEARS : (had != PAIR(GIVEN(had)) && BUG != 2 -> FORGETS : (!GIVEN(had) -> CLEARS : GIVES)))
}

inline begin() {
  at = BEGINS;
  had = 0;
  seen = 0;
  slot = 0;
  left = 0;
  to = 0
}

/* passOnGiven. BUG 2: it does not forget the waiters first. BUG 3: it takes an admission out before another process
 * has got it. BUG 4: it passes on one admission only.
 * BUG 8: the process that opens the event notifies no process. */
active [2 + OPENS] proctype cleaner() {
  byte at, had, seen, slot, left, to;
  bool opened;
end:
  do
  :: d_step { CLEANS(3) -> by[victim] = 3; begin() }
  :: d_step { kills < KILLS && CLEANS(3 - victim) -> by[victim] = 3 - victim; begin() }
#if N > 3
  :: d_step { CLEANS(4) -> by[victim] = 4; begin() }
#endif
  :: d_step { OPENER && !opened && (dead & ~cleaned & BIT(1)) -> opened = true; begin() }
  :: d_step { WORKS && at == BEGINS -> had = part[victim]; goOn() }
  :: d_step { WORKS && at == FORGETS ->
      part[victim] = (part[victim] == had -> PAIR(GIVEN(had)) : part[victim]);
      REACH(5, part[victim] != PAIR(GIVEN(had)));
      had = part[victim];
      goOn()
    }
  :: d_step { WORKS && at == GIVES ->
      give();
      part[victim] = (BUG == 3 -> part[victim] - ONE - 1 : part[victim])
    }
  :: d_step { WORKS && at == SCANS ->
      scan(victim);
      passing[victim] = (to -> 1 : passing[victim])
    }
  :: d_step { WORKS && at == SERVES -> serve(); to = 0; at = REMOVES }
#ifdef CONDITION
  :: d_step { WORKS && at == SETS ->
      merged = merged + GIVEN(had);
      passing[victim] = GIVEN(had);
      at = CLEARS
    }
#else
  :: d_step { WORKS && at == SETS ->
      if
      :: word != seen -> give()
      :: else ->
        merged = merged + (word & SET) + GIVEN(had) - 1;
        passing[victim] = GIVEN(had);
        word = LATER(seen | SET);
        at = CLEARS
      fi
    }
#endif
  :: d_step { WORKS && at == REMOVES ->
      REACH(6, GIVEN(had) == 2);
      part[victim] = (part[victim] == had && BUG != 3 -> part[victim] - ONE - 1 : part[victim]);
      passing[victim] = 0;
      had = (BUG == 4 -> 0 : part[victim]);
      goOn()
    }
  :: d_step { WORKS && at == CLEARS ->
      part[victim] = 0;
      passing[victim] = 0;
      had = 0;
      seen = 0;
      slot = 0;
      at = (OPENER && BUG == 8 -> 0 : NOTIFIES)
    }
  :: d_step { WORKS && at == NOTIFIES -> notifyAll(); at = (OPENER -> 0 : FREES) }
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
      assert(!accepting[p]);
      assert(!queued[p] || !(word & SET));
      assert(part[p] == queued[p]);
      p++
    :: else -> break
    od;
    assert(accepted + (word & SET) + merged >= given);
    assert(accepted + (word & SET) + merged <= given + doubled || OPENS)
  }
}
