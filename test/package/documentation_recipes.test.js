'use strict'
// The recipes that are servers, or files of a project of their own, as their pages describe them.
// documentation.test.js runs the others.
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { subscribe } = require('node:diagnostics_channel')
const { EventEmitter, once } = require('node:events')
const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { promisify } = require('node:util')
const { createAdaptorServer } = require('@hono/node-server')
const { read } = require('../helpers/documents.js')
const { blocksIn, withoutImports } = require('../helpers/examples.js')
const { run } = require('../helpers/processes.js')
const { compile, filesOf, jsonIn, projectOf } = require('../helpers/recipe_projects.js')

const AsyncFunction = (async () => {}).constructor
const compiled = (dir, name) => import(pathToFileURL(path.join(dir, 'out', name)).href)

describe('the recipe of one request per user', function () {
  this.timeout(60_000)
  const page = 'docs/recipes/per-user-lock.md'
  const hurried = (code) => code.replaceAll('timeout: 2000', 'timeout: 50')

  /** A shop that sells to ada after `end()`, never to eve, and to others at once. One user buys once. */
  function shop() {
    const sale = new EventEmitter()
    const begun = once(sale, 'begin')
    const orders = new Map()
    const findOrder = async (user) => orders.get(user)
    const createOrder = async (user) => {
      assert.ok(!orders.has(user))
      if (user === 'eve') throw new Error('no seat is left')
      if (user === 'ada') {
        sale.emit('begin')
        await once(sale, 'end')
      }
      orders.set(user, { user })
      return orders.get(user)
    }
    return { begun, end: () => sale.emit('end'), findOrder, createOrder }
  }

  async function checkTurns(url, { begun, end }) {
    const buy = (user) => fetch(`${url}/tickets/${user}`, { method: 'POST' })
    const first = buy('ada')
    await begun
    const [second, other] = await Promise.all([buy('ada'), buy('bob')])
    assert.deepEqual([second.status, second.headers.get('retry-after')], [503, '1'])
    assert.deepEqual(await second.json(), { error: 'busy' })
    assert.deepEqual([other.ok, await other.json()], [true, { user: 'bob' }])
    end()
    assert.deepEqual(await (await first).json(), { user: 'ada' })
    assert.deepEqual(await (await buy('ada')).json(), { user: 'ada' })
    assert.equal((await buy('eve')).status, 500)
  }

  /** The `app` of the page's block for a framework, which uses the shop. */
  function appOf(framework, tickets) {
    const block = blocksIn(read(page)).find((code) => code.includes(`from '${framework}'`))
    return appIn(hurried(block), tickets)
  }

  function appIn(block, { findOrder, createOrder }) {
    const make = new AsyncFunction(
      'findOrder',
      'createOrder',
      `${withoutImports(block)}\nreturn app`,
    )
    return make(findOrder, createOrder)
  }

  async function checkServer(server, tickets) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      await checkTurns(`http://127.0.0.1:${server.address().port}`, tickets)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  it('answers the second one with 503 in Express', async () => {
    const tickets = shop()
    const app = await appOf('express', tickets)
    app.set('env', 'test') // it prints no errors
    await checkServer(require('node:http').createServer(app), tickets)
  })

  const watched = (code) => code.replace('KeyedMutex({', "KeyedMutex({ diagnostics: 'counters',")

  /** A client that leaves waits no longer, and one that has left before its handler runs buys nothing. */
  async function checkGone(server, url, users, tickets) {
    const first = fetch(`${url}/tickets/ada`, { method: 'POST' })
    await tickets.begun
    const gone = new AbortController()
    const [arrived, queued] = [
      once(server, 'request'),
      new Promise((resolve) => subscribe('boxoffice:wait', resolve)),
    ]
    const second = fetch(`${url}/tickets/ada`, { method: 'POST', signal: gone.signal })
    const [[, response]] = await Promise.all([arrived, queued])
    const waiting = () => users.snapshot().find(({ key }) => key === 'ada').waiting
    assert.equal(waiting(), 1)
    gone.abort()
    await Promise.all([once(response, 'close'), assert.rejects(second, { name: 'AbortError' })])
    assert.equal(waiting(), 0)
    await assert.rejects(fetch(`${url}/tickets/late`, { method: 'POST' }))
    assert.equal(await tickets.findOrder('late'), undefined)
    tickets.end()
    assert.equal((await first).status, 200)
  }

  it('takes a client that has gone out of the queue in Express', async () => {
    const tickets = shop()
    const late = `app.use(({ url }, response, next) => {
      if (!url.endsWith('/late')) return next()
      response.once('close', next).destroy() // The client has gone before the handler runs.
    })`
    const block = blocksIn(read(page))
      .find((code) => code.includes("response.on('close'"))
      .replace('const app = express()', (line) => `${line}\n${late}`)
    const app = await appIn(`${watched(block)}\napp.users = users`, tickets)
    const failed = []
    app.use((error, _request, _response, _next) => failed.push(error))
    const server = require('node:http').createServer(app)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      await checkGone(server, `http://127.0.0.1:${server.address().port}`, app.users, tickets)
      assert.deepEqual(failed, [])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('takes a client that has gone out of the queue in Fastify', async () => {
    const tickets = shop()
    const block = blocksIn(read(page)).find((code) => code.includes('reply.raw.on('))
    const app = await appIn(`${watched(block)}\napp.decorate('users', users)`, tickets)
    const sent = []
    app.addHook('onSend', async (_request, { statusCode }) => void sent.push(statusCode))
    app.addHook('onRequest', async ({ url }, { raw }) => {
      if (url.endsWith('/late')) await once(raw.destroy(), 'close') // The client has gone before the handler runs.
    })
    try {
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      await checkGone(app.server, url, app.users, tickets)
      assert.deepEqual(sent, [200])
    } finally {
      await app.close()
    }
  })

  it('answers the second one with 503 in Fastify', async () => {
    const tickets = shop()
    const app = await appOf('fastify', tickets)
    try {
      await checkTurns(await app.listen({ port: 0, host: '127.0.0.1' }), tickets)
    } finally {
      await app.close()
    }
  })

  it('answers the second one with 503 in Hono', async () => {
    const tickets = shop()
    const { fetch } = await appOf('hono', tickets)
    await checkServer(createAdaptorServer({ fetch }), tickets)
  })

  it('answers the second one with 503 in NestJS', async () => {
    const dir = projectOf('nest', {
      'app.module.ts': hurried(filesOf(page)['app.module.ts']),
      'orders.ts': `const none = async (_: string): Promise<unknown> => undefined
        export const shop = { findOrder: none, createOrder: none }
        export const findOrder = (user: string) => shop.findOrder(user)
        export const createOrder = (user: string) => shop.createOrder(user)`,
      'main.ts': `import 'reflect-metadata'
        import { NestFactory } from '@nestjs/core'
        import { AppModule } from './app.module.js'
        export const start = () => NestFactory.create(AppModule, { logger: false })`,
    })
    const decorators = { experimentalDecorators: true, emitDecoratorMetadata: true }
    const modules = { module: 'nodenext', target: 'es2022', types: ['node'], strict: true }
    await compile(dir, { ...decorators, ...modules })
    const tickets = shop()
    Object.assign((await compiled(dir, 'orders.js')).shop, tickets)
    const app = await (await compiled(dir, 'main.js')).start()
    try {
      await app.listen(0, '127.0.0.1')
      await checkTurns(await app.getUrl(), tickets)
    } finally {
      app.getHttpServer().closeAllConnections()
      await app.close()
    }
  })
})

describe('the recipe of using with TypeScript', function () {
  this.timeout(60_000)
  const page = 'docs/recipes/using.md'

  it('releases its locks, however its function ends', async () => {
    const shop = `
      const owners = new Map<string, string>()
      export const ownerOf = async (seat: string) => owners.get(seat)
      export async function sell(seat: string, user: string) {
        await null
        if (seat === 'Z9') throw new Error('no such seat')
        owners.set(seat, user)
      }`
    const dir = projectOf('using', { ...filesOf(page), 'shop.ts': shop })
    await compile(dir, jsonIn(page).compilerOptions)
    const { buy } = await compiled(dir, 'tickets.js')
    const clicks = await Promise.all([buy('ada', 'A1'), buy('ada', 'A1')])
    assert.deepEqual(clicks, ['sold to you', 'one click is enough'])
    assert.equal(await buy('ada', 'A1'), 'sold to ada')
    await assert.rejects(buy('ada', 'Z9'), /no such seat/)
    assert.equal(await buy('ada', 'A2'), 'sold to you')
  })

  it('has a parameter that every lock fits', async () => {
    const locks = `
      import * as boxoffice from 'boxoffice'
      import type { Exclusive, ExclusiveByKey, ExclusiveWithGrant } from './any_lock.js'
      import { inTime } from './in_time.js'
      const { Mutex, RecursiveMutex, RWLock, Semaphore } = boxoffice
      const { KeyedMutex, KeyedRWLock, KeyedSemaphore } = boxoffice
      const locks: Exclusive[] = [new Mutex(), new RecursiveMutex(), new RWLock(), new Semaphore(1)]
      const granting: ExclusiveWithGrant[] = [new Mutex(), new RecursiveMutex(), new RWLock()]
      const keyed: ExclusiveByKey[] = [new KeyedMutex(), new KeyedRWLock(), new KeyedSemaphore(1)]
      export const run = () => Promise.all([
        ...locks.map((lock) => lock.runExclusive(() => 'ran', { timeout: 50 })),
        ...keyed.map((lock) => lock.runExclusive('ada', () => 'ran', { timeout: 50 })),
        ...granting.map((lock) => lock.runExclusive(({ abandoned }) => abandoned || 'ran')),
      ])
      const busy = new Semaphore(0, { timeout: 50 })
      const fails = async () => { await busy.acquire() }
      export const runInTime = () => Promise.allSettled([
        inTime(busy, 1, async () => 'ran'),
        inTime(new Mutex(), 1, async () => 'ran'),
        inTime(new Mutex(), 1, fails),
      ])`
    const { 'any_lock.ts': anyLock, 'in_time.ts': inTime } = filesOf(page)
    const files = { 'any_lock.ts': anyLock, 'in_time.ts': inTime, 'locks.ts': locks }
    const dir = projectOf('any-lock', files)
    await compile(dir, jsonIn(page).compilerOptions)
    const { run, runInTime } = await compiled(dir, 'locks.js')
    assert.deepEqual(await run(), Array(10).fill('ran'))
    const [busy, free, failed] = await runInTime()
    assert.deepEqual(
      [busy.value, free.value, failed.reason?.code],
      [undefined, 'ran', 'ERR_LOCK_TIMEOUT'],
    )
    assert.equal(busy.status, 'fulfilled')
  })

  it('does not compile if an await is missing', async () => {
    const files = filesOf(page)
    const forgotten = files['tickets.ts'].replace('= await users.acquire', '= users.acquire')
    const shop =
      'export const [ownerOf, sell] = [async (_: string) => "", async (..._: string[]) => {}]'
    const dir = projectOf('using-forgotten', { 'tickets.ts': forgotten, 'shop.ts': shop })
    await assert.rejects(compile(dir, jsonIn(page).compilerOptions), ({ stdout }) =>
      /Symbol.dispose/.test(stdout),
    )
  })
})

describe('the recipe of locks and data in one buffer', function () {
  this.timeout(60_000)

  it('reads no table that is half changed, in three workers', async () => {
    const dir = projectOf('buffer', filesOf('docs/recipes/shared-buffer.md'))
    await compile(dir, jsonIn('docs/recipes/using.md').compilerOptions)
    const { stdout } = await promisify(execFile)(process.execPath, [path.join(dir, 'out/main.js')])
    assert.equal(stdout, '23\n')
  })
})

describe('the events of locks, in TypeScript', function () {
  this.timeout(60_000)

  it('have the type that their pages give them', async () => {
    const pages = ['docs/deadlocks.md', 'docs/diagnostics.md']
    const dir = projectOf('events', Object.assign({}, ...pages.map(filesOf)))
    await compile(dir, jsonIn('docs/recipes/using.md').compilerOptions)
    const code = `
      import { channel } from 'node:diagnostics_channel'
      import './deadlocks.js'
      import './waits.js'
      channel('boxoffice:deadlock').publish({ reason: 'a cycle' })
      channel('boxoffice:admit').publish({ name: 'seats', key: 'A7', waited: 2000 })`
    writeFileSync(path.join(dir, 'out', 'publish.js'), code)
    const file = path.join(dir, 'out', 'publish.js')
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file])
    assert.deepEqual([stdout, stderr], ['seats A7 after 2000 ms\n', 'a cycle\n'])
  })
})

describe('the recipe of locks in tests', function () {
  this.timeout(60_000)

  it('has a test whose timeout fires by the fake clock', async () => {
    const dir = projectOf('testing', filesOf('docs/recipes/testing.md'))
    const args = ['--test-reporter=tap', path.join(dir, 'stock.test.mjs')]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    assert.match(stdout, /^ok 1 - a request gives up/m)
    assert.doesNotMatch(stdout, /^not ok/m)
  })

  it('has a check that finds the held locks of its own thread only', async () => {
    const blocks = blocksIn(read('docs/recipes/testing.md'))
    const program = `import assert from 'node:assert/strict'
      import { once } from 'node:events'
      import { isMainThread, Worker } from 'node:worker_threads'
      import { Mutex } from 'boxoffice'
      ${blocks.find((code) => code.includes('checkThatNoneIsHeld'))}
      if (isMainThread) {
        const release = await new Mutex({ name: 'till' }).acquire()
        const [code] = await once(new Worker(new URL(import.meta.url)), 'exit')
        assert.equal(code, 0)
        await assert.rejects(checkThatNoneIsHeld(), /'till'/)
        release()
      }
      await checkThatNoneIsHeld()`
    const dir = projectOf('held', { 'held.mjs': program })
    const env = { BOXOFFICE_DIAGNOSTICS: 'counters' }
    const { code, stderr } = await run([path.join(dir, 'held.mjs')], { env })
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  })
})

describe('the recipe of a worker pool', function () {
  this.timeout(60_000)
  const files = filesOf('docs/recipes/worker-pool.md')

  it('reads no table that is half changed', async () => {
    const { code, signal, stderr } = await run([path.join(projectOf('pool', files), 'main.mjs')])
    assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
  })
})
