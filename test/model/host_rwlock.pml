/* src/host/host_rw_lock.h and host_rw_part.h, over host_lock.h, handoff_queue.h and owner_word.h: a read-write lock of
 * processes that may die at any step. `overflow` is SlotHead::overflow; `readers`, `upgrader` and `abandoned` are the
 * words of RWLockSlot, and `reads` is P::reads.
 *
 * How the model follows the C++
 *   - C++ code of a process holds its bucket, so each process is one actor. The eviction of a dead process runs beside
 *     it (eviction: on behalf of one living process at a time). A process sends its notifications when it closes the
 *     bucket.
 *   - Every load, store and compare-and-swap of a shared word and every notification is one step, and the process may
 *     die between any two. What a process loads of its own bit, claim or hold takes no step, because no other process
 *     changes it. Two loads of `overflow` in one try are one step, as in host_owner.pml.
 *   - A local queue has two places, and a place ahead of them for the upgrade. The fifo has one place, so that a
 *     third process finds it full.
 *   - enter() is a try (tryBefore) and a wait; each is a visit here. Left out are strict waiters, priorities other than
 *     an upgrade's, and waitOut. A try may overtake an invited process.
 *   - The clock is nondeterministic: at any step the head of the fifo may be overdue. With OVERDUE it always is.
 *   - P::ifDead is a check and then the compare-and-swap, and no process is born in that slot in between.
 *   - A death stays visible until the process slot is free again: if a cleaner dies, another process takes over.
 *
 * Checked: a writer is alone. The death of a writer is told once, and to the next holder. So is the death of a reader
 * that was told of one, from its eviction on. An upgrade is refused only beside the living upgrade of another process. At
 * quiescence no living waiter waits although it could be admitted, even if others keep what they hold (KEEPS); no dead
 * process is left in any word or count; and the words have their initial values, except for a death that no holder has
 * been told of yet. With OVERDUE at most one reader or writer enters ahead of the head of the fifo, apart from upgrades.
 * A waiter does not overtake another one of its process.
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

/* What each process does: 1 waits to read, 2 waits to write, 4 tries to read, 8 tries to write; and how often. */
#ifndef DOES1
#define DOES1 0
#endif
#ifndef DOES2
#define DOES2 0
#endif
#ifndef DOES3
#define DOES3 0
#endif
#define DOES(p) ((p) == 1 -> DOES1 : ((p) == 2 -> DOES2 : DOES3))
#ifndef TWICE
#define TWICE 0 /* the process that makes two visits; the others make one */
#endif
#define VISITS(p) ((p) == TWICE -> 2 : DOES(p) > 0)

#ifndef READERS
#define READERS 0 /* processes 1 to READERS read at first: 0, 2 or 3 */
#endif
#if READERS == 3
#define FIRST_READS { 0, 1, 1, 1 }
#define FIRST_READERS 14
#elif READERS == 2
#define FIRST_READS { 0, 1, 1, 0 }
#define FIRST_READERS 6
#else
#define FIRST_READS { 0, 0, 0, 0 }
#define FIRST_READERS 0
#endif
#ifndef WRITER
#define WRITER 0 /* the process that writes at first */
#endif

/* Total numbers. */
#ifndef UPGRADES
#define UPGRADES 0
#endif
#ifndef DOWNGRADES
#define DOWNGRADES 0
#endif
#ifndef LEAVES
#define LEAVES 0 /* waiters that give up */
#endif
#ifndef FAULTS
#define FAULTS 0 /* agents that die, or leave without having learnt of a death */
#endif
#ifndef KEEPS
#define KEEPS 0 /* processes that never release what they hold */
#endif
#ifndef KILLS
#define KILLS 2 /* processes that die; only processes 1 and 2 do */
#endif
#ifndef BIRTHS
#define BIRTHS 0 /* processes that join in a dead process's slot */
#endif

#define N 3 /* process slots 1 to N */
#define me (_pid + 1)
#define BIT(p) (1 << (p))
#define ALL (BIT(1) | BIT(2) | BIT(3))

hidden byte i;

/* The owner word: queued | owner (2 bits) | whether an agent of it writes | fifo (2) | invited */
#define HAS_QUEUE 1
#define OWNER(w) (((w) >> 1) & 3)
#define WRITTEN(w) ((w) & 8)
#define HEAD(w) (((w) >> 4) & 3)
#define INVITED 64
#define OWNED(w, p, a) (((w) & ~14) | ((p) << 1) | (a))
#define UNGIVEN 0
#define WRITES 8
#define HELD(p) OWNED(0, p, WRITES)
#define FREE(w) OWNED(w, 0, UNGIVEN)
#define QUEUED(w, p) ((w) | ((p) << 4))
#define POPPED(w) ((w) & ~(3 << 4))
#define WITHOUT(w, p) (HEAD(w) == (p) -> POPPED(w) : (w))

/* The upgrade word: a process slot | whether it writes */
#define UPGRADED(p) ((p) | 4)
#define CLAIMANT(c) ((c) & 3)

byte word = (WRITER -> HELD(WRITER) : 0);
byte overflow;  /* a bit each, as in `readers` */
byte readers = FIRST_READERS;
byte upgrader;
byte abandoned;
#define UNTOLD 4
/* BUG 3 and 11: the process that was told has a word of its own, as it once had. */
byte told;
#define APART (BUG == 3 || BUG == 11)

/* A local queue: its first waiter in the low bits, the other one above. */
#define READ 1
#define WRITE 2
#define UPGRADE 3
#define LATER 4 /* ghost: another waiter was here before */
#define KIND(q) ((q) & 3)
#define BEHIND(q) (((q) >> 3) & 3)
byte queue[N + 1];
bool up[N + 1];     /* whether its upgrade waits: ahead of the queue, and for something other than ownership */
byte reads[N + 1] = FIRST_READS;

byte notified;      /* the processes with a pending notification, a bit each */
byte dead;          /* the processes that are dead and not evicted yet, a bit each */
byte vacant;        /* the free process slots, a bit each */
byte asking;        /* the processes that keep a dead process's slot free (ifDead), a bit each */
byte cleaner;       /* the process that cleans up */
byte cleaned;       /* the slot that it cleans up */
byte cleaning;      /* the next step of the clean-up */
byte keeping;       /* the processes that keep what they hold, a bit each */
byte kills, births, upgrades, downgrades, leaves, faults, keeps;

/* Ghosts */
byte writer = WRITER; /* the process that writes */
byte owed;          /* a death that no holder was told of: 1 of a reader that was told, 2 of a writer */
byte bearer;        /* the process that reads, and was told of a death */
byte passed;        /* the entries ahead of the head of the fifo */

#define ALIVE(p) (!((dead | vacant) & BIT(p)))

/* The next step of a process's call. */
#define OUTSIDE 0
#define LOOKS 1     /* look: loads `readers` */
#define LOADS 2     /* advance: loads the word */
#define TIDIES 3    /* leaveOverflow: clears its bit in `overflow` */
#define TIDIES2 4   /* leaveOverflow: checks whether the fifo has room for others */
#define DECIDES 5   /* loads `overflow` and computes the new word */
#define CHANGES 6   /* the compare-and-swap */
#define CALLS 7     /* notifyOverflow after it */
#define LOADS3 8    /* enqueue: loads the word once more */
#define TIDIES3 9   /* leaveOverflow again */
#define RETURNS 10  /* giveBack: loads the word */
#define PASSES 11   /* giveBack: computes the new word */
#define FITS 12     /* mayFit: loads `upgrader` */
#define FITS2 13    /* and `readers` */
#define TRIES 14    /* enterInPassing: loads the word */
#define TRIES2 15   /* computes the new one */
#define RELOADS 16  /* loads the word, which it owns */
#define ADMITS 17   /* admit: loads `upgrader` */
#define ADMITS2 18  /* a writer: loads `readers` */
#define ADMITS3 19  /* and computes the new word */
#define JOINS 20    /* join: sets its bit */
#define JOINS2 21   /* loads `upgrader` */
#define TELLS 22    /* tell: loads `abandoned` */
#define TELLS2 23   /* the compare-and-swap */
#define TELLS0 24   /* APART: stores `told` */
#define PARTS 25    /* part: untell */
#define PARTS2 26   /* clears its bit */
#define PARTS3 27   /* notifyOwner: loads the word */
#define PARTS4 28   /* loads `upgrader` */
#define CLAIMS 29   /* claim: the first compare-and-swap */
#define CLAIMS2 30  /* ifDead */
#define CLAIMS3 31  /* takes it over */
#define CLAIMS4 32  /* the last compare-and-swap */
#define WINS 33     /* look: stores `upgrader` */
#define UNCLAIMS 34 /* clears `upgrader` */
#define UNCLAIMS2 35/* notifyOwner: loads the word */
#define ENDS 36     /* abandonReads, after it has stored `abandoned` */

/* The purpose of a change. */
#define ADMIT 1
#define TAKE 2
#define STAND 3
#define DROP 4
#define PASS 5
#define GIVE_BACK 6
#define TAKE_IN_PASSING 7

/* The call, where it matters for what follows; 0: advance. */
#define PASSING 1   /* enterInPassing */
#define UPGRADING 2 /* enterUpgrade */
#define LATE 3      /* enterUpgrade, for a caller that may not wait */
#define ENDING 4    /* the end of the last read, or of the writing of an upgraded reader */
#define DOWN 5      /* downgrade of a writer that is the owner */

inline endCall() {
  at = OUTSIDE;
  t = 0;
  to = 0;
  what = 0;
  call = 0;
  ask = 0;
  seen = 0;
  used = false;
  overtakes = false
}

/* The loop of advance, from its beginning. */
inline again() {
  at = (up[me] -> LOOKS : LOADS);
  t = 0;
  to = 0;
  what = 0;
  call = 0;
  ask = 0
}

/* HandoffQueue::complete. `waits`: whether a waiter of process p is left. */
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

/* HandoffQueue::notifyOverflow, round robin from behind `after`. */
#define OTHERS (overflow & ~BIT(me))
inline notifyOverflow(after) {
  i = after % N + 1;
  do
  :: !OTHERS -> break
  :: OTHERS & BIT(i) -> notifications = notifications | BIT(i); break
  :: OTHERS && !(OTHERS & BIT(i)) -> i = i % N + 1
  od
}

inline notifyOwner() {
  notifications = notifications | (OWNER(word) && !WRITTEN(word) && OWNER(word) != me -> BIT(OWNER(word)) : 0)
}

/* HandoffQueue::passOn, after the process's changes. BUG 13: a process without waiters leaves the word free. */
inline passOn(due) {
  to = WITHOUT(to, me);
  if
  :: HEAD(to) && (queue[me] || (due && BUG != 13)) ->
    to = OWNED(POPPED(to), HEAD(to), UNGIVEN);
    to = (queue[me] -> QUEUED(to, me) : to)
  :: else -> to = FREE(to)
  fi;
  complete(t, to, me, queue[me] > 0)
}

/* advance, after it has loaded the word, as it loads `overflow`; an admission makes no change yet. */
inline decide(due) {
  to = t;
  if
  :: OWNER(t) == me && !WRITTEN(t) ->
    if
    :: queue[me] && !(used && due && HEAD(t) && HEAD(t) != me) -> ask = KIND(queue[me]); at = ADMITS; to = 0
    :: else -> what = PASS; passOn(due); at = CHANGES
    fi
  :: else ->
    at = CHANGES;
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
      to = WITHOUT(OWNED(t, me, UNGIVEN), me);
      complete(t, to, me, true)
    :: else ->
      if
      :: OWNER(t) != me && HEAD(t) && HEAD(t) != me && !(overflow & BIT(me)) ->
        overflow = overflow | BIT(me);
        again()
      :: else ->
        what = STAND;
        to = (OWNER(t) != me && !HEAD(t) -> QUEUED(t, me) : t);
        to = (HEAD(to) == me -> to & ~INVITED : to);
        complete(t, to, me, true)
      fi
    fi;
    if
    :: what && to == t -> changed()
    :: else
    fi
  fi
}

/* After a successful change. */
inline changed() {
  if
  :: what == STAND -> at = LOADS3; to = 0; t = 0; what = 0
  :: what == DROP && to == t -> endCall()
  :: what == ADMIT -> at = TELLS; to = 0; t = 0; what = 0
  :: what == TAKE_IN_PASSING -> at = RELOADS; to = 0; t = 0; what = 0
  :: else -> again()
  fi
}

#define MUST_NOTIFY ((HEAD(t) && !HEAD(to)) || ((t & HAS_QUEUE) && !(to & HAS_QUEUE)) || (!OWNER(to) && !HEAD(to)))

/* No living process reads, but `p` if it upgrades. */
#define READS(q, p) (reads[q] && q != (p))
#define UNREAD(p) (!READS(1, p) && !READS(2, p) && !READS(3, p))

/* HandoffQueue::change */
inline change() {
  if
  :: word != t ->
    at = (what == GIVE_BACK -> RETURNS : (what == TAKE_IN_PASSING -> TRIES : ((what == ADMIT && call == PASSING) -> RELOADS : LOADS)));
    at = (at == LOADS && up[me] -> LOOKS : at);
    ask = (call == PASSING -> ask : 0);
    what = 0;
    t = 0;
    to = 0
  :: else ->
    word = to;
    passed = (HEAD(to) != HEAD(t) -> 0 : passed);
    notifications = notifications | (OWNER(to) && OWNER(to) != OWNER(t) && OWNER(to) != me -> BIT(OWNER(to)) : 0);
    notifications = notifications | ((to & INVITED) && (!(t & INVITED) || HEAD(to) != HEAD(t)) -> BIT(HEAD(to)) : 0);
    if
    :: what == GIVE_BACK ->
      assert(writer == me);
      writer = 0;
      used = true
    :: what == ADMIT ->
      assert(!writer && UNREAD(0));
      writer = me
    :: else
    fi;
    if
    :: MUST_NOTIFY -> at = CALLS
    :: else -> changed()
    fi
  fi
}

/* HostLock::letIn */
inline letIn() {
  used = true;
  if
  :: ask == UPGRADE ->
    up[me] = false;
    if
    :: call -> endCall()
    :: else -> again()
    fi
  :: else ->
    passed = passed + (HEAD(word) && HEAD(word) != me);
#ifdef OVERDUE
    assert(passed <= 1);
#endif
    if
    :: call == PASSING
    :: else ->
      assert(!(queue[me] & LATER));
      queue[me] = BEHIND(queue[me])
    fi;
    again()
  fi
}

/* admit returns false. */
inline refuse() {
  if
  :: call == PASSING -> again()
  :: else -> endCall()
  fi
}

/* The end of part. */
inline parted() {
  if
  :: call -> again()
  :: else -> endCall()
  fi
}

/* BUG 12: a waiter whose upgrade was refused keeps its priority. */
inline enter(kind) {
  overtakes = !queue[me] && !up[me];
  if
  :: BUG == 12 && refused && queue[me] -> queue[me] = (queue[me] << 3) | kind | LATER
  :: else -> queue[me] = (queue[me] -> queue[me] | ((kind | LATER) << 3) : kind)
  fi;
  again()
}

inline endRead() {
  reads[me]--;
  if
  :: reads[me] -> again()
  :: else -> call = ENDING; at = PARTS
  fi
}

/* BUG 8: the upgrade looks at the other readers before it claims. */
inline claimed() {
  up[me] = true;
  at = (BUG == 8 && ask == UPGRADE -> WINS : LOOKS);
  seen = 0
}

/* The death of process p: its remaining steps are not made. */
inline die(p) {
  kills++;
  dead = dead | BIT(p);
  notified = notified & ~BIT(p);
  asking = asking & ~BIT(p);
  keeping = keeping & ~BIT(p);
  queue[p] = 0;
  up[p] = false;
  reads[p] = 0;
  owed = (bearer == p && !owed -> 1 : owed);
  bearer = (bearer == p -> 0 : bearer);
  owed = (writer == p -> 2 : owed);
  writer = (writer == p -> 0 : writer);
  if
  :: cleaner == p ->
    REACH(1, cleaning == 5);
    REACH(2, cleaning == 7);
    REACH(3, cleaning == 9 && OWNER(word) == cleaned);
    cleaner = 0;
    cleaned = 0;
    cleaning = 0
  :: else
  fi
}

#define HOME (ALIVE(me) && !at && !notifications)
#define VISITING(kind) (HOME && visits < VISITS(me) && (DOES(me) & (kind)))
#define RELEASES (!(keeping & BIT(me)))
#define HOLDS_BY_WORD (HOME && OWNER(word) == me && WRITTEN(word))
#define HOLDS_BY_UPGRADE (HOME && upgrader == UPGRADED(me))
#define READING (HOME && reads[me] > up[me] && upgrader != UPGRADED(me))
#define ALONE (!(readers & ~BIT(me)) && reads[me] == 1)

active [N] proctype process() {
  byte visits, at, what, call, ask, seen, notifications, t, to;
  bool used, overtakes, refused;
end:
  do
  /* Calls and notifications */
  :: d_step { VISITING(1) && !(queue[me] >> 3) -> visits++; enter(READ) }
  :: d_step { VISITING(2) && !(queue[me] >> 3) -> visits++; enter(WRITE) }
  :: d_step { VISITING(4) && !queue[me] && !up[me] -> visits++; call = PASSING; ask = READ; at = FITS }
  :: d_step { VISITING(8) && !queue[me] && !up[me] -> visits++; call = PASSING; ask = WRITE; at = FITS }
  :: d_step { HOME && queue[me] && leaves < LEAVES -> leaves++; queue[me] = BEHIND(queue[me]); again() }
  :: d_step { HOME && (queue[me] >> 3) && leaves < LEAVES -> leaves++; queue[me] = queue[me] & 7; again() }
  :: d_step { HOME && up[me] && leaves < LEAVES -> leaves++; up[me] = false; at = UNCLAIMS }
  :: d_step { HOME && (notified & BIT(me)) -> notified = notified & ~BIT(me); again() }
  :: d_step { HOME && keeps < KEEPS && RELEASES && (reads[me] || writer == me) -> keeps++; keeping = keeping | BIT(me) }
  :: d_step { READING && RELEASES -> endRead() }
  :: d_step { READING && faults < FAULTS && bearer == me -> faults++; abandoned = UNTOLD; owed = 2; at = ENDS }
  :: d_step { ALIVE(me) && at == ENDS -> endRead() }
  :: d_step { HOLDS_BY_WORD && RELEASES -> at = RETURNS }
  :: d_step { HOLDS_BY_WORD && faults < FAULTS -> faults++; abandoned = UNTOLD; owed = 2; at = RETURNS }
  :: d_step { HOLDS_BY_WORD && downgrades < DOWNGRADES -> downgrades++; call = DOWN; at = JOINS }
  :: d_step { HOLDS_BY_UPGRADE && RELEASES -> call = ENDING; at = UNCLAIMS }
  :: d_step { HOLDS_BY_UPGRADE && faults < FAULTS -> faults++; abandoned = UNTOLD; owed = 2; call = ENDING; at = UNCLAIMS }
  :: d_step { HOLDS_BY_UPGRADE && downgrades < DOWNGRADES -> downgrades++; at = UNCLAIMS }
  :: d_step { HOLDS_BY_UPGRADE && downgrades < DOWNGRADES && faults < FAULTS ->
      downgrades++;
      faults++;
      abandoned = UNTOLD;
      owed = 2;
      at = UNCLAIMS
    }
  :: d_step { READING && !up[me] && upgrades < UPGRADES -> upgrades++; call = UPGRADING; at = CLAIMS; ask = (BUG == 8 && ALONE -> UPGRADE : 0) }
  :: d_step { READING && !up[me] && upgrades < UPGRADES && ALONE -> upgrades++; call = LATE; at = CLAIMS }
  :: d_step { ALIVE(me) && notifications && !at ->
      i = (notifications & BIT(1) -> 1 : (notifications & BIT(2) -> 2 : 3));
      notifications = notifications & ~BIT(i);
      notified = (ALIVE(i) -> notified | BIT(i) : notified)
    }

  /* advance */
  :: d_step { ALIVE(me) && at == LOOKS ->
      if
      :: ALONE -> at = WINS
      :: else ->
        if
        :: call == UPGRADING -> endCall()
        :: call == LATE -> up[me] = false; at = UNCLAIMS
        :: else -> at = LOADS
        fi
      fi
    }
  :: d_step { ALIVE(me) && at == WINS ->
      assert(CLAIMANT(upgrader) == me);
      upgrader = UPGRADED(me);
      assert(!writer && UNREAD(me));
      writer = me;
      ask = UPGRADE;
      at = TELLS
    }
  :: d_step { ALIVE(me) && at == LOADS -> t = word; at = (NEEDS_TIDYING(t) -> TIDIES : DECIDES) }
  :: d_step { ALIVE(me) && at == TIDIES ->
      overflow = overflow & ~BIT(me);
      at = TIDIES2;
      if
      :: queue[me] -> again()
      :: else
      fi
    }
  :: d_step { ALIVE(me) && at == TIDIES2 ->
      if
      :: HEAD(word)
      :: else -> notifyOverflow(me)
      fi;
      again()
    }
  :: d_step { ALIVE(me) && at == DECIDES -> decide(true) }
#ifndef OVERDUE
  :: d_step { ALIVE(me) && at == DECIDES && OWNER(t) == me && !WRITTEN(t) && HEAD(t) -> decide(false) }
#endif
  :: d_step { ALIVE(me) && at == CHANGES -> change() }
  :: d_step { ALIVE(me) && at == CALLS ->
      if
      :: !HEAD(to) -> notifyOverflow(HEAD(t))
      :: else
      fi;
      changed()
    }
  :: d_step { ALIVE(me) && at == LOADS3 ->
      t = word;
      if
      :: NEEDS_TIDYING(t) -> at = TIDIES3
      :: else -> endCall()
      fi
    }
  :: d_step { ALIVE(me) && at == TIDIES3 -> overflow = overflow & ~BIT(me); endCall() }

  /* giveBack */
  :: d_step { ALIVE(me) && at == RETURNS -> call = 0; t = word; at = PASSES }
  :: d_step { ALIVE(me) && at == PASSES ->
      what = GIVE_BACK;
      to = t;
      if
      :: queue[me] -> to = WITHOUT(OWNED(t, me, UNGIVEN), me); complete(t, to, me, true)
      :: else -> passOn(true)
      fi;
      at = CHANGES
    }
#ifndef OVERDUE
  :: d_step { ALIVE(me) && at == PASSES && !queue[me] && HEAD(t) ->
      what = GIVE_BACK;
      to = t;
      passOn(false);
      at = CHANGES
    }
#endif

  /* enterInPassing */
  :: d_step { ALIVE(me) && at == FITS ->
      if
      :: upgrader -> endCall()
      :: else -> at = (ask == READ -> TRIES : FITS2)
      fi
    }
  :: d_step { ALIVE(me) && at == FITS2 ->
      if
      :: readers -> endCall()
      :: else -> at = TRIES
      fi
    }
  :: d_step { ALIVE(me) && at == TRIES ->
      if
      :: OWNER(word) -> endCall()
      :: else -> t = word; at = TRIES2
      fi
    }
  :: d_step { ALIVE(me) && at == TRIES2 ->
      what = TAKE_IN_PASSING;
      to = OWNED(t, me, UNGIVEN);
      complete(t, to, me, false);
      at = CHANGES
    }
  :: d_step { ALIVE(me) && at == RELOADS -> t = word; at = ADMITS }

  /* admit. BUG 7: join does not look at the claim. */
  :: d_step { ALIVE(me) && at == ADMITS ->
      if
      :: upgrader -> refuse()
      :: !upgrader && ask == READ && reads[me] -> reads[me]++; at = TELLS; t = 0
      :: !upgrader && ask == READ && !reads[me] -> at = JOINS; t = 0
      :: else -> at = ADMITS2
      fi
    }
  :: d_step { ALIVE(me) && at == ADMITS2 ->
      if
      :: readers -> refuse()
      :: else -> at = ADMITS3
      fi
    }
  :: d_step { ALIVE(me) && at == ADMITS3 ->
      what = ADMIT;
      to = WITHOUT(OWNED(t, me, WRITES), me);
      complete(t, to, me, (call == PASSING -> false : BEHIND(queue[me]) > 0));
      at = CHANGES
    }
  :: d_step { ALIVE(me) && at == JOINS -> readers = readers | BIT(me); at = JOINS2 }
  :: d_step { ALIVE(me) && at == JOINS2 ->
      if
      :: upgrader && BUG != 7 -> assert(call != DOWN); REACH(4, true); at = PARTS
      :: else ->
        assert(!writer || (call == DOWN && writer == me));
        reads[me]++;
        at = (call == DOWN -> RETURNS : TELLS)
      fi
    }
  /* BUG 4: it is not recorded which process was told. */
  :: d_step { ALIVE(me) && at == TELLS ->
      if
      :: abandoned == UNTOLD -> at = (APART && ask == READ -> TELLS0 : TELLS2)
      :: else -> assert(owed != 2); letIn()
      fi
    }
  :: d_step { ALIVE(me) && at == TELLS0 -> told = me; at = TELLS2 }
  :: d_step { ALIVE(me) && at == TELLS2 ->
      if
      :: abandoned == UNTOLD ->
        assert(owed);
        REACH(5, owed == 1);
        abandoned = (ask == READ && BUG != 4 && !APART -> me : 0);
        owed = 0;
        bearer = (ask == READ -> me : bearer)
      :: else
      fi;
      letIn()
    }

  /* part. BUG 1: it does not notify the owner. BUG 2: nor the upgrader. */
  :: d_step { ALIVE(me) && at == PARTS ->
      REACH(6, bearer && bearer != me);
      told = (told == me -> 0 : told);
      abandoned = (abandoned == me -> 0 : abandoned);
      bearer = (bearer == me -> 0 : bearer);
      at = PARTS2
    }
  :: d_step { ALIVE(me) && at == PARTS2 -> readers = readers & ~BIT(me); at = PARTS3 }
  :: d_step { ALIVE(me) && at == PARTS3 ->
      if
      :: BUG == 1
      :: else -> notifyOwner()
      fi;
      at = PARTS4
    }
  :: d_step { ALIVE(me) && at == PARTS4 ->
      notifications = notifications | (upgrader && CLAIMANT(upgrader) != me && BUG != 2 -> BIT(CLAIMANT(upgrader)) : 0);
      parted()
    }

  /* claim. BUG 6: it does not take over the claim of a dead process. */
  :: d_step { ALIVE(me) && at == CLAIMS ->
      if
      :: upgrader -> assert(upgrader < 4 && upgrader != me); seen = upgrader; at = (BUG == 6 -> CLAIMS4 : CLAIMS2)
      :: else -> upgrader = me; claimed()
      fi
    }
  :: d_step { ALIVE(me) && at == CLAIMS2 ->
      if
      :: dead & BIT(seen) -> asking = asking | BIT(me); at = CLAIMS3
      :: else -> seen = (ALIVE(seen) -> 0 : seen); at = CLAIMS4
      fi
    }
  :: d_step { ALIVE(me) && at == CLAIMS3 ->
      asking = asking & ~BIT(me);
      REACH(7, upgrader == seen && cleaned == seen);
      if
      :: upgrader == seen -> upgrader = me; claimed()
      :: else -> at = CLAIMS4
      fi
    }
  :: d_step { ALIVE(me) && at == CLAIMS4 ->
      if
      :: upgrader -> assert(!seen || CLAIMANT(upgrader) != seen); refused = (BUG == 12); endCall()
      :: else -> upgrader = me; claimed()
      fi
    }
  /* BUG 14: unclaim does not notify the owner. */
  :: d_step { ALIVE(me) && at == UNCLAIMS ->
      upgrader = 0;
      writer = (writer == me -> 0 : writer);
      at = UNCLAIMS2
    }
  :: d_step { ALIVE(me) && at == UNCLAIMS2 ->
      if
      :: BUG == 14
      :: else -> notifyOwner()
      fi;
      if
      :: call == ENDING -> reads[me] = 0; at = PARTS
      :: call == LATE -> endCall()
      :: else -> again()
      fi
    }

  /* Deaths and births */
  :: d_step { kills < KILLS && me < 3 && ALIVE(me) -> die(me); endCall(); notifications = 0; refused = false; visits = VISITS(me) }
  :: d_step { (vacant & BIT(me)) && births < BIRTHS && !asking ->
      births++;
      vacant = vacant & ~BIT(me);
      visits = VISITS(me) - 1
    }
  od
}

inline beginToClean(p, d) {
  cleaner = p;
  cleaned = d;
  cleaning = 1
}

/* Evicts dead processes. If a cleaner dies on the way, its successor repeats each step. BUG 3: the
 * cleaner loads `told` before it stores that the death is untold. BUG 11: it also clears `told` without a look. BUG 5: a claim that another process has taken over is cleared. BUG 9: the death of an owner is reported even
 * if no agent of it wrote. BUG 10: the claim is cleared before the death is reported. BUG 15: only the owner is
 * evicted from the fifo. */
active proctype eviction() {
  byte claim, t, to;
  bool report;
end:
  do
  :: d_step { !cleaner && (dead & BIT(1)) && ALIVE(2) -> beginToClean(2, 1) }
  :: d_step { !cleaner && (dead & BIT(2)) && ALIVE(1) -> beginToClean(1, 2) }
  :: d_step { !cleaner && (dead & BIT(1)) -> beginToClean(3, 1) }
  :: d_step { !cleaner && (dead & BIT(2)) -> beginToClean(3, 2) }
  :: d_step { cleaning == 1 ->
      claim = (CLAIMANT(upgrader) == cleaned -> upgrader : 0);
      upgrader = (BUG == 10 && claim -> 0 : upgrader);
      cleaning = 2
    }
  :: d_step { cleaning == 2 ->
      report = (claim & 4) || (OWNER(word) == cleaned && (WRITTEN(word) || BUG == 9));
      cleaning = (report -> 4 : (APART -> 3 : 5))
    }
  :: d_step { cleaning == 3 -> report = APART && told == cleaned; cleaning = (report -> 4 : 5) }
  :: d_step { cleaning == 4 -> abandoned = UNTOLD; cleaning = 5 }
  :: d_step { cleaning == 5 ->
      REACH(8, abandoned == cleaned);
      told = (told == cleaned || (BUG == 11 && report) -> 0 : told);
      abandoned = (abandoned == cleaned -> UNTOLD : abandoned);
      report = false;
      cleaning = (claim -> 6 : 7)
    }
  :: d_step { cleaning == 6 ->
      REACH(9, upgrader != claim);
      upgrader = (upgrader == claim || BUG == 5 -> 0 : upgrader);
      claim = 0;
      cleaning = 7
    }
  :: d_step { cleaning == 7 -> readers = readers & ~BIT(cleaned); cleaning = 8 }
  :: d_step { cleaning == 8 -> overflow = overflow & ~BIT(cleaned); cleaning = 9 }
  :: d_step { cleaning == 9 -> t = word; cleaning = 10 }
  :: d_step { cleaning == 10 ->
      to = (BUG == 15 -> t : WITHOUT(t, cleaned));
      if
      :: OWNER(t) == cleaned -> to = (HEAD(to) -> OWNED(POPPED(to), HEAD(to), UNGIVEN) : FREE(to))
      :: else
      fi;
      complete(t, to, 0, false);
      cleaning = (to == t -> 12 : 11);
      t = (to == t -> 0 : t);
      to = (cleaning == 12 -> 0 : to)
    }
  :: d_step { cleaning == 11 ->
      passed = (word == t && HEAD(to) != HEAD(t) -> 0 : passed);
      word = (word == t -> to : word);
      cleaning = 9;
      t = 0;
      to = 0
    }
  :: d_step { cleaning == 12 -> notified = notified | (ALL & ~(dead | vacant)); cleaning = 13 }
  :: d_step { cleaning == 13 ->
      dead = dead & ~BIT(cleaned);
      vacant = vacant | BIT(cleaned);
      cleaner = 0;
      cleaned = 0;
      cleaning = 0
    }
  :: d_step { !cleaning && (claim || t || to || report) -> claim = 0; t = 0; to = 0; report = false }
  /* Fewer processes die. */
  :: d_step { kills < KILLS && !dead && !notified && (keeping || (!writer && !readers && !word)) -> kills = KILLS }
  od
}

#define WAITS(p) (queue[p] > 0)
#define KEEPS_READING(p) (reads[p] == up[p] || (keeping & BIT(p)))
#define BAR(p) (KIND(queue[p]) == READ -> upgrader : readers) /* what may keep out the first waiter of the owner */

active proctype auditor() {
  timeout;
  d_step {
    assert(!dead && !notified && !cleaning);
    assert(!(overflow & ~((queue[1] > 0) << 1 | (queue[2] > 0) << 2 | (queue[3] > 0) << 3)));
    assert(!writer || (keeping & BIT(writer)));
    assert(KEEPS_READING(1) && KEEPS_READING(2) && KEEPS_READING(3));
    assert(readers == ((reads[1] > 0) << 1 | (reads[2] > 0) << 2 | (reads[3] > 0) << 3));
    assert(!told && abandoned == (owed -> UNTOLD : bearer));
    assert(CLAIMANT(upgrader) == (up[1] + 2 * up[2] + 3 * up[3]) || (upgrader & 4));
    assert(!(upgrader & 4) || CLAIMANT(upgrader) == writer);
    assert(!upgrader || (upgrader & 4) || reads[upgrader] > 1 || (readers & ~BIT(upgrader)));
    if
    :: WAITS(1) || WAITS(2) || WAITS(3) -> assert(OWNER(word) && (WRITTEN(word) || (WAITS(OWNER(word)) && BAR(OWNER(word)))))
    /* The owner clears a stale `queued` when it unlocks. */
    :: else -> assert(writer && !upgrader -> (word | HAS_QUEUE) == (HELD(writer) | HAS_QUEUE) : !word)
    fi
  }
}
