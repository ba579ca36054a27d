'use strict'
// The state of a key, as of some revision of etcd:
//
//   lock       { mod, capacity, abandoned, holders }: `mod` is its revision, or 0 without a lock. `abandoned` says that
//              a holder was lost, and that the next holder must be told
//   holders    { id, units, time, count, token, abandoned, since }. A hold ends after `time` ms unless it is confirmed.
//              A confirmation changes `count`. `since` is when this process first saw the grant with this count
//   queue      the requests at the start of the queue: { id, units, capacity, create }
//   hasMore    whether the queue has more requests
//   upgrade    undefined, or { mod, id, units, capacity, create }
//   rest       undefined, or { mod, time, since }: no request is admitted for `time` ms
//   revision   the queue contains every request that was in it at this revision
//   epoch      when the first session was opened: microseconds since 2024, minus 64 times the revision at that time
//
// A token is the epoch, plus 64 times the revision of the grant, plus the grant's place in its transaction. So tokens
// increase without a stored counter. An etcd that has lost all its data counts revisions from 1 again. Then the new epoch
// is higher than all earlier tokens, if etcd made fewer than 15,625 revisions a second.
const { lastOf } = require('./names.js')

/** The most grants in one transaction, which has room for 128 operations. */
const mostGrants = 32
const placesPerRevision = 64
const tokensBegin = Date.UTC(2024)

/** The epoch of data whose first session is opened at `time`, in ms, and at `revision`. */
const epochAt = (time, revision) => (time - tokensBegin) * 1000 - revision * placesPerRevision

const noLock = () => ({ mod: 0, capacity: 0, abandoned: false, holders: [] })

/** The assumed state of an unknown key: a free lock. */
const freeView = (epoch) => ({
  epoch,
  lock: noLock(),
  queue: [],
  hasMore: false,
  upgrade: undefined,
  rest: undefined,
  revision: 0,
})

/** The waiting requests that the view shows, in the order of admission. */
const waitersOf = ({ upgrade, queue }) => (upgrade === undefined ? queue : [upgrade, ...queue])

/** The entries ahead of `id` that the view shows. */
function entriesAhead(view, id) {
  const waiters = waitersOf(view)
  const place = waiters.findIndex((entry) => entry.id === id)
  return place < 0 ? waiters : waiters.slice(0, place)
}
const isHead = (view, id) => waitersOf(view)[0]?.id === id
const isWaiter = (view, id) => waitersOf(view).some((entry) => entry.id === id)
const hasOthers = (view, id) => waitersOf(view).some((entry) => entry.id !== id)

/** Returns the lock from its written form, which was written at revision `mod` of `epoch`. */
function reviveLock({ capacity, abandoned, holders }, epoch, mod) {
  const revive = ({ place, token, ...holder }) => ({
    ...holder,
    token: token ?? epoch + mod * placesPerRevision + place,
  })
  return { mod, capacity, abandoned, holders: holders.map(revive) }
}

/** Returns the view from its written form, which was written at revision `mod`. */
const revive = (view, mod) => ({
  ...view,
  lock: reviveLock(view.lock, view.epoch, mod),
  rest: view.rest && { ...view.rest, mod: view.rest.mod || mod },
})

const contentOf = ({ value }) => JSON.parse(value.toString())
const entryOf = (kv, id) => ({ id, create: Number(kv.create_revision), ...contentOf(kv) })

/** The reads whose answers viewOf() takes. */
const readsOf = (names, key) => [
  { request_range: { key: names.lock(key) } },
  { request_range: { key: names.upgrade(key) } },
  { request_range: { key: names.rest(key) } },
  { request_range: { key: names.epoch } },
  queueRead(names, key),
]

const entryRead = (names, key, id) => ({ request_range: { key: names.entry(key, id) } })

/** The entry in the answer to entryRead(), if it was there. */
function readEntry({ response_range: { kvs } }) {
  return kvs.length > 0 ? entryOf(kvs[0], lastOf(kvs[0].key)) : undefined
}

const queueRead = (names, key) => ({
  request_range: {
    ...names.queue(key),
    limit: mostGrants,
    sort_order: 'Ascend',
    sort_target: 'Create',
  },
})

function queueOf({ response_range: { kvs, more } }) {
  return { queue: kvs.map((kv) => entryOf(kv, lastOf(kv.key))), hasMore: more }
}

/** The view from the answers to readsOf(), or undefined if etcd has lost its data and no session was opened since. */
function viewOf(responses, revision) {
  const [lock, upgrade, rest, begun] = responses.map(({ response_range: range }) => range.kvs[0])
  if (begun === undefined) return undefined
  const epoch = contentOf(begun)
  return {
    epoch,
    lock:
      lock === undefined ? noLock() : reviveLock(contentOf(lock), epoch, Number(lock.mod_revision)),
    upgrade: upgrade && { mod: Number(upgrade.mod_revision), ...entryOf(upgrade) },
    rest: rest && { mod: Number(rest.mod_revision), ...contentOf(rest) },
    ...queueOf(responses[4]),
    revision,
  }
}

/**
 * Records when this process first saw each hold and each rest, because etcd does not tell the time. A time that is
 * counted from there never ends too early.
 */
class Sightings {
  #times = new Map()

  /** Sets `since` of each holder and of the rest in `view`, which arrived at `time`. */
  note(key, view, time) {
    const before = this.#times.get(key)
    const seen = new Map()
    const since = (what) => {
      const first = before?.get(what) ?? time
      seen.set(what, first)
      return first
    }
    for (const holder of view.lock.holders) holder.since = since(`${holder.token} ${holder.count}`)
    if (view.rest !== undefined) view.rest.since = since(`${view.epoch} ${view.rest.mod}`)
    this.#times.delete(key)
    if (seen.size > 0) this.#times.set(key, seen)
    // Drop the key that was not seen for the longest time.
    if (this.#times.size > mostSighted) this.#times.delete(this.#times.keys().next().value)
  }
}

const mostSighted = 100_000

module.exports = {
  Sightings,
  entriesAhead,
  entryRead,
  epochAt,
  freeView,
  hasOthers,
  isHead,
  isWaiter,
  mostGrants,
  noLock,
  queueOf,
  queueRead,
  readEntry,
  readsOf,
  revive,
  viewOf,
  waitersOf,
}
