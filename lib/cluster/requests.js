'use strict'
// What a lease asks of the server: see engine.d.ts. Each request is one literal: V8 makes a slow object of so many properties
// when it spreads another one, at the cost of a quarter of an uncontended acquire.

/** The request to enter, which confirms a grant, too. */
function requestOf(lease) {
  const { cohort, hub, id, isFirst, isToWait, session, units } = lease
  const { capacity, key, minHold } = cohort
  return {
    session: session.id,
    key,
    id,
    units,
    capacity,
    claim: hub.claim,
    wait: isToWait,
    first: isFirst,
    maxHold: lease.maxHold(),
    minHold,
  }
}

/** The request to give all of it back. */
const leavingOf = (lease) => leaving(lease, 0, lease.isUndelivered, lease.isUnused)

/** The request to give back all but `units`. */
const shrinkingOf = (lease, units) => leaving(lease, units, false, false)

function leaving({ cohort, hub, id, session, units }, keep, untold, unused) {
  const { capacity, key, minHold } = cohort
  const { claim } = hub
  return { session: session.id, key, id, units, capacity, claim, minHold, keep, untold, unused }
}

module.exports = { leavingOf, requestOf, shrinkingOf }
