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

  /** What PM2 sets in the first of so many instances. */
  const inPM2 = (instances) => ({
    NODE_APP_INSTANCE: '0',
    exec_mode: 'fork_mode',
    instance_var: 'NODE_APP_INSTANCE',
    instances,
    pm_id: '7',
  })
  const warned = {
    'the first of two instances of PM2': inPM2('2'),
    'an instance that `pm2 scale` has added': { ...inPM2('1'), NODE_APP_INSTANCE: '1' },
    'an instance whose number has a variable of its own': {
      ...inPM2('1'),
      NODE_APP_INSTANCE: undefined,
      instance_var: 'INSTANCE_ID',
      INSTANCE_ID: '1',
    },
  }
  for (const [what, env] of Object.entries(warned)) {
    it(`warns once in ${what}`, async () => {
      const { code, shown } = await inProcess(many, env)
      assert.equal(code, 0)
      checkWarning(shown[0], 'one of several instances of PM2')
    })
  }

  /** The warnings of a worker with the variables `env`. */
  async function inWorker(env) {
    cluster.setupPrimary({
      exec: process.execPath,
      execArgv: ['-e', `const done = (warnings) => process.send(warnings)\n${many}`],
      silent: true,
    })
    const worker = cluster.fork(env)
    const [warnings] = await once(worker, 'message')
    worker.kill()
    await once(worker, 'exit')
    return warnings
  }

  it('warns once in a worker of node:cluster', async () => {
    checkWarning(await inWorker(), 'a worker of node:cluster')
  })

  it('warns once in a worker of node:cluster whose primary is the only instance of PM2', async () => {
    checkWarning(await inWorker(inPM2('1')), 'a worker of node:cluster')
  })

  it('does not warn in the only instance of PM2 in its cluster mode', async () => {
    assert.deepEqual(await inWorker({ ...inPM2('1'), exec_mode: 'cluster_mode' }), [])
  })

  const unwarned = {
    'the only instance of PM2': inPM2('1'),
    'an instance of PM2 after `pm2 resurrect`, which does not tell their number': inPM2(undefined),
    'a process that sets NODE_APP_INSTANCE itself, as for node-config': { NODE_APP_INSTANCE: '3' },
  }
  for (const [what, env] of Object.entries(unwarned)) {
    it(`does not warn in ${what}`, async () => {
      const { code, shown } = await inProcess(many, env)
      assert.equal(code, 0)
      assert.deepEqual(shown, [[]])
    })
  }

  it('is constructed where the program formats stacks by a function that throws', async () => {
    const code = `Error.prepareStackTrace = () => { throw new Error('mine') }\n${many}`
    const { shown } = await inProcess(code, inPM2('2'))
    assert.deepEqual(
      shown[0].map(({ code, detail }) => [code, detail]),
      [['BOXOFFICE_ONE_PROCESS', undefined]],
    )
  })

  it('does not warn in a process that is the only one', async () => {
    const { code, shown } = await inProcess(many, { NODE_APP_INSTANCE: undefined })
    assert.equal(code, 0)
    assert.deepEqual(shown, [[]])
  })
})
