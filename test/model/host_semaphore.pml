/* src/host/host_semaphore.h, with host_lock.h, handoff_queue.h and owner_word.h, and the order of steps of
 * Membership::cleanUp: processes that take and put back units, and may die at any step.
 *
 * How the model follows the C++
 *   - C++ code of a process holds its bucket, so each process is one actor. It sends its notifications when it
 *     closes the bucket.
 *   - Each load of a word, each compare-and-swap and each notification is one step, and the process may die
 *     between any two. Two accesses are one step where no other process can change the second word between
 *     them: a loop around a compare-and-swap whose result depends on that word alone, a process's own `held`
 *     without SIGNALS, a frozen `held`, and the question whether the mark is that of the cleaner's own dead process.
 *   - An acquisition tries in passing. Then it joins the queue, or gives up. tryAcquire's look at the units before
 *     it takes ownership is left out: the model tries whatever that look would show.
 *   - The fifo has one place, so that a third process finds it full. At any step its head may be overdue. No waiter
 *     is strict. JavaScript takes no step of its own, so an owner is always ungiven.
 *   - The eviction of each dead process is an actor (cleaner), on behalf of some living process: one of these
 *     three, or another. CRASHES is how often such a process dies, at any step. Another one then begins again.
 *   - A process joins in a dead process's slot when its cleaner has freed the slot.
 *   - Not in the model: setValue(), reclaim(), abandon() and resting units, overflows, corrupt words, and the keys of
 *     keyed semaphores (host_keys.pml).
 *
 * With CONSUMES the semaphore carries signals: it begins at 0, and waiters keep what they take. Otherwise each process
 * puts its units back. SIGNALS is the number of releases of a unit that the caller does not hold.
 *
 * Checked: units granted to living processes never exceed those that exist. At quiescence no unit is lost, no dead
 * process is left in any word, and no living process waits for units that are left. The death of a process that
 * holds units is told, and once unless a cleaner dies. No more units are owed than dead processes held. With two
 * deaths and CRASHES, signals may be lost, as host_semaphore.h says, but none comes back.
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

#ifndef START
#define START 2 /* the initial value */
#endif
#ifndef CONSUMES
#define CONSUMES 0
#endif
#ifndef SIGNALS
#define SIGNALS 0 /* number of releases of a unit that the caller does not hold: all by process 3 */
#endif
#ifndef TWICE
#define TWICE 0 /* number of processes that make two visits; the others make one */
#endif
#ifndef VISITORS
#define VISITORS 3 /* number of processes that acquire units */
#endif
#ifndef HEAVY
#define HEAVY 7 /* the processes that ask for 2 units: bits 0 to 2. The others ask for 1 */
#endif
#ifndef LEAVES
#define LEAVES 0 /* total number of waiters that give up */
#endif
#ifndef KILLS
#define KILLS 2 /* number of deaths; only processes 1 and 2 die */
#endif
#ifndef CRASHES
#define CRASHES 0 /* number of deaths of cleaners */
#endif
#ifndef OWES
#define OWES 0 /* whether there is a minHold, so that dead processes' units are owed */
#endif
#ifndef BIRTHS
#define BIRTHS 0 /* number of processes that join in a dead process's slot */
#endif
#define VISITS(p) ((p) > VISITORS -> 0 : ((p) <= TWICE -> 2 : 1))
#define WEIGHT(p) ((HEAVY & (1 << ((p) - 1))) -> 2 : 1)

#define N 3 /* process slots 1 to N */
#define me (_pid + 1)
#define BIT(p) (1 << (p))
#define ALL (BIT(1) | BIT(2) | BIT(3))

hidden byte i;

/* The word: queued | owner (2 bits) | fifo (2) | invited */
#define HAS_QUEUE 1
#define OWNER(w) (((w) >> 1) & 3)
#define HEAD(w) (((w) >> 3) & 3)
#define INVITED 32
#define OWNED(w, p) (((w) & ~6) | ((p) << 1))
#define FREE(w) OWNED(w, 0)
#define QUEUED(w, p) ((w) | ((p) << 3))
#define POPPED(w) ((w) & ~24)
#define WITHOUT(w, p) (HEAD(w) == (p) -> POPPED(w) : (w))

byte word;
byte overflow;        /* SlotHead::overflow, a bit each */
short value = START;  /* the lower bits of SemaphoreSlot::value */
byte mark;            /* and its upper bits */
byte held[N + 1];
byte frozen;          /* the processes whose `held` is frozen, a bit each */
bool abandoned;
byte owed;            /* with OWES */
byte queue[N + 1];    /* the length of each process's local queue: all its waiters have one weight */
byte notified;        /* the processes with a pending notification, a bit each */

byte dead;            /* the processes that are dead and not evicted yet, a bit each */
byte vacant;          /* the free process slots, a bit each */
byte kills, births, leaves, crashes, sent;
bool calm;            /* no process dies, joins or gives up any more */

byte granted[N + 1];  /* ghost: the units that each living process's callers hold */
byte consumed;        /* ghost: with CONSUMES, all units ever taken */
byte untold;          /* ghost: the dead holders that no later holder was told of, a bit each */
byte flagged;         /* ghost: those since whose death `abandoned` was set */
byte died;            /* ghost: the units of dead processes */

#define ALIVE(p) (!((dead | vacant) & BIT(p)))
#define SUM (held[1] + held[2] + held[3])
#define LEFT (value - SUM)

/* The next step of a process's call. */
#define OUTSIDE 0
#define LOOKS 1    /* advance: loads the word */
#define TIDIES 2   /* leaveOverflow: clears its bit in `overflow` */
#define LOOKS2 3   /* leaveOverflow: checks whether the fifo has room for others */
#define DECIDES 4  /* loads `overflow` and computes the new word */
#define CHANGES 5  /* the compare-and-swap */
#define CALLS 6    /* notifyOverflow after it */
#define LOOKS3 7   /* enqueue: loads the word once more */
#define TIDIES3 8  /* leaveOverflow again */
#define PASSES 9   /* enterInPassing: loads the word */
#define SUMS 10    /* admit: loads each `held` */
#define READS 11   /* and the value */
#define TAKES 12   /* adds to its own `held` */
#define HEARS 13   /* takes `abandoned` */
#define PUTS 14    /* release: takes units off each `held` */
#define ADDS 15    /* adds the others to the value */
#define RINGS 16   /* notifyOwner */

/* The purpose of the change. */
#define CLAIM 1
#define TAKE 2
#define STAND 3
#define DROP 4
#define PASS 5

/* HandoffQueue::complete. `waits`: whether process p's local queue has a waiter. */
inline complete(from, to, p, waits) {
  if
  :: !HEAD(to) -> to = to & ~INVITED
  :: HEAD(to) && !OWNER(to) -> to = to | INVITED
  :: else -> to = (HEAD(to) != HEAD(from) -> to & ~INVITED : to)
  fi;
  if
  :: overflow || HEAD(to) -> to = to | HAS_QUEUE
  :: else ->
    to = (OWNER(to) && (OWNER(to) == p -> waits : ((from & HAS_QUEUE) || OWNER(to) != OWNER(from))) -> to | HAS_QUEUE : to & ~HAS_QUEUE)
  fi
}

#define NEEDS_TIDYING(w) ((overflow & BIT(me)) && \
  (!queue[me] || HEAD(w) == me || (OWNER(w) == me && ((w) & HAS_QUEUE))))

/* HandoffQueue::notifyOverflow */
#define OTHERS (overflow & ~BIT(me))
inline notifyOverflow() {
  i = me % N + 1;
  do
  :: OTHERS & BIT(i) -> notifications = notifications | BIT(i); break
  :: !(OTHERS & BIT(i)) && i != me -> i = i % N + 1
  :: else -> break
  od
}

/* The end of `advance`. */
inline endAdvance() {
  at = (releases -> RINGS : OUTSIDE);
  releases = false;
  t = 0;
  to = 0;
  what = 0;
  used = false;
  overtakes = false
}

inline succeed() {
  if
  :: what == CLAIM -> at = SUMS; what = 0; t = 0; to = 0
  :: what == STAND -> at = LOOKS3
  :: what == DROP && to == t -> endAdvance()
  :: else -> at = LOOKS; what = 0; t = 0; to = 0
  fi
}

/* advance, after it has loaded the word, as it loads `overflow` */
inline decide(due) {
  to = t;
  what = 0;
  if
  :: OWNER(t) == me ->
    if
    :: queue[me] && !(used && due && HEAD(t) && HEAD(t) != me) -> at = SUMS; t = 0; to = 0
    :: else ->
      what = PASS;
      to = WITHOUT(t, me);
      if
      :: HEAD(to) && (queue[me] || due) ->
        to = OWNED(POPPED(to), HEAD(to));
        to = (queue[me] -> QUEUED(to, me) : to)
      :: else -> to = FREE(to)
      fi;
      complete(t, to, me, queue[me] > 0)
    fi
  :: else ->
    if
    :: !queue[me] ->
      what = DROP;
      to = WITHOUT(t, me);
      if
      :: to != t || (!OWNER(t) && !HEAD(t) && (t & HAS_QUEUE)) -> complete(t, to, me, false)
      :: else
      fi
    :: queue[me] && !OWNER(t) && (!HEAD(t) || HEAD(t) == me || (overtakes && !used)) ->
      what = TAKE;
      to = WITHOUT(OWNED(t, me), me);
      complete(t, to, me, true)
    :: else ->
      what = STAND;
      if
      :: HEAD(t) == me
      :: !HEAD(t) -> to = QUEUED(t, me)
      :: HEAD(t) && HEAD(t) != me && !(overflow & BIT(me)) ->
        what = 0;
        overflow = overflow | BIT(me);
        at = LOOKS;
        t = 0;
        to = 0
      :: else
      fi;
      to = (HEAD(to) == me -> to & ~INVITED : to);
      if
      :: what -> complete(t, to, me, true)
      :: else
      fi
    fi
  fi;
  if
  :: what && to == t -> succeed()
  :: what && to != t -> at = CHANGES
  :: else
  fi
}

#define MUST_NOTIFY ((HEAD(t) && !HEAD(to)) || ((t & HAS_QUEUE) && !(to & HAS_QUEUE)) || (!OWNER(to) && !HEAD(to)))

/* HandoffQueue::change */
inline change() {
  if
  :: word != t -> at = (what == CLAIM -> PASSES : LOOKS); what = 0; t = 0; to = 0
  :: else ->
    word = to;
    notifications = notifications | (OWNER(to) && OWNER(to) != OWNER(t) && OWNER(to) != me -> BIT(OWNER(to)) : 0);
    notifications = notifications | ((to & INVITED) && (!(t & INVITED) || HEAD(to) != HEAD(t)) -> BIT(HEAD(to)) : 0);
    if
    :: MUST_NOTIFY -> at = CALLS
    :: else -> succeed()
    fi
  fi
}

/* BUG 3: a release looks for the owner before it puts units back. */
#define OWNER_BIT (OWNER(word) && OWNER(word) != me -> BIT(OWNER(word)) : 0)
inline beginRelease() {
  notifications = (BUG == 3 -> notifications | OWNER_BIT : notifications);
  releases = true;
  at = PUTS
}

#define HOME (ALIVE(me) && !at && !notifications)
#define GRANTED (granted[1] + granted[2] + granted[3])

active [N] proctype process() {
  byte visits, at, what, notifications, t, to, c, more;
  short all;
  bool asks;      /* its caller tries in passing, or is about to join the queue */
  bool releases, used, overtakes;
end:
  do
  /* Calls and notifications */
  :: d_step { HOME && !asks && visits < VISITS(me) ->
      visits++;
      asks = true;
      at = (queue[me] -> OUTSIDE : PASSES)
    }
  :: d_step { HOME && asks ->
      asks = false;
      overtakes = !queue[me];
      queue[me]++;
      at = LOOKS
    }
  :: d_step { HOME && asks && leaves < LEAVES && !calm -> leaves++; asks = false }
  :: d_step { HOME && !asks && queue[me] && leaves < LEAVES && !calm ->
      leaves++;
      queue[me]--;
      at = LOOKS
    }
  :: d_step { HOME && !asks && (notified & BIT(me)) ->
      notified = notified & ~BIT(me);
      at = LOOKS
    }
  :: d_step { HOME && !asks && granted[me] ->
      more = WEIGHT(me);
      granted[me] = granted[me] - more;
      beginRelease()
    }
  :: d_step { HOME && !asks && me == 3 && sent < SIGNALS ->
      sent++;
      more = 1;
      beginRelease()
    }
  :: d_step { ALIVE(me) && notifications && !at ->
      i = (notifications & BIT(1) -> 1 : (notifications & BIT(2) -> 2 : 3));
      notifications = notifications & ~BIT(i);
      notified = (ALIVE(i) -> notified | BIT(i) : notified)
    }

  /* enterInPassing. Another process must not wait. */
  :: d_step { ALIVE(me) && at == PASSES ->
      if
      :: !OWNER(word) && !HEAD(word) ->
        t = word;
        to = OWNED(t, me);
        complete(t, to, me, false);
        what = CLAIM;
        at = CHANGES
      :: else -> at = OUTSIDE
      fi
    }

  /* admit. BUG 1: it loads the value before each `held`. */
  :: d_step { ALIVE(me) && at == SUMS ->
      all = (!c -> (BUG == 1 -> value : 0) - (SIGNALS -> 0 : held[me]) : all - held[c]);
      c++;
      do
      :: c <= VISITORS && c == me && !SIGNALS -> c++
      :: c > VISITORS -> at = READS; break
      :: else -> break
      od;
      skip
    }
  :: d_step { ALIVE(me) && at == READS ->
      c = 0;
      all = (BUG == 1 -> all : all + value);
      if
      :: all >= WEIGHT(me) -> at = TAKES
      :: all < WEIGHT(me) && asks -> at = LOOKS
      :: else ->
        REACH(6, overflow);
        endAdvance()
      fi;
      all = 0
    }
  :: d_step { ALIVE(me) && at == TAKES ->
      consumed = consumed + (CONSUMES -> WEIGHT(me) : 0);
      assert(consumed <= START + sent || !CONSUMES);
      held[me] = held[me] + WEIGHT(me);
      at = HEARS
    }
  :: d_step { ALIVE(me) && at == HEARS ->
      if
      :: abandoned ->
        abandoned = false;
        assert((untold & flagged) || CRASHES || SIGNALS);
        untold = untold & ~flagged;
        flagged = 0
      :: else
      fi;
      granted[me] = granted[me] + (CONSUMES -> 0 : WEIGHT(me));
      assert(GRANTED <= START + sent);
      queue[me] = (asks -> queue[me] : queue[me] - 1);
      asks = false;
      used = true;
      at = LOOKS
    }

  /* release: own units first. BUG 2: it also takes units off a dead process's `held`. */
  :: d_step { ALIVE(me) && at == PUTS ->
      i = (!c -> me : c);
      REACH(4, frozen & BIT(i));
      if
      :: (frozen & BIT(i)) && BUG != 2
      :: held[i] >= more && !((frozen & BIT(i)) && BUG != 2) -> held[i] = held[i] - more; more = 0
      :: else -> more = more - held[i]; held[i] = 0
      fi;
      c++;
      if
      :: !more -> c = 0; at = LOOKS
      :: more && c > VISITORS -> c = 0; at = ADDS
      :: else
      fi
    }
  :: d_step { ALIVE(me) && at == ADDS -> value = value + more; more = 0; at = LOOKS }
  :: d_step { ALIVE(me) && at == RINGS ->
      notifications = (BUG == 3 -> notifications : notifications | OWNER_BIT);
      at = OUTSIDE
    }

  /* advance */
  :: d_step { ALIVE(me) && at == LOOKS ->
      t = word;
      at = (NEEDS_TIDYING(t) -> TIDIES : DECIDES)
    }
  :: d_step { ALIVE(me) && at == TIDIES ->
      overflow = overflow & ~BIT(me);
      at = (queue[me] -> LOOKS : LOOKS2)
    }
  :: d_step { ALIVE(me) && at == LOOKS2 ->
      if
      :: HEAD(word)
      :: else -> notifyOverflow()
      fi;
      at = LOOKS
    }
  :: d_step { ALIVE(me) && at == DECIDES -> decide(true) }
  :: d_step { ALIVE(me) && at == DECIDES && OWNER(t) == me && HEAD(t) -> decide(false) }
  :: d_step { ALIVE(me) && at == CHANGES -> change() }
  :: d_step { ALIVE(me) && at == CALLS ->
      if
      :: !HEAD(to) -> notifyOverflow()
      :: else
      fi;
      succeed()
    }
  :: d_step { ALIVE(me) && at == LOOKS3 ->
      t = word;
      if
      :: NEEDS_TIDYING(t) -> at = TIDIES3
      :: else -> endAdvance()
      fi
    }
  :: d_step { ALIVE(me) && at == TIDIES3 -> overflow = overflow & ~BIT(me); endAdvance() }

  /* Death: the remaining steps are not made. */
  :: d_step { me < 3 && !calm && ALIVE(me) && kills < KILLS ->
      REACH(5, at == HEARS);
      kills++;
      dead = dead | BIT(me);
      notified = notified & ~BIT(me);
      queue[me] = 0;
      granted[me] = 0;
      died = died + (OWES -> held[me] : 0);
      untold = (held[me] && !SIGNALS -> untold | BIT(me) : untold);
      releases = false;
      endAdvance();
      notifications = 0;
      asks = false;
      visits = VISITS(me);
      c = 0;
      more = 0;
      all = 0
    }
  :: d_step { (vacant & BIT(me)) && births < BIRTHS && !calm ->
      births++;
      REACH(7, dead);
      vacant = vacant & ~BIT(me);
      visits = VISITS(me) - 1
    }
  od
}

#define d (_pid - N + 1) /* the process that a cleaner evicts: 1 or 2 */

/* The next step of an eviction. */
#define ENDS 1     /* only with BUG 4 */
#define TELLS 2    /* sets `abandoned` */
#define STARTS 3   /* mark: loads the word with the mark */
#define COUNTS 4   /* sums up each `held` */
#define OWING 5    /* adds to `owed` */
#define MARKS 6    /* the compare-and-swap */
#define CLEARS 7   /* held = 0 */
#define UNMARKS 8  /* removes the mark */
#define PARTS 9    /* evictOwner: leaves `overflow` */
#define SEES 10    /* loads the word */
#define WORKS 11   /* loads `overflow` and computes the new word */
#define SWAPS 12   /* the compare-and-swap */
#define NOTIFIES 13
#define FREES 14   /* the process slot */

/* Goes to the next `held` that counts, or computes how many units may be put back. Those of the dead process
 * itself are known. */
#define COUNTED(p) ((p) <= VISITORS && ((p) != d || BUG == 2) && (p) != seenMark)
inline countOn() {
  step = COUNTS;
  c++;
  do
  :: c <= N && !COUNTED(c) -> c++
  :: c <= N && COUNTED(c) -> break
  :: c > N ->
    c = 0;
    sum = seen - sum;
    sum = (sum < 0 && BUG != 11 -> 0 : sum);
    back = START - (sum > seen - h && BUG != 5 -> seen - h : sum);
    back = (back < 0 -> 0 : (back > h -> h : back));
    sum = 0;
    step = (OWES && (back > counted || BUG == 6) -> OWING : MARKS);
    break
  od;
  skip
}

inline endEviction() {
  step = 0;
  h = 0;
  seen = 0;
  seenMark = 0;
  sum = 0;
  c = 0;
  back = 0;
  counted = 0;
  t = 0;
  to = 0
}

/* Evicts process d. If its cleaner dies on the way, the next one repeats each step. BUG 4: it finishes what the
 * cleaner of another process has begun. BUG 5: it lets the value fall below the initial one. BUG 6: it owes the units
 * again at each try. BUG 7: it sets no mark. BUG 8: it sets `held` to 0 before it takes the excess off. BUG 9: it sets
 * `abandoned` after the units are back. BUG 10: it notifies no process. BUG 11: it puts units back that seem to be
 * missing. */
active [2] proctype cleaner() {
  byte step, h, seenMark, c, counted, t, to;
  short seen, sum, back;
end:
  do
  :: d_step { step && crashes < CRASHES && !calm ->
      crashes++;
      REACH(3, step == CLEARS && mark == d);
      endEviction()
    }
  :: d_step { !step && (dead & BIT(d)) ->
      frozen = (held[d] && BUG != 2 -> frozen | BIT(d) : frozen);
      h = held[d];
      step = (h && mark != d -> TELLS : CLEARS);
      seenMark = (BUG == 4 && mark != d -> mark : 0);
      step = (seenMark -> ENDS : step)
    }
  :: d_step { step == ENDS ->
      held[seenMark] = 0;
      mark = mark - seenMark;
      seenMark = 0;
      step = (h -> TELLS : CLEARS)
    }
  :: d_step { step == TELLS ->
      if
      :: BUG != 9 -> abandoned = true; flagged = flagged | (SIGNALS -> 0 : BIT(d))
      :: else
      fi;
      step = (BUG == 8 -> CLEARS : STARTS)
    }
  :: d_step { step == STARTS ->
      seen = value;
      seenMark = mark;
      REACH(1, mark && mark != d);
      sum = (BUG == 2 -> 0 : h);
      countOn()
    }
  :: d_step { step == COUNTS -> sum = sum + held[c]; countOn() }
  :: d_step { step == OWING ->
      owed = owed + (BUG == 6 -> back : back - counted);
      counted = back;
      assert(owed <= died || crashes);
      step = MARKS
    }
  :: d_step { step == MARKS ->
      REACH(2, value != seen || mark != seenMark);
      if
      :: value != seen || mark != seenMark -> step = STARTS
      :: else ->
        value = value - (h - back);
        mark = (mark || BUG == 7 -> mark : d);
        step = (BUG == 8 -> UNMARKS : CLEARS)
      fi;
      back = 0;
      seen = 0;
      seenMark = 0
    }
  :: d_step { step == CLEARS ->
      held[d] = 0;
      frozen = frozen & ~BIT(d);
      step = (BUG == 8 && h && mark != d -> STARTS : UNMARKS);
      counted = 0
    }
  :: d_step { step == UNMARKS ->
      if
      :: BUG == 9 && h -> abandoned = true; flagged = flagged | (SIGNALS -> 0 : BIT(d))
      :: else
      fi;
      mark = (mark == d -> 0 : mark);
      h = 0;
      step = PARTS
    }
  :: d_step { step == PARTS -> overflow = overflow & ~BIT(d); step = SEES }
  :: d_step { step == SEES -> t = word; step = WORKS }
  :: d_step { step == WORKS ->
      to = WITHOUT(t, d);
      if
      :: OWNER(t) == d -> to = (HEAD(to) -> OWNED(POPPED(to), HEAD(to)) : FREE(to))
      :: else
      fi;
      complete(t, to, 0, false);
      step = (to == t -> NOTIFIES : SWAPS)
    }
  :: d_step { step == SWAPS ->
      word = (word == t -> to : word);
      t = 0;
      to = 0;
      step = SEES
    }
  :: d_step { step == NOTIFIES ->
      t = 0;
      to = 0;
      notified = (BUG == 10 -> notified : notified | (ALL & ~(dead | vacant)));
      step = FREES
    }
  :: d_step { step == FREES -> dead = dead & ~BIT(d); vacant = vacant | BIT(d); endEviction() }
  od
}

active proctype auditor() {
  calm = true;
  timeout;
  d_step {
    assert(!dead && !notified);
    assert(!mark && !frozen);
    assert(!((held[1] && !ALIVE(1)) || (held[2] && !ALIVE(2))));
    /* The units */
    if
    :: CONSUMES ->
      assert(LEFT <= START + sent - consumed);
      /* host_semaphore.h: units may be lost if a cleaner dies that has found the mark of another process. */
      assert(LEFT == START + sent - consumed || (crashes && kills > 1))
    :: else -> assert(!SUM && !GRANTED); assert(value >= START && value <= START + sent)
    fi;
    assert(!untold || abandoned);
    /* The waiters */
    if
    :: queue[1] || queue[2] || queue[3] ->
      assert(CONSUMES && OWNER(word) && queue[OWNER(word)] && LEFT < WEIGHT(OWNER(word)))
    :: else -> assert(!word && !overflow)
    fi
  }
}
