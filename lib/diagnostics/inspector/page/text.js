// biome-ignore-all lint/correctness/noUnusedVariables: the scripts of the page share what they declare.
'use strict'
// Formats text for the page. Names and keys may come from untrusted clients, so they enter the page
// as text only.

const byId = (id) => document.getElementById(id)

/** Sets the text of `node` only if it has changed, so that an unchanged document needs no layout. */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

function element(name, text = '', className = '') {
  const made = document.createElement(name)
  made.textContent = text
  if (className !== '') made.className = className
  return made
}

function drawing(name, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children)
  return made
}

const numbers = new Intl.NumberFormat('en-US')
const count = (number) => numbers.format(number)

function duration(ms) {
  if (ms === undefined || ms === null) return ''
  if (ms < 1) return `${Math.round(ms * 1000)} µs`
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const timeOf = (time) => new Date(time).toLocaleTimeString()

/** Returns how long ago something was. Without seconds, so that the text does not change with each update. */
function agoOf(ms) {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'just now'
  return minutes < 60
    ? `${minutes} min ago`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min ago`
}

/** Returns the name of a lock, or else the place where it was made, if that is known. */
function nameOf({ name, madeAt }) {
  const site = siteOf(madeAt)
  return name ?? (site && `at ${site}`)
}

function titleOf(lock) {
  const name = nameOf(lock)
  return name === undefined ? lock.kind : `${lock.kind} ${name}`
}

/** Returns a text about a holder, as seen from process `own`. */
function holderOf({ thread, pid, mode, weight }, own) {
  const words = []
  if (pid !== undefined && pid !== own) words.push(`process ${pid}`)
  if (thread !== undefined) words.push(thread === 0 ? 'main thread' : `thread ${thread}`)
  if (mode === 'shared') words.push('shared')
  if (weight > 1) words.push(`weight ${weight}`)
  return words.length > 0 ? words.join(', ') : 'unknown'
}
