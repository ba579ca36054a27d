/* src/host/handoff_queue.h, host_lock.h and owner_word.h, with host_mutex.h: which process owns the word, among
 * several that may die at any step. `queue` is the local queue, `overflow` is SlotHead::overflow.
 *
 * How the model follows the C++
 *   - C++ code of a process holds its bucket, so each process is one actor. Two kinds of steps run beside it
 *     without the bucket: JavaScript's two steps (script), and the eviction of a dead process (eviction: on
 *     behalf of one living process at a time). A process sends its notifications when it closes the bucket.
 *   - Every load of the word, every load of `overflow`, every compare-and-swap and every notification is one step,
 *     and the process may die between any two. Two loads of `overflow` in one try are one step where the
 *     second changes nothing.
 *   - Local queues are counts. The fifo has one place, so that a third process finds it full.
 *   - The clock is nondeterministic: at any step the head of the fifo may be overdue.
 *   - A death stays visible until the process slot is free again: if a cleaner dies, another process takes over.
 *
 * Checked: mutual exclusion; after the death of a holder, the next holder is told, and no other; at quiescence no
 * living process waits, no dead process is left in the word or in `overflow`, and the word has its initial value,
 * except for a death that no holder has been told of yet.
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

#ifndef TWICE
#define TWICE 1 /* number of processes that make two visits; the others make one */
#endif
#define VISITS(p) ((p) <= TWICE -> 2 : 1)
#ifndef SCRIPTS
#define SCRIPTS 1 /* number of times JavaScript takes the word in process 1 */
#endif
#ifndef LEAVES
#define LEAVES 1 /* total number of waiters that give up */
#endif
#ifndef KILLS
#define KILLS 2 /* number of deaths; only processes 1 and 2 die */
#endif
#ifndef BIRTHS
#define BIRTHS 0 /* number of processes that join in a dead process's slot */
#endif

#define N 3 /* process slots 1 to N */
#define me (_pid + 1)
#define BIT(p) (1 << (p))
#define ALL (BIT(1) | BIT(2) | BIT(3))

hidden byte i;

/* The word: queued | abandoned | owner (2 bits) | agent (2) | fifo (2) | invited */
#define HAS_QUEUE 1
#define ABANDONED 2
#define OWNER(w) (((w) >> 2) & 3)
#define AGENT(w) (((w) >> 4) & 3) /* 0: the process owns the word, but no agent of it holds the lock */
#define HEAD(w) (((w) >> 6) & 3)
#define INVITED 256
#define HELD(p, a) (((p) << 2) | ((a) << 4))
#define OWNED(w, p, a) (((w) & ~HELD(3, 3)) | HELD(p, a))
#define FREE(w) OWNED(w, 0, 0)
#define QUEUED(w, p) ((w) | ((p) << 6))
#define POPPED(w) ((w) & ~(3 << 6))
#define WITHOUT(w, p) (HEAD(w) == (p) -> POPPED(w) : (w))
#define LOW(w) ((w) & 63) /* the half that JavaScript sees */
#define CUSTOMER 1
#define SCRIPT 2

short word;
byte overflow;         /* SlotHead::overflow, a bit each */
byte queue[N + 1];  /* the length of each process's local queue */
byte notified;         /* the processes with a pending notification, a bit each */
bool slow;         /* JavaScript must release through C++ */

byte dead;         /* the processes that are dead and not evicted yet, a bit each */
byte vacant;       /* the free process slots, a bit each */
byte cleaner;      /* the process that cleans up */
byte cleaned;      /* the slot that it cleans up */
byte cleaning;     /* the next step of the clean-up */
byte kills, births, leaves;

byte inside;       /* ghost: the process that holds the lock */
bool owed;         /* ghost: a holder has died, and no later one was told */

#define ALIVE(p) (!((dead | vacant) & BIT(p)))

/* The next step of a process's call. */
#define OUTSIDE 0
#define LOOKS 1   /* advance: loads the word */
#define TIDIES 2  /* leaveOverflow: clears its bit in `overflow` */
#define LOOKS2 3  /* leaveOverflow: checks whether the fifo has room for others */
#define DECIDES 5 /* loads `overflow` and computes the new word */
#define CHANGES 6 /* the compare-and-swap */
#define CALLS 7   /* notifyOverflow after it */
#define LOOKS3 8  /* enqueue: loads the word once more */
#define TIDIES3 9 /* leaveOverflow again */
#define RETURNS 10/* giveBack: loads the word */
#define PASSES 11 /* giveBack: computes the new word, as above */

/* The purpose of the change. */
#define ADMIT 1
#define TAKE 2
#define STAND 3
#define DROP 4
#define PASS 5
#define GIVE_BACK 6

/* A waiter of process p acquires the lock; `told`: whether it is told that the last holder died. */
inline goIn(p, told) {
  assert(!inside);
  assert(((told) != 0) == owed);
  inside = p;
  owed = false
}

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

/* HandoffQueue::notifyOverflow. BUG 2: it sends no notification. */
#define OTHERS (overflow & ~BIT(me))
inline notifyOverflow() {
  i = me % N + 1;
  do
  :: OTHERS & BIT(i) -> notifications = notifications | (BUG == 2 -> 0 : BIT(i)); break
  :: !(OTHERS & BIT(i)) && i != me -> i = i % N + 1
  :: else -> break
  od
}

/* HandoffQueue::passOn to the head, which is overdue. A process with waiters left queues again. */
inline handOver() {
  to = OWNED(POPPED(to), HEAD(to), 0);
  to = (queue[me] -> QUEUED(to, me) : to)
}

inline endCall() {
  at = OUTSIDE;
  t = 0;
  to = 0;
  what = 0;
  heard = false;
  used = false;
  overtakes = false
}

inline succeed() {
  if
  :: what == STAND -> at = LOOKS3
  :: what == DROP && to == t -> endCall()
  :: else -> at = LOOKS; what = 0; t = 0; to = 0
  fi
}

/* advance, after it has loaded the word, as it loads `overflow`. BUG 3: a stale `queued` bit stays. BUG 4: the
 * process counts as waiting in `overflow` before it sets its bit. BUG 8: an invited process that finds the word
 * taken still counts as invited. */
inline decide(due) {
  to = t;
  if
  :: OWNER(t) == me && !AGENT(t) ->
    if
    :: queue[me] && !(used && due && HEAD(t) && HEAD(t) != me) ->
      what = ADMIT;
      to = WITHOUT(OWNED(t, me, CUSTOMER) & ~ABANDONED, me);
      complete(t, to, me, queue[me] > 1)
    :: else ->
      what = PASS;
      to = WITHOUT(t, me);
      if
      :: HEAD(to) && (queue[me] || due) -> handOver()
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
      :: to != t || (!OWNER(t) && !HEAD(t) && (t & HAS_QUEUE) && BUG != 3) -> complete(t, to, me, false)
      :: else
      fi
    :: queue[me] && !OWNER(t) && (!HEAD(t) || HEAD(t) == me || (overtakes && !used)) ->
      what = TAKE;
      to = WITHOUT(OWNED(t, me, 0), me);
      complete(t, to, me, true)
    :: else ->
      what = STAND;
      if
      :: OWNER(t) != me && HEAD(t) != me && !HEAD(t) -> to = QUEUED(t, me)
      :: OWNER(t) != me && HEAD(t) != me && HEAD(t) && !(overflow & BIT(me)) ->
        if
        :: BUG == 4 -> to = t
        :: else -> what = 0; overflow = overflow | BIT(me)
        fi
      :: else
      fi;
      to = (HEAD(to) == me && BUG != 8 -> to & ~INVITED : to);
      if
      :: what -> complete(t, to, me, true)
      :: else
      fi
    fi
  fi;
  at = (!what -> LOOKS : CHANGES);
  if
  :: what && to == t -> succeed()
  :: else
  fi
}

#define MUST_NOTIFY ((HEAD(t) && !HEAD(to)) || ((t & HAS_QUEUE) && !(to & HAS_QUEUE)) || (!OWNER(to) && !HEAD(to)))

/* HandoffQueue::change */
inline change() {
  if
  :: word != t -> at = (what == GIVE_BACK -> RETURNS : LOOKS); what = 0; t = 0; to = 0
  :: else ->
    word = to;
    notifications = notifications | (OWNER(to) && OWNER(to) != OWNER(t) && OWNER(to) != me -> BIT(OWNER(to)) : 0);
    notifications = notifications | ((to & INVITED) && (!(t & INVITED) || HEAD(to) != HEAD(t)) -> BIT(HEAD(to)) : 0);
    if
    :: what == GIVE_BACK ->
      assert(inside == me);
      inside = 0;
      slow = slow && me != 1;
      used = true
    :: what == ADMIT ->
      goIn(me, t & ABANDONED);
      queue[me]--;
      used = true
    :: else
    fi;
    if
    :: MUST_NOTIFY -> at = CALLS
    :: else -> succeed()
    fi
  fi
}

#define HOME (ALIVE(me) && !at && !notifications)

active [N] proctype process() {
  byte visits, at, what, notifications;
  short t, to;
  bool heard, used, overtakes;
end:
  do
  /* Calls and notifications */
  :: d_step { HOME && visits < VISITS(me) && !OWNER(word) -> /* tryEnter */
      visits++;
      goIn(me, word & ABANDONED);
      word = OWNED(word, me, CUSTOMER) & ~ABANDONED
    }
  :: d_step { HOME && visits < VISITS(me) ->
      visits++;
      overtakes = !queue[me];
      queue[me]++;
      at = LOOKS
    }
  :: d_step { HOME && queue[me] && leaves < LEAVES ->
      leaves++;
      queue[me]--;
      at = LOOKS
    }
  :: d_step { HOME && (notified & BIT(me)) ->
      notified = notified & ~BIT(me);
      heard = true;
      at = LOOKS
    }
  :: d_step { HOME && inside == me && AGENT(word) == CUSTOMER ->
      if
      :: word == HELD(me, CUSTOMER) -> word = 0; inside = 0
      :: else -> at = RETURNS
      fi
    }
  :: d_step { HOME && me == 1 && slow -> at = RETURNS }
  /* BUG 1: the notification is lost. */
  :: d_step { ALIVE(me) && notifications && !at ->
      i = (notifications & BIT(1) -> 1 : (notifications & BIT(2) -> 2 : 3));
      notifications = notifications & ~BIT(i);
      notified = (ALIVE(i) && BUG != 1 -> notified | BIT(i) : notified)
    }

  /* advance */
  :: d_step { ALIVE(me) && at == LOOKS ->
      t = word;
      at = (NEEDS_TIDYING(t) -> TIDIES : DECIDES)
    }
  :: d_step { ALIVE(me) && at == TIDIES ->
      overflow = overflow & ~BIT(me);
      at = (queue[me] -> DECIDES : LOOKS2)
    }
  :: d_step { ALIVE(me) && at == LOOKS2 -> 
      if
      :: HEAD(word)
      :: else -> notifyOverflow()
      fi;
      at = DECIDES
    }
  :: d_step { ALIVE(me) && at == DECIDES -> decide(true) }
  :: d_step { ALIVE(me) && at == DECIDES && OWNER(t) == me && !AGENT(t) && HEAD(t) -> decide(false) }
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
      :: BUG == 4 && HEAD(t) && HEAD(t) != me && OWNER(t) != me -> at = TIDIES3
      :: else -> endCall()
      fi
    }
  :: d_step { ALIVE(me) && at == TIDIES3 ->
      overflow = (BUG == 4 -> overflow ^ BIT(me) : overflow & ~BIT(me));
      endCall()
    }

  /* giveBack */
  :: d_step { ALIVE(me) && at == RETURNS -> t = word; at = PASSES }
  :: d_step { ALIVE(me) && at == PASSES ->
      what = GIVE_BACK;
      to = WITHOUT((queue[me] -> OWNED(t, me, 0) : t), me);
      to = (queue[me] -> to : FREE(to));
      complete(t, to, me, queue[me] > 0);
      at = CHANGES
    }
  :: d_step { ALIVE(me) && at == PASSES && !queue[me] && HEAD(t) && HEAD(t) != me ->
      what = GIVE_BACK;
      to = OWNED(POPPED(t), HEAD(t), 0);
      complete(t, to, me, false);
      at = CHANGES
    }

  :: d_step { !ALIVE(me) && (at || notifications) -> endCall(); notifications = 0 }
  :: d_step { (vacant & BIT(me)) && !at && !notifications && births < BIRTHS ->
      births++;
      vacant = vacant & ~BIT(me);
      visits = VISITS(me) - 1
    }
  od
}

/* JavaScript, in process 1. Each of its two steps reads only the low half of the word. */
active proctype script() {
  byte times;
end:
  do
  :: d_step { times < SCRIPTS && ALIVE(1) && inside != 1 && (LOW(word) == 0 || LOW(word) == HAS_QUEUE) ->
      assert(!inside && !owed);
      REACH(1, LOW(word) == HAS_QUEUE);
      times++;
      inside = 1;
      word = word | HELD(1, SCRIPT)
    }
  :: d_step { ALIVE(1) && inside == 1 && LOW(word) == HELD(1, SCRIPT) && !slow ->
      inside = 0;
      word = FREE(word)
    }
  :: d_step { ALIVE(1) && inside == 1 && LOW(word) == (HELD(1, SCRIPT) | HAS_QUEUE) && !slow ->
      slow = true
    }
  od
}

/* The death of process p: its remaining steps are not made. */
inline die(p) {
  kills++;
  dead = dead | BIT(p);
  notified = notified & ~BIT(p);
  queue[p] = 0;
  slow = slow && p != 1;
  if
  :: cleaner == p ->
    REACH(2, cleaning == 3);
    cleaner = 0;
    cleaned = 0;
    cleaning = 0
  :: else
  fi;
  if
  :: inside == p -> inside = 0; owed = true
  :: else
  fi
}

active proctype killer() {
end:
  do
  :: d_step { kills < KILLS && ALIVE(1) -> die(1) }
  :: d_step { kills < KILLS && ALIVE(2) -> die(2) }
  :: kills < KILLS -> break
  od
}

inline beginToClean(p, d) {
  cleaner = p;
  cleaned = d;
  cleaning = 1
}

/* Evicts dead processes. If a cleaner dies on the way, its successor repeats each step. BUG 5: a death is
 * reported even where no agent of the dead process held the lock. BUG 6: the cleaner notifies no process. BUG 7:
 * the report of an earlier death is lost when the process that was to receive it dies. */
active proctype eviction() {
  short t, to;
end:
  do
  :: d_step { !cleaner && (dead & BIT(1)) && ALIVE(2) -> beginToClean(2, 1) }
  :: d_step { !cleaner && (dead & BIT(2)) && ALIVE(1) -> beginToClean(1, 2) }
  :: d_step { !cleaner && (dead & BIT(1)) -> beginToClean(3, 1) }
  :: d_step { !cleaner && (dead & BIT(2)) -> beginToClean(3, 2) }
  :: d_step { cleaning == 1 -> overflow = overflow & ~BIT(cleaned); cleaning = 2 }
  :: d_step { cleaning == 2 -> t = word; cleaning = 3 }
  :: d_step { cleaning == 3 ->
      to = WITHOUT(t, cleaned);
      if
      :: OWNER(t) == cleaned ->
        to = (HEAD(to) -> OWNED(POPPED(to), HEAD(to), 0) : FREE(to));
        to = (AGENT(t) || BUG == 5 -> to | ABANDONED : to);
        to = (!AGENT(t) && BUG == 7 -> to & ~ABANDONED : to)
      :: else
      fi;
      complete(t, to, 0, false);
      cleaning = 4
    }
  :: d_step { cleaning == 4 ->
      if
      :: to == t || word == t -> word = (to == t -> word : to); cleaning = 5
      :: else -> cleaning = 2
      fi;
      t = 0;
      to = 0
    }
  :: d_step { cleaning == 5 -> dead = dead & ~BIT(cleaned); vacant = vacant | BIT(cleaned); cleaning = 6 }
  :: d_step { cleaning == 6 ->
      notified = (BUG == 6 -> notified : notified | (ALL & ~(dead | vacant)));
      cleaner = 0;
      cleaned = 0;
      cleaning = 0
    }
  :: d_step { !cleaning && (t || to) -> t = 0; to = 0 }
  od
}

active proctype auditor() {
  timeout;
  d_step {
    assert(!dead && !notified && !inside && !slow);
    assert(!queue[1] && !queue[2] && !queue[3]);
    assert(word == (owed -> ABANDONED : 0));
    assert(!overflow)
  }
}
