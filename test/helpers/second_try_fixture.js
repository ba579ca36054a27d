'use strict'
// Failing tests for second_try.test.js, which stops this process for a while at each message.
const { once } = require('node:events')

function stop() {
  process.send('stop')
  return once(process, 'message')
}

function block() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
}

describe('fixture', () => {
  let tries = 0

  beforeEach(() => {
    tries++
    console.log('[before]')
  })
  afterEach(() => console.log('[after]'))

  function failOnce() {
    if (tries === 1) throw new Error('of the first try')
  }

  function fail() {
    throw new Error('of each try')
  }

  it('async', () => stop().then(failOnce))
  it('with a callback', (done) => {
    stop().then(() => done(tries === 1 ? new Error('of the first try') : undefined))
  })
  it('synchronous', () => {
    process.send('stop')
    block()
    failOnce()
  })
  it('always', () => stop().then(fail))
  it('skipped', async function () {
    await stop()
    this.skip()
  })
  it('running', () => fail())
  it('blocked by itself', () => {
    block()
    fail()
  })
  it('too long', async function () {
    this.timeout(200)
    await stop()
    await new Promise(() => {})
  })
})
