'use strict'
// The published package in Next.js: route handlers of a build, and of its standalone server in
// another folder, and a page that shares a module with them.
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { cpSync, mkdtempSync, rmSync } = require('node:fs')
const { createServer } = require('node:net')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { documented, pack, projectWith, run, together } = require('./helpers.js')

// Turbopack runs this module once for the page, and again for the route handler.
const shared = `import { Mutex } from 'boxoffice'
const mutex = new Mutex({ name: 'shared' })
const counts = (globalThis.counts ??= { inside: 0, most: 0, calls: 0 })
export const visit = () => mutex.runExclusive(async () => {
  counts.most = Math.max(counts.most, ++counts.inside)
  await new Promise((resolve) => setTimeout(resolve, 20))
  counts.inside--
  counts.calls++
  return counts
})
`
const handler = (lock) => `import { Mutex } from 'boxoffice'
export const dynamic = 'force-dynamic'
const sold = { tickets: 0 }
export const GET = () => new Mutex(${lock}).runExclusive(async () => Response.json(++sold.tickets))
`
const config = documented().files['next.config.mjs']
const inspector = 'app/locks/[[...path]]/route.js'
const files = {
  'app/layout.js':
    'export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html> }',
  'app/page.js': 'export default function Page() { return <p>tickets</p> }',
  'app/shared.js': shared,
  'app/page/page.js': `import { visit } from '../shared.js'
export const dynamic = 'force-dynamic'
export default async function Page() { return <p>{(await visit()).calls}</p> }`,
  'app/visit/route.js': `import { visit } from '../shared.js'
export const dynamic = 'force-dynamic'
export const GET = async () => Response.json(await visit())`,
  'app/edge/route.js': `export const runtime = 'edge'\n${handler('')}`,
  'app/thread/route.js': handler(''),
  'app/named/route.js': handler("{ name: 'tickets' }"),
  [inspector]: documented('inspector.md').files[inspector],
  'app/auth.js':
    "export const isOperator = async ({ headers }) => headers.get('authorization') === 'ops'",
  // The folder is inside this repository, which has a lock file of its own.
  'next.config.mjs': config.replace(/}\n$/, '  outputFileTracingRoot: import.meta.dirname,\n}\n'),
}

describe('the package, in Next.js', function () {
  this.timeout(600_000)
  before(pack)

  async function serves(version) {
    const react = { react: '19', 'react-dom': '19' }
    const dir = await projectWith(`install-next${version}`, { next: version, ...react }, files)
    await run(dir, process.execPath, ['node_modules/next/dist/bin/next', 'build'])
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'boxoffice-next-'))
    cpSync(path.join(dir, '.next', 'standalone'), elsewhere, { recursive: true })
    const port = await freePort()
    const server = spawn(process.execPath, ['server.js'], {
      cwd: elsewhere,
      env: {
        ...process.env,
        BOXOFFICE_BINARY: '',
        HOSTNAME: '127.0.0.1',
        PORT: `${port}`,
        NO_COLOR: '1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(server, 'exit')
    try {
      await isReady(server)
      for (const route of ['thread', 'named', 'edge']) {
        const answer = await fetch(`http://127.0.0.1:${port}/${route}`)
        assert.deepEqual([answer.status, await answer.text()], [200, '1'])
      }
      await excludes(`http://127.0.0.1:${port}`)
      await showsLocks(`http://127.0.0.1:${port}/locks`)
    } finally {
      server.kill()
      await ended
      rmSync(elsewhere, { recursive: true })
    }
  }

  /** A named lock of a module that runs more than once. */
  async function excludes(base) {
    const visits = Array.from({ length: 20 }, (_, i) =>
      fetch(`${base}/${i % 2 ? 'page' : 'visit'}`),
    )
    for (const { status } of await Promise.all(visits)) assert.equal(status, 200)
    const counts = await (await fetch(`${base}/visit`)).json()
    assert.deepEqual(counts, { inside: 0, most: 1, calls: 21 })
  }

  /** The inspector, behind an access check. */
  async function showsLocks(url) {
    const headers = { authorization: 'ops' }
    assert.equal((await fetch(url)).status, 403)
    assert.match(await (await fetch(url, { headers })).text(), /^<!doctype html>/)
    assert.ok((await (await fetch(`${url}/data`, { headers })).json()).pid > 0)
  }

  /** A port without a server: a standalone server takes 0 for 3000. */
  async function freePort() {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address()
    server.close()
    await once(server, 'close')
    return port
  }

  /** Resolves when the server reports that it is ready. */
  function isReady(server) {
    return new Promise((resolve, reject) => {
      let shown = ''
      server.stdout.on('data', (chunk) => {
        shown += chunk
        if (/Ready in/.test(shown)) resolve()
      })
      server.on('exit', () => reject(new Error(`the server has ended: ${shown}`)))
    })
  }

  together({
    'serves locks from the route handlers of version 15': () => serves('15'),
    'serves locks from the route handlers of version 16': () => serves('16'),
  })
})
