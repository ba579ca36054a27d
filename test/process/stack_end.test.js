'use strict'
// Locks that threads share, near the end of the stack.
const boxoffice = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { stackEndSuite } = require('../helpers/stack_end_suite.js')

const mayBlock = { allowBlockingMainThread: true }
const isKeyed = (name) => name.startsWith('Keyed')

describe('a call near the end of the stack, of a lock that has a name', function () {
  this.timeout(120_000)
  const open = (kind, args) => {
    const options = { name: freshName(), ...mayBlock }
    const make = () => new boxoffice[kind](...args, options)
    const there = `new boxoffice.${kind}(...${JSON.stringify([...args, options])})`
    return { lock: make(), twin: make(), there }
  }
  stackEndSuite({ open, neighbour: useAgents() })
})

describe('a call near the end of the stack, of a lock that has a buffer', function () {
  this.timeout(120_000)
  const open = (kind, args) => {
    const lock = new boxoffice[kind](...args, { shared: true, ...mayBlock })
    const { buffer, byteOffset } = lock
    const twin = new boxoffice[kind](...args, { buffer, byteOffset, ...mayBlock })
    return { lock, twin }
  }
  stackEndSuite({ open, has: (name) => !isKeyed(name) })
})

describe("a call near the end of the stack, of a mutex with fairness: 'fifo'", function () {
  this.timeout(120_000)
  const open = (kind, args) => {
    const options = { name: freshName(), fairness: 'fifo', ...mayBlock }
    const make = () => new boxoffice[kind](...args, options)
    const there = `new boxoffice.${kind}(...${JSON.stringify([...args, options])})`
    return { lock: make(), twin: make(), there }
  }
  stackEndSuite({ open, neighbour: useAgents(), has: (name) => /^(Keyed)?Mutex$/.test(name) })
})

describe('a call near the end of the stack, of a mutex that has a name and diagnostics', function () {
  this.timeout(120_000)
  const open = (kind, args) => {
    const options = { name: freshName(), diagnostics: 'counters', ...mayBlock }
    const make = () => new boxoffice[kind](...args, options)
    const there = `new boxoffice.${kind}(...${JSON.stringify([...args, options])})`
    return { lock: make(), twin: make(), there }
  }
  stackEndSuite({ open, neighbour: useAgents(), has: (name) => name.endsWith('Mutex') })
})
