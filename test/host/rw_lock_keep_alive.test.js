'use strict'
// Waits for a read-write lock of scope host with a maxHold or a minHold keep the event loop alive while a timer of this
// thread or another process can admit them, and no longer.
const assert = require('node:assert/strict')
const { freshName } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')
const { entry, runCode, withoutPending } = require('../helpers/processes.js')

const [rests, hasNoEnd, ends] = [{ minHold: 100 }, { maxHold: Infinity }, { maxHold: 200 }]
const granted = (name) => `.then((release) => { show('${name}'); release() })`
const write = `lock.acquireWrite()${granted('written')}`
const writeKey = `lock.acquireWrite('a')${granted('written')}`

/** By what the wait is for: the times, the code and what it shows. */
const leaves = {
  'to write, while this thread writes': [rests, `await lock.acquireWrite(); ${write}`],
  'to write, while this thread reads': [rests, `await lock.acquireRead(); ${write}`],
  'to write, while this thread writes without an end': [
    hasNoEnd,
    `await lock.acquireWrite(); ${write}`,
  ],
  'to write, while this thread reads, and a release of it rests': [
    rests,
    `await lock.acquireRead(); (await lock.acquireRead())(); ${write}`,
  ],
  'to write a key, while this thread writes it': [
    rests,
    `await lock.acquireWrite('a'); ${writeKey}`,
    'KeyedRWLock',
  ],
  'for a name of a LockManager, while this thread holds it': [
    rests,
    `await lock.acquire('a'); lock.acquire('a')${granted('granted')}`,
    'LockManager',
  ],
}
const stays = {
  'to write, while the release of a writer rests': [
    rests,
    `(await lock.acquireWrite())(); ${write}`,
  ],
  'to write, while the release of a reader rests': [
    rests,
    `(await lock.acquireRead())(); ${write}`,
  ],
  'to write, while this thread writes until a maxHold': [
    ends,
    `await lock.acquireWrite(); ${write}`,
  ],
  'to write, while this thread reads until a maxHold': [ends, `await lock.acquireRead(); ${write}`],
  'to write a key, while the release of a writer rests': [
    rests,
    `(await lock.acquireWrite('a'))(); ${writeKey}`,
    'KeyedRWLock',
  ],
}

/** Ends a process that a wait keeps alive in vain. */
const guard = `setTimeout(() => { show('still alive'); process.exit() }, 5000).unref();`

describe('A wait for a read-write lock of scope host with times', function () {
  this.timeout(60_000)
  const hosts = useHosts()

  async function check([times, code, kind = 'RWLock'], expected) {
    const options = { scope: 'host', name: freshName(), directory: hosts.directory, ...times }
    const given = JSON.stringify(options, (_, value) => (value === Infinity ? 'none' : value))
    const child = await runCode(
      `const boxoffice = require(${JSON.stringify(entry)})
      const lock = new boxoffice.${kind}(${given.replace('"none"', 'Infinity')})
      ${guard}
      ${code}`,
    )
    assert.deepEqual([child.shown, withoutPending(child.stderr)], [expected, ''])
    assert.deepEqual([child.code, child.signal], [0, null])
  }

  for (const [name, parts] of Object.entries(leaves)) {
    it(`${name}, does not keep the process alive`, () => check(parts, []))
  }
  for (const [name, parts] of Object.entries(stays)) {
    it(`${name}, keeps the process alive`, () => check(parts, ['written']))
  }
})
