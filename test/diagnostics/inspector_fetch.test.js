'use strict'
// The inspector for servers of the fetch style answers a Request as the one for node:http answers
// the same request.
const assert = require('node:assert/strict')
const { fetchInspector } = require('boxoffice/inspector')
const { makeFetchInspector } = require('../../lib/diagnostics/inspector/fetch.js')
const { makeInspector } = require('../../lib/diagnostics/inspector/handler.js')
const { ask, closeServers, serve, snapshotOf } = require('../helpers/inspected.js')

const source = async () => snapshotOf()
const here = { remoteAddress: '127.0.0.1' }

/** The answer to a Request, in the form that ask() returns. */
async function answerOf(
  inspect,
  path,
  { from = here, url = 'http://localhost:3000', ...how } = {},
) {
  const response = await inspect(new Request(url + path, how), from)
  const headers = Object.fromEntries(response.headers)
  return { status: response.status, headers, body: await response.text() }
}

describe('the inspector of the fetch style', () => {
  afterEach(closeServers)

  it('answers as the one for node:http does', async () => {
    const inspect = makeFetchInspector(source)
    const server = await serve(makeInspector(source))
    const url = `http://localhost:${server.port}`
    const { host } = new URL(url)
    const requests = [
      ...['/', '/locks', '/a/b/', '/?filter=ada&top=5', '/data', '/locks/data?top=5'].map(
        (path) => [path],
      ),
      ...['/data?top=0', '/data?x=1', '/locks/%zz', '/data?top=1&top=2'].map((path) => [path]),
      ...['HEAD', 'POST', 'DELETE', 'OPTIONS'].map((method) => ['/data', { method }]),
      ...[{ origin: 'https://evil.example' }, { origin: url }, { via: '1.1 a' }].map((headers) => [
        ...['/data', { headers: { host, ...headers } }],
      ]),
      ...['evil.example', '10.0.0.1:80', 'a b', '[::1]:1'].map((name) => [
        ...['/data', { headers: { host: name } }],
      ]),
    ]
    for (const [path, how = {}] of requests) {
      const { headers, ...expected } = await ask(server, path, { headers: { host }, ...how })
      const { date, connection, 'keep-alive': _, ...own } = headers
      const answer = await answerOf(inspect, path, { url, ...how })
      assert.deepEqual(answer, { ...expected, headers: own }, `${path} ${JSON.stringify(how)}`)
    }
  })

  it('uses the host of the URL if the request has no Host', async () => {
    const inspect = makeFetchInspector(source, { hosts: ['ops.example.com'] })
    assert.equal((await answerOf(inspect, '/data')).status, 200)
    assert.equal((await answerOf(inspect, '/data', { url: 'https://ops.example.com' })).status, 200)
    assert.equal((await answerOf(inspect, '/data', { url: 'http://evil.example' })).status, 403)
    const headers = { host: 'evil.example' }
    assert.equal((await answerOf(inspect, '/data', { headers })).status, 403)
  })

  it('refuses senders on other machines, and senders unknown to the server', async () => {
    const local = makeFetchInspector(source)
    const any = makeFetchInspector(source, { allowRemote: true })
    const refusals = { '10.1.2.3': /allowRemote/, '::2': /allowRemote/, undefined: /remoteAddress/ }
    for (const [address, message] of Object.entries(refusals)) {
      const from = { remoteAddress: address === 'undefined' ? undefined : address }
      const { status, body } = await answerOf(local, '/data', { from })
      assert.equal(status, 403, address)
      assert.match(body, message)
      assert.equal((await answerOf(any, '/data', { from })).status, 200)
    }
    for (const remoteAddress of ['127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      assert.equal((await answerOf(local, '/data', { from: { remoteAddress } })).status, 200)
    }
    assert.equal((await local(new Request('http://localhost/data'))).status, 403)
    // As Bun gives its server, and Next.js its parameters.
    assert.equal((await local(new Request('http://localhost/data'), { params: {} })).status, 403)
    const request = new Request('http://localhost/data')
    await assert.rejects(local(request, '127.0.0.1'), { name: 'TypeError', message: /an object/ })
  })

  it('answers 500 when the locks cannot be read, and tries again', async () => {
    let reads = 0
    const inspect = makeFetchInspector(async () => {
      if (reads++ === 0) throw new Error('no thread answers')
      return snapshotOf()
    })
    const { status, body } = await answerOf(inspect, '/data')
    assert.deepEqual([status, body], [500, 'The locks cannot be read: no thread answers\n'])
    assert.equal((await answerOf(inspect, '/data')).status, 200)
  })

  it('checks its options at once, and reads the locks of this process', async () => {
    assert.throws(() => fetchInspector({ allowRemote: 1 }), { name: 'TypeError' })
    assert.throws(() => fetchInspector({ hosts: ['a:80'] }), { name: 'RangeError' })
    const { body } = await answerOf(fetchInspector(), '/locks/data')
    assert.equal(JSON.parse(body).pid, process.pid)
  })
})
