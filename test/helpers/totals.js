'use strict'

const none = { acquisitions: 0, contended: 0, timeouts: 0, aborts: 0, abandoned: 0, deadlocks: 0 }

/** The `totals` of a watched lock; those not in `some` are 0. */
const totals = (some) => ({ ...none, ...some })

module.exports = { totals }
