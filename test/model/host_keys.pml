/* src/host/key_table.h and key_area.h: which entry of a bucket carries which key, among several processes that
 * may die at any step.
 *
 * How the model follows the C++
 *   - Every load, store and compare-and-swap of the control word, of an entry's state, digest and pins,
 *     and of the lock in the slot is one step. A process makes one call at a time (its own mutex guards the
 *     table), and pins one key at a time.
 *   - The lock is a process slot or free. Tags, texts and `touched` only save look-ups, and are left out.
 *   - A nondeterministic choice picks the entry to try next for a new key.
 *   - A process that has unpinned a key remembers its entry. It may pin that entry again (pinAgain) even if the
 *     entry has another key by now, or search for the key as for the first time.
 *   - A living process cleans up after a dead one. If the cleaner dies too, another process takes over.
 *
 * Checked: no key has two entries; a pinned entry keeps its key, so no process holds the lock of another key, or one
 * key's lock twice; at the end no pin, claim or admission is left behind, wherever a process died.
 */

#ifndef BUG
#define BUG 0
#endif
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(n, condition) assert(n != REACHED || !(condition))

#ifndef ENTRIES
#define ENTRIES 2
#endif
#ifndef KEYS
#define KEYS 2
#endif
#ifndef TWICE
#define TWICE 1 /* number of processes that pin a key twice; the others pin one once */
#endif
#ifndef KILLS
#define KILLS 1 /* number of deaths; only processes 1 and 2 die */
#endif
#ifndef USERS
#define USERS 3 /* number of processes that have users */
#endif
#define VISITS(p) ((p) <= TWICE -> 2 : (p) <= USERS)

#define N 3 /* process slots 1 to N */
#define me (_pid + 1)
#define BIT(p) (1 << (p))
#define ALIVE(p) (!((dead | vacant) & BIT(p)))

/* An entry's state: stamp | process slot (2 bits) | status (2). */
#define EMPTY 0
#define CLAIMED 1
#define LIVE 2
#define LEAVING 3
#define STATUS(s) ((s) & 3)
#define OF(s) ((s) & 15)
#define NEXT(s, what, p) (((((s) >> 4) + 1) << 4) | ((p) << 2) | (what))

/* The control word: version | entry + 1 (2 bits) */
#define PENDING(c) ((c) & 3)
#define NEXT_VERSION(c) ((((c) >> 2) + 1) << 2)

short control;
short state[ENTRIES];
byte digest[ENTRIES];
byte pins[ENTRIES];
byte lock[ENTRIES];

byte dead, vacant; /* processes that are dead and not evicted yet, and free process slots; a bit each */
byte cleaner, cleaned;
byte kills;
byte holder[KEYS + 1]; /* ghost */
hidden byte j;

/* A process's next step. */
#define OUTSIDE 0
#define FINISHES 1   /* stable: loads the control word */
#define HELPS 2     /* help: loads the state, */
#define HELPS2 3    /* looks at the control word again, */
#define HELPS3 4    /* admits, */
#define HELPS4 5    /* and finishes */
#define GLANCES 6   /* find: at the digest */
#define HOLDS 7     /* pins */
#define READS 8     /* comesToLife: loads the state, */
#define READS2 9    /* looks at the digest, */
#define RESTORES 10 /* and makes it LIVE again */
#define RELEASES 11  /* unpins: it was another key's */
#define CLAIMS 12   /* take: loads the state, */
#define LEAVES 13   /* looks whether it is idle, */
#define LEAVES2 14  /* makes it LEAVING, */
#define LEAVES3 15  /* looks again, */
#define UNDOES 16   /* makes it LIVE again, */
#define CLAIMS2 17  /* or CLAIMED */
#define INSERTS 18  /* pins it and writes the key */
#define COMMITS 20
#define GIVES_UP 21
#define GIVES_UP2 22
#define USES 23     /* has the key */
#define UNLOCKS 24
#define UNPINS 25

/* An entry becomes LIVE, or LIVE again: no other entry has its key. */
inline enliven(e) {
  j = 0;
  do
  :: j < ENTRIES ->
    assert(j == e || STATUS(state[j]) < LIVE || digest[j] != digest[e]);
    j++
  :: else -> break
  od;
  j = 0
}

/* Steps of help(c), by a process or a cleaner; `then` is the step after it. BUG 1: help does not load the
 * control word a second time. */
#define ENTRY (PENDING(c) - 1)
inline helpSteps() {
  if
  :: at == HELPS -> s = state[ENTRY]; at = (STATUS(s) == CLAIMED -> (BUG == 1 -> HELPS3 : HELPS2) : HELPS4)
  :: at == HELPS2 -> at = (control == c -> HELPS3 : HELPS4); REACH(1, control != c)
  :: at == HELPS3 ->
    if
    :: state[ENTRY] == s -> state[ENTRY] = NEXT(s, LIVE, 0); enliven(ENTRY)
    :: else -> REACH(2, true)
    fi;
    at = HELPS4
  :: at == HELPS4 ->
    if
    :: control == c -> control = NEXT_VERSION(c)
    :: else
    fi;
    s = 0;
    c = 0;
    at = then;
    then = OUTSIDE
  fi
}

inline begin(k) {
  visits++;
  key = k;
  at = FINISHES
}

inline finish() {
  at = OUTSIDE;
  key = 0;
  c = 0;
  s = 0;
  seen = 0;
  again = 0;
  e = 0
}

#define IDLE(e) (!pins[e] && !lock[e])

/* BUG 2: a reclaimer checks the pins only once. BUG 3: pinning loads the state before it sets the pin's bit.
 * BUG 4: a process admits its key although another key was admitted since its search. BUG 6: a search treats a
 * LEAVING entry as gone. BUG 8: pinAgain does not compare the digest. */
active [N] proctype user() {
  byte visits, at, then, key, e;
  byte known, knownKey; /* the entry that had this key, + 1 */
  bit again;            /* it begins there */
  short c, s, seen;
end:
  do
  :: d_step { ALIVE(me) && at == OUTSIDE && visits < VISITS(me) && known ->
      begin(knownKey);
      e = known - 1;
      again = 1;
      at = HOLDS
    }
  :: d_step { ALIVE(me) && at == OUTSIDE && visits < VISITS(me) -> begin(1) }
  :: d_step { ALIVE(me) && at == OUTSIDE && visits < VISITS(me) && KEYS > 1 && (me > 1 || visits) -> begin(2) }
#if KEYS > 2
  :: d_step { ALIVE(me) && at == OUTSIDE && visits < VISITS(me) -> begin(3) }
#endif
  :: d_step { ALIVE(me) && at == FINISHES ->
      c = control;
      seen = c;
      if
      :: PENDING(c) -> at = HELPS; then = FINISHES
      :: else -> at = GLANCES; e = 0; c = 0
      fi
    }
  :: d_step { ALIVE(me) && at >= HELPS && at <= HELPS4 -> helpSteps() }

  /* find */
  :: d_step { ALIVE(me) && at == GLANCES ->
      if
      :: e == ENTRIES -> at = CLAIMS; e = 0
      :: e < ENTRIES && digest[e] == key -> at = (BUG == 3 -> READS : HOLDS)
      :: else -> e++
      fi
    }
  :: d_step { ALIVE(me) && at == HOLDS ->
      pins[e] = pins[e] | BIT(me);
      at = (BUG == 3 -> USES : READS)
    }
  :: d_step { ALIVE(me) && at == READS ->
      s = state[e];
      at = (STATUS(s) < LIVE || (BUG == 6 && STATUS(s) == LEAVING) -> RELEASES : READS2)
    }
  :: d_step { ALIVE(me) && at == READS2 ->
      if
      :: digest[e] != key && !(BUG == 8 && again) -> at = RELEASES
      :: (digest[e] == key || (BUG == 8 && again)) && STATUS(s) == LIVE -> s = 0; at = (BUG == 3 -> HOLDS : USES)
      :: else -> at = RESTORES
      fi
    }
  :: d_step { ALIVE(me) && at == RESTORES ->
      REACH(3, true);
      if
      :: state[e] == s -> state[e] = NEXT(s, LIVE, 0); enliven(e); s = 0; at = (BUG == 3 -> HOLDS : USES)
      :: else -> at = READS
      fi
    }
  :: d_step { ALIVE(me) && at == RELEASES ->
      pins[e] = pins[e] & ~BIT(me);
      s = 0;
      REACH(8, again);
      if
      :: again -> again = 0; e = 0; at = FINISHES
      :: else -> e++; at = GLANCES
      fi
    }

  /* insert: some entry, or none */
  :: d_step { ALIVE(me) && at == CLAIMS -> s = state[0]; e = 0; at = LEAVES }
#if ENTRIES > 1
  :: d_step { ALIVE(me) && at == CLAIMS -> s = state[1]; e = 1; at = LEAVES }
#endif
  :: d_step { ALIVE(me) && at == LEAVES ->
      if
      :: STATUS(s) == EMPTY -> at = CLAIMS2
      :: STATUS(s) == LIVE && IDLE(e) -> at = LEAVES2
      :: else -> finish()
      fi
    }
  :: d_step { ALIVE(me) && at == LEAVES2 ->
      if
      :: state[e] == s -> s = NEXT(s, LEAVING, me); state[e] = s; at = (BUG == 2 -> CLAIMS2 : LEAVES3)
      :: else -> finish()
      fi
    }
  :: d_step { ALIVE(me) && at == LEAVES3 -> at = (IDLE(e) -> CLAIMS2 : UNDOES); REACH(4, !IDLE(e)) }
  :: d_step { ALIVE(me) && at == UNDOES ->
      if
      :: state[e] == s -> state[e] = NEXT(s, LIVE, 0); enliven(e)
      :: else -> REACH(5, true)
      fi;
      finish()
    }
  :: d_step { ALIVE(me) && at == CLAIMS2 ->
      if
      :: state[e] == s -> s = NEXT(s, CLAIMED, me); state[e] = s; at = INSERTS
      :: else -> finish()
      fi
    }
  :: d_step { ALIVE(me) && at == INSERTS -> pins[e] = pins[e] | BIT(me); digest[e] = key; at = COMMITS }
  :: d_step { ALIVE(me) && at == COMMITS ->
      if
      :: control == seen || (BUG == 4 && !PENDING(control)) ->
        c = NEXT_VERSION(control) | (e + 1);
        control = c;
        s = 0;
        at = HELPS;
        then = USES
      :: else -> at = GIVES_UP
      fi
    }
  :: d_step { ALIVE(me) && at == GIVES_UP -> pins[e] = pins[e] & ~BIT(me); at = GIVES_UP2 }
  :: d_step { ALIVE(me) && at == GIVES_UP2 ->
      REACH(6, true);
      if
      :: state[e] == s -> state[e] = NEXT(s, EMPTY, 0)
      :: else -> assert(false) /* no other process may touch a claim */
      fi;
      s = 0;
      e = 0;
      at = FINISHES
    }

  /* The entry is pinned: it has the key, and keeps it. */
  :: d_step { ALIVE(me) && at == USES ->
      assert(digest[e] == key && STATUS(state[e]) >= LIVE && (pins[e] & BIT(me)));
      if
      :: !lock[e] ->
        assert(!holder[key]);
        holder[key] = me;
        lock[e] = me;
        at = UNLOCKS
      :: else -> at = UNPINS
      fi
    }
  :: d_step { ALIVE(me) && at == UNLOCKS ->
      assert(digest[e] == key && STATUS(state[e]) >= LIVE && lock[e] == me);
      holder[key] = 0;
      lock[e] = 0;
      at = UNPINS
    }
  :: d_step { ALIVE(me) && at == UNPINS ->
      pins[e] = pins[e] & ~BIT(me);
      REACH(9, again);
      known = (visits < VISITS(me) -> e + 1 : 0);
      knownKey = (visits < VISITS(me) -> key : 0);
      finish()
    }
  :: d_step { !ALIVE(me) && at -> finish(); then = 0 }
  :: d_step { !ALIVE(me) && known -> known = 0; knownKey = 0 }
  od
}

inline die(p) {
  kills++;
  dead = dead | BIT(p);
  cleaned = (cleaner == p -> 0 : cleaned);
  cleaner = (cleaner == p -> 0 : cleaner);
  j = 1;
  do
  :: j <= KEYS -> holder[j] = (holder[j] == p -> 0 : holder[j]); j++
  :: else -> break
  od;
  j = 0
}

active proctype killer() {
end:
  do
  :: d_step { kills < KILLS && ALIVE(1) -> die(1) }
  :: d_step { kills < KILLS && ALIVE(2) -> die(2) }
  :: kills < KILLS -> break
  od
}

#define EVICTS 30
#define EVICTS2 31
#define EVICTS3 32
#define EVICTS4 33
#define BEGINS(p, d) !cleaner && !at && (dead & BIT(d)) && ALIVE(p) -> \
  cleaner = p; cleaned = d; e = 0; at = (BUG == 5 -> EVICTS : FINISHES)

/* BUG 5: the cleaner does not finish the dead process's admission first. BUG 7: the cleaner leaves its claim. */
active proctype eviction() {
  byte at, then, e;
  short c, s;
end:
  do
  :: d_step { BEGINS(2, 1) }
  :: d_step { BEGINS(3, 1) }
  :: d_step { BEGINS(1, 2) }
  :: d_step { BEGINS(3, 2) }
  :: d_step { at && !cleaner -> at = 0; then = 0; e = 0; c = 0; s = 0 }
  :: d_step { cleaner && at == FINISHES ->
      c = control;
      if
      :: PENDING(c) -> REACH(7, true); at = HELPS; then = FINISHES
      :: else -> at = EVICTS; c = 0
      fi
    }
  :: d_step { cleaner && at >= HELPS && at <= HELPS4 -> helpSteps() }
  :: d_step { cleaner && at == EVICTS && e < ENTRIES -> s = state[e]; at = EVICTS2 }
  :: d_step { cleaner && at == EVICTS2 ->
      if
      :: OF(s) == ((cleaned << 2) | CLAIMED) ->
        if
        :: state[e] == s && BUG != 7 -> state[e] = NEXT(s, EMPTY, 0)
        :: else
        fi
      :: OF(s) == ((cleaned << 2) | LEAVING) ->
        if
        :: state[e] == s -> state[e] = NEXT(s, LIVE, 0); enliven(e)
        :: else
        fi
      :: else
      fi;
      s = 0;
      at = EVICTS3
    }
  :: d_step { cleaner && at == EVICTS3 ->
      if
      :: pins[e] & BIT(cleaned) -> lock[e] = (lock[e] == cleaned -> 0 : lock[e])
      :: else
      fi;
      at = EVICTS4
    }
  :: d_step { cleaner && at == EVICTS4 ->
      pins[e] = pins[e] & ~BIT(cleaned);
      e++;
      at = EVICTS
    }
  :: d_step { cleaner && at == EVICTS && e == ENTRIES ->
      dead = dead & ~BIT(cleaned);
      vacant = vacant | BIT(cleaned);
      cleaner = 0;
      cleaned = 0;
      at = 0;
      e = 0
    }
  od
}

active proctype auditor() {
  timeout;
  d_step {
    assert(!dead && !PENDING(control));
    j = 0;
    do
    :: j < ENTRIES ->
      assert(!pins[j] && !lock[j]);
      assert(STATUS(state[j]) == EMPTY || STATUS(state[j]) == LIVE);
      j++
    :: else -> break
    od
  }
}
