'use strict'
// What the search for deadlocks is told by locks with full diagnostics. `hold` is a Hold and `wait` a Wait of
// record.js: both have `core`, `record` (kind, name, scope), `mode`, `weight`, `stack` and `promise`.

const hooks = {
  /** `wait` is in line, and nobody has let it in yet; or, if wait.isSync, its thread is about to block. If it throws, nobody waits. */
  asks(_wait) {},
  /** The same is over, however it went. */
  endsAsk(_wait) {},
  /** It has been granted, in this moment or by hold.wait: nobody knows yet who asked for it. */
  holds(_hold) {},
  /** It is about to be let go. */
  releases(_hold) {},
  /** Whoever awaits `promise` has `hold`, which was granted at once. Where it was waited for, wait.promise says so. */
  gives(_hold, _promise) {},
  /** Of this thread: the last ones that were refused. */
  deadlocks() {
    return []
  },
}

module.exports = hooks
