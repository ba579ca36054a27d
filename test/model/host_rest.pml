/* lib/host/timed_rw_lock.js: the ends of minHold in the slot of a read-write lock, writeRest and readRest, among
 * several processes that may die at any step.
 *
 * How the model follows the JavaScript
 *   - The lock itself is atomic: host_rwlock.pml models it. A process that dies keeps the lock until its eviction,
 *     which is one step.
 *   - Every load and every compare-and-swap of an end, and every reading of the clock, is one step.
 *   - The clock advances at any step, as long as some process waits for a later time.
 *   - A grant that no caller gets (one of several keys) is given back at any later time.
 *   - maxHold is left out: it ends a hold as a release after its minHold does. So are limited ends (all processes
 *     have one minHold), kReleased, which says nothing of times, and the reports of deaths.
 *
 * Checked: no caller gets the lock before the end of another caller's minHold that excludes it, also if that one has
 * released, or died. Unless a process gives up, no caller waits for a minHold but a dead
 * process's. Each living process gets the lock, and at the end no process has it.
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

#ifndef TWICE
#define TWICE 0 /* number of processes that acquire twice; the others acquire once */
#endif
#ifndef KILLS
#define KILLS 1 /* number of deaths; only processes 1 and 2 die */
#endif
#ifndef GIVEUPS
#define GIVEUPS 0 /* number of grants that no caller gets */
#endif
#ifndef MINHOLD
#define MINHOLD 1
#endif
#ifndef READERS
#define READERS 2 /* the processes up to this one read; the others write */
#endif
#ifndef MODES
#define MODES 0 /* whether the former may write, too */
#endif
#define VISITS(p) ((p) <= TWICE -> 2 : 1)

#define N 3 /* process slots 1 to N */
#define me (_pid + 1)
#define BIT(p) (1 << (p))
#define ALIVE(p) (!(dead & BIT(p)))

#define WRITE 0 /* modes, and the indexes of the ends */
#define READ 1

/* An end: the time in ms | a number that tells ends of one ms apart (3 bits) */
#define AT 3
#define TIME(end) ((end) >> AT)

byte clock;
byte readers, writer; /* who has the lock, in C++; readers is a set */
byte dead, evicted;
byte kills, giveups;
short ends[2];
byte until[N + 1]; /* of a living process: the end of its own minHold, or for what it waits */
byte due[N + 1];   /* ghosts: the end of the minHold of a caller's grant, */
bit mode[N + 1];
byte marked[N + 1]; /* and of a grant that is stored */
hidden byte j;

#define EXCLUDES(p, q) (mode[p] == WRITE || mode[q] == WRITE)

/* No minHold of another caller that excludes this one is under way. */
inline checkDue() {
  j = 1;
  do
  :: j <= N -> assert(j == me || due[j] <= clock || !EXCLUDES(j, me)); j++
  :: else -> break
  od;
  j = 0
}

/* A dead process has stored this time. */
inline checkCharge(time) {
  j = 1;
  do
  :: j <= N && !ALIVE(j) && marked[j] >= time && EXCLUDES(j, me) -> break
  :: j <= N && !(!ALIVE(j) && marked[j] >= time && EXCLUDES(j, me)) -> j++
  :: else -> break
  od;
  assert(j <= N || giveups);
  j = 0
}

inline unmark(next) {
  if
  :: mark && (ends[mode[me]] == mark || BUG == 5) -> ends[mode[me]] = next
  :: else -> REACH(2, mark)
  fi
}

inline take() {
  if
  :: mode[me] == WRITE -> writer = me
  :: else -> readers = readers | BIT(me)
  fi
}

inline unlock() {
  atomic {
  readers = readers & ~BIT(me);
  writer = (writer == me -> 0 : writer)
  }
}

/* BUG 1: two ends of one millisecond are equal. BUG 2: a hold stores its end though it has read the clock before another
 * one stored a later end. BUG 3: a hold that gives up leaves no end. BUG 4: a writer looks at the writers' end
 * only. BUG 5: a hold takes back any end. BUG 6: the caller gets the grant before its end is stored.
 * BUG 7: the release takes the end back that the hold has taken back when it gave up. */
active [N] proctype user() {
  byte visits;
  short write, read, former, mark;
  {
end:
    do
    :: visits < VISITS(me) ->
      atomic {
        visits++;
        if
        :: me <= READERS -> mode[me] = READ
        :: MODES || me > READERS -> mode[me] = WRITE
        fi
      }
acquires:
      atomic { !writer && (mode[me] == READ || !readers) -> take() };
      write = ends[WRITE];
      if
      :: atomic { mode[me] == WRITE && BUG != 4 -> read = ends[READ] }
      :: mode[me] == READ || BUG == 4
      fi;
      if
      :: atomic { TIME(write) > clock || TIME(read) > clock ->
          REACH(3, true);
          until[me] = (TIME(write) > TIME(read) -> TIME(write) : TIME(read));
          checkCharge(until[me]);
          write = 0;
          read = 0
        }
        unlock();
        atomic { clock >= until[me] -> until[me] = 0; goto acquires }
      :: atomic { TIME(write) <= clock && TIME(read) <= clock ->
          ends[WRITE] = (ends[WRITE] == write -> 0 : ends[WRITE]);
          write = 0
        }
      fi;
      if
      :: atomic { read -> ends[READ] = (ends[READ] == read -> 0 : ends[READ]); read = 0 }
      :: !read
      fi;

marks:
      atomic { former = ends[mode[me]];
        if
        :: BUG == 6 -> checkDue(); due[me] = clock + MINHOLD
        :: else
        fi
      }
      atomic {
        until[me] = clock + MINHOLD;
        mark = until[me] << AT;
        REACH(4, mark <= former);
        mark = (mark <= former && BUG != 1 -> former + 1 : mark)
      };
      if
      :: atomic { ends[mode[me]] == former || BUG == 2 ->
          former = ends[mode[me]];
          ends[mode[me]] = mark;
          marked[me] = until[me]
        }
      :: atomic { ends[mode[me]] != former && BUG != 2 -> REACH(1, true); former = 0; mark = 0; until[me] = 0 }
        goto marks
      fi;

      if
      :: atomic { checkDue(); due[me] = until[me] }
      :: atomic { giveups < GIVEUPS -> giveups++; until[me] = 0; marked[me] = 0 }
        atomic { unmark((BUG == 3 -> 0 : former)); mark = (BUG == 7 -> mark : 0) }
      fi;
      former = 0;
      /* The minHold is over: at once for a hold that gave up. */
      atomic { clock >= until[me] -> unmark(0); until[me] = 0; marked[me] = 0; mark = 0 };
      unlock()
    :: visits == VISITS(me) -> break
    od
  } unless { !ALIVE(me) };
  atomic { visits = 0; write = 0; read = 0; former = 0; mark = 0 }
}

/* A time that is over counts as none, so that states are alike. */
active proctype time() {
end:
  do
  :: d_step {
      until[1] > clock || until[2] > clock || until[3] > clock ->
      clock++;
      j = 1;
      do
      :: j <= N -> due[j] = (due[j] <= clock -> 0 : due[j]); j++
      :: else -> break
      od;
      j = 0
    }
  od
}

active proctype killer() {
end:
  do
  :: d_step { kills < KILLS && ALIVE(1) -> kills++; dead = dead | BIT(1); until[1] = 0 }
  :: d_step { kills < KILLS && ALIVE(2) -> kills++; dead = dead | BIT(2); until[2] = 0 }
  :: d_step { (dead & ~evicted) & BIT(1) ->
      evicted = evicted | BIT(1); readers = readers & ~BIT(1); writer = (writer == 1 -> 0 : writer)
    }
  :: d_step { (dead & ~evicted) & BIT(2) ->
      evicted = evicted | BIT(2); readers = readers & ~BIT(2); writer = (writer == 2 -> 0 : writer)
    }
  od
}

active proctype auditor() {
end:
  timeout;
  d_step { assert(!readers && !writer && dead == evicted) }
}
