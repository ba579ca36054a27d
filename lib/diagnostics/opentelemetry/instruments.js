'use strict'
// The instruments, named by OpenTelemetry's semantic conventions.

/** Bucket boundaries in seconds, from an uncontended lock to a wait of a minute. */
const explicitBucketBoundaries = [
  0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

function makeInstruments(meter) {
  const duration = (name, description) =>
    meter.createHistogram(`boxoffice.lock.${name}.duration`, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries },
    })
  const count = (name, unit, description) =>
    meter.createCounter(`boxoffice.lock.${name}`, { description, unit })
  const gauge = (name, unit, description) =>
    meter.createObservableGauge(`boxoffice.lock.${name}`, { description, unit })

  const waiting = gauge('waiting', '{waiter}', 'Waiters in the queue of the lock')
  const held = gauge('held', '{hold}', 'Holds of this thread; of a semaphore, the weight of them')
  return {
    waitDuration: duration('wait', 'How long callers waited, until they held the lock or gave up'),
    holdDuration: duration('hold', 'How long holders held the lock'),
    acquisitions: count('acquisitions', '{acquisition}', 'Grants of the lock'),
    timeouts: count('timeouts', '{timeout}', 'Callers that ran out of time'),
    aborts: count('aborts', '{abort}', 'Waits that a signal, cancel() or a server has ended'),
    abandoned: count('abandoned', '{acquisition}', 'Grants after the death of a holder'),
    deadlocks: count('deadlocks', '{deadlock}', 'Waits that were refused as a deadlock'),
    waiting,
    held,
    observe: (callback) => meter.addBatchObservableCallback(callback, [waiting, held]),
    stopObserving: (callback) => meter.removeBatchObservableCallback(callback, [waiting, held]),
  }
}

module.exports = { makeInstruments }
