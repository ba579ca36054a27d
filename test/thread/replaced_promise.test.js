'use strict'
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')

/** Shows the codes of the warnings while `use` runs with a global Promise that `replace` has set. */
const warned = (replace, use) => `
  const Native = Promise
  const codes = []
  process.on('warning', ({ code }) => codes.push(code))
  ${replace}
  ${use}
  globalThis.Promise = Native
  await new Promise(setImmediate)
  show(codes)`

const other = `globalThis.Promise = class {
  constructor(run) {
    this.native = new Native(run)
  }
  then(...callbacks) {
    return this.native.then(...callbacks)
  }
}`
const derived = 'globalThis.Promise = class extends Native {}'

describe('A global Promise that is not the native one', () => {
  it('is warned of once, by the first recursive lock', async () => {
    const use = 'new RecursiveMutex(); new KeyedMutex({ reentrant: true })'
    assert.deepEqual(await inChild(warned(other, use)), [['BOXOFFICE_PROMISE']])
  })

  it('is not warned of while no lock is recursive', async () => {
    assert.deepEqual(await inChild(warned(other, 'new Mutex()')), [[]])
  })

  it('is not warned of if its class is derived from the native one', async () => {
    assert.deepEqual(await inChild(warned(derived, 'new RecursiveMutex()')), [[]])
  })
})
