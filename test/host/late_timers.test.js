'use strict'
// Timers of a thread that is interrupted between two looks at the clock.
const assert = require('node:assert/strict')
const path = require('node:path')
const { useHosts } = require('../helpers/hosts.js')
const { entry, run } = require('../helpers/processes.js')

const load = path.join(__dirname, '..', '..', 'lib', 'addon', 'load.js')

describe('A mutex of scope host that is released just before the end of its minHold', () => {
  const hosts = useHosts()

  it('rests by no timer of less than 0 ms, of which Node.js would warn', async () => {
    const { shown, stderr } = await run([
      '-e',
      `const timers = require('node:timers')
      const { setTimeout } = timers
      const times = []
      timers.setTimeout = (callback, time) => {
        times.push(time)
        return setTimeout(callback, time)
      }
      const { clock } = require(${JSON.stringify(load)})
      const { now } = clock
      let step = 0
      let passed = 0
      clock.now = () => {
        passed += step
        return now() + passed
      }
      const { Mutex } = require(${JSON.stringify(entry)})
      async function main() {
        const mutex = new Mutex({ scope: 'host', name: 'a', directory: process.argv[1], minHold: 1000 })
        const release = await mutex.acquire()
        step = 900
        release()
        step = 0
        await mutex.acquire()
        console.log(JSON.stringify(times.filter((time) => time < 900)))
      }
      main()`,
      hosts.directory,
    ])
    assert.deepEqual([shown, stderr], [[[0]], ''])
  })
})
