/* src/office.h with src/lot.h, src/line.h, src/waiter.h and src/thread_parker.h: what the models of
 * the box offices share, as the box offices themselves share the Office.
 *
 * How the model follows the C++
 *   - Every atomic operation on the word, every lock and unlock of a bucket and every wake is one
 *     step of its own. What lies between two of them is local, or guarded by the bucket where
 *     nobody else sees it, and is joined to a neighbour.
 *   - compare_exchange_weak fails only where the word differs: a spurious failure is a retry.
 *   - Memory is sequentially consistent. Memory orders are the business of test/relacy.
 *   - The clock is nondeterministic: any look at it may find the head's patience over, and a head
 *     finds it not over at most PATIENCE times. A deadline may pass whenever a timed waiter sleeps.
 *   - There is one word, so one line; all waiters have the same priority.
 *   - enterBlocking looks with tryEnter up to three times. A look that fails has only read, so one
 *     look, at any time, stands for all.
 *
 * A model defines, before it includes this:
 *     N            how many processes there are; process p is waiter p, and its agent AGENT(p) > 0
 *     PATIENCE     see above
 *     INITIAL      the word at the start
 *     ISFREE(w), FITS(w, p), TAKE(w, p)    the Rules
 *     TELL(w, p)   what Rules::take writes into the waiter
 *     LEFT(w)      what `left` makes of the word w, by the local variable op
 *     ENTERED(w)   ghost statement: somebody goes in on the word w
 *     CHANGED(w)   ghost statement: `left` is applied to the word w
 * Its processes declare OFFICE_LOCALS.
 * BUG 1 to 10 are faults of the office, REACHED 1 to 5 places in it; a model numbers its own from
 * 11 on.
 */

#ifndef BUG
#define BUG 0
#endif

#define LINE 1 /* bit 0 of every word */
#define NONE 255
#define NOBODY 0 /* the agent kNobody */

/* Waiter::State */
#define IDLE 0
#define WAITING 1
#define INVITED 2
#define ADMITTED 3

byte word = INITIAL;
byte bucket = NONE; /* who holds the bucket's lock */

/* The Line: the first `size` of line[]. The bucket guards it, and state[] of those in it. */
byte line[N];
byte size;
byte invited = NONE;
byte patience; /* how many more looks at the clock may find the head's patience not over */
byte state[N];

/* The parkers: a counting semaphore each, and ThreadParker::how_. */
byte sem[N];
bool invitation[N];

byte overtaken; /* ghost: how many went in before the head since it became the head */

/* Scratch, of no meaning between two steps. */
hidden byte i;
hidden byte goes;
hidden byte wasHead;

#define OFFICE_LOCALS                                                                           \
  byte w;              /* a word as it was read                                              */ \
  byte after;          /* what it is to become                                               */ \
  byte op;             /* which `left`                                                       */ \
  byte next;           /* whom settleLine admits                                             */ \
  byte invitee = NONE; /* Bucket::invited_                                                   */ \
  byte admitted;       /* Bucket::admitted_, a bit each: they are woken in any order         */ \
  bool in;             /* the result of whatever goes in                                     */ \
  bool done;           /* changeAlone has changed; settleLine has applied                    */ \
  bool awake           /* leave: a wake is on its way                                        */

/* That the search comes to where things are difficult is checked, too: with -DREACHED=n this fails. */
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

#define OPEN(w) (!((w) & LINE) || ISFREE(w))

#define me _pid
#define BIT(p) (1 << (p))

/* Writes the word. Invariant 3: while kLine is set only the holder of the bucket does, but for a
 * free word that is taken. */
inline put(value) {
  assert(!(word & LINE) || bucket == me || ISFREE(word));
  word = value
}

/* Lot::open */
inline open() {
  atomic { bucket == NONE -> bucket = me }
}

/* ThreadParker::wake. Nobody is ever owed two. */
inline wake(p, invites) {
  d_step {
    assert(sem[p] == 0);
    invitation[p] = invites;
    sem[p]++
  }
}

inline sendWakes() {
  if
  :: invitee != NONE -> wake(invitee, true); invitee = NONE
  :: else
  fi;
  do
  :: admitted & BIT(0) -> wake(0, false); admitted = admitted & ~BIT(0)
  :: admitted & BIT(1) -> wake(1, false); admitted = admitted & ~BIT(1)
  :: admitted & BIT(2) -> wake(2, false); admitted = admitted & ~BIT(2)
#if N > 3
  :: admitted & BIT(3) -> wake(3, false); admitted = admitted & ~BIT(3)
#endif
  :: !admitted -> break
  od
}

/* ~Bucket: drops an empty line, then the lock, then sends the wakes. */
inline close() {
  d_step {
    assert((size > 0) == (word & LINE));                                        /* invariant 1 */
    assert(!size || !FITS(word, line[0]) || invited == line[0]);                /* invariant 4 */
    assert(!size || !ISFREE(word) || invited == line[0]);
    if
    :: !size -> patience = 0
    :: else
    fi;
    bucket = NONE;
    w = 0;
    after = 0;
    next = 0
  };
  sendWakes()
}

inline startPatience() { patience = PATIENCE }

/* Line::enter */
inline lineEnter(p) {
  line[size] = p;
  size++;
  state[p] = WAITING
}

/* Line::leave */
inline lineLeave(p) {
  if
  :: line[0] == p -> overtaken = 0
  :: else
  fi;
  i = 0;
  do
  :: line[i] == p -> break
  :: else -> i++
  od;
  size--;
  do
  :: i < size -> line[i] = line[i + 1]; i++
  :: else -> break
  od;
  line[size] = 0;
  if
  :: invited == p -> invited = NONE
  :: else
  fi;
  state[p] = IDLE
}

/* Ghost: somebody goes in before the head of the line, if there is one. The promise: no more often
 * than its patience. (LIVE proves what follows from it, with unbounded time to come.) */
inline overtakes() {
#ifdef LIVE
  skip
#else
  if
  :: size ->
    overtaken++;
    assert(overtaken <= PATIENCE);
    REACH(1, overtaken == PATIENCE)
  :: else
  fi
#endif
}

/* Office::tryEnter */
inline tryEnter() {
  w = word;
  do
  :: atomic { OPEN(w) && FITS(w, me) ->
      TELL(w, me);
      if
      :: word == w ->
        overtakes();
        ENTERED(w);
        after = TAKE(w, me);
        put(after);
        in = true;
        w = 0;
        after = 0;
        break
      :: else -> w = word
      fi
    }
  :: else -> w = 0; break
  od
}

/* Office::enterByBucket: `in`, or else in line. BUG 1: the word says that somebody waits only once
 * the bucket is closed. BUG 2: the word is read before the bucket is opened, and trusted. */
inline enterByBucket(mayOvertake) {
  if
  :: BUG == 2 -> w = word; open()
  :: else -> open(); w = word
  fi;
  do
  :: atomic {
      goes = (!size || (mayOvertake && OPEN(w))) && FITS(w, me);
      if
      :: goes -> TELL(w, me); after = TAKE(w, me)
      :: !goes && BUG == 2 -> after = word | LINE
      :: else -> after = w | LINE
      fi;
      if
      :: after != w && word != w && !(BUG == 2 && !goes) -> w = word
      :: else ->
        if
        :: after == w || (BUG == 1 && !goes)
        :: else -> put(after)
        fi;
        if
        :: goes ->
          overtakes();
          ENTERED(w);
          in = true
        :: else ->
          lineEnter(me);
          if
          :: size == 1 -> startPatience()
          :: else
          fi
        fi;
        break
      fi
    }
  od;
  if
  :: BUG == 1 && !in -> bucket = NONE; word = word | LINE
  :: else -> close()
  fi
}

/* Office::choose. BUG 4: the head's patience never ends. */
inline choose(leaver, value) {
  if
  :: !size -> next = NONE
  :: size && !FITS(value, line[0]) -> next = NONE
  :: else ->
    next = line[0];
    if
    :: AGENT(line[0]) == leaver
    :: else ->
      if
      :: BUG != 4 -> patience = 0
      :: patience > 0 || BUG == 4 ->
        if
        :: patience -> patience--
        :: else
        fi;
        i = 1;
        do
        :: i < size && AGENT(line[i]) != leaver -> i++
        :: else -> break
        od;
        if
        :: i < size && FITS(value, line[i]) -> next = line[i]
        :: else ->
          if
          :: ISFREE(value) -> next = NONE
          :: else
          fi
        fi
      fi
    fi
  fi
}

/* Office::admit with Bucket::admit. BUG 5: an invited waiter is woken a second time. */
inline admit(p) {
  wasHead = line[0] == p;
  if
  :: state[p] != INVITED || BUG == 5 -> admitted = admitted | BIT(p)
  :: else
  fi;
  if
  :: !wasHead -> overtakes(); REACH(2, true)
  :: else
  fi;
  lineLeave(p);
  state[p] = ADMITTED;
  if
  :: !wasHead || !size
  :: else ->
    if
    :: AGENT(line[0]) == AGENT(p) -> patience = 0
    :: else -> startPatience()
    fi
  fi
}

/* Office::settleLine. BUG 6: the line bit is cleared though others wait. */
inline settleLine(leaver) {
  w = word;
  done = false;
  do
  :: atomic {
      if
      :: done -> after = w
      :: else -> after = LEFT(w)
      fi;
      choose(leaver, after);
      if
      :: next != NONE -> TELL(after, next); after = TAKE(after, next)
      :: else
      fi;
      if
      :: size == (next != NONE) || BUG == 6 -> after = after & ~LINE
      :: else
      fi;
      if
      :: (after != w || !done) && word != w -> w = word
      :: else ->
        if
        :: after != w || !done ->
          if
          :: !done -> CHANGED(w)
          :: else
          fi;
          put(after)
        :: else
        fi;
        w = after;
        if
        :: next == NONE -> break
        :: else ->
          ENTERED(w);
          admit(next);
          done = true
        fi
      fi
    }
  od;
  done = false;
  atomic {
    if
    :: ISFREE(w) && size && invited == NONE ->
      invited = line[0];
      invitee = line[0];
      state[invited] = INVITED
    :: else
    fi
  }
}

/* Office::compete of the head. BUG 3: one who loses is not taken for invited any less. */
inline competeAsHead() {
  w = word;
  do
  :: atomic { FITS(w, me) ->
      TELL(w, me);
      if
      :: word == w ->
        ENTERED(w);
        after = (size == 1 -> TAKE(w, me) & ~LINE : TAKE(w, me));
        put(after);
        lineLeave(me);
        if
        :: size -> startPatience()
        :: else
        fi;
        in = true;
        break
      :: else -> w = word
      fi
    }
  :: else ->
    REACH(5, true);
    if
    :: BUG != 3 -> d_step { state[me] = WAITING; invited = NONE }
    :: else
    fi;
    break
  od;
  if
  :: in && size -> settleLine(AGENT(me))
  :: else
  fi
}

inline compete() {
  if
  :: line[0] != me -> /* an upgrader has come before it */
    d_step { state[me] = WAITING; invited = NONE };
    settleLine(NOBODY)
  :: else -> competeAsHead()
  fi
}

/* Office::settle, after the wake has been taken. */
inline settle() {
  if
  :: !invitation[me] -> state[me] = IDLE; in = true
  :: else ->
    open();
    if
    :: state[me] == ADMITTED -> state[me] = IDLE; in = true
    :: else -> compete()
    fi;
    close()
  fi
}

/* Office::changeUnless(kLine); `done` says whether it worked. */
inline changeAlone() {
  w = word;
  do
  :: atomic { !(w & LINE) ->
      if
      :: word == w -> CHANGED(w); after = LEFT(w); put(after); done = true; w = 0; after = 0; break
      :: else -> w = word
      fi
    }
  :: else -> done = false; w = 0; break
  od
}

/* Office::change */
inline change(leaver) {
  changeAlone();
  if
  :: done
  :: else ->
    open();
    if
    :: !size -> changeAlone(); assert(done)
    :: else -> settleLine(leaver)
    fi;
    close()
  fi;
  done = false;
  op = 0
}

/* Office::leave and what its callers do then: `in` when it was too late. BUG 7: the wake of an
 * invited waiter is not taken. BUG 8: nobody else is invited or admitted in its place. BUG 9: the
 * line is settled before the waiter has left it. BUG 10: one admitted too late goes away all the same.
 */
inline leave(how) {
  open();
  if
  :: state[me] == ADMITTED ->
    in = BUG != 10;
    REACH(3, true)
  :: else ->
    awake = state[me] == INVITED;
    REACH(4, awake);
    op = how;
    if
    :: BUG == 8 ->
      atomic {
        lineLeave(me);
        if
        :: !size -> put(word & ~LINE)
        :: else
        fi
      }
    :: BUG == 9 -> settleLine(NOBODY); d_step { lineLeave(me) }
    :: else -> d_step { lineLeave(me) }; settleLine(NOBODY)
    fi
  fi;
  close();
  if
  :: in || (awake && BUG != 7) -> atomic { sem[me] > 0 -> sem[me]-- }
  :: else
  fi;
  awake = false;
  op = 0;
  if
  :: in -> state[me] = IDLE
  :: else
  fi
}

/* Office::sleep. A deadline passes only where no wake is there to be taken. */
inline sleep(timed, how) {
  do
  :: atomic { sem[me] > 0 -> sem[me]-- };
    settle();
    if
    :: in -> break
    :: else
    fi
  :: timed && sem[me] == 0 -> leave(how); break
  od
}
