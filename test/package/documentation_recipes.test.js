'use strict'
// The recipes that are servers, or files of a project of their own, by what their pages say.
// Those that are examples: documentation.test.js.
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { createAdaptorServer } = require('@hono/node-server')
const { read } = require('../helpers/documents.js')
const { blocksIn } = require('../helpers/examples.js')
const { run } = require('../helpers/processes.js')
const { compile, filesOf, jsonIn, projectOf } = require('../helpers/recipe_projects.js')

const compiled = (dir, name) => import(pathToFileURL(path.join(dir, 'out', name)).href)

describe('the recipe of one request per user', function () {
  this.timeout(60_000)
  const page = 'docs/recipes/per-user-lock.md'
  const hurried = (code) => code.replaceAll('timeout: 2000', 'timeout: 50')

  /** A shop that sells to ada until `end()`, to eve never, and to others at once. */
  function shop() {
    const sale = new EventEmitter()
    const begun = once(sale, 'begin')
    const sell = async (user) => {
      if (user === 'eve') throw new Error('no seat is left')
      if (user === 'ada') {
        sale.emit('begin')
        await once(sale, 'end')
      }
      return { user }
    }
    return { begun, end: () => sale.emit('end'), sell }
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
    assert.equal((await buy('eve')).status, 500)
  }

  /** The `app` of the page's block for a framework, which sells what the shop has. */
  function appOf(framework, { sell }) {
    const block = blocksIn(read(page)).find((code) => code.includes(`require('${framework}')`))
    return new Function('require', 'sell', `${hurried(block)}\nreturn app`)(require, sell)
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
    const app = appOf('express', tickets)
    app.set('env', 'test') // It prints no errors.
    await checkServer(require('node:http').createServer(app), tickets)
  })

  it('answers the second one with 503 in Fastify', async () => {
    const tickets = shop()
    const app = appOf('fastify', tickets)
    try {
      await checkTurns(await app.listen({ port: 0, host: '127.0.0.1' }), tickets)
    } finally {
      await app.close()
    }
  })

  it('answers the second one with 503 in Hono', async () => {
    const tickets = shop()
    const { fetch } = appOf('hono', tickets)
    await checkServer(createAdaptorServer({ fetch }), tickets)
  })

  it('answers the second one with 503 in NestJS', async () => {
    const dir = projectOf('nest', {
      'app.module.ts': hurried(filesOf(page)['app.module.ts']),
      'tickets.ts': `export const shop = { sell: async (user: string): Promise<unknown> => user }
        export const sell = (user: string) => shop.sell(user)`,
      'main.ts': `import 'reflect-metadata'
        import { NestFactory } from '@nestjs/core'
        import { AppModule } from './app.module.js'
        export const start = () => NestFactory.create(AppModule, { logger: false })`,
    })
    const decorators = { experimentalDecorators: true, emitDecoratorMetadata: true }
    const modules = { module: 'nodenext', target: 'es2022', types: ['node'], strict: true }
    await compile(dir, { ...decorators, ...modules })
    const tickets = shop()
    Object.assign((await compiled(dir, 'tickets.js')).shop, { sell: tickets.sell })
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

  it('releases its locks, whichever way its function ends', async () => {
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

  it('does not compile where await is missing', async () => {
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

describe('the recipe of a worker pool', function () {
  this.timeout(60_000)
  const files = filesOf('docs/recipes/worker-pool.md')

  it('reads no table that is half changed', async () => {
    const { code, signal, stderr } = await run([path.join(projectOf('pool', files), 'main.mjs')])
    assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
  })
})
