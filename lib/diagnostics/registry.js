'use strict'
// Sends this thread's reports about its locks with diagnostics (sources.js) to the threads that ask for them.
//
// The asking thread opens a BroadcastChannel for the answers, and posts its name on the channel for questions. Threads
// listen there from their first lock with diagnostics on; that does not keep them alive. C++ lists these threads.
const { BroadcastChannel, threadId } = require('node:worker_threads')
const native = require('../addon/load.js')
const { agent } = require('../process/waiters.js')
const deadlock = require('./deadlock.js')
const sources = require('./sources.js')

const questions = 'boxoffice:questions'

let channel

/** Every snapshot contains `source.reports()` from now on. */
function register(source) {
  sources.add(source)
  if (channel === undefined) listen()
}

function onQuestion({ data }) {
  post(data.answers, { agent, ...answer() })
}

function listen() {
  channel = new BroadcastChannel(questions)
  // The channel would keep this module's function alive, and with it the vm context of this instance.
  channel.onmessage = native.realm.weakly(native, { onQuestion }).onQuestion
  native.realm.endWith(native, channel, 'close')
  channel.unref()
  native.watchedThreads.join(threadId)
}

/** Posts on the channel of that name, which may be closed before the message arrives. */
function post(name, message) {
  const channel = new BroadcastChannel(name)
  channel.postMessage(message)
  channel.close()
}

/** Asks all other threads: a channel does not receive its own messages. */
function ask(answers) {
  if (channel === undefined) post(questions, { answers })
  else channel.postMessage({ answers })
}

function answer() {
  return { locks: sources.reports(), deadlocks: deadlock.deadlocks() }
}

/** The threads that listen, by agent. */
function listeners() {
  const pairs = native.watchedThreads.all()
  const all = new Map()
  for (let i = 0; i < pairs.length; i += 2) all.set(pairs[i], pairs[i + 1])
  return all
}

module.exports = { answer, ask, listeners, register }
