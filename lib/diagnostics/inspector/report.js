'use strict'
// The report of a process that the page gets once a second. It is small even with ten thousand busy keys.
//
// Repeated parts are sent once: stacks, and what all keys of a map share. `stack` and `lock` are indices into `stacks`
// and `locks`; locks of the same name differ by the `id` of their rows. Keys are sent as text, so that 1, 1n and '1'
// stay apart. Long texts are truncated, because untrusted clients may have chosen names and keys.
const { createHash } = require('node:crypto')
const { nameOf } = require('../../core/keys.js')
const { markOf, usualsOf } = require('./usual.js')

const longest = { name: 200, stack: 4000, message: 10_000 }
const mostHolders = 20
const mostWaiters = 20
const mostDeadlocks = 10
const mostInCycle = 50

function cut(text, most) {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}

/** Characters that change the direction of the text after them, even of text that belongs to another row. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const shown = (text) => text.replace(directions, (one) => `\\u${hexOf(one)}`)
const hexOf = (character) => character.charCodeAt(0).toString(16).padStart(4, '0')

const textOf = (key) => (typeof key === 'bigint' ? `${key}n` : nameOf(key))
const textOfKey = (key) => (key === undefined ? undefined : cut(shown(textOf(key)), longest.name))

/** Returns the id as text. Long ids are truncated, and a digest keeps them apart. */
function textOfId(id) {
  const most = 2 * longest.name
  return id.length <= most ? id : `${cut(id, most)}${digestOf(id)}`
}

const digestOf = (text) => createHash('sha256').update(text, 'utf16le').digest('base64url')

const textOfName = (name) => (name === undefined ? undefined : cut(shown(name), longest.name))

/**
 * Makes a function that numbers values in the order of their first use. Values with the same idOf(value) get one
 * number.
 */
function numbering(idOf, make) {
  const numbers = new Map()
  const all = []
  return {
    all,
    of(thing) {
      const id = idOf(thing)
      let number = numbers.get(id)
      if (number === undefined) {
        number = all.push(make(thing)) - 1
        numbers.set(id, number)
      }
      return number
    },
    ofSome(thing) {
      return thing && this.of(thing)
    },
  }
}

const numberStacks = () =>
  numbering(
    (stack) => stack,
    (stack) => cut(stack.replace(/^ +/gm, ''), longest.stack),
  )

/** Makes a function that numbers locks. `madeAt` finds where a lock, or the map of a key, was constructed. */
function numberLocks(stacks, madeAt) {
  const traitsOf = (report) => {
    const { kind, name, scope, thread } = report
    return { kind, name, scope, thread, madeAt: stacks.ofSome(madeAt(report)) }
  }
  const shortened = ({ name, ...traits }) => ({ ...traits, name: textOfName(name) })
  return numbering(
    (report) => JSON.stringify(traitsOf(report)),
    (report) => shortened(traitsOf(report)),
  )
}

const isBusy = ({ waiting, holders }) => waiting > 0 || holders.length > 0

/** Returns how long the oldest known holder has held the lock. */
function holdOf({ holders }) {
  let longest = 0
  for (const { heldFor = 0 } of holders) if (heldFor > longest) longest = heldFor
  return longest
}

const ranks = ['leaked', 'long', undefined]

/** Compares rows: marked locks first, then by the number of waiters, the oldest wait, and the longest hold. */
function byUrgency({ lock: a, mark: markOfA }, { lock: b, mark: markOfB }) {
  if (markOfA !== markOfB) return ranks.indexOf(markOfA) - ranks.indexOf(markOfB)
  if (a.waiting !== b.waiting) return b.waiting - a.waiting
  const [waitOfA, waitOfB] = [a.oldestWait ?? -1, b.oldestWait ?? -1]
  return waitOfA !== waitOfB ? waitOfB - waitOfA : holdOf(b) - holdOf(a)
}

function matches(filter) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return () => true
  return ({ kind, name = '', key, scope }) => {
    const text = `${kind} ${name} ${key === undefined ? '' : textOf(key)} ${scope}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

/** Returns what all reports of a snapshot need: its busy locks, sorted, and the locks with counters. */
function sortedOf(snapshot) {
  const usualOf = usualsOf(snapshot.locks)
  const busy = snapshot.locks.filter(isBusy).map((lock) => {
    const usual = usualOf(lock)
    return { lock, usual, mark: markOf(lock, usual) }
  })
  return {
    snapshot,
    madeAt: madeAtOf(snapshot.locks),
    busy: busy.sort(byUrgency),
    counted: snapshot.locks.filter(({ totals }) => totals !== undefined),
  }
}

/**
 * Returns a function that finds where a lock without a name was made, from the report of the lock or of one of its
 * keys.
 */
function madeAtOf(locks) {
  const places = new Map(locks.map(({ id, madeAt }) => [id, madeAt]))
  return ({ id, map = id }) => places.get(map)
}

function reportOf({ snapshot, madeAt, busy, counted }, { top, filter }) {
  const stacks = numberStacks()
  const locks = numberLocks(stacks, madeAt)
  const isAsked = matches(filter)
  const found = busy.filter(({ lock }) => isAsked(lock))
  return {
    at: snapshot.at,
    pid: snapshot.pid,
    threads: snapshot.threads,
    all: busy.length,
    found: found.length,
    waiting: found.reduce((sum, { lock }) => sum + lock.waiting, 0),
    oldestWait: oldestOf(found),
    rows: found.slice(0, top).map((one) => rowOf(one, locks, stacks)),
    totals: counted
      .filter(isAsked)
      .slice(0, top)
      .map((report) => ({
        id: textOfId(report.id),
        lock: locks.of(report),
        totals: report.totals,
        waits: report.waits,
      })),
    deadlocks: snapshot.deadlocks
      .slice(-mostDeadlocks)
      .map((deadlock) => deadlockOf(deadlock, stacks)),
    locks: locks.all,
    stacks: stacks.all,
  }
}

function oldestOf(found) {
  let oldest
  for (const { lock } of found) {
    const { oldestWait = -1 } = lock
    if (oldestWait > (oldest ?? -1)) oldest = oldestWait
  }
  return oldest
}

/** Compares holders: leaked holds first, so that the limit does not omit them. */
function byHold(a, b) {
  const [leakedA, leakedB] = [a.isLeaked === true, b.isLeaked === true]
  return leakedA === leakedB ? (b.heldFor ?? 0) - (a.heldFor ?? 0) : leakedB - leakedA
}

function rowOf({ lock: report, usual, mark }, locks, stacks) {
  const { key, waiting, oldestWait, waiters } = report
  const holders = report.holders.toSorted(byHold)
  return {
    id: textOfId(report.id),
    lock: locks.of(report),
    key: textOfKey(key),
    ...{ waiting, oldestWait, usual, mark },
    held: holders.length,
    holders: holders
      .slice(0, mostHolders)
      .map(({ thread, pid, since, heldFor, mode, weight, stack, isLeaked }) => ({
        ...{ thread, pid, since, heldFor, mode, weight, isLeaked },
        stack: stacks.ofSome(stack),
      })),
    waiters: waiters.slice(0, mostWaiters).map(({ thread, since, mode, weight, stack }) => ({
      ...{ thread, since, mode, weight },
      stack: stacks.ofSome(stack),
    })),
  }
}

function deadlockOf({ at, message, cycle }, stacks) {
  const place = ({ kind, name, key, stack }) => ({
    kind,
    name: textOfName(name),
    key: textOfKey(key),
    stack: stacks.ofSome(stack),
  })
  return {
    at,
    message: cut(shown(message), longest.message),
    cycle: cycle.slice(0, mostInCycle).map(({ thread, waitsFor, holds }) => ({
      thread,
      waitsFor: place(waitsFor),
      holds: holds.slice(0, mostHolders).map(place),
    })),
  }
}

module.exports = { reportOf, sortedOf }
