'use strict'
// The observers of this thread's locks with diagnostics, and of its keyed locks (keyed_observer.js). Each is kept weakly: as
// long as an object of the lock is in use. Needs no addon: lib/diagnostics/opentelemetry loads it without a lock.

const sources = new Set()
const collected = new FinalizationRegistry((ref) => sources.delete(ref))

function add(source) {
  const ref = new WeakRef(source)
  sources.add(ref)
  collected.register(source, ref)
}

/** The reports of all sources. */
function reports() {
  const all = []
  for (const ref of sources) {
    const source = ref.deref()
    if (source !== undefined) all.push(source.reports())
  }
  // The arguments of a call, as in push(...reports), are limited: a keyed lock may have very many busy keys.
  return all.flat()
}

module.exports = { add, reports }
