'use strict'
// A connection to one server, without a client package: the thread that renews sends three commands, and loading a
// package for them would cost it a hundred milliseconds and more.
const net = require('node:net')

/** The server's text for a client that has a password where the user needs none: clients go on without it. */
const needsNone = /without any password configured/

/**
 * The first reply in `text` and what follows it: { reply, rest }, where an error is an Error. Undefined if the reply has
 * not arrived as a whole.
 */
function readReply(text) {
  const end = text.indexOf('\r\n')
  if (end < 0) return undefined
  const line = text.slice(1, end)
  const rest = text.slice(end + 2)
  if (text[0] === '+' || text[0] === ':') return { reply: line, rest }
  if (text[0] === '-') return { reply: new Error(line), rest }
  if (text[0] !== '$') throw new Error(`this is no reply of Redis: ${JSON.stringify(line)}`)
  const length = Number(line)
  if (length < 0) return { reply: null, rest }
  if (rest.length < length + 2) return undefined
  return { reply: rest.slice(0, length), rest: rest.slice(length + 2) }
}

const encoded = (words) =>
  [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join(
    '\r\n',
  )

/** `socket` are options of net.connect(), or with `isTls` of tls.connect(). */
const connectTo = ({ socket, isTls }) =>
  isTls ? require('node:tls').connect(socket) : net.connect(socket)

class Wire {
  #socket
  #unread = ''
  /** The functions that settle the commands without a reply, in order. */
  #sent = []
  #error
  #report

  /**
   * Connects to `server`: { socket, isTls, username, password, database }. Calls `report(undefined)` when it is connected,
   * and `report(error)` when the connection ends by itself.
   */
  constructor(server, report) {
    this.#report = report
    this.#socket = connectTo(server)
    this.#socket.setNoDelay(true).setKeepAlive(true, 5000).setEncoding('latin1')
    this.#socket
      .on('data', (text) => this.#read(text))
      .on('error', (error) => this.#end(error))
      .on('close', () => this.#end(new Error('the connection has ended')))
    this.opening = this.#begin(server)
  }

  /** The first commands. Words are buffered until it is connected. */
  async #begin({ username, password, database }) {
    const logIn = ['AUTH', username || 'default', password ?? '']
    const select = ['SELECT', `${database}`]
    const hasLogin = Boolean(username || password)
    const steps = [hasLogin && logIn, database > 0 && select, ['PING']].filter(Boolean)
    const answers = await Promise.allSettled(steps.map((words) => this.#send(words)))
    for (const { reason } of answers) if (reason && !needsNone.test(reason.message)) throw reason
    this.#report(undefined)
  }

  isOver() {
    return this.#error !== undefined
  }

  command = (_key, words) => this.#send(words)

  #send(words) {
    if (this.isOver()) return Promise.reject(this.#error)
    this.#socket.write(encoded(words))
    return new Promise((resolve, reject) => this.#sent.push({ resolve, reject }))
  }

  #read(text) {
    this.#unread += text
    try {
      for (let found; ; this.#unread = found.rest) {
        found = readReply(this.#unread)
        if (found === undefined) return
        const { resolve, reject } = this.#sent.shift()
        if (found.reply instanceof Error) reject(found.reply)
        else resolve(found.reply)
      }
    } catch (error) {
      this.#socket.destroy(error)
    }
  }

  #end(error) {
    if (this.isOver()) return
    this.#error = error
    for (const { reject } of this.#sent) reject(error)
    this.#sent = []
    this.#report(error)
  }

  close() {
    this.#report = () => {}
    this.#socket.destroy()
  }
}

module.exports = { Wire }
