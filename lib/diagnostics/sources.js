'use strict'
// The observers of this thread's locks and keyed locks with diagnostics, by weak references: each lives as long as an
// object of its lock. Needs no addon, because lib/diagnostics/opentelemetry loads this file without a lock.

const sources = new Set()
const collected = new FinalizationRegistry((ref) => sources.delete(ref))

function add(source) {
  const ref = new WeakRef(source)
  sources.add(ref)
  collected.register(source, ref)
}

function reports() {
  const all = []
  for (const ref of sources) {
    const source = ref.deref()
    if (source !== undefined) all.push(source.reports())
  }
  // push(...reports) would fail for a keyed lock with very many busy keys, because the arguments of a call are limited.
  return all.flat()
}

module.exports = { add, reports }
