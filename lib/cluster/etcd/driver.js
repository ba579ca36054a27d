'use strict'
// The driver for etcd: the top of ../engine.js describes drivers, and names.js the keys. A command takes the view of a
// key that this process has (view.js), plans the change (plan.js), and writes it in one transaction (commit.js). If the
// key has changed meanwhile, the transaction writes nothing, and its answer contains the new state.
const { checkType } = require('../../core/errors.js')
const { join } = require('node:path')
const { checkKnown, checkObject } = require('../../core/options.js')
const { now } = require('../clock.js')
const { Commands, ranks } = require('../commands.js')
const { engineOptions, readEngineOptions, timesOf } = require('../engine.js')
const { findPackage } = require('../find.js')
const { checkForThread } = require('../for_thread.js')
const { Subscription } = require('../subscription.js')
const { callTime, connectionOf, makeClient } = require('./client.js')
const { listeningWith } = require('./listening.js')
const { namesUnder, sessionOf } = require('./names.js')
const { planConfirm, planEnter, planLeave } = require('./plan.js')
const { Store } = require('./store.js')
const { entriesAhead, freeView, hasOthers, isHead, isWaiter, revive } = require('./view.js')

const etcdOptions = new Set([...engineOptions, 'prefix', 'connection'])

/** The longest time in ms until a waiter repeats its request. */
const longestLook = 5000
/** The most commands at once. etcd answers them in turn, so the last of thousands would miss its time limit. */
const mostCommands = 64

class Driver {
  name = 'etcd'
  keepsMinHold = true
  #store
  #subscription
  /** The last command of each key. The next one waits for it. */
  #turns = new Map()
  /** The ids of requests sent to etcd. */
  #known = new Set()
  /** The ids of requests with a failed command that a server may still execute. */
  #unsure = new Set()
  /** By the id of a waiting request: the `sessions` that it waits for, and whether the holders were told (`isTold`). */
  #waiting = new Map()
  /** By rank, and by key: the ids of requests that must still fetch their grant, and of requests that leave. */
  #urgent = [new Map(), new Map()]
  #commands
  /** The EngineListener. */
  #listener = {}

  /** `options` are those of etcd(). */
  constructor(client, options) {
    checkObject(options)
    checkKnown(options, etcdOptions)
    const { prefix: own = 'boxoffice' } = options
    checkType('prefix', own, 'string')
    const connection = connectionOf(client, options.connection)
    // A client.namespace() has a prefix, too.
    const prefix = `${client.prefix ?? ''}${own}`
    checkForThread(connection, 'etcd(client, { connection })')
    const { answerTimeout } = readEngineOptions(timesOf(options))
    const path = findPackage('etcd3', client)
    const etcd3 = require(path)
    const names = namesUnder(prefix)
    const time = callTime(answerTimeout)
    this.#store = new Store(makeClient(etcd3, connection, time, prefix), names)
    this.#commands = new Commands(mostCommands, time, () => this.#listener.moved?.())
    this.keeper = { module: join(__dirname, 'keeper.js'), data: { path, connection, prefix, time } }
    const listener = {
      onSessions: (all) => {
        this.#store.sessions = new Map(all)
      },
      onSession: (...event) => this.#onSession(...event),
      textsOf: (value, revision) => this.#textsOf(value, revision),
    }
    // If there are several servers, leave time to try the others.
    const patience = connection.hosts.length === 1 ? answerTimeout : time
    const make = listeningWith(etcd3, connection, names, patience, listener)
    this.#subscription = new Subscription(make, patience)
  }

  open(session, ttl) {
    return this.#store.open(session, ttl)
  }

  async listen(session, listener) {
    this.#listener = listener
    this.#store.begin(session)
    for (const all of [this.#known, this.#unsure, this.#waiting, ...this.#urgent]) all.clear()
    await this.#subscription.to([session], {
      ...listener,
      granted: (id, grant) => listener.granted(id, grant.until > 0 ? grant : undefined),
    })
  }

  #onSession(session, ttl, revision) {
    this.#store.sessionsAt = revision
    if (ttl > 0) {
      this.#store.sessions.set(session, ttl)
      return
    }
    this.#store.sessions.delete(session)
    // Make the waiters for this session repeat their requests: that removes its holds and admits the head.
    for (const [id, { sessions }] of this.#waiting)
      if (sessions.has(session)) this.#listener.granted(id)
  }

  /** Returns the texts of ../subscription.js that a message stands for. */
  #textsOf(value, revision) {
    const { key, view: written, isPart, granted, wanted } = JSON.parse(value.toString())
    if (granted.length === 0) {
      if (written !== undefined) this.#store.merge(key, revive(written, written.lock.mod))
      return [`w${key}`]
    }
    const view = revive(written, revision)
    // Use the message's grant only if its confirmation can be sent at once.
    const isReady = !this.#turns.has(key) && this.#store.isReady()
    const proof = isReady ? this.#store.proof.before(revision) : undefined
    const isNewer = (this.#store.views.get(key)?.lock.mod ?? 0) < revision
    if (isNewer && !isPart) this.#store.keep(key, view)
    if (proof === undefined) {
      const asking = granted.filter((id) => this.#known.has(id))
      if (asking.length > 0) this.#hurry(key, asking, ranks.grant)
    }
    return granted.map((id) => {
      this.#waiting.delete(id)
      const { token, abandoned, time } = view.lock.holders.find((holder) => holder.id === id)
      const until = proof === undefined ? 0 : proof + time
      return `g${id} ${token} ${+wanted} ${+abandoned} ${until}`
    })
  }

  enter(request) {
    const enter = () =>
      this.#enter(request).catch((error) => {
        this.#unsure.add(request.id)
        throw error
      })
    return this.#queued(request.key, enter)
  }

  /** Gives the commands of `key` the rank `rank` (../commands.js), until the requests `ids` have been settled. */
  #hurry(key, ids, rank) {
    const keys = this.#urgent[rank]
    if (!keys.has(key)) keys.set(key, new Set())
    for (const id of ids) keys.get(key).add(id)
    this.#commands.hurry(key, rank)
  }

  /** Runs `command` after the last one of `key`, when there is room for it. */
  #queued(key, command) {
    return this.#inTurn(key, () => {
      const rank = this.#urgent.findIndex((keys) => keys.has(key))
      return this.#commands.run(command, { key, rank: rank < 0 ? ranks.request : rank })
    })
  }

  #settled(key, id) {
    this.#waiting.delete(id)
    for (const keys of this.#urgent) {
      const ids = keys.get(key)
      if (ids?.delete(id) && ids.size === 0) keys.delete(key)
    }
  }

  async #enter(request) {
    const { key, id, session } = request
    const isNew = !this.#known.has(id)
    this.#known.add(id)
    const clock = now()
    const run = await this.#carryOut(request, planEnter, { session, isNew })
    const { state, view, capacity } = run
    if (state === 'waiting') {
      const holders = new Set(view.lock.holders.map((holder) => sessionOf(holder.id)))
      const ahead = entriesAhead(view, id).map((entry) => sessionOf(entry.id))
      const { isTold = false } = this.#waiting.get(id) ?? {}
      const waiting = { sessions: new Set([...holders, ...ahead]), isTold }
      this.#waiting.set(id, waiting)
      // The former head may have ended before it told the holders.
      if (!isTold && isHead(view, id)) {
        await this.#store.tellHolders(key, view, holders)
        waiting.isTold = true
      }
      return { state, look: this.#lookOf(view), clock }
    }
    this.#settled(key, id)
    if (state === 'held') {
      const { token, abandoned } = view.lock.holders.find((holder) => holder.id === id)
      return { state, token: BigInt(token), wanted: hasOthers(view, id), abandoned }
    }
    if (state === 'mismatch') await this.#leave(withdrawal(request))
    this.#known.delete(id)
    return state === 'mismatch' ? { state, capacity } : { state }
  }

  /** The time in ms until a waiter should ask again: until the first known end of a hold, a session or a rest. */
  #lookOf({ lock, rest }) {
    const time = now()
    const ends = lock.holders.map((holder) => holder.since + holder.time - time)
    for (const { id } of lock.holders)
      ends.push(this.#store.sessions?.get(sessionOf(id)) ?? longestLook)
    if (rest !== undefined) ends.push(rest.since + rest.time - time)
    const left = ends.filter((end) => end > 0)
    return Math.min(longestLook, ...left) + 1
  }

  /** Confirms without waiting for commands of other keys, because the claim ends soon. */
  confirm(request) {
    return this.#inTurn(request.key, async () => {
      const { session, id } = request
      const { state, view } = await this.#carryOut(request, planConfirm, { session })
      if (state !== 'held') return { state: 'over', wanted: false }
      return { state, wanted: hasOthers(view, id) }
    })
  }

  leave(request) {
    this.#hurry(request.key, [request.id], ranks.release)
    return this.#queued(request.key, () => this.#leave(request))
  }

  async #leave(request) {
    const { key, id, keep } = request
    this.#settled(key, id)
    if (keep === 0 && this.#unsure.has(id)) await this.#store.refuse(id)
    await this.#carryOut(request, planLeave, {})
    if (keep > 0) return
    // Again, because a message may have granted the request meanwhile.
    this.#settled(key, id)
    this.#known.delete(id)
    this.#unsure.delete(id)
  }

  forget({ key, id }) {
    this.#settled(key, id)
    this.#known.delete(id)
    this.#unsure.delete(id)
    this.#store.views.delete(key)
  }

  /** Runs `doing()` after the last command of `key`, because each command uses the view that the previous one left. */
  async #inTurn(key, doing) {
    const before = this.#turns.get(key)
    const next = () => {
      this.#listener.moved?.()
      return doing()
    }
    const own = before === undefined ? doing() : before.then(next, doing)
    this.#turns.set(key, own)
    try {
      return await own
    } finally {
      if (this.#turns.get(key) === own) this.#turns.delete(key)
    }
  }

  /**
   * Plans `step` and commits the plan, until nothing is left to commit. Resolves to { state, view, capacity }. A given
   * `session` must exist. If the request `isNew`, assumes a free key, and joins the queue if that was wrong.
   */
  async #carryOut(request, step, { session, isNew = false }) {
    const { key } = request
    const run = { request, session, isToJoin: isNew && request.wait }
    try {
      const { epoch, views } = this.#store
      const assumed = isNew && epoch !== undefined ? freeView(epoch) : undefined
      let view = views.get(key) ?? assumed ?? (await this.#store.read(run))
      for (;;) {
        if (view === undefined) return { state: 'lost' }
        const plan = this.#store.planOf(view, run)
        const state = step(plan, request)
        const isQueued = run.own !== undefined || isWaiter(view, request.id)
        if (plan.hasChanged && state !== 'mismatch') {
          const committed = await this.#store.commit(run, plan)
          view = committed.view
          // A view may lack the request itself, which then still waits.
          const hasLeft = state === undefined && run.own === undefined && plan.isComplete()
          const isDone = state === 'held' || hasLeft
          if (committed.succeeded && isDone) return { state, view }
        } else if (run.isRead && (state !== 'waiting' || run.isSure || isQueued)) {
          return { state, view, capacity: plan.capacity }
        } else {
          run.isToJoin ||= state === 'waiting' && run.isRead
          view = await this.#store.read(run)
        }
      }
    } finally {
      this.#store.endRest(run)
    }
  }

  async end(session) {
    await this.#store.end(session)
  }

  async close() {
    this.#subscription.close()
    this.#store.close()
  }
}

const withdrawal = (request) => ({ ...request, keep: 0, untold: false, unused: false })

module.exports = { etcdDriver: (client, options = {}) => new Driver(client, options) }
