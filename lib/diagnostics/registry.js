'use strict'
// What this thread has to say about its watched locks, and how other threads hear of it. A source is the observer of a
// lock, or that of a keyed map (keyed_observer.js): it is known weakly, as long as an object of the lock is in use.
//
// Whoever asks opens a BroadcastChannel for the answers, and posts its name on the one for questions. All listen there
// from their first watched lock on, without being kept alive by it. C++ knows who they are.
const { BroadcastChannel, threadId } = require('node:worker_threads')
const native = require('../load.js')
const { agent } = require('../process/waiters.js')
const deadlock = require('./deadlock.js')

const questions = 'boxoffice:questions'

const sources = new Set()
const collected = new FinalizationRegistry((ref) => sources.delete(ref))
let ear

/** What `source.reports()` says is a part of every picture from now on. */
function register(source) {
  const ref = new WeakRef(source)
  sources.add(ref)
  collected.register(source, ref)
  if (ear === undefined) listen()
}

function hear({ data }) {
  post(data.answers, { agent, ...answer() })
}

function listen() {
  ear = new BroadcastChannel(questions)
  // The channel would keep a function of ours, and with it the vm context of this instance.
  ear.onmessage = native.realm.weakly(native, { hear }).hear
  native.realm.endWith(native, ear, 'close')
  ear.unref()
  native.watchedThreads.join(threadId)
}

/** On the channel of that name: it need not stay open for the message to arrive. */
function post(name, message) {
  const channel = new BroadcastChannel(name)
  channel.postMessage(message)
  channel.close()
}

/** All others: an ear does not hear what it says itself. */
function ask(answers) {
  if (ear === undefined) post(questions, { answers })
  else ear.postMessage({ answers })
}

function answer() {
  const locks = []
  for (const ref of sources) {
    const source = ref.deref()
    if (source !== undefined) locks.push(...source.reports())
  }
  return { locks, deadlocks: deadlock.deadlocks() }
}

/** The threads that listen, by agent. */
function listeners() {
  const pairs = native.watchedThreads.all()
  const all = new Map()
  for (let i = 0; i < pairs.length; i += 2) all.set(pairs[i], pairs[i + 1])
  return all
}

module.exports = { answer, ask, listeners, register }
