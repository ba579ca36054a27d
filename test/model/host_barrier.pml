/* src/host/host_barrier.h: rounds of parties in several processes, which may die at any step.
 *
 * host_gate.pml says how the model follows the C++. Besides, all local waiters of a process are in one round, so a
 * waiter that gives up is any of them.
 *
 * Checked: a round passes once, or is broken, and never both. It passes when the last party arrives while all others
 * of the round wait, in processes that no cleaner has removed. A waiter is told how its own round ended. At
 * quiescence no living waiter waits in a round that has ended or is broken; the round that goes on counts the living
 * waiters and no other; and the parts of dead processes are 0.
 */

/* A part: round | failed | waiters. The word: round | missing | broken. */
#define WAITERS(x) ((x) & 3)
#define FAILED 4
#define BROKEN 1
#define MISSING(w) (((w) >> 1) & 3)
#define ROUND(x) ((x) >> 3)
#define PAIR(round, low) (((round) << 3) | (low))
#define START(w) PAIR(ROUND(w) + 1, PARTIES << 1)
#define IS_IN(part, w) (WAITERS(part) && !((part) & FAILED) && ROUND(part) == ROUND(w))

#include "host_gate.pml"

#ifndef PARTIES
#define PARTIES 2 /* at most 3 */
#endif
#ifndef TWICE
#define TWICE 0 /* number of processes that arrive twice; the others arrive once */
#endif
#define ARRIVALS(p) ((p) <= TWICE -> 2 : 1)
#ifndef LEAVES
#define LEAVES 0 /* number of parties that give up */
#endif
#ifndef BREAKS
#define BREAKS 0 /* number of calls of breakNow */
#endif
#ifndef RESETS
#define RESETS 0 /* number of calls of reset */
#endif

byte word = PARTIES << 1;
byte part[N + 1];
byte queued[N + 1];  /* the length of each process's local queue */

byte leaves, breaks, resets; /* the numbers so far */

byte roundOf[N + 1]; /* ghosts: the round of the local waiters */
byte counted[N + 1]; /* their number, also after a death, until the cleaner has removed them */
byte passed;         /* the rounds that have passed, a bit each */
byte broken;         /* and those that are broken */

/* The next step of a visit. */
#define LOOKS 1     /* advance: loads the word */
#define SEES 2      /* loads the part, and admits the waiters */
#define EMPTIES 3   /* sets the part to 0 */
#define ARRIVES 4   /* enter: loads the part */
#define DECIDES 5   /* loads the word */
#define COUNTS 6    /* arrive: counts the party in the part */
#define SWAPS 7     /* and in the word */
#define UNDOES 8    /* the word has changed: takes the party out of the part */
#define LASTS 9     /* the last party begins the next round */
#define GIVES_UP 10 /* discount: loads the word */
#define LOADS 11    /* loads the part */
#define SPOILS 12   /* breaks the round */
#define LESSENS 13  /* takes the party out of the part */
#define GONE 14     /* leaves the local queue */
#define BREAKS_NOW 15
#define BREAKS_IT 16 /* reset: breaks the round */
#define MARKS 17    /* marks one part */
#define RENEWS 18   /* begins the next round */
#define TELLS 19    /* tellAll: looks at one part */
/* The next step of a cleaner. */
#define BEGINS 20
#define CHECKS 21
#define CLEARS 22
#define NOTIFIES 23
#define FREES 24
#define SWAPS_OUT 25

inline advance(next) {
  seen = 0;
  mine = 0;
  then = next;
  at = (queued[me] -> (BUG == 4 -> SEES : LOOKS) : then)
}
inline tellAll(next) {
  then = next;
  slot = 1;
  seen = 0;
  mine = 0;
  at = TELLS
}
inline begun(w) {
  assert(!((passed | broken) & BIT(ROUND(w))));
  passed = passed | BIT(ROUND(w));
  word = START(w)
}
inline spoil(w) {
  assert(!(passed & BIT(ROUND(w))));
  broken = broken | BIT(ROUND(w));
  word = w | BROKEN
}
#define COUNTED(p) (counted[p] && roundOf[p] == ROUND(word) -> counted[p] : 0)

inline endVisit() {
  at = 0;
  then = 0;
  seen = 0;
  mine = 0;
  slot = 0
}
#define MAY_CALL (!calm && ALIVE(me) && !at && !notifications)

/* advance, after both loads. */
inline judge() {
  if
  :: IS_IN(mine, seen) && !(seen & BROKEN) -> at = then
  :: else ->
    REACH(1, mine & FAILED);
    REACH(2, !(mine & FAILED) && !IS_IN(mine, seen) && (word & BROKEN));
    if
    :: IS_IN(mine, seen) || (mine & FAILED) -> assert(broken & BIT(roundOf[me]))
    :: else -> assert(passed & BIT(roundOf[me]))
    fi;
    queued[me] = 0;
    counted[me] = 0;
    roundOf[me] = 0;
    at = EMPTIES
  fi;
  seen = 0;
  mine = 0
}

/* BUG 2: a party counts itself in the word before it does so in the part. BUG 3: reset does not mark the parts. BUG 4:
 * advance loads the part before the word. BUG 5: a party that gives up leaves the part before it breaks the
 * round. BUG 6: the last party tells no process. */
active [N] proctype process() {
  byte at, then, seen, mine, slot, to, arrivals, notifications;
end:
  do
  :: d_step { MAY_DIE ->
      queued[me] = 0;
      arrivals = 0;
      notifications = 0;
      endVisit();
      die()
    }
  :: d_step { ALIVE(me) && !at && notifications -> send() }
  :: d_step { ALIVE(me) && !at && !notifications && (notified & BIT(me)) ->
      notified = notified & ~BIT(me);
      advance(0)
    }
  :: d_step { MAY_CALL && arrivals < ARRIVALS(me) -> arrivals++; advance(ARRIVES) }
  :: d_step { MAY_CALL && leaves < LEAVES && queued[me] -> leaves++; advance(GIVES_UP) }
  :: d_step { MAY_CALL && breaks < BREAKS -> breaks++; at = BREAKS_NOW }
  :: d_step { MAY_CALL && resets < RESETS -> resets++; at = BREAKS_IT }

  /* advance */
  :: d_step { ALIVE(me) && at == LOOKS ->
      seen = word;
      at = SEES;
      if
      :: BUG == 4 -> judge()
      :: else
      fi
    }
  :: d_step { ALIVE(me) && at == SEES ->
      mine = part[me];
      at = LOOKS;
      if
      :: BUG != 4 -> judge()
      :: else
      fi
    }
  :: d_step { ALIVE(me) && at == EMPTIES -> part[me] = 0; at = then }

  /* enter */
  :: d_step { ALIVE(me) && at == ARRIVES -> mine = part[me]; at = DECIDES }
  :: d_step { ALIVE(me) && at == DECIDES ->
      seen = word;
      if
      :: (seen & BROKEN) && !queued[me] -> endVisit()
      :: !(seen & BROKEN) && (!queued[me] || IS_IN(mine, seen)) ->
        at = (MISSING(seen) <= 1 -> LASTS : (BUG == 2 -> SWAPS : COUNTS))
      :: else -> advance(ARRIVES)
      fi
    }
  :: d_step { ALIVE(me) && at == COUNTS ->
      if
      :: part[me] == mine ->
        part[me] = (queued[me] -> mine + 1 : PAIR(ROUND(seen), 1));
        at = SWAPS;
        if
        :: BUG == 2 -> queued[me]++; endVisit()
        :: else
        fi
      :: else -> advance(ARRIVES)
      fi
    }
  :: d_step { ALIVE(me) && at == SWAPS ->
      if
      :: word == seen ->
        word = seen - 2;
        roundOf[me] = ROUND(seen);
        counted[me]++;
        if
        :: BUG == 2 -> at = COUNTS
        :: else -> queued[me]++; endVisit()
        fi
      :: else -> at = (BUG == 2 -> ARRIVES : UNDOES)
      fi
    }
  :: d_step { ALIVE(me) && at == UNDOES ->
      REACH(3, part[me] & FAILED);
      REACH(4, dead & ~cleaned && (word & BROKEN));
      part[me]--;
      advance(ARRIVES)
    }
  :: d_step { ALIVE(me) && at == LASTS ->
      if
      :: word == seen ->
        assert(COUNTED(1) + COUNTED(2) + COUNTED(3) == PARTIES - 1);
        begun(seen);
        if
        :: BUG == 6 -> advance(0)
        :: else -> tellAll(0)
        fi
      :: else -> advance(ARRIVES)
      fi
    }

  /* leave */
  :: d_step { ALIVE(me) && at == GIVES_UP ->
      seen = word;
      at = (queued[me] -> LOADS : 0);
      if
      :: !at -> endVisit() /* too late */
      :: else
      fi
    }
  :: d_step { ALIVE(me) && at == LOADS ->
      mine = part[me];
      if
      :: !IS_IN(mine, seen) || (seen & BROKEN) -> advance(GIVES_UP)
      :: else -> at = (BUG == 5 -> LESSENS : SPOILS)
      fi
    }
  :: d_step { ALIVE(me) && at == SPOILS ->
      if
      :: word == seen -> spoil(seen); at = LESSENS
      :: else -> advance(GIVES_UP)
      fi;
      if
      :: BUG == 5 && (word & BROKEN) -> queued[me]--; counted[me]--; roundOf[me] = (counted[me] -> roundOf[me] : 0); tellAll(0)
      :: else
      fi
    }
  :: d_step { ALIVE(me) && at == LESSENS ->
      part[me]--;
      if
      :: BUG == 5 -> at = SPOILS
      :: else -> tellAll(GONE)
      fi
    }
  :: d_step { ALIVE(me) && at == GONE -> queued[me]--; counted[me]--; roundOf[me] = (counted[me] -> roundOf[me] : 0); advance(0) }

  :: d_step { ALIVE(me) && at == BREAKS_NOW ->
      if
      :: !(word & BROKEN) -> spoil(word)
      :: else
      fi;
      tellAll(0)
    }

  /* reset */
  :: d_step { ALIVE(me) && at == BREAKS_IT ->
      if
      :: !(word & BROKEN) -> spoil(word)
      :: else
      fi;
      seen = word;
      slot = 1;
      at = (BUG == 3 -> RENEWS : MARKS)
    }
  :: d_step { ALIVE(me) && at == MARKS ->
      part[slot] = (IS_IN(part[slot], seen) -> part[slot] | FAILED : part[slot]);
      slot++;
      at = (slot > N -> RENEWS : MARKS)
    }
  :: d_step { ALIVE(me) && at == RENEWS ->
      REACH(5, word != seen);
      word = (word == seen -> START(seen) : word);
      tellAll(0)
    }

  :: d_step { ALIVE(me) && at == TELLS ->
      notifications = (slot != me && WAITERS(part[slot]) -> notifications | BIT(slot) : notifications);
      slot++;
      if
      :: slot > N && then -> slot = 0; at = then; then = 0
      :: slot > N && !then -> slot = 0; advance(0)
      :: else
      fi
    }
  od
}

#define WORKS (by[victim] && ALIVE(by[victim]))
inline begin() {
  at = BEGINS;
  had = 0;
  seen = 0
}

/* evict. BUG 7: it clears the part before it breaks the round. BUG 8: it does not look again when the word has
 * changed. */
active [2] proctype cleaner() {
  byte at, had, seen;
end:
  do
  :: d_step { CLEANS(3) -> by[victim] = 3; begin() }
  :: d_step { kills < KILLS && CLEANS(3 - victim) -> by[victim] = 3 - victim; begin() }
  :: d_step { WORKS && at == BEGINS ->
      had = part[victim];
      part[victim] = (BUG == 7 -> 0 : part[victim]);
      at = CHECKS
    }
  :: d_step { WORKS && at == CHECKS ->
      seen = word;
      at = (IS_IN(had, seen) && !(seen & BROKEN) -> SWAPS_OUT : CLEARS)
    }
  :: d_step { WORKS && at == SWAPS_OUT ->
      if
      :: word == seen -> spoil(seen); at = CLEARS
      :: else ->
        REACH(6, ROUND(word) == ROUND(seen) && !(word & BROKEN));
        seen = word;
        at = (IS_IN(had, seen) && !(seen & BROKEN) && BUG != 8 -> SWAPS_OUT : CLEARS)
      fi
    }
  :: d_step { WORKS && at == CLEARS ->
      part[victim] = 0;
      counted[victim] = 0;
      roundOf[victim] = 0;
      had = 0;
      seen = 0;
      at = NOTIFIES
    }
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
      assert(!queued[p] || (IS_IN(part[p], word) && !(word & BROKEN)));
      assert(WAITERS(part[p]) == queued[p] && counted[p] == queued[p]);
      assert(!(dead & BIT(p)) || !part[p]);
      p++
    :: else -> break
    od;
    assert((word & BROKEN) || queued[1] + queued[2] + queued[3] == PARTIES - MISSING(word))
  }
}
