'use strict'
// The inspector as a request handler: which requests it answers, and how. The ticket shop's tests
// view its page in Chromium.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { mkdtemp, rm } = require('node:fs/promises')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const net = require('node:net')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { Duplex } = require('node:stream')
const tls = require('node:tls')
const { makeInspector } = require('../../lib/diagnostics/inspector/handler.js')
const { ask, closeServers, serve, snapshotOf } = require('../helpers/inspected.js')

const inspectorOf = (snapshot, options) => makeInspector(async () => snapshot, options)
function deferred() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}
const serveEmpty = (options) => serve(inspectorOf(snapshotOf(), options))

/** TLS without a certificate. */
const anonymous = {
  ciphers: 'AECDH-AES256-SHA@SECLEVEL=0',
  maxVersion: 'TLSv1.2',
  rejectUnauthorized: false,
}

/** Two streams, each of which reads what the other one writes. */
function duplexes() {
  const half = () =>
    new Duplex({
      read() {},
      write(chunk, _, done) {
        this.other.push(chunk)
        done()
      },
      final(done) {
        this.other.push(null)
        done()
      },
    })
  const [one, other] = [half(), half()]
  return [Object.assign(one, { other }), Object.assign(other, { other: one })]
}

/** The status of the answer to a request for the data through `socket`. */
async function statusOf(socket) {
  socket.write('GET /data HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const [chunk] = await once(socket, 'data')
  socket.destroy()
  return String(chunk).split('\r\n', 1)[0]
}

describe('the inspector', () => {
  afterEach(closeServers)

  describe('its routes', () => {
    it('are a page and its data, wherever it is mounted', async () => {
      const server = await serveEmpty()
      for (const path of ['/', '/locks', '/locks/', '/a/b/', '/?filter=ada&top=5']) {
        const { status, headers, body } = await ask(server, path)
        assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], path)
        assert.match(body, /^<!doctype html>/)
      }
      for (const path of ['/data', '/locks/data', '/a/b/data?top=5']) {
        const { status, headers, body } = await ask(server, path)
        const type = 'application/json; charset=utf-8'
        assert.deepEqual([status, headers['content-type']], [200, type], path)
        assert.equal(JSON.parse(body).pid, 5)
      }
    })

    it('are only these two if a router removes its prefix from the URL', async () => {
      const inspect = inspectorOf(snapshotOf())
      const server = await serve((request, response) => {
        const passed = (error) => response.end(`passed ${error}`)
        request.url = request.url.slice('/locks'.length) || '/'
        inspect(request, response, passed)
      })
      assert.match((await ask(server, '/locks')).body, /^<!doctype html>/)
      assert.match((await ask(server, '/locks/?filter=a')).body, /^<!doctype html>/)
      assert.equal(JSON.parse((await ask(server, '/locks/data')).body).pid, 5)
      for (const path of ['/locks/favicon.ico', '/locks/a/data', '/locks/data/']) {
        assert.equal((await ask(server, path)).body, 'passed undefined', path)
        assert.equal((await ask(server, path, { method: 'POST' })).body, 'passed undefined')
      }
    })

    it('answer HEAD as GET, without the body', async () => {
      const server = await serveEmpty()
      for (const path of ['/', '/data']) {
        const [get, head] = [await ask(server, path), await ask(server, path, { method: 'HEAD' })]
        const untimed = ({ headers: { date: _, ...headers } }) => headers
        assert.deepEqual(untimed(head), untimed(get))
        assert.deepEqual([head.status, head.body], [200, ''])
        assert.equal(Number(get.headers['content-length']), Buffer.byteLength(get.body))
      }
    })

    it('let the browser trust nothing but the page', async () => {
      const server = await serveEmpty()
      for (const path of ['/', '/data', '/data?no']) {
        const { headers } = await ask(server, path)
        const policy = headers['content-security-policy']
        assert.match(policy, /^default-src 'none'; script-src 'sha256-/)
        assert.match(policy, /frame-ancestors 'none'/)
        assert.doesNotMatch(policy, /unsafe|\*|http/)
        assert.equal(headers['x-content-type-options'], 'nosniff')
        assert.equal(headers['cache-control'], 'no-store')
        assert.equal(headers['referrer-policy'], 'no-referrer')
        assert.equal(headers['access-control-allow-origin'], undefined)
      }
      const { body } = await ask(server, '/')
      assert.doesNotMatch(body, /(?:src|href)="(?!data:)/) // it names no other resource
    })
  })

  describe('a response that the server has answered meanwhile', () => {
    const answers = {
      whole: (response) => response.writeHead(503).end('slow'),
      'without an explicit head': (response) => response.end('slow'),
      'in parts': (response) => {
        response.writeHead(503)
        response.write('slow')
        response.on('late', () => response.end('er'))
      },
    }
    for (const [how, answer] of Object.entries(answers)) {
      for (const outcome of ['a snapshot', 'an error']) {
        it(`stays as it is, ${how}, after ${outcome}`, async () => {
          const rejections = []
          const note = (reason) => rejections.push(reason)
          process.on('unhandledRejection', note)
          const read = deferred()
          const inspect = makeInspector(() => read.promise)
          const server = await serve(async (request, response) => {
            inspect(request, response)
            answer(response)
            if (outcome === 'an error') read.reject(new Error('unreadable'))
            else read.resolve(snapshotOf())
            // The report takes a turn of the event loop.
            for (let i = 0; i < 3; i++) await new Promise(setImmediate)
            response.emit('late')
          })
          assert.match((await ask(server, '/data')).body, /^slow(?:er)?$/)
          await new Promise(setImmediate)
          process.off('unhandledRejection', note)
          assert.deepEqual(rejections, [])
        })
      }
    }
  })

  describe('refuses', () => {
    const refuses = async (server, status, path, how) => {
      const answer = await ask(server, path, how)
      assert.equal(
        answer.status,
        status,
        `${path} ${JSON.stringify(how)}: ${answer.body.slice(0, 99)}`,
      )
      assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
      return answer
    }

    it('any request that would change state', async () => {
      const server = await serveEmpty()
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { headers } = await refuses(server, 405, '/data', { method })
        assert.equal(headers.allow, 'GET, HEAD')
      }
    })

    it('a Host of another machine, and accepts the hosts of this one', async () => {
      const server = await serveEmpty()
      const names = [
        'evil.example',
        'localhost.evil.example',
        '127.0.0.1.evil.example',
        'localhost.',
      ]
      names.push('10.0.0.1', '[::2]', '0.0.0.0', '128.0.0.1')
      for (const name of names) {
        await refuses(server, 403, '/data', { headers: { host: `${name}:3000` } })
        await refuses(server, 403, '/', { headers: { host: name } })
      }
      for (const host of [
        'localhost',
        'LOCALHOST:80',
        '127.0.0.1:3000',
        '127.1.2.3',
        '[::1]:3000',
      ]) {
        assert.equal((await ask(server, '/data', { headers: { host } })).status, 200, host)
      }
    })

    it('hosts other than the configured ones', async () => {
      const server = await serveEmpty({ hosts: ['Ops.Example.com', '10.0.0.1', '[fe80::1]'] })
      for (const host of ['ops.example.com:8080', 'OPS.example.com', '10.0.0.1', '[FE80::1]:1']) {
        assert.equal((await ask(server, '/data', { headers: { host } })).status, 200, host)
      }
      await refuses(server, 403, '/data', { headers: { host: 'example.com' } })
    })

    it('requests of other sites', async () => {
      const server = await serveEmpty()
      const host = `localhost:${server.port}`
      for (const site of ['cross-site', 'same-site', 'whatever']) {
        await refuses(server, 403, '/', { headers: { host, 'sec-fetch-site': site } })
      }
      for (const origin of [
        'https://evil.example',
        'null',
        'http://localhost:1',
        `http://${host}.x`,
      ]) {
        await refuses(server, 403, '/data', { headers: { host, origin } })
      }
      for (const headers of [
        { host, 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
        { host, 'sec-fetch-site': 'none' },
        { host, origin: `https://${host}` },
      ]) {
        assert.equal((await ask(server, '/data', { headers })).status, 200, JSON.stringify(headers))
      }
    })

    it('requests from another machine, or through a proxy for one, unless allowed', async () => {
      const headersOf = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host']
      headersOf.push('x-forwarded-proto', 'x-forwarded-port', 'x-forwarded-server', 'x-forwarded')
      headersOf.push('cf-connecting-ip', 'cf-connecting-ipv6', 'true-client-ip', 'x-client-ip')
      headersOf.push('x-cluster-client-ip', 'fastly-client-ip', 'fly-client-ip', 'forwarded-for')
      headersOf.push('x-envoy-external-address', 'x-vercel-forwarded-for', 'do-connecting-ip')
      const answerTo = (remoteAddress, options, headers = {}) =>
        new Promise((resolve) => {
          const request = {
            ...{ method: 'GET', url: '/data', socket: { remoteAddress } },
            headers: { host: 'localhost', ...headers },
          }
          const response = { writeHead: resolve, end() {} }
          inspectorOf(snapshotOf(), options)(request, response)
        })
      for (const address of [
        '10.1.2.3',
        '128.0.0.1',
        '::2',
        '::ffff:10.0.0.1',
        'fe80::1',
        '1::1',
        '127.0.0.1.9',
      ]) {
        assert.equal(await answerTo(address), 403, address)
        assert.equal(await answerTo(address, { allowRemote: true }), 200, address)
      }
      assert.equal(await answerTo(undefined), 403)
      for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
        assert.equal(await answerTo(address), 200, address)
        for (const header of headersOf) {
          assert.equal(await answerTo(address, {}, { [header]: '127.0.0.1' }), 403, header)
          assert.equal(await answerTo(address, { allowRemote: true }, { [header]: 'x' }), 200)
        }
      }
      assert.equal(await answerTo('10.1.2.3', { allowRemote: true }, { host: 'evil.example' }), 403)
    })

    it('a connection without an address, but for one through a Unix socket or a named pipe', async () => {
      const inspect = inspectorOf(snapshotOf())
      const directory = await mkdtemp(path.join(tmpdir(), 'boxoffice-'))
      const place =
        process.platform === 'win32'
          ? `\\\\.\\pipe\\${path.basename(directory)}`
          : path.join(directory, 'inspector')
      const servers = {
        http: [http.createServer(inspect), () => net.connect(place)],
        https: [
          https.createServer(anonymous, inspect),
          () => tls.connect({ ...anonymous, path: place }),
        ],
      }
      for (const [name, [server, connect]] of Object.entries(servers)) {
        server.listen(place)
        await once(server, 'listening')
        assert.match(await statusOf(connect()), /^HTTP.1.1 200/, name)
        const [ours, theirs] = duplexes()
        server.emit('connection', theirs)
        const client = name === 'http' ? ours : tls.connect({ ...anonymous, socket: ours })
        assert.match(await statusOf(client), /^HTTP.1.1 403/, name)
        server.close()
        await once(server, 'close')
      }
      const server = http2.createServer(inspect).listen(place)
      await once(server, 'listening')
      const session = http2.connect('http://localhost', {
        createConnection: () => net.connect(place),
      })
      const [headers] = await once(session.request({ ':path': '/data' }).resume(), 'response')
      assert.equal(headers[':status'], 200)
      session.close()
      server.close()
      await once(server, 'close')
      await rm(directory, { recursive: true })
    })

    it('malformed requests', async () => {
      const server = await serveEmpty()
      const paths = ['//evil.example/data', '/%', '/%ff/', '/locks/%zz', '/data?%', '/data?top=%f']
      paths.push('http://localhost/data', '/?top', '/data?top=0', '/data?top=-1', '/data?top=1.5')
      paths.push(
        '/data?top=100001',
        '/data?top=',
        '/data?top=1e3',
        '/data?top=0x10',
        '/data?',
        '/data?&',
      )
      paths.push(
        '/data?top=1&top=2',
        '/data?x=1',
        '/data?__proto__=1',
        `/data?filter=${'a'.repeat(201)}`,
      )
      for (const path of paths) {
        if (path === '/data?') assert.equal((await ask(server, path)).status, 200)
        else await refuses(server, 400, path)
      }
      for (const host of [
        'a b',
        'localhost:x',
        'localhost:123456',
        'user@localhost',
        '[::1',
        'a/b',
      ]) {
        await refuses(server, 400, '/data', { headers: { host } })
      }
      await refuses(server, 400, '/data', { headers: { host: 'localhost/' } })
    })

    it('bytes that are not HTTP, or not a host, and goes on', async () => {
      const server = await serveEmpty()
      for (const bytes of [
        'nonsense\r\n\r\n',
        'GET /data HTTP/1.1\r\nHost:\r\n\r\n',
        'GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n',
      ]) {
        const socket = net.connect(server.port, '127.0.0.1')
        socket.end(Buffer.from(bytes, 'latin1'))
        const [answer] = await once(socket.setEncoding('latin1'), 'data')
        assert.match(answer, /^HTTP\/1\.1 400 /)
        socket.destroy()
      }
      assert.equal((await ask(server, '/data')).status, 200)
    })

    it('invalid options', () => {
      const make = (options) => () => inspectorOf(snapshotOf(), options)
      assert.throws(make(null), {
        name: 'TypeError',
        message: 'options must be an object, not null',
      })
      assert.throws(make({ allowRemote: 1 }), { name: 'TypeError', message: /allowRemote/ })
      for (const hosts of ['localhost', [5], { 0: 'a' }]) {
        assert.throws(make({ hosts }), { name: 'TypeError', message: /hosts must be/ })
      }
      for (const host of ['', 'http://a', 'a:80', 'a/b', '*', '*.example.com', 'a b', '::1']) {
        assert.throws(make({ hosts: [host] }), { name: 'RangeError', message: /without a port/ })
      }
    })
  })
})
