/* src/locks/lock_word.h with src/waiting/parking_lot.h, wait_queue.h, waiter.h and thread_parker.h: the models of
 * the primitives include this file, as the primitives themselves share LockWord.
 *
 * How the model follows the C++
 *   - Every atomic operation on the word, every lock and unlock of a bucket and every wake is one
 *     step of its own. Code between two of these steps is local or guarded by the bucket. No other process can
 *     observe it, so it joins a neighbouring step.
 *   - compare_exchange_weak fails only where the word differs: a spurious failure is a retry.
 *   - Memory is sequentially consistent. Memory orders are the business of test/relacy.
 *   - The clock is nondeterministic: at any look the head's patience may be over, and per head at most
 *     PATIENCE looks find it not over. A deadline may pass whenever a timed waiter sleeps.
 *   - There is one word, so one queue; all waiters have the same priority.
 *   - enterBlocking calls tryEnter up to three times. A failed tryEnter only reads, so the model makes
 *     one call, at any time.
 *
 * A model defines, before it includes this:
 *     N            number of processes; process p is waiter p, and its agent AGENT(p) > 0
 *     PATIENCE     see above
 *     INITIAL      the initial word
 *     WAKER, HANDOFF                       the bits kWaker and kHandOff, or 0
 *     ISFREE(w), FITS(w, p), TAKE(w, p), MAKESROOM(w, v)    the Rules
 *     TELL(w, p)   the part of Rules::take that writes into the waiter
 *     LEFT(w)      the word after `left`, for the word w and the local variable op
 *     ENTERED(w)   ghost statement: a process acquires on the word w
 *     CHANGED(w)   ghost statement: `left` is applied to the word w
 * Its processes declare LOCK_WORD_LOCALS.
 * It may define STRICT(p): waiter p may not be overtaken.
 * BUG 1 to 10 and 21 to 24 are faults of LockWord, REACHED 1 to 8 places in it; a model numbers its
 * own from 11 on.
 */

#ifndef BUG
#define BUG 0
#endif

#define HAS_QUEUE 1 /* bit 0 of every word */
#define BITS (HAS_QUEUE | WAKER | HANDOFF)
#ifndef STRICT
#define STRICT(p) false
#endif
#define NONE 255
#define NOBODY 0 /* the agent kNobody */

/* Waiter::State */
#define IDLE 0
#define WAITING 1
#define INVITED 2
#define ADMITTED 3

byte word = INITIAL;
byte bucket = NONE; /* the holder of the bucket's lock */

/* The WaitQueue: the first `size` of queue[]. The bucket guards it, and state[] of its waiters. */
byte queue[N];
byte size;
byte invited = NONE;
byte patience; /* number of further looks at the clock that may find the head's patience not over */
bool handsOff; /* WaitQueue::handsOff */
byte state[N];

/* The parkers: a counting semaphore each, and ThreadParker::how_. */
byte sem[N];
bool invitation[N];

byte passed; /* ghost: how often the head competed in vain, or the releaser's own waiter overtook it */

/* Scratch variables: no meaning between two steps. */
hidden byte i;
hidden byte goes;
hidden byte wasHead;
hidden byte head;
hidden byte bits;

#define LOCK_WORD_LOCALS                                                                           \
  byte w;              /* a word as it was read                                              */ \
  byte after;          /* the new word                                                       */ \
  byte op;             /* selects `left`                                                     */ \
  byte next;           /* the waiter that admitWaiters admits                                  */ \
  bool invites;        /* admitWaiters invites the head                                        */ \
  byte invitee = NONE; /* Bucket::invited_                                                   */ \
  byte admitted;       /* Bucket::admitted_, a bit each: they are woken in any order         */ \
  bool in;             /* the process has acquired                                           */ \
  bool done;           /* changeAlone has changed the word; admitWaiters has applied `left`    */ \
  bool awake           /* leave: a wake is on its way                                        */

/* Shows that the search reaches place n: with -DREACHED=n this assertion must fail. */
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

/* BUG 23: new agents ignore that a hand-off is wanted. */
#define OPEN(w, mayOvertake) (!((w) & HAS_QUEUE) || (mayOvertake && ISFREE(w) && (BUG == 23 || !((w) & HANDOFF))))

#define me _pid
#define BIT(p) (1 << (p))

/* Invariant 3: the changes that a process without the bucket may make while kQueued is set. */
#define MAYCHANGE(w, v) (!((w) & HAS_QUEUE) || !MAKESROOM(w, v) || \
                         (WAKER && ((w) & (WAKER | HANDOFF)) == WAKER && ISFREE(v)))

/* Writes the word. */
inline put(value) {
  assert(bucket == me || ISFREE(word) || MAYCHANGE(word, value));
  assert(bucket == me || BUG == 1 || (word & BITS) == ((value) & BITS));
  word = value
}

/* LockWord::bitsOf: the queue's bits of the word without `gone`. */
inline bitsOf(gone) {
  head = (size && queue[0] != gone -> queue[0] : (size > 1 -> queue[1] : NONE));
  bits = 0;
  if
  :: head != NONE ->
    bits = HAS_QUEUE | (invited != NONE && invited != gone -> WAKER : 0) |
           ((handsOff && queue[0] != gone) || STRICT(head) -> HANDOFF : 0)
  :: else
  fi
}
#define WITHBITS(w) (((w) & ~BITS) | bits)

/* ParkingLot::open. With LIVE the processes get the bucket's lock in turn: a release needs no bucket while the
 * waker is on its way, so nothing else bounds how often other processes are quicker. */
#ifdef LIVE
byte wants; /* the processes that wait for the bucket, a bit each */
inline open() {
  atomic {
    if
    :: bucket == NONE -> bucket = me
    :: else -> wants = wants | BIT(me)
    fi
  };
  bucket == me
}
inline dropBucket() {
  i = (me + 1) % N;
  do
  :: i != me && !(wants & BIT(i)) -> i = (i + 1) % N
  :: else -> break
  od;
  bucket = (i == me -> NONE : i);
  wants = wants & ~BIT(i)
}
#else
inline open() {
  atomic { bucket == NONE -> bucket = me }
}
inline dropBucket() { bucket = NONE }
#endif

/* ThreadParker::wake. No waiter ever has two pending wakes. */
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

/* ~Bucket: drops an empty queue, then the lock, then sends the wakes. */
inline close() {
  d_step {
    assert((size > 0) == (word & HAS_QUEUE));                                        /* invariant 1 */
    assert(!WAKER || (invited != NONE) == ((word & WAKER) != 0));
    assert(!HANDOFF || (size && (handsOff || STRICT(queue[0]))) == ((word & HANDOFF) != 0));
    assert(!size || !ISFREE(word) || (invited != NONE && !(word & HANDOFF)));   /* invariant 4 */
    assert(!size || !FITS(word, queue[0]) || invited == queue[0]);                /* invariant 5 */
    if
    :: !size -> patience = 0
    :: else
    fi;
    dropBucket();
    w = 0;
    after = 0;
    next = 0
  };
  sendWakes()
}

inline startPatience() { patience = PATIENCE }

/* WaitQueue::enter */
inline queueEnter(p) {
  queue[size] = p;
  size++;
  state[p] = WAITING
}

/* WaitQueue::leave */
inline queueLeave(p) {
  if
  :: queue[0] == p -> passed = 0; handsOff = false
  :: else
  fi;
  i = 0;
  do
  :: queue[i] == p -> break
  :: else -> i++
  od;
  size--;
  do
  :: i < size -> queue[i] = queue[i + 1]; i++
  :: else -> break
  od;
  queue[size] = 0;
  if
  :: invited == p -> invited = NONE
  :: else
  fi;
  state[p] = IDLE
}

/* Ghost: a process acquires on the word v ahead of the head of the queue, if there is one. Promises: no process
 * overtakes a head that has asked for a hand-off. On a word that is not free, only the releaser's own waiters
 * overtake, and only while the head's patience lasts. (With LIVE, spin proves the consequence: every waiter gets in.)
 */
inline overtakes(v, isOwn) {
#ifdef LIVE
  skip
#else
  assert(!size || !((v) & HANDOFF));
  assert(!size || isOwn || ISFREE(v));
  if
  :: size && isOwn -> passes(PATIENCE)
  :: else
  fi;
  REACH(1, size && !isOwn && passed > 0);
  REACH(8, size && isOwn && passed == PATIENCE)
#endif
}

inline passes(most) {
#ifdef LIVE
  skip
#else
  passed++;
  assert(passed <= most)
#endif
}

/* LockWord::tryEnter */
inline tryEnter(mayOvertake) {
  w = word;
  do
  :: atomic { OPEN(w, mayOvertake) && FITS(w, me) ->
      TELL(w, me);
      if
      :: word == w ->
        overtakes(w, false);
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

/* LockWord::enterByBucket: sets `in`, or queues the process. BUG 1: the process sets kQueued only after it has
 * closed the bucket. BUG 2: the process reads the word before it opens the bucket, and does not read it again. */
inline enterByBucket(mayOvertake) {
  if
  :: BUG == 2 -> w = word; open()
  :: else -> open(); w = word
  fi;
  do
  :: atomic {
      goes = (!size || OPEN(w, mayOvertake)) && FITS(w, me);
      bitsOf(NONE);
      if
      :: goes || size
      :: else -> bits = HAS_QUEUE | (STRICT(me) -> HANDOFF : 0)
      fi;
      if
      :: goes -> TELL(w, me); after = WITHBITS(TAKE(w, me))
      :: !goes && BUG == 2 -> after = WITHBITS(word)
      :: else -> after = WITHBITS(w)
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
          overtakes(w, false);
          ENTERED(w);
          in = true
        :: else ->
          queueEnter(me);
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
  :: BUG == 1 && !in -> bucket = NONE; word = word | HAS_QUEUE
  :: else -> close()
  fi
}

/* A look at the clock: `goes` says whether the head's patience is over. BUG 4: it never is. */
inline look() {
  if
  :: BUG != 4 -> goes = true
  :: patience > 0 || BUG == 4 ->
    goes = false;
    if
    :: patience -> patience--
    :: else
    fi
  fi
}

/* LockWord::choose */
inline choose(leaver, value) {
  if
  :: !size -> next = NONE
  :: size && !FITS(value, queue[0]) -> next = NONE
  :: else ->
    next = queue[0];
    if
    :: AGENT(queue[0]) == leaver || STRICT(queue[0]) || handsOff
    :: else ->
      look();
      if
      :: goes
      :: else ->
        i = 1;
        do
        :: i < size && AGENT(queue[i]) != leaver -> i++
        :: else -> break
        od;
        if
        :: i < size && FITS(value, queue[i]) -> next = queue[i]
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

/* LockWord::admit with Bucket::admit. BUG 5: an invited waiter is woken a second time. */
inline admit(p) {
  wasHead = queue[0] == p;
  if
  :: state[p] != INVITED || BUG == 5 -> admitted = admitted | BIT(p)
  :: else
  fi;
  if
  :: !wasHead -> overtakes(word, true); REACH(2, true)
  :: else
  fi;
  queueLeave(p);
  state[p] = ADMITTED;
  if
  :: !wasHead || !size
  :: else ->
    if
    :: AGENT(queue[0]) == AGENT(p) -> patience = 0
    :: else -> startPatience()
    fi
  fi
}

/* LockWord::admitWaiters. BUG 6: it clears kQueued while others wait. BUG 24: it leaves a free word
 * without a waker. */
inline admitWaiters(leaver) {
  w = word;
  done = false;
  do
  :: atomic {
      if
      :: done -> after = w
      :: else -> after = LEFT(w)
      fi;
      choose(leaver, after);
      invites = next == NONE && size && invited == NONE && ISFREE(after) && BUG != 24;
      bitsOf(next);
      if
      :: next != NONE -> TELL(after, next); after = WITHBITS(TAKE(after, next))
      :: else -> after = WITHBITS(after) | (invites -> WAKER : 0)
      fi;
      if
      :: BUG == 6 -> after = after & ~HAS_QUEUE
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
        done = true;
        if
        :: next == NONE -> break
        :: else ->
          ENTERED(w);
          admit(next)
        fi
      fi
    }
  od;
  atomic {
    done = false;
    if
    :: invites ->
      invited = queue[0];
      invitee = queue[0];
      state[invited] = INVITED;
      invites = false
    :: else
    fi
  }
}

/* Word::fetch_or: from here on no other process can take the word. */
inline wantHandOff() {
  handsOff = true;
  put(word | HANDOFF);
  w = word
}

/* A compare-and-swap has failed. */
inline insist() {
  goes = false;
  if
  :: !handsOff -> look()
  :: else
  fi;
  if
  :: goes -> wantHandOff()
  :: else -> w = word
  fi
}

/* LockWord::compete of the head. BUG 3: a head that has lost stays `invited`. BUG 22: it goes back to sleep
 * although the word has changed since it was read. */
inline competeAsHead() {
  w = word;
  do
  :: atomic { FITS(w, me) ->
      TELL(w, me);
      if
      :: word == w ->
        ENTERED(w);
        bitsOf(me);
        after = WITHBITS(TAKE(w, me));
        put(after);
        queueLeave(me);
        if
        :: size -> startPatience()
        :: else
        fi;
        in = true;
        break
      :: else -> insist()
      fi
    }
  :: else ->
    atomic {
      goes = false;
      if
      :: !handsOff && BUG != 3 -> look()
      :: else
      fi;
      if
      :: BUG == 3 -> break
      :: goes -> wantHandOff()
      :: !goes && BUG != 3 && BUG != 22 && word != w -> insist()
      :: else ->
        passes(PATIENCE + 1);
        REACH(5, true);
        REACH(6, handsOff && size > 1);
        state[me] = WAITING;
        invited = NONE;
        bitsOf(NONE);
        put(WITHBITS(word));
        break
      fi
    }
  od;
  if
  :: in && size -> admitWaiters(AGENT(me))
  :: else
  fi
}

inline compete() {
  if
  :: queue[0] != me -> /* an upgrader has queued ahead of it */
    d_step { state[me] = WAITING; invited = NONE };
    admitWaiters(NOBODY)
  :: else -> competeAsHead()
  fi
}

/* LockWord::resume, after the wake has been taken. */
inline resume() {
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

/* LockWord::changeIf(mayChange); sets `done` if it has changed the word. */
inline changeAlone() {
  w = word;
  do
  :: atomic { MAYCHANGE(w, LEFT(w)) ->
      if
      :: word == w ->
        CHANGED(w);
        REACH(7, (w & HAS_QUEUE) != 0);
        after = LEFT(w);
        put(after);
        done = true;
        w = 0;
        after = 0;
        break
      :: else -> w = word
      fi
    }
  :: else -> done = false; w = 0; break
  od
}

/* LockWord::changeQueued */
inline changeQueued(leaver) {
  open();
  if
  :: !size -> changeAlone(); assert(done)
  :: else -> admitWaiters(leaver)
  fi;
  close();
  done = false;
  op = 0
}

/* LockWord::change */
inline change(leaver) {
  changeAlone();
  if
  :: done -> done = false; op = 0
  :: else -> changeQueued(leaver)
  fi
}

/* LockWord::leave and the rest of its callers: sets `in` if the waiter was already admitted. BUG 7: an invited
 * waiter does not take its wake. BUG 8: no other waiter is invited or admitted in its place. BUG 9: admitWaiters
 * runs before the waiter has left the queue. BUG 10: a waiter that is already admitted leaves all the same.
 * BUG 21: an invited waiter that leaves does not clear its bit.
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
        queueLeave(me);
        bitsOf(NONE);
        put(WITHBITS(word))
      }
    :: BUG == 21 && awake && size > 1 -> atomic { queueLeave(me); invited = me }
    :: BUG == 9 -> admitWaiters(NOBODY); d_step { queueLeave(me) }
    :: else -> d_step { queueLeave(me) }; admitWaiters(NOBODY)
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

/* LockWord::sleep. A deadline passes only while no wake is pending. */
inline sleep(timed, how) {
  do
  :: atomic { sem[me] > 0 -> sem[me]-- };
    resume();
    if
    :: in -> break
    :: else
    fi
  :: timed && sem[me] == 0 -> leave(how); break
  od
}
