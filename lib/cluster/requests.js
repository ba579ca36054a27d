'use strict'
// The requests of a lease to the server: see engine.d.ts. Each is one literal without spread, because spreading so many
// properties makes a slow object in V8, which costs a quarter of an uncontended acquire.

/** Returns the request to enter. It is also the request to confirm a grant. */
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

/** Returns the request to give back all units, or all but `keep`. */
function leavingOf(lease, keep = 0) {
  const { cohort, hub, id, isAbandoned: untold, isUnused: unused, session, units } = lease
  const { capacity, key, minHold } = cohort
  const { claim } = hub
  return { session: session.id, key, id, units, capacity, claim, minHold, keep, untold, unused }
}

module.exports = { leavingOf, requestOf }
