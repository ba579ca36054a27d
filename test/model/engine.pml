/* lib/cluster: how processes share one mutex through a server, with leases, claims, sessions and hand-offs.
 *
 * How the model follows the code
 *   - The server is redis/script.js: enter, leave and confirm are one step each, as in the script. -DSKIPS is
 *     postgres/steps.js, whose admit() skips a request that no connection listens for; Redis drops it.
 *   - A process is one event loop and its renewing thread. It has one lock of one key: `queue` of the local lock is the
 *     count `callers`, `expecting` is a caller that the local lock has admitted and that has not called
 *     Cohort.take() yet. The current lease of the cohort (lease.js) is in the fields from `state` to `isUnsure`. A lease that is over
 *     leaves only its id behind, in `orphans` while a command is on its way, then in `leaves` (leaving.js).
 *   - A command is sent, is executed and is answered in three steps, and anything may happen in between. Commands of
 *     one process pass each other, as they do with a pool of connections. Messages to one process keep their order.
 *   - A command may fail before the server executes it, or after, or it may be executed long after it has failed
 *     (`zombie`), but before the second release that Leaving.tell() sends for this case.
 *   - A release is repeated until the server has heard it, so here it is delayed. It is lost once its session is over.
 *   - The clock is nondeterministic. `isSafe` tells whether the session's end by the process's clock is in the
 *     future, `isFresh` the same of the lease's `until`. The ends that a process computes are never later than the
 *     server's, because it counts from before it sent the command. So the server ends a session or a hold only when the
 *     process's own end is past, and an answer makes `isSafe` or `isFresh` true only if the server has not ended it.
 *     The number of ends of living sessions and of holds is limited by LAPSES and ENDS. A session that is over for its
 *     process always expires. A stopped process is one that makes no steps.
 *   - A waiter's timer is due at any time if its answer would be news; otherwise LOOKS limits how often it asks.
 *   - A renewal has an effect only if it is late, so RENEWALS limits how many are modelled.
 *
 * Left out: units, upgrades, minHold, the report of lost holders, priorities, a lease without an end (keepOn), failovers,
 * an operator that ends sessions, and the deadline of a server that is silent, except as a failed command.
 *
 * Checked: at no time do two processes have a lease that is held, of a good session, and within its time; each new
 * lease has a higher token than all that were used before; a lease is passed on or confirmed only while no later one
 * has been used; a lease that is passed on without limit has no waiter that the holder could know of. At quiescence no
 * caller waits, and the server has no holder, no queue and no release of which it has not heard.
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

#ifndef N
#define N 3 /* processes */
#endif
#ifndef VISITS
#define VISITS 1 /* callers of each process */
#endif
#ifndef TWICE
#define TWICE 0 /* number of processes with one caller more */
#endif
#ifndef GIVEUPS
#define GIVEUPS 0 /* callers that give up, in all */
#endif
#ifndef LAPSES
#define LAPSES 0 /* living sessions whose time passes */
#endif
#ifndef RENEWALS
#define RENEWALS 0
#endif
#ifndef ENDS
#define ENDS 0 /* holds whose time passes */
#endif
#ifndef FAILS
#define FAILS 0 /* commands that fail */
#endif
#ifndef CUTS
#define CUTS 0 /* listening connections that are lost */
#endif
#ifndef CLOSES
#define CLOSES 0 /* engines that close */
#endif
#ifndef KILLS
#define KILLS 0 /* processes that die */
#endif
#ifndef LOOKS
#define LOOKS 0 /* times that a waiter asks for no reason */
#endif
#ifndef REUSES
#define REUSES 0 /* times that a key map uses the lock object for another key */
#endif

#ifdef SKIPS
#define SKIPPING true
#else
#define SKIPPING false
#endif

#define M 4 /* the most leases of a process */
#define ID(p, n) ((p) * M + (n) + 1)
#define PROCESS(one) (((one) - 1) / M)
#define BIT(one) (1 << (one))
#define SESSION(p, n) (1 << ((p) * 3 + (n))) /* n: 1 or 2 */
#define SESSION_OF(one) SESSION(PROCESS(one), ((second & BIT(one)) -> 2 : 1))

hidden byte i;
hidden byte j;
hidden byte asker;
hidden byte isMore;

/* The server */
byte holder;     /* the id of the holder, or 0 */
byte token;      /* its token */
bool isConfirmed;/* whether the hold lasts maxHold; otherwise it is a claim */
bool isEnding;   /* the end of the hold is near */
bool isEnded;    /* the end is past, and no command has removed the hold */
byte fence;
byte queue[4];
byte length;
short alive;     /* the sessions that have not expired, a bit each */
#define LIVES(one) (alive & SESSION_OF(one))

/* Between the server and a process */
chan message0 = [4] of { byte, byte, bool }; /* grants: id, token, whether others wait */
chan message1 = [4] of { byte, byte, bool };
chan message2 = [4] of { byte, byte, bool };
byte listening[3]; /* the connection that gets the messages */
#define CUT 1      /* and the server knows */
#define DEAD 2     /* and the server does not know */
#define UP 3
short second;      /* the ids of second sessions, a bit each; so are those below */
short orphans;     /* an enter is on its way, and the lease is over */
short leaves;      /* a release is on its way */
short unsure;      /* an enter has failed, so the release will be told a second time */
short lates;       /* the second release is due; or for a lost lease, the end of what it may have got */
short losses;      /* the lost leases among them */
byte zombie;       /* an enter that has failed, and that the server will execute */

/* The processes */
typedef Process {
  byte state;       /* of the current lease */
  byte id;
  byte doing;       /* Lease.#isBusy, and why */
  byte answer;
  byte answerToken;
  byte noted;       /* Confirmation.#grant: its token */
  bool isWantedNoted;
  bool isAgain;     /* #isToAskAgain */
  bool isPaused;    /* the last command failed, so the timer asks soon */
  bool isWanted;
  bool isFresh;
  byte confirming;  /* Confirmation.#open */
  byte stray;       /* a lost lease with a confirmation on its way, or 0 */
  bool isToDisown;
  byte leaseToken;
  bool isUnsure;
  byte callers;     /* in the local queue */
  bool expecting;
  bool isWaiting;   /* a caller waits for the lease */
  bool isInside;    /* a caller holds the lock */
  bool isLost;      /* and its lease is lost */
  byte came;        /* callers so far */
  byte ids;         /* ids so far */
  byte sessions;    /* sessions so far; the last one is current */
  bool hasSession;  /* hub.#session */
  bool isSafe;
  byte renewal;
  bool isTold;      /* a message that its key is wanted is on its way */
  bool hasMissed;   /* Subscription is about to call missed() */
  bool isClosed;
  bool isToEnd;     /* close() is about to end the session */
  bool isForeign    /* the cohort is the one of another key */
}
Process all[N];
#define my all[me]

/* state */
#define NONE 0
#define ASKING 1
#define HELD 2
/* doing */
#define IDLE 0
#define SENT 1
#define ANSWERED 2
#define OPENS 3
#define LATER 4    /* setImmediate() of claim() */
#define CLAIMS 5   /* claim() is about to use a grant */
/* answer */
#define IS_HELD 1
#define IS_WANTED 2 /* held, and others wait */
#define IS_WAITING 3
#define IS_LOST 4
/* confirming */
#define OPEN 1     /* in the memory of claims.js */
#define GOES 2     /* the command is on its way */
#define IS_GOOD 3  /* the answer is on its way */
#define IS_OVER 4
/* renewal */
#define RENEWED 2
#define REFUSED 3

byte giveups, lapses, renewals, ends, fails, cuts, closes, kills, looks, reuses;
byte latest; /* ghost: the highest token that was used */

#define CURRENT(p) SESSION(p, all[p].sessions)
#define IS_CURRENT(p) (all[p].hasSession && all[p].id && SESSION_OF(all[p].id) == CURRENT(p))
#define IS_GOOD_SESSION(p) (all[p].hasSession && all[p].isSafe)
#define BELIEVES(p) (all[p].state == HELD && IS_GOOD_SESSION(p) && all[p].isFresh)

inline exclusive() {
  assert(!BELIEVES(0) || !BELIEVES(1));
#if N > 2
  assert(!BELIEVES(0) || !BELIEVES(2));
  assert(!BELIEVES(1) || !BELIEVES(2))
#endif
}

/* ---- The server's steps ---- */

inline tell(p, one, number, others) {
  if
  :: listening[p] == UP && (p) == 0 -> assert(len(message0) < 4); message0!one,number,others
  :: listening[p] == UP && (p) == 1 -> assert(len(message1) < 4); message1!one,number,others
  :: listening[p] == UP && (p) == 2 -> assert(len(message2) < 4); message2!one,number,others
  :: else
  fi
}

inline grant(one, isLong) {
  holder = one;
  fence = (BUG == 10 && !(isLong) -> fence : fence + 1);
  token = fence;
  isConfirmed = isLong;
  isEnding = false;
  isEnded = false
}

inline unhold() {
  holder = 0;
  token = 0;
  isConfirmed = false;
  isEnding = false;
  isEnded = false
}

/* Removes the request at place `i`. */
inline dequeue() {
  length--;
  do
  :: i < length -> queue[i] = queue[i + 1]; i++
  :: else -> queue[i] = 0; break
  od
}

/* `asker` is the request of the command, or 0. BUG 11: a request whose session is over blocks the queue. */
#ifdef SKIPS
#define GETS(one) ((one) == asker || listening[PROCESS(one)] != CUT)
#define IS_DROPPED(one) (!LIVES(one) && BUG != 11)
#else
#define GETS(one) (listening[PROCESS(one)] != CUT)
#define IS_DROPPED(one) ((!LIVES(one) && BUG != 11) || (LIVES(one) && !GETS(one)))
#endif
inline admit() {
  j = 0; /* the place */
  do
  :: holder || j == length -> break
  :: !holder && j < length && LIVES(queue[j]) && GETS(queue[j]) ->
    i = j;
    j = queue[i];
    dequeue();
    grant(j, j == asker && SKIPPING);
    if
    :: j != asker || !SKIPPING -> tell(PROCESS(j), j, token, length > 0)
    :: else
    fi;
    break
  :: !holder && j < length && IS_DROPPED(queue[j]) -> i = j; dequeue()
  :: !holder && j < length && !(LIVES(queue[j]) && GETS(queue[j])) && !IS_DROPPED(queue[j]) ->
    if
    :: BUG == 11 -> break
    :: else -> j++
    fi
  od
}

/* Sets `i` to the place of the request, or to `length`. */
inline find(one) {
  i = 0;
  do
  :: i < length && queue[i] != one -> i++
  :: else -> break
  od
}

#define IS_OVERDUE (holder && (isEnded || !LIVES(holder)))

inline join(one) {
  if
  :: !length && holder && BUG != 12 && listening[PROCESS(holder)] == UP -> all[PROCESS(holder)].isTold = true
  :: else
  fi;
  queue[length] = one;
  length++
}

/* Leaves the answer in `j`. A request waits only for a holder that lives. BUG 12: the holder is not told that its key is
 * wanted. */
inline enter(one) {
  asker = one;
  if
  :: !LIVES(one) -> j = IS_LOST
  :: else ->
    if
    :: holder != one || isEnded ->
      if
      :: IS_OVERDUE -> unhold()
      :: else
      fi;
#ifdef SKIPS
      clean();
      find(one);
      if
      :: i == length -> join(one)
      :: else
      fi;
#endif
      admit();
      find(one);
      if
      :: !holder && !length -> grant(one, true)
      :: holder != one && (holder || length) && i == length -> join(one)
      :: else
      fi
    :: else
    fi;
    if
    :: holder == one -> isConfirmed = true; isEnding = false; j = (length -> IS_WANTED : IS_HELD)
    :: else -> assert(holder); j = IS_WAITING
    fi
  fi
}

#ifdef SKIPS
inline clean() {
  i = 0;
  do
  :: i < length && !LIVES(queue[i]) && BUG != 11 -> j = i; dequeue(); i = j
  :: i < length && (LIVES(queue[i]) || BUG == 11) -> i++
  :: i == length -> break
  od
}
#endif

/* BUG 1: the release does not name the lease, so it frees the key whichever lease has it. */
inline leave(one) {
  asker = 0;
  find(one);
  if
  :: holder == one || (BUG == 1 && holder) -> unhold()
  :: else ->
    if
    :: i < length -> dequeue()
    :: else
    fi
  fi;
  admit();
  i = 0;
  j = 0
}

/* ---- The steps of a process ---- */

inline clearLease() {
  my.state = NONE;
  my.id = 0;
  my.doing = IDLE;
  my.answer = 0;
  my.answerToken = 0;
  my.noted = 0;
  my.isWantedNoted = false;
  my.isAgain = false;
  my.isPaused = false;
  my.isWanted = false;
  my.isFresh = false;
  my.confirming = 0;
  my.leaseToken = 0;
  my.isUnsure = false
}

/* Lease.end(). BUG 6: a request that ends while a command is on its way is not told to the server. */
inline endLease() {
  if
  :: my.id && IS_CURRENT(me) ->
    unsure = (my.isUnsure -> unsure | BIT(my.id) : unsure);
    if
    :: my.doing == SENT -> orphans = orphans | BIT(my.id)
    :: else -> leaves = leaves | BIT(my.id)
    fi
  :: my.id && !IS_CURRENT(me) && my.doing == SENT -> orphans = orphans | BIT(my.id)
  :: else
  fi;
  clearLease()
}

/* Lease.#lose(): the server takes the lease back by itself. BUG 8: it forgets the confirmation on its way. BUG 13: it
 * forgets the command that has failed. */
inline loseLease() {
  if
  :: my.isUnsure && IS_CURRENT(me) && BUG != 13 -> lates = lates | BIT(my.id); losses = losses | BIT(my.id)
  :: else
  fi;
  if
  :: my.confirming == GOES && IS_CURRENT(me) && BUG != 8 && !my.stray -> my.stray = my.id
  :: my.confirming == IS_GOOD && IS_CURRENT(me) && BUG != 8 && !my.stray -> my.stray = my.id; my.isToDisown = true
  :: my.confirming == GOES && IS_CURRENT(me) && BUG == 8 -> my.stray = my.id
  :: else
  fi;
  my.isLost = my.isInside;
  clearLease()
}

/* Hub.lose(). BUG 3: the cohort keeps a lost lease for the caller that it expects. */
inline loseSession() {
  my.hasSession = false;
  my.isSafe = false;
  my.renewal = 0;
  my.stray = 0;
  my.isToDisown = false;
  if
  :: my.state == HELD && !(BUG == 3 && my.expecting) -> loseLease(); my.stray = 0; my.isToDisown = false
  :: my.state == ASKING && my.doing != IDLE -> my.isAgain = true
  :: my.state == ASKING && my.doing == IDLE -> my.doing = OPENS
  :: else
  fi
}

/* Lease.#enter() up to the command */
inline ask() {
  my.isAgain = false;
  my.isPaused = false;
  my.doing = OPENS;
  if
  :: my.hasSession && !my.isSafe -> loseSession()
  :: else
  fi;
  if
  :: my.hasSession -> send()
  :: else -> my.isAgain = false
  fi
}

inline send() {
  if
  :: !IS_CURRENT(me) ->
    assert(my.ids < M);
    my.id = ID(me, my.ids);
    my.ids++;
    second = (my.sessions == 2 -> second | BIT(my.id) : second);
    my.noted = 0;
    my.isWantedNoted = false
  :: else
  fi;
  my.doing = SENT
}

/* The process has no lease and no session any more. */
inline leaveAll() {
  orphans = (my.doing == SENT -> orphans | BIT(my.id) : orphans);
  my.isLost = my.isInside;
  clearLease();
  my.hasSession = false;
  my.isSafe = false;
  my.renewal = 0;
  my.stray = 0;
  my.isToDisown = false;
  my.hasMissed = false
}

/* Whether the server still has the grant with this token, so that its end by the process's clock may be in the future. */
#define IS_GRANTED(number) (holder == my.id && token == (number) && !isEnded)

/* Lease.#begin(), after its check. `isClaim`: a message has brought the grant. */
inline begin(number) {
  my.state = HELD;
  my.isFresh = true;
  my.leaseToken = number;
  my.doing = IDLE;
  my.isAgain = false;
  my.noted = 0;
  my.isWantedNoted = false;
  assert(number > latest);
  latest = number;
  exclusive();
  assert(my.isWaiting || my.expecting);
  my.isInside = my.isWaiting;
  my.isWaiting = false
}

#define CAN_PASS_ON (my.state == HELD && ((IS_GOOD_SESSION(me) && my.isFresh) || BUG == 3))

/* After a caller has left the local lock */
inline next() {
  if
  :: my.callers -> my.callers--; my.expecting = true
  :: else -> my.expecting = false
  fi
}

#define CALLS (VISITS + (me < TWICE -> 1 : 0))

/* A release of the lease n of this process is lost, or executed. BUG 7: there is no second release. */
#define RELEASES(n) \
  :: d_step { (leaves & BIT(ID(me, n))) -> \
      leaves = leaves & ~BIT(ID(me, n)); \
      if \
      :: (unsure & BIT(ID(me, n))) && BUG != 7 -> lates = lates | BIT(ID(me, n)) \
      :: else \
      fi; \
      unsure = unsure & ~BIT(ID(me, n)); \
      leave(ID(me, n)) \
    } \
  :: d_step { (lates & BIT(ID(me, n))) && zombie != ID(me, n) -> \
      lates = lates & ~BIT(ID(me, n)); \
      if \
      :: losses & BIT(ID(me, n)) -> isEnding = isEnding || holder == ID(me, n) \
      :: else -> leave(ID(me, n)) \
      fi \
    } \
  :: d_step { (leaves & BIT(ID(me, n))) && !(my.hasSession && SESSION_OF(ID(me, n)) == CURRENT(me)) -> \
      leaves = leaves & ~BIT(ID(me, n)); \
      unsure = unsure & ~BIT(ID(me, n)) \
    } \
  :: d_step { (lates & BIT(ID(me, n))) && !(my.hasSession && SESSION_OF(ID(me, n)) == CURRENT(me)) -> \
      lates = lates & ~BIT(ID(me, n)) \
    } \
  :: d_step { (orphans & BIT(ID(me, n))) -> \
      orphans = orphans & ~BIT(ID(me, n)); \
      enter(ID(me, n)); \
      if \
      :: my.hasSession && SESSION_OF(ID(me, n)) == CURRENT(me) && BUG != 6 -> leaves = leaves | BIT(ID(me, n)) \
      :: else -> unsure = unsure & ~BIT(ID(me, n)) \
      fi \
    }

#define IS_PAST(n) (!(my.hasSession && my.isSafe && my.sessions == (n)))

#define LOCAL_FREE (!my.isInside && !my.isWaiting && !my.expecting)
#define IS_QUEUED (queue[0] == my.id || queue[1] == my.id || queue[2] == my.id || queue[3] == my.id)
/* Whether the answer to a waiter that asks would be news. BUG 2: a waiter does not ask at the end of the hold or the
 * session that it waits for. */
#define IS_NEWS ((IS_OVERDUE && BUG != 2) || holder == my.id || !IS_QUEUED)
#define NO_MESSAGE ((me == 0 && !len(message0)) || (me == 1 && !len(message1)) || (me == 2 && !len(message2)))

inline newLease() {
  my.state = ASKING;
  my.isWaiting = true;
  my.expecting = false;
  if
  :: my.isForeign -> begin(latest + 1)
  :: else -> ask()
  fi
}

inline heard() {
  if
  :: my.state == ASKING && my.id == i && IS_CURRENT(me) ->
    my.noted = j;
    my.isWantedNoted = isMore;
    if
    :: my.doing == IDLE -> my.doing = CLAIMS
    :: else -> my.isAgain = true
    fi
  :: else
  fi;
  i = 0;
  j = 0;
  isMore = false
}

inline failed() {
  fails++;
  my.isUnsure = true;
  my.isPaused = true;
  my.isAgain = false;
  my.doing = IDLE;
  my.answer = 0;
  my.answerToken = 0
}

inline hush() {
  my.isTold = false;
  do
  :: me == 0 && len(message0) -> message0?i,j,isMore
  :: me == 1 && len(message1) -> message1?i,j,isMore
  :: me == 2 && len(message2) -> message2?i,j,isMore
  :: NO_MESSAGE -> break
  od;
  i = 0;
  j = 0;
  isMore = false
}

#define IS_CLAIM_GOOD (IS_GOOD_SESSION(me) && IS_CURRENT(me) && IS_GRANTED(my.noted))
#define MAY_CLAIM (my.doing == CLAIMS && IS_CLAIM_GOOD)

active [N] proctype process() {
  byte me = _pid;
  d_step {
    my.sessions = 1;
    my.hasSession = true;
    my.isSafe = true;
    alive = alive | SESSION(me, 1);
    listening[me] = UP
  }
end:
  do
  /* Callers */
  :: d_step { my.came < CALLS && !my.isClosed ->
      my.came++;
      if
      :: LOCAL_FREE -> my.expecting = true
      :: else -> my.callers++
      fi
    }
  :: d_step { my.expecting && CAN_PASS_ON ->
      REACH(10, my.isWanted);
      assert(my.leaseToken == latest);
      /* A lease without limit: no other process waits, or the message to this one is on its way. */
      assert(my.isWanted || !length || my.isTold || listening[me] != UP || my.hasMissed || my.confirming);
      my.expecting = false;
      my.isInside = true
    }
  :: d_step { my.expecting && my.state == HELD && (my.isWanted || !CAN_PASS_ON) ->
      REACH(1, !my.isWanted);
      endLease();
      newLease()
    }
  :: d_step { my.expecting && my.state == NONE -> newLease() }
  :: d_step { my.expecting && my.state == ASKING -> my.expecting = false; my.isWaiting = true }
  :: d_step { my.isWaiting && giveups < GIVEUPS ->
      giveups++;
      my.isWaiting = false;
      if
      :: my.callers -> next()
      :: else ->
        REACH(2, my.id && holder == my.id);
        endLease()
      fi
    }
  :: d_step { my.isInside ->
      my.isInside = false;
      my.isLost = false;
      if
      :: my.callers || my.state != HELD -> next()
      :: else -> endLease()
      fi
    }
  :: d_step { reuses < REUSES && LOCAL_FREE && my.state == NONE && !my.isClosed ->
      reuses++;
      my.isForeign = (BUG == 4)
    }

  /* The lease */
  :: d_step { my.doing == OPENS && my.sessions < 2 && !my.isClosed ->
      REACH(3, holder && PROCESS(holder) == me);
      my.sessions++;
      my.hasSession = true;
      my.isSafe = true;
      alive = alive | CURRENT(me);
      listening[me] = UP;
      send()
    }
  :: d_step { my.doing == SENT ->
      enter(my.id);
      my.answer = j;
      my.answerToken = (j == IS_HELD || j == IS_WANTED -> token : 0);
      my.doing = ANSWERED
    }
  :: d_step { my.doing == ANSWERED ->
      i = my.answer;
      j = my.answerToken;
      my.doing = IDLE;
      my.answer = 0;
      my.answerToken = 0;
      if
      :: i == IS_LOST && IS_CURRENT(me) -> loseSession()
      :: (i == IS_HELD || i == IS_WANTED) && ((IS_CURRENT(me) && IS_GOOD_SESSION(me) && IS_GRANTED(j)) || BUG == 9) ->
        my.isWanted = my.isWanted || i == IS_WANTED;
        begin(j)
      :: i == IS_WAITING && !my.isAgain
      :: i == IS_WAITING && my.isAgain && my.noted -> my.isAgain = false; my.doing = CLAIMS
      :: else -> ask()
      fi;
      i = 0;
      j = 0
    }
  :: d_step { my.doing == ANSWERED && (my.answer == IS_HELD || my.answer == IS_WANTED) && looks < LOOKS ->
      looks++; /* it is late, by this process's clock */
      my.answer = 0;
      my.answerToken = 0;
      ask()
    }
  :: d_step { my.state == ASKING && my.doing == IDLE && my.isPaused -> ask() }
  :: d_step { my.state == ASKING && my.doing == IDLE && !my.isPaused && IS_NEWS && NO_MESSAGE -> ask() }
  :: d_step { my.state == ASKING && my.doing == IDLE && !my.isPaused && looks < LOOKS -> looks++; ask() }
  :: d_step { me == 0 && len(message0) -> message0?i,j,isMore; heard() }
  :: d_step { me == 1 && len(message1) -> message1?i,j,isMore; heard() }
  :: d_step { me == 2 && len(message2) -> message2?i,j,isMore; heard() }
  :: d_step { my.isTold -> my.isTold = false; my.isWanted = (my.state != NONE) }
  :: d_step { MAY_CLAIM ->
      my.confirming = OPEN;
      my.isWanted = my.isWanted || my.isWantedNoted;
      j = my.noted;
      begin(j)
    }
  :: d_step { MAY_CLAIM ->
      my.confirming = GOES;
      my.isFresh = true;
      my.doing = LATER
    }
  :: d_step { my.doing == CLAIMS && (!IS_CLAIM_GOOD || looks < LOOKS) ->
      looks = (IS_CLAIM_GOOD -> looks + 1 : looks);
      my.noted = 0;
      my.isWantedNoted = false;
      ask()
    }
  :: d_step { my.doing == LATER ->
      if
      :: IS_GOOD_SESSION(me) && IS_CURRENT(me) && my.isFresh ->
        my.isWanted = my.isWanted || my.isWantedNoted;
        j = my.noted;
        begin(j)
      :: else ->
        my.confirming = 0;
        my.isFresh = false;
        my.noted = 0;
        my.isWantedNoted = false;
        ask()
      fi
    }
  :: d_step { my.confirming == OPEN -> my.confirming = GOES }
  :: d_step { my.confirming == GOES ->
      if
      :: LIVES(my.id) && holder == my.id && !isEnded -> isConfirmed = true; isEnding = false; my.confirming = IS_GOOD
      :: else -> my.confirming = IS_OVER
      fi
    }
  :: d_step { my.confirming >= IS_GOOD ->
      i = my.confirming;
      my.confirming = 0;
      j = (my.doing == LATER -> my.noted : my.leaseToken);
      my.isFresh = (i == IS_GOOD && IS_GRANTED(j));
      assert(!my.isFresh || my.state != HELD || my.leaseToken == latest);
      exclusive();
      if
      :: i == IS_OVER && my.state == HELD -> loseLease()
      :: else
      fi;
      i = 0;
      j = 0
    }
  :: d_step { my.state == HELD && !my.isFresh -> loseLease() }
  :: d_step { my.stray && !my.isToDisown ->
      if
      :: LIVES(my.stray) && holder == my.stray && !isEnded -> isConfirmed = true; isEnding = false; REACH(4, true)
      :: else
      fi;
      my.isToDisown = (BUG != 8);
      my.stray = (BUG == 8 -> 0 : my.stray)
    }
  :: d_step { my.stray && my.isToDisown ->
      isEnding = isEnding || holder == my.stray;
      my.stray = 0;
      my.isToDisown = false
    }
  RELEASES(0)
  RELEASES(1)
  RELEASES(2)
  RELEASES(3)

  /* Failures */
  :: d_step { my.doing == SENT && fails < FAILS -> failed() }
  :: d_step { my.doing == SENT && fails < FAILS && !zombie -> zombie = my.id; failed() }
  :: d_step { my.doing == ANSWERED && fails < FAILS -> failed() }
  :: d_step { zombie && PROCESS(zombie) == me ->
      REACH(5, LIVES(zombie) && !holder && my.id != zombie);
      enter(zombie);
      zombie = 0
    }
  :: d_step { my.isPaused -> /* Cohort.failed() */
      my.callers = 0;
      my.isWaiting = false;
      my.expecting = false;
      endLease()
    }
  :: d_step { cuts < CUTS && listening[me] == UP && !my.isClosed -> cuts++; hush(); listening[me] = CUT }
  :: d_step { cuts < CUTS && listening[me] == UP && !my.isClosed -> cuts++; hush(); listening[me] = DEAD }
  :: d_step { listening[me] != UP && !my.isClosed -> listening[me] = UP; my.hasMissed = true }
  :: d_step { my.hasMissed ->
      my.hasMissed = false;
      my.isWanted = (my.state != NONE);
      if
      :: my.state == ASKING && my.doing == IDLE -> ask()
      :: my.state == ASKING && my.doing != IDLE -> my.isAgain = true
      :: else
      fi
    }

  /* Time */
  :: d_step { renewals < RENEWALS && my.hasSession && my.isSafe && !my.renewal -> renewals++; my.renewal = SENT }
  :: d_step { my.renewal == SENT ->
      alive = (BUG == 5 -> alive | CURRENT(me) : alive);
      my.renewal = (alive & CURRENT(me) -> RENEWED : REFUSED)
    }
  :: d_step { my.renewal == RENEWED ->
      REACH(6, !my.isSafe && (alive & CURRENT(me)));
      my.renewal = 0;
      my.isSafe = ((alive & CURRENT(me)) != 0);
      exclusive()
    }
  :: d_step { my.renewal == REFUSED -> loseSession() }
  :: d_step { lapses < LAPSES && my.hasSession && my.isSafe && my.sessions == 1 -> lapses++; my.isSafe = false }
  :: d_step { my.hasSession && !my.isSafe -> REACH(7, my.isInside && holder != my.id); loseSession() }
  :: d_step { ends < ENDS && my.isFresh ->
      ends++;
      my.isFresh = false;
      isEnding = isEnding || (holder == my.id && (!my.confirming || !isConfirmed))
    }
  :: d_step { holder && PROCESS(holder) == me && isEnding && !isEnded -> isEnding = false; isEnded = true }
  :: d_step { holder && PROCESS(holder) == me && !isEnding && !isEnded && !isConfirmed && my.id != holder ->
      isEnding = true /* a claim that its process does not know */
    }
  :: d_step { ends < ENDS && holder && PROCESS(holder) == me && !isEnded && !(my.id == holder && my.isFresh) ->
      ends++;
      isEnding = false;
      isEnded = true
    }
  :: d_step { (alive & SESSION(me, 1)) && IS_PAST(1) -> alive = alive & ~SESSION(me, 1) }
  :: d_step { (alive & SESSION(me, 2)) && IS_PAST(2) -> alive = alive & ~SESSION(me, 2) }

  /* Ends. A closing engine tells the server of each lease once, and then of the end of its session. */
  :: d_step { closes < CLOSES && !my.isClosed ->
      closes++;
      REACH(8, my.callers && my.isInside);
      REACH(9, my.doing == ANSWERED && holder == my.id);
      my.isClosed = true;
      my.callers = 0;
      my.expecting = false;
      my.isWaiting = false;
      if
      :: my.hasSession && my.isSafe ->
        my.isToEnd = true;
        leaves = (my.id && IS_CURRENT(me) -> leaves | BIT(my.id) : leaves)
      :: else
      fi;
      leaveAll()
    }
  :: d_step { my.isToEnd -> my.isToEnd = false; alive = alive & ~CURRENT(me) }
  :: d_step { kills < KILLS && !my.isClosed ->
      kills++;
      my.isClosed = true;
      my.callers = 0;
      my.expecting = false;
      my.isWaiting = false;
      my.isInside = false;
      listening[me] = CUT;
      hush();
      leaveAll()
    }
  od
}

active proctype auditor() {
  timeout;
  d_step {
    i = 0;
    do
    :: i < N ->
      assert(!all[i].isWaiting && !all[i].callers && !all[i].expecting && !all[i].isInside);
      assert(all[i].state == NONE && !all[i].stray);
      i++
    :: else -> break
    od;
    assert(!leaves && !lates && !orphans && !zombie);
    assert(!holder || IS_OVERDUE);
    /* A failed request of a lost lease may stay in the queue. It gets a claim at most. */
    assert(!length || !LIVES(queue[0]) || (losses & BIT(queue[0])));
    assert(length < 2 || !LIVES(queue[1]) || (losses & BIT(queue[1])))
  }
}
