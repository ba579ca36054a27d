'use strict'
// A server for an engine (lib/cluster/engine.js), in memory: for tests of the part common to all
// engines, and as the simplest specification of a driver.
const { randomUUID } = require('node:crypto')
const { BroadcastChannel } = require('node:worker_threads')

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

class FakeServer {
  constructor() {
    this.keys = new Map()
    /** When each session expires, by id. */
    this.sessions = new Map()
    this.listeners = new Map()
    this.commands = []
    /** While this is a promise, commands wait for it; it may reject. */
    this.trouble = undefined
    /** While this is a promise, answers to commands wait for it. */
    this.slowAnswer = undefined
    this.clock = () => Date.now()
    /** Whether its messages include the grant. */
    this.tells = true
    /** Whether its keepers in this thread can confirm. */
    this.keepersConfirm = false
    this.channelName = randomUUID()
    this.channel = new BroadcastChannel(this.channelName)
    this.channel.unref()
    this.channel.onmessage = ({ data }) => this.keep(data)
  }

  close() {
    this.channel.close()
  }

  /** A command of fake_keeper.js. */
  async keep({ number, what, session, ttl }) {
    const isAlive = await this.renew(what, session, ttl)
    this.channel.postMessage({ answerTo: number, isAlive })
  }

  async renew(what, session, ttl) {
    await this.trouble
    if (what === 'open' || this.isAlive(session)) this.sessions.set(session, this.clock() + ttl)
    return this.isAlive(session)
  }

  /** As fake_keeper.js, for a keeper in this thread. */
  keeper() {
    const send =
      (what) =>
      async (...args) => {
        await nextTurn()
        return this.renew(what, ...args)
      }
    const keeper = { open: send('open'), renew: send('renew'), close: async () => {} }
    const confirm = (request) => this.command('confirmByKeeper', request)
    return this.keepersConfirm ? { ...keeper, confirm } : keeper
  }

  /** The number of requests in the queues of all keys. */
  waiting() {
    let count = 0
    for (const { waiters } of this.keys.values()) count += waiters.size
    return count
  }

  isAlive(session) {
    return (this.sessions.get(session) ?? 0) > this.clock()
  }

  state(key, capacity) {
    let state = this.keys.get(key)
    if (state === undefined) {
      state = {
        capacity,
        holders: new Map(),
        waiters: new Map(),
        fence: 0,
        isAbandoned: false,
        rest: 0,
      }
      this.keys.set(key, state)
    }
    return state
  }

  isGone(holder) {
    return !this.isAlive(holder.session) || holder.until <= this.clock()
  }

  free(state) {
    let free = state.capacity
    for (const { units } of state.holders.values()) free -= units
    return free
  }

  hold(state, request, until) {
    state.fence = Math.max(state.fence + 1, (this.clock() - Date.UTC(2024)) * 1000)
    const holder = { ...request, token: BigInt(state.fence), until, abandoned: state.isAbandoned }
    state.isAbandoned = false
    if (request.minHold > 0) state.rest = this.clock() + request.minHold
    state.holders.set(request.id, holder)
    return holder
  }

  /** Removes dead sessions, and admits the requests that fit. */
  settle(state, claim) {
    for (const [id, holder] of state.holders) {
      if (!this.isGone(holder)) continue
      state.holders.delete(id)
      state.isAbandoned = true
    }
    for (const [id, request] of state.waiters) {
      if (state.rest > this.clock()) break
      const listener = this.listeners.get(request.session)
      if (this.isAlive(request.session) && listener !== undefined) {
        if (request.units > this.free(state)) break
        const { token, abandoned, until } = this.hold(state, request, this.clock() + claim)
        const wanted = state.waiters.size > 1
        listener.granted(id, this.tells ? { token, wanted, abandoned, until } : undefined)
      }
      state.waiters.delete(id)
    }
  }

  held(state, { token, abandoned }) {
    return { state: 'held', token, abandoned, wanted: state.waiters.size > 0 }
  }

  enter(request) {
    const { session, key, id, units, capacity, wait, first, claim, maxHold } = request
    if (!this.isAlive(session)) return { state: 'lost' }
    const state = this.state(key, capacity)
    this.settle(state, claim)
    if (state.holders.size + state.waiters.size === 0) state.capacity = capacity
    if (state.capacity !== capacity) return { state: 'mismatch', capacity: state.capacity }
    if (this.confirm(request).state === 'held') return this.held(state, state.holders.get(id))
    const isFree = units <= this.free(state) && state.rest <= this.clock()
    if ((state.waiters.size === 0 || first) && isFree) {
      const holder = this.hold(state, request, this.clock() + maxHold)
      holder.isConfirmed = true
      return this.held(state, holder)
    }
    const [head] = state.waiters.values()
    if (first && head?.first && head.id !== id) return { state: 'upgrading' }
    if (!wait) return { state: 'refused' }
    if (state.waiters.size === 0) {
      for (const { session } of state.holders.values()) this.listeners.get(session)?.wanted(key)
    }
    if (!state.waiters.has(id)) {
      state.waiters = new Map(
        first ? [[id, request], ...state.waiters] : [...state.waiters, [id, request]],
      )
    }
    const ends = Array.from(state.holders.values(), (holder) =>
      Math.min(holder.until, this.sessions.get(holder.session)),
    )
    const clock = this.clock()
    if (state.rest > clock) ends.push(state.rest)
    return { state: 'waiting', look: Math.max(1, Math.min(...ends) - clock), clock }
  }

  confirm({ key, id, maxHold }) {
    const state = this.keys.get(key)
    const known = state?.holders.get(id)
    if (known === undefined || this.isGone(known)) return { state: 'over', wanted: false }
    known.until = this.clock() + maxHold
    known.isConfirmed = true
    return { state: 'held', wanted: state.waiters.size > 0 }
  }

  confirmByKeeper(request) {
    return this.confirm(request)
  }

  leave({ key, id, claim, keep, untold, unused }) {
    const state = this.keys.get(key)
    if (state === undefined) return
    const holder = state.holders.get(id)
    if (holder !== undefined && keep > 0) {
      holder.units = Math.min(holder.units, keep)
    } else {
      state.isAbandoned ||= untold && holder?.abandoned === true
      state.holders.delete(id)
      if (unused && holder !== undefined) state.rest = 0
    }
    state.waiters.delete(id)
    this.settle(state, claim)
  }

  end(session) {
    this.sessions.delete(session)
  }

  async command(name, ...args) {
    this.commands.push(name)
    await this.trouble
    await nextTurn()
    const answer = this[name](...args)
    await this.slowAnswer
    await nextTurn()
    return answer
  }

  driver() {
    let current
    const later =
      (call) =>
      (...args) =>
        setImmediate(call, ...args)
    return {
      name: 'Fake',
      keepsMinHold: true,
      keeper: { module: require.resolve('./fake_keeper.js'), data: this.channelName },
      listen: async (session, { granted, wanted, missed }) => {
        this.listeners.delete(current)
        current = session
        this.listeners.set(session, {
          granted: later(granted),
          wanted: later(wanted),
          missed: later(missed),
        })
      },
      open: this.keeper().open,
      enter: (request) => this.command('enter', request),
      confirm: (request) => this.command('confirm', request),
      leave: (request) => this.command('leave', request),
      end: (session) => this.command('end', session),
      close: async () => this.listeners.delete(current),
    }
  }
}

module.exports = { FakeServer }
