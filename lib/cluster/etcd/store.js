'use strict'
// Sends commands to etcd, and keeps what this process knows of the keys. Each command is a transaction, which writes a
// plan or answers with the current state. A call of the engine, which may need several transactions, is a run:
//
//   request   the request of the engine
//   session   the session that must exist, or undefined
//   isToJoin  whether the next transaction that does not write a plan adds the request to the queue
//   isSure    whether this run knows that the request is in the queue
//   isRead    whether the view was read from etcd during this run
//   own       the request's entry in the queue when the view was read, which only shows the start of the queue
//   rest      the lease of a rest that may begin
const { now } = require('../clock.js')
const { sessionLease } = require('./client.js')
const { committedView, joining, transactionOf, wantedMessages } = require('./commit.js')
const { sessionOf } = require('./names.js')
const { Plan } = require('./plan.js')
const { Proof } = require('./proof.js')
const { openSession } = require('./session.js')
const { entryRead, readsOf, readEntry, Sightings, viewOf } = require('./view.js')

/** The longest time in ms from the making of a rest's lease to the grant of the lock. */
const restMargin = 1000
/** The most messages in one transaction, which has room for 128 operations. */
const mostMessages = 100
/** The assumed ttl of a session, in ms, until its real ttl is known. */
const usualTtl = 5000

/**
 * For how many seconds etcd refuses a request that has left; and for how many ms one lease is used for such requests.
 */
const goneTime = 600
const goneReuse = 300_000

const isLeaseGone = ({ message }) => message.includes('requested lease not found')

class Store {
  session
  /** The epoch of etcd's data at the last look. */
  epoch
  /** The ttl of each session by its id; undefined until the sessions are known. */
  sessions
  /** The revision of the last event of `sessions`. */
  sessionsAt = 0
  /** The views of the keys that the session holds. */
  views = new Map()
  proof = new Proof()
  #client
  #names
  #sightings = new Sightings()
  #goneLease

  constructor(client, names) {
    this.#client = client
    this.#names = names
  }

  open(session, ttl) {
    return openSession(this.#client, this.#names, session, ttl)
  }

  begin(session) {
    this.session = session
    this.views.clear()
  }

  /** Replaces the view of the key by the one of another session, which has just joined the queue, if that is newer. */
  merge(key, view) {
    const own = this.views.get(key)
    if (own === undefined) return
    if (own.revision <= view.revision && own.lock.mod <= view.lock.mod) this.keep(key, view)
  }

  /** Notes what `view` shows, and keeps it if this session holds the key. */
  keep(key, view) {
    this.#sightings.note(key, view, now())
    const isOurs = view.lock.holders.some(({ id }) => sessionOf(id) === this.session)
    if (isOurs) this.views.set(key, view)
    else this.views.delete(key)
  }

  planOf(view, { request: { claim, minHold }, own }) {
    const isDead = (session) =>
      session !== this.session && this.sessions !== undefined && !this.sessions.has(session)
    return new Plan(view, { time: now(), claim, minHold, own, isDead })
  }

  /** Resolves to { succeeded, view }: the view after the transaction, or undefined if the session has ended. */
  async commit(run, plan) {
    const { request, session } = run
    const { key } = request
    const dead = [...plan.dead]
    const restLease = plan.restTime > 0 ? await this.#beginRest(run, plan.restTime) : undefined
    const failure = this.#readsFor(run, dead)
    const own = request.id
    const words = { own, session, restLease, failure }
    const answer = await this.#try(run, transactionOf(this.#names, key, plan, words))
    if (answer === undefined) return { succeeded: false, view: undefined }
    if (!answer.succeeded) return { succeeded: false, view: this.#readView(run, answer, dead) }
    if (restLease !== undefined) run.rest = undefined
    run.isRead = true
    run.own = readEntry(answer.responses.at(-2))
    const view = committedView(plan, answer)
    this.keep(key, view)
    return { succeeded: true, view }
  }

  async read(run) {
    const answer = await this.#try(run, { success: this.#readsFor(run, []) })
    return answer && this.#readView(run, answer, [])
  }

  /** The reads of a transaction. If the request is to join, the write that adds it to the queue comes first. */
  #readsFor({ request, session, isToJoin }, dead) {
    const names = this.#names
    const isThere = [session, ...dead].filter((one) => one !== undefined)
    const first = isToJoin ? [joining(names, request.key, request)] : []
    const sessions = isThere.map((one) => ({ request_range: { key: names.session(one) } }))
    const own = entryRead(names, request.key, request.id)
    return [...first, ...readsOf(names, request.key), own, ...sessions]
  }

  #readView(run, { header, responses }, dead) {
    const { request, session, isToJoin } = run
    const reads = isToJoin ? responses.slice(1) : responses
    run.isRead = true
    if (isToJoin) {
      run.isSure = true
      run.isToJoin = false
    }
    run.own = readEntry(reads[5])
    const there = reads.slice(6).map(({ response_range: range }) => range.kvs.length > 0)
    if (session !== undefined && !there.shift()) return undefined
    // Add sessions that have begun without a notification so far, unless a newer event may have removed them.
    if (Number(header.revision) >= this.sessionsAt)
      for (const [i, isThere] of there.entries()) if (isThere) this.sessions?.set(dead[i], usualTtl)
    const view = viewOf(reads, Number(header.revision))
    if (view === undefined) return undefined
    this.epoch = view.epoch
    this.keep(request.key, view)
    return view
  }

  /** As transact(), but resolves to undefined if the session of the run has ended. */
  async #try({ session }, transaction) {
    try {
      return await this.transact(transaction)
    } catch (error) {
      if (session === undefined || !isLeaseGone(error)) throw error
      const key = this.#names.session(session)
      const { responses } = await this.transact({ success: [{ request_range: { key } }] })
      if (responses[0].response_range.kvs.length > 0) throw error
      return undefined
    }
  }

  async transact(transaction) {
    const sent = now()
    const answer = await this.#client.kv.txn(transaction)
    this.proof.note(sent, Number(answer.header.revision))
    return answer
  }

  /** Resolves to a lease that ends after a rest that begins now. It replaces the one of an earlier attempt. */
  async #beginRest(run, time) {
    this.endRest(run)
    const TTL = Math.ceil((time + restMargin) / 1000)
    const { ID } = await this.#client.leaseClient.leaseGrant({ TTL })
    run.rest = ID
    return ID
  }

  /** Revokes the lease of a rest that has not begun. If that fails, the lease expires. */
  endRest(run) {
    if (run.rest === undefined) return
    this.#client.leaseClient.leaseRevoke({ ID: run.rest }).catch(() => {})
    run.rest = undefined
  }

  /** Makes etcd refuse the request `id`, because a command of it may still reach a server. */
  async refuse(id) {
    const time = now()
    if (this.#goneLease === undefined || time - this.#goneLease.sent > goneReuse) {
      const granted = this.#client.leaseClient.leaseGrant({ TTL: goneTime })
      this.#goneLease = { sent: time, granted }
    }
    const lease = this.#goneLease
    try {
      const { ID } = await lease.granted
      const entry = { key: this.#names.gone(id), value: Buffer.alloc(0), lease: ID }
      await this.transact({ success: [{ request_put: entry }] })
    } catch (error) {
      // The lease may be missing, after a loss of data. The next attempt makes another one.
      if (this.#goneLease === lease) this.#goneLease = undefined
      throw error
    }
  }

  /** Tells holders that a request waits for them. */
  async tellHolders(key, view, sessions) {
    const messages = wantedMessages(this.#names, key, view, [...sessions])
    for (let i = 0; i < messages.length; i += mostMessages)
      await this.transact({ success: messages.slice(i, i + mostMessages) })
  }

  async end(session) {
    try {
      await this.#client.leaseClient.leaseRevoke({ ID: sessionLease(session) })
    } catch (error) {
      if (!isLeaseGone(error)) throw error
    }
  }

  /** Whether this process is connected to all servers, so that it would send a command at once. */
  isReady() {
    const ready = 2
    const stateOf = (host) => host.getServiceClient('KV').getChannel().getConnectivityState(true)
    return this.#client.pool.hosts.every((host) => stateOf(host) === ready)
  }

  close() {
    this.#client.close()
  }
}

module.exports = { Store }
