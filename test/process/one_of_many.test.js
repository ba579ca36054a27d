'use strict'
// A name without a scope, in a process that is one of several.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const cluster = require('node:cluster')
const { entry, run } = require('../helpers/processes.js')

const head = `const all = require(${JSON.stringify(entry)})
  const warnings = []
  process.on('warning', ({ name, code, message, detail }) => warnings.push({ name, code, message, detail }))`
const many = `${head}
  new all.Mutex()
  new all.Mutex({ shared: true })
  new all.Mutex({ name: 'explicit', scope: 'process' })
  new all.KeyedMutex({ name: 'tickets' })
  new all.Semaphore(1, { name: 'places' })
  new all.KeyedMutex({ name: 'tickets' })
  setImmediate(() => done(warnings))`

function checkWarning([warning, ...others], who) {
  assert.deepEqual(others, [])
  assert.deepEqual([warning.name, warning.code], ['BoxofficeWarning', 'BOXOFFICE_ONE_PROCESS'])
  assert.equal(
    warning.message,
    `the keyed mutex "tickets" is shared by the threads of this process only, and this process is ${who}: ` +
      "give the lock scope: 'host' to share it with the other processes, or scope: 'process' if only threads are meant",
  )
  assert.match(warning.detail, /^It was constructed here:\n +at \[eval\]/)
}

describe('a lock with a name and without a scope', () => {
  const show = 'const done = (warnings) => console.log(JSON.stringify(warnings))'
  const inProcess = (code, env) => run(['-e', `${show}\n${code}`], { env })

  it('warns once in an instance of PM2', async () => {
    const { code, shown } = await inProcess(many, { NODE_APP_INSTANCE: '0' })
    assert.equal(code, 0)
    checkWarning(shown[0], 'an instance of PM2')
  })

  it('warns once in a worker of node:cluster', async () => {
    cluster.setupPrimary({
      exec: process.execPath,
      execArgv: ['-e', `const done = (warnings) => process.send(warnings)\n${many}`],
      silent: true,
    })
    const worker = cluster.fork()
    const [warnings] = await once(worker, 'message')
    worker.kill()
    await once(worker, 'exit')
    checkWarning(warnings, 'a worker of node:cluster')
  })

  it('does not warn in a process that is the only one', async () => {
    const { code, shown } = await inProcess(many, { NODE_APP_INSTANCE: undefined })
    assert.equal(code, 0)
    assert.deepEqual(shown, [[]])
  })
})
