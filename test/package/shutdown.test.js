'use strict'
// docs/recipes/graceful-shutdown.md in a process of its own, with the real frameworks and signals.
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { KeyedMutex } = require('../..')
const { read } = require('../helpers/documents.js')
const { root, withoutImports } = require('../helpers/examples.js')

const text = read('docs/recipes/graceful-shutdown.md')
const pages = {
  Fastify: text.match(/^```js\n([\s\S]*?)^```$/m)[1],
  Express: text.match(/^## Express$[\s\S]*?^```js\n([\s\S]*?)^```$/m)[1],
}
const [, deadline] = text.match(/^## With a deadline$[\s\S]*?^```js\n([\s\S]*?)^```$/m)
const listener = 'async function shutdown() {\n'
const timers = deadline
  .replace('8000', 'Number(process.env.DEADLINE)')
  .replace('9500', 'Number(process.env.LAST)')

/**
 * The program of a page, with the functions that the recipe assumes: finding a user and creating an order, which wait until
 * told to go on. The order of `stream` is a stream, which begins at once.
 */
const programOf = (page) => `
  const { once } = require('node:events')
  const { Readable } = require('node:stream')
  const steps = new Map()
  process.on('message', (step) => steps.get(step)())
  process.channel.unref() // only the server keeps the process alive
  const told = (step) => new Promise((resolve) => {
    steps.set(step, resolve)
    process.send({ began: step })
  })
  const orders = new Map()
  const world = {
    findOrder: async ({ id }) => orders.get(id),
    findUser: async (id) => {
      if (id === 'late') await told('find late')
      process.send({ began: 'order of ' + id })
      return { id: id === 'second' ? 'first' : id }
    },
    createOrder: async ({ id }, { signal }) => {
      if (id === 'stream') return Readable.from(parts())
      if (id === 'stuck') return told('stuck')
      const created = told('create ' + id)
      signal.throwIfAborted()
      const aborted = once(signal, 'abort').then(() => signal.throwIfAborted())
      await Promise.race([created, aborted])
      orders.set(id, { id, count: orders.size + 1 })
      return orders.get(id)
    },
  }
  async function* parts() {
    yield '{"part":'
    await told('end the stream')
    yield '1}'
  }
  async function serve({ findOrder, findUser, createOrder }) {
    ${withoutImports(page).replace(listener, () => listener + timers)}
    return app.server ?? server
  }
  for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => process.send({ began: 'to stop' }))
  serve(world).then(async (server) => {
    if (!server.listening) await once(server, 'listening')
    process.send({ port: server.address().port })
  })`

/** As fetch and most clients do, it keeps its connections open for later requests. */
const agent = new http.Agent({ keepAlive: true })

function post(port, user) {
  return new Promise((resolve, reject) => {
    const url = {
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/orders/${encodeURIComponent(user)}`,
    }
    const request = http.request({ ...url, agent }, async (response) => {
      const chunks = await response.toArray()
      const { statusCode, headers } = response
      resolve({ statusCode, headers, body: JSON.parse(Buffer.concat(chunks)) })
    })
    request.on('error', reject)
    request.end()
  })
}

for (const [framework, page] of Object.entries(pages)) testShutdown(framework, programOf(page))

function testShutdown(framework, program) {
  describe(`the recipe for a graceful shutdown with ${framework}`, function () {
    // The test starts a process that loads the framework.
    this.timeout(60_000)
    let directory
    let child
    beforeEach(() => {
      directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
    })
    afterEach(() => {
      agent.destroy()
      child?.kill('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    })

    /** Resolves to the port of the server, whose last timers run `deadline` and `last` ms after SIGTERM. */
    function start({ deadline = 600_000, last = 600_000 } = {}) {
      const address = { HOST: '127.0.0.1', PORT: '0' }
      const own = { BOXOFFICE_DIRECTORY: directory, ...address, DEADLINE: deadline, LAST: last }
      child = fork('-e', [program], { cwd: root, env: { ...process.env, ...own }, execArgv: [] })
      heard.length = 0
      child.on('message', (message) => heard.push(message))
      return message(({ port }) => port)
    }

    const heard = []
    /** The result of `find` for the first message that it knows. */
    async function message(find) {
      while (!heard.some(find)) await once(child, 'message')
      return find(heard.find(find))
    }
    const began = (step) => message((one) => one.began === step)

    it('answers begun requests, refuses later ones at its lock, and exits with every lock given back', async () => {
      const port = await start()
      const there = new KeyedMutex({ scope: 'host', name: 'orders', directory })

      const late = post(port, 'late')
      const first = post(port, 'first')
      await Promise.all([began('find late'), began('create first')])
      const second = post(port, 'second') // for the user of the first one
      await began('order of second')
      const ours = there.runExclusive('first', ({ abandoned }) => abandoned) // as does this process
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await began('to stop')
      child.send('find late')
      const { statusCode, headers, body } = await late
      assert.equal(statusCode, 503)
      assert.equal(headers['retry-after'], '1')
      assert.deepEqual(body, { error: 'busy' })
      child.send('create first')
      const answers = await Promise.all([first, second])
      const answered = performance.now()
      for (const { statusCode, body } of answers) {
        assert.equal(statusCode, 200)
        assert.deepEqual(body, { id: 'first', count: 1 })
      }
      // Fastify would keep these connections for 72 seconds.
      assert.deepEqual(await exited, [0, null])
      assert.ok(performance.now() - answered < 20_000)
      assert.equal(await ours, false)
      assert.equal(await there.runExclusive('first', ({ abandoned }) => abandoned), false)
    })

    it('answers holders and waiters with 503 at its deadline, and begins no other work', async () => {
      const port = await start({ deadline: 0 })
      const first = post(port, 'first')
      await began('create first')
      const second = post(port, 'second')
      await began('order of second')
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      for (const { statusCode, headers, body } of await Promise.all([first, second])) {
        assert.deepEqual([statusCode, headers['retry-after'], body], [503, '1', { error: 'busy' }])
      }
      assert.deepEqual(await exited, [0, null])
      assert.equal(heard.filter((one) => one.began?.startsWith('create')).length, 1)
    })

    it('exits at its last timer if work is stuck, and the next holder is told', async () => {
      const port = await start({ deadline: 0, last: 100 })
      const there = new KeyedMutex({ scope: 'host', name: 'orders', directory })
      const cut = assert.rejects(post(port, 'stuck'))
      await began('stuck')
      const next = there.runExclusive('stuck', ({ abandoned }) => abandoned)
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      assert.deepEqual(await exited, [0, null])
      assert.equal(await next, true)
      await cut
    })

    // Express has no answer that is a stream.
    if (framework === 'Fastify')
      it('ends the connection of a stream that began before, after its last part', async () => {
        const streamed = post(await start(), 'stream')
        await began('end the stream')
        const exited = once(child, 'exit')
        child.kill('SIGTERM')
        await began('to stop')
        child.send('end the stream')
        const { statusCode, headers, body } = await streamed
        assert.deepEqual([statusCode, body], [200, { part: 1 }])
        assert.equal(headers.connection, 'keep-alive')
        const answered = performance.now()
        assert.deepEqual(await exited, [0, null])
        assert.ok(performance.now() - answered < 20_000)
      })

    it('stops on SIGINT, too', async () => {
      const first = post(await start(), 'first')
      await began('create first')
      const exited = once(child, 'exit')
      child.kill('SIGINT')
      await began('to stop')
      child.send('create first')
      assert.equal((await first).statusCode, 200)
      assert.deepEqual(await exited, [0, null])
    })

    it('ends a connection that sent no request, after the answer to the last one', async () => {
      const port = await start()
      const silent = net.connect(port, '127.0.0.1')
      await once(silent, 'connect')
      const ended = once(silent.resume(), 'close')
      const first = post(port, 'first')
      await began('create first')
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await began('to stop')
      assert.equal(silent.readyState, 'open')
      child.send('create first')
      assert.equal((await first).statusCode, 200)
      const answered = performance.now()
      assert.deepEqual(await exited, [0, null])
      assert.ok(performance.now() - answered < 20_000)
      await ended
    })
  })
}
