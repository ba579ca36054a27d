'use strict'
// Locks that processes share, near the end of the stack.
const boxoffice = require('../..')
const { freshName } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')
const { stackEndSuite } = require('../helpers/stack_end_suite.js')

describe('a call near the end of the stack, of a lock of scope host', function () {
  this.timeout(120_000)
  const hosts = useHosts()
  const open = (kind, args) => {
    const { directory } = hosts
    const options = { scope: 'host', name: freshName(), directory, allowBlockingMainThread: true }
    const make = () => new boxoffice[kind](...args, options)
    const there = `new boxoffice.${kind}(...${JSON.stringify([...args, options])})`
    return { lock: make(), twin: make(), there }
  }
  stackEndSuite({
    open,
    neighbour: () => hosts.start(),
    has: (name) =>
      /Mutex$|RWLock$|Semaphore$|Event$|Barrier$|Variable$/.test(name) && name !== 'RecursiveMutex',
  })
})
