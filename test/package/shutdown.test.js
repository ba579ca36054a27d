'use strict'
// docs/recipes/graceful-shutdown.md in a process of its own, by the real fastify and signals.
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { KeyedMutex } = require('../..')
const { read } = require('../helpers/documents.js')
const { isSupported } = require('../helpers/host_support.js')

const [, recipe] = read('docs/recipes/graceful-shutdown.md').match(/^```js\n([\s\S]*?)^```$/m)

/** What the recipe takes for granted: finding a user, and creating an order, last until they are told to go on. */
const body = `
  const { createRequire } = require('node:module')
  const { on, once } = require('node:events')
  const requireOne = createRequire(${JSON.stringify(path.join(__dirname, '..', '..', 'package.json'))})
  const steps = new Map()
  process.on('message', (step) => steps.get(step)())
  process.channel.unref() // What keeps the process alive is the server alone.
  const told = (step) => new Promise((resolve) => {
    steps.set(step, resolve)
    process.send({ began: step })
  })
  const orders = new Map()
  const world = {
    require: requireOne,
    findOrder: async ({ id }) => orders.get(id),
    findUser: async (id) => {
      if (id === 'late') await told('find late')
      process.send({ began: 'order of ' + id })
      return { id: id === 'second' ? 'first' : id }
    },
    createOrder: async ({ id }) => {
      await told('create ' + id)
      orders.set(id, { id, count: orders.size + 1 })
      return orders.get(id)
    },
  }
  const AsyncFunction = (async () => {}).constructor
  const serve = new AsyncFunction(...Object.keys(world), ${JSON.stringify(`${recipe}\nreturn app`)})
  process.on('SIGTERM', () => process.send({ began: 'to stop' }))
  serve(...Object.values(world)).then((app) => process.send({ port: app.server.address().port }))`

function post(port, user) {
  return new Promise((resolve, reject) => {
    const url = {
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/orders/${encodeURIComponent(user)}`,
    }
    const request = http.request({ ...url, agent: false }, async (response) => {
      const chunks = await response.toArray()
      const { statusCode, headers } = response
      resolve({ statusCode, headers, body: JSON.parse(Buffer.concat(chunks)) })
    })
    request.on('error', reject)
    request.end()
  })
}

describe('the recipe for a graceful shutdown', function () {
  // A process is started that loads fastify.
  this.timeout(60_000)
  let directory
  let child
  beforeEach(function () {
    if (!isSupported) this.skip()
    directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
    const env = { ...process.env, BOXOFFICE_DIRECTORY: directory, HOST: '127.0.0.1', PORT: '0' }
    child = fork('-e', [body], { env, execArgv: [] })
  })
  afterEach(() => {
    child?.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })

  it('answers what has begun, refuses what comes to its lock, and exits with every lock given back', async () => {
    const heard = []
    child.on('message', (message) => heard.push(message))
    /** What `find` makes of the first message that it knows. */
    async function message(find) {
      while (!heard.some(find)) await once(child, 'message')
      return find(heard.find(find))
    }
    const began = (step) => message((one) => one.began === step)
    const port = await message(({ port }) => port)
    const there = new KeyedMutex({ scope: 'host', name: 'orders', directory })

    const late = post(port, 'late')
    const first = post(port, 'first')
    await Promise.all([began('find late'), began('create first')])
    const second = post(port, 'second') // For the user of the first one.
    await began('order of second')
    const ours = there.runExclusive('first', ({ abandoned }) => abandoned) // So does this process.
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await began('to stop')
    child.send('find late')
    const { statusCode, headers, body } = await late
    assert.equal(statusCode, 503)
    assert.equal(headers['retry-after'], '1')
    assert.equal(body.message, 'this process is shutting down')
    child.send('create first')
    const answers = await Promise.all([first, second])
    for (const { statusCode, body } of answers) {
      assert.equal(statusCode, 200)
      assert.deepEqual(body, { id: 'first', count: 1 })
    }
    assert.deepEqual(await exited, [0, null])
    assert.equal(await ours, false)
    assert.equal(await there.runExclusive('first', ({ abandoned }) => abandoned), false)
  })
})
