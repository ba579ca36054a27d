/* src/host/host_gate.h with membership_deaths.cpp: what the models of the gates of scope host share, which are
 * host_admissions.pml (events, condition variables), host_barrier.pml and host_latch.pml. A process may die at any
 * step, and other processes clean up after it.
 *
 * How the models follow the C++
 *   - A visit to a gate holds the bucket of its process, so the visits of a process are one actor (`process`), and
 *     `at` is the next step. Beside it run code that holds no bucket, and one cleaner (`cleaner`) for each dead
 *     process, on behalf of the living process `by`.
 *   - Every access to a word or a part is one step, and the process may die between any two. A load and the
 *     compare-and-swap that follows it are one step where no other access lies in between: a swap that fails only
 *     begins again with the new value.
 *   - The process sends the notifications of a visit one by one after the visit. A death loses those that are left.
 *   - A notification that was sent arrives, however late: process_mailbox.h is not part of the models.
 *   - Local queues are counts.
 *   - A death is visible to all until the process slot is free. The lock of the slot is free as soon as its cleaner
 *     dies, and another process then repeats all that the cleaner did. Two dead processes may be cleaned up at once.
 *   - notifyAll is one step: its parts commute.
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

#ifndef N
#define N 3 /* process slots 1 to N, at most 4 */
#endif
#ifndef KILLS
#define KILLS 2 /* number of deaths; only processes 1 and 2 die */
#endif

#define me (_pid + 1)
#define victim (_pid == N + 2 -> 1 : _pid + 1 - N)
#define BIT(p) (1 << (p))
#define ALL ((2 << N) - 2)
#define ALIVE(p) (!(dead & BIT(p)))

byte dead;     /* the processes that are dead, a bit each */
byte cleaned;  /* those whose slots are free again */
byte by[3];    /* the process that cleans up after process 1 or 2 */
byte notified; /* the processes with a pending notification, a bit each */
byte kills;
bool calm;     /* nothing happens any more but what must happen: no death, no call */

#define MAY_DIE (!calm && kills < KILLS && me < 3 && ALIVE(me))
inline die() {
  kills++;
  dead = dead | BIT(me);
  notified = notified & ~BIT(me)
}

/* Sends one of the caller's `notifications`. */
inline send() {
  to = (notifications & BIT(1) -> 1 : (notifications & BIT(2) -> 2 : (notifications & BIT(3) -> 3 : 4)));
  notifications = notifications & ~BIT(to);
  notified = (ALIVE(to) -> notified | BIT(to) : notified);
  to = 0
}

/* Process p begins to clean up after `victim`, whose former cleaner may have died on the way. */
#define CLEANS(p) (_pid < N + 2 && (dead & ~cleaned & BIT(victim)) && ALIVE(p) && (!by[victim] || !ALIVE(by[victim])))

/* Membership::cleanUp after evictFrom. BUG 1: it notifies no process. */
inline notifyAll() {
  notified = (BUG != 1 -> notified | ALL & ~dead : notified)
}
inline free() {
  cleaned = cleaned | BIT(victim);
  by[victim] = 0
}
