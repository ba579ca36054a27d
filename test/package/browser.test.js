'use strict'
// Tests of locks of one thread on boxoffice/local, bundled by esbuild, in headless Chromium.
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { createServer } = require('node:http')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { json } = require('node:stream/consumers')
const esbuild = require('esbuild')

const root = path.join(__dirname, '..', '..')
const files = [
  'compatibility',
  'decorators',
  'keyed_mutex',
  'mutex_async',
  'rw_lock',
  'semaphore',
  'semaphore_model',
  'single_flight',
  'wait_limits',
]
/** They need AsyncLocalStorage, which browsers do not have, or the wider scopes. */
const leftOut = /async context|of Node\.js/

const helpers = path.join(root, 'test', 'helpers')
const replaced = {
  'node:assert/strict': path.join(helpers, 'browser_assert.js'),
  'node:events': path.join(helpers, 'browser_page.js'),
  '../..': path.join(root, 'lib', 'locks', 'index.mjs'),
}
const inBrowser = {
  name: 'in a browser',
  setup(build) {
    build.onResolve({ filter: /^(?:node:|\.\.\/\.\.$)/ }, ({ path: name }) =>
      replaced[name] ? { path: replaced[name] } : { path: name, namespace: 'none' },
    )
    build.onLoad({ filter: /./, namespace: 'none' }, () => ({ contents: 'module.exports = {}' }))
  },
}

async function bundled() {
  const all = ['helpers/browser_page.js', ...files.map((name) => `thread/${name}.test.js`)]
  const contents = all.map((file) => `require('./${file}')`).join('\n')
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: path.join(root, 'test') },
    bundle: true,
    define: { global: 'globalThis' },
    plugins: [inBrowser],
    write: false,
  })
  return outputFiles[0].text
}

const page = `<script src="/mocha.js"></script>
  <script>
    mocha.setup({ ui: 'bdd', reporter: 'min', timeout: 60000, grep: ${leftOut}, invert: true })
    const failures = []
    addEventListener('error', ({ message }) => failures.push(message))
  </script>
  <script src="/tests.js"></script>
  <script>
    let passes = 0
    mocha.run()
      .on('pass', () => passes++)
      .on('fail', (test, error) => failures.push(test.fullTitle() + ': ' + error.stack))
      .on('end', () => fetch('/done', { method: 'POST', body: JSON.stringify({ passes, failures }) }))
  </script>`

describe('boxoffice/local in Chromium', function () {
  this.timeout(300_000)
  let directory
  let server
  let browser
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-'))
  })
  after(async () => {
    server?.close()
    if (browser.exitCode === null && browser.signalCode === null) {
      // Its other processes write to the directory, too.
      process.kill(-browser.pid, 'SIGKILL')
      await once(browser, 'exit')
    }
    rmSync(directory, { recursive: true, maxRetries: 10 })
  })

  it('passes the tests of one thread that need no Node.js', async () => {
    const texts = {
      '/': page,
      '/mocha.js': readFileSync(path.join(root, 'node_modules', 'mocha', 'mocha.js')),
      '/tests.js': await bundled(),
    }
    const { promise, resolve } = withResolvers()
    server = createServer((request, response) => {
      if (request.method === 'POST') resolve(json(request))
      const type = request.url === '/' ? 'text/html' : 'text/javascript'
      response.setHeader('content-type', `${type}; charset=utf-8`)
      response.end(texts[request.url] ?? '')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${server.address().port}/`
    const args = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${directory}`]
    browser = spawn('chromium', [...args, url], { stdio: 'ignore', detached: true })
    const early = once(browser, 'exit').then(() => assert.fail('Chromium has ended'))
    const { passes, failures } = await Promise.race([promise, early])
    assert.deepEqual(failures, [])
    assert.ok(passes > 400, `${passes} tests`)
  })
})

function withResolvers() {
  let resolve
  const promise = new Promise((given) => {
    resolve = given
  })
  return { promise, resolve }
}
