// The files of docs/results/: each holds the tables of docs/performance/ that were measured
// together.
const { clusterKits } = require('./cluster-kits.js')
const { clusterRows, firstRows } = require('./cluster-rows.js')
const { diagnosticsKits, diagnosticsRows } = require('./diagnostics.js')
const { hostKits } = require('./host-kits.js')
const { hostRows } = require('./host-rows.js')
const { kits } = require('./kits.js')
const { loadRows } = require('./load-rows.js')
const { lockKits } = require('./lock-kits.js')
const { lockRows } = require('./lock-rows.js')
const { rows } = require('./rows.js')
const { scaleRows } = require('./scale-rows.js')
const { scaleServers } = require('./scale-servers.js')
const { threadKits } = require('./thread-kits.js')
const { threadRows } = require('./thread-rows.js')

const pick = (all, isWanted) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => isWanted(name)))

const isRead = (row) => row.startsWith('read-')
const isBy = (server) => (kit) => clusterKits[kit].server === server
/** The locks of all servers, and what ours start. */
const isFirst = (kit) => !(clusterKits[kit].isFloor || clusterKits[kit].server === 'postgres-18')
const isManager = (kit) => /^(LockManager|navigator)/.test(kit)

/** The sections { rows, kits } of each, a table for each of them. */
const results = {
  'one-thread': [{ rows: { ...pick(rows, (row) => !isRead(row)), ...loadRows }, kits }],
  'read-write': [{ rows: pick(rows, isRead), kits }],
  diagnostics: [{ rows: diagnosticsRows, kits: diagnosticsKits }],
  threads: [{ rows: threadRows, kits: pick(threadKits, (kit) => !kit.startsWith('LockManager')) }],
  'web-locks': [
    { rows: lockRows, kits: lockKits },
    { rows: threadRows, kits: pick(threadKits, isManager) },
  ],
  processes: [{ rows: hostRows, kits: hostKits }],
  redis: [{ rows: clusterRows, kits: pick(clusterKits, isBy('redis')) }],
  postgres: [{ rows: clusterRows, kits: pick(clusterKits, isBy('postgres')) }],
  'postgres-18': [{ rows: clusterRows, kits: pick(clusterKits, isBy('postgres-18')) }],
  etcd: [{ rows: clusterRows, kits: pick(clusterKits, isBy('etcd')) }],
  'first-acquire': [{ rows: firstRows, kits: pick(clusterKits, isFirst) }],
  scaling: [{ rows: scaleRows, kits: scaleServers }],
}

const allRows = Object.assign(
  {},
  rows,
  loadRows,
  diagnosticsRows,
  threadRows,
  lockRows,
  hostRows,
  clusterRows,
  firstRows,
  scaleRows,
)

module.exports = { allRows, results }
