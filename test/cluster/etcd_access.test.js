'use strict'
// An etcd that encrypts its connections, or restricts access.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { randomUUID } = require('node:crypto')
const { once } = require('node:events')
const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { createServer } = require('node:net')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { Etcd3 } = require('etcd3')
const { KeyedMutex } = require('../..')
const { etcd } = require('../../lib/cluster/etcd')
const { certificateOf } = require('./helpers/certificates.js')
const { useEnds } = require('./helpers/ends.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { warmUp } = require('./helpers/warm_up.js')
const { run } = require('../helpers/processes.js')

describe('etcd with restricted access', function () {
  this.timeout(60_000)
  this.slow(10_000)
  const ends = useEnds()

  /** A server that is closed after the test. */
  async function serverOf(how) {
    const server = await etcdServer(how)
    ends.push(() => server.close())
    return server
  }

  function mutexOf(client, options) {
    const engine = etcd(client, options)
    ends.push(async () => {
      await engine.close().catch(() => {})
      client.close()
    })
    return new KeyedMutex({ engine })
  }

  it('is used over TLS, by the certificates of the client', async () => {
    const { ca, crt, key, remove } = certificateOf('127.0.0.1')
    ends.push(remove)
    const certificates = ['--cert-file', crt, '--key-file', key, '--trusted-ca-file', ca]
    const options = [...certificates, '--client-cert-auth']
    const server = await serverOf({ scheme: 'https', options })
    const credentials = {
      rootCertificate: readFileSync(ca),
      privateKey: readFileSync(key),
      certChain: readFileSync(crt),
    }
    // By a name: Node 26 refuses an address as the name of a TLS server.
    const hosts = `https://localhost:${server.port}`
    const mutex = mutexOf(new Etcd3({ hosts, credentials }), { answerTimeout: 20_000 })
    ;(await mutex.acquire(randomUUID()))()
  })

  it('does not keep a process alive that has closed it, though a server is silent in the TLS handshake', async () => {
    const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    ends.push(async () => silent.close())
    const code = `
      const { Etcd3 } = require('etcd3')
      const { KeyedMutex } = require('boxoffice')
      const { etcd } = require('boxoffice/etcd')
      const client = new Etcd3({ hosts: 'https://localhost:${silent.address().port}' })
      async function main(engine) {
        await new KeyedMutex({ engine }).acquire('k').catch(({ code }) => console.log(JSON.stringify(code)))
        await engine.close()
        client.close()
      }
      main(etcd(client, { answerTimeout: 500 }))`
    const { code: status, shown } = await run(['-e', code], { timeout: 20_000 })
    assert.deepEqual({ status, shown }, { status: 0, shown: ['ERR_LOCK_ENGINE'] })
  })

  /** A server with the user `joe`, who has the documented rights, and a client of its administrator. */
  async function serverWithUsers(...options) {
    const server = await serverOf({ options: ['--bcrypt-cost', '4', ...options] })
    const hosts = `http://127.0.0.1:${server.port}`
    const setUp = new Etcd3({ hosts })
    for (const name of ['root', 'joe']) {
      await setUp.role(name).create()
      await setUp.user(name).create(name)
      await setUp.user(name).addRole(name)
    }
    const range = { key: Buffer.from('boxoffice/'), range_end: Buffer.from('boxoffice0') }
    await setUp.auth.roleGrantPermission({ name: 'joe', perm: { permType: 'Readwrite', ...range } })
    await setUp.auth.authEnable()
    setUp.close()
    const root = new Etcd3({ hosts, auth: { username: 'root', password: 'root' } })
    ends.push(() => root.close())
    return { hosts, root }
  }

  const joe = { username: 'joe', password: 'joe' }

  it('grants to a user with the documented rights, across hand-offs and lost sessions', async () => {
    const { hosts, root } = await serverWithUsers()
    const [a, b] = [1, 2].map(() => mutexOf(new Etcd3({ hosts, auth: joe }), { ttl: 1000 }))
    const release = await a.acquire('k')
    const waiting = b.acquire('k')
    release()
    const next = await waiting
    const lost = new Promise((resolve) => next.signal.addEventListener('abort', resolve))
    await root.delete().prefix('boxoffice/session/')
    await lost
    next()
    for (const mutex of [a, b]) (await mutex.acquire('k', { timeout: 20_000 }))()
  })

  it('names the rights that the user lacks', async () => {
    const { hosts, root } = await serverWithUsers()
    const range = { key: Buffer.from('boxoffice/'), range_end: Buffer.from('boxoffice0') }
    const lackIn = async (doing) =>
      assert.rejects(doing, ({ code, cause }) => {
        assert.equal(code, 'ERR_LOCK_ENGINE')
        assert.match(cause.message, /permission denied: .* needs the rights to read and write all/)
        assert.match(cause.message, /role grant-permission <role> readwrite boxoffice\/ --prefix/)
        return true
      })
    await root.auth.roleRevokePermission({ role: 'joe', ...range })
    await lackIn(mutexOf(new Etcd3({ hosts, auth: joe }), { answerTimeout: 1000 }).acquire('k'))
    // Reading does not suffice, also for the renewing thread, which opens a short session.
    await root.auth.roleGrantPermission({ name: 'joe', perm: { permType: 'Read', ...range } })
    const short = { answerTimeout: 1000, ttl: 1000 }
    await lackIn(mutexOf(new Etcd3({ hosts, auth: joe }), short).acquire('k'))
  })

  it('rejects with the error of a wrong password', async () => {
    const { hosts } = await serverWithUsers()
    const auth = { ...joe, password: 'wrong' }
    const mutex = mutexOf(new Etcd3({ hosts, auth }), { answerTimeout: 2000 })
    await assert.rejects(mutex.acquire('k'), ({ code, cause }) => {
      assert.equal(code, 'ERR_LOCK_ENGINE')
      assert.match(cause.message, /authentication failed/)
      return true
    })
  })

  it('logs in again when its tokens are out of date', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'boxoffice-jwt-'))
    ends.push(async () => rmSync(directory, { recursive: true }))
    const [secret, open] = ['secret', 'public'].map((name) => join(directory, name))
    execFileSync('openssl', ['genrsa', '-out', secret, '2048'], { stdio: 'pipe' })
    execFileSync('openssl', ['rsa', '-in', secret, '-pubout', '-out', open], { stdio: 'pipe' })
    const keys = `pub-key=${open},priv-key=${secret}`
    const { hosts, root } = await serverWithUsers('--auth-token', `jwt,${keys},sign-method=RS256`)
    const mutex = mutexOf(new Etcd3({ hosts, auth: joe }))
    ;(await mutex.acquire('k', { timeout: 20_000 }))()
    await root.user('eve').create('eve')
    ;(await mutex.acquire('k', { timeout: 20_000 }))()
  })

  it('logs in at another server when the first one does not answer', async () => {
    const { hosts } = await serverWithUsers()
    const sockets = []
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    ends.push(async () => {
      for (const socket of sockets) socket.destroy()
      silent.close()
    })
    const both = [`http://127.0.0.1:${silent.address().port}`, hosts]
    await warmUp(mutexOf(new Etcd3({ hosts: both, auth: joe })))
  })
})
