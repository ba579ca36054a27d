'use strict'
// Sends this thread's reports about its locks with diagnostics (sources.js) to the threads that ask for them.
//
// The asking thread opens a BroadcastChannel for the answers, and posts the name of that channel on the channel for
// questions. A thread listens there once it has a lock with diagnostics. Listening does not keep it alive. C++ lists
// the listening threads.
const { BroadcastChannel, threadId } = require('node:worker_threads')
const native = require('../addon/load.js')
const { agent } = require('../process/waiters.js')
const deadlock = require('./deadlock.js')
const sources = require('./sources.js')

const questions = 'boxoffice:questions'

let channel

/** Makes every later snapshot contain `source.reports()`. */
function register(source) {
  sources.add(source)
  if (channel === undefined) listen()
}

function onQuestion({ data }) {
  post(data.answers, answer())
}

function listen() {
  // In the async context of the caller the channel would keep its AsyncLocalStorage stores alive. Those of jest keep the
  // vm context of the test file alive.
  channel = native.realm.outside(() => new BroadcastChannel(questions))
  // A weak reference, because the channel would keep the function alive, and with it the vm context of this instance.
  channel.onmessage = native.realm.weakly(native, { onQuestion }).onQuestion
  native.realm.endWith(native, channel, 'close')
  channel.unref()
  native.watchedThreads.join(threadId)
}

/** Posts `message` on the channel of that name. The channel may be closed before the message arrives. */
function post(name, message) {
  const channel = new BroadcastChannel(name)
  channel.postMessage(message)
  channel.close()
}

/** Asks all other threads. (A channel does not receive its own messages.) */
function ask(answers) {
  if (channel === undefined) post(questions, { answers })
  else channel.postMessage({ answers })
}

const answer = () => ({ agent, locks: sources.reports(), deadlocks: deadlock.deadlocks() })

/** Returns the threads that listen, by agent. */
function listeners() {
  const pairs = native.watchedThreads.all()
  const all = new Map()
  for (let i = 0; i < pairs.length; i += 2) all.set(pairs[i], pairs[i + 1])
  return all
}

module.exports = { answer, ask, listeners, register }
