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

const textOfKey = (key) => (key === undefined ? undefined : cut(shown(nameOf(key)), longest.name))

/** Returns the id as text. Long ids are truncated, and a digest keeps them apart. */
function textOfId(id) {
  const most = 2 * longest.name
  return id.length <= most ? id : `${cut(id, most)}${digestOf(id)}`
}

const digestOf = (text) => createHash('sha256').update(text, 'utf16le').digest('base64url')

const textOfName = (name) => (name === undefined ? undefined : cut(shown(name), longest.name))

/** Numbers things in the order of their first use. Things with the same id get one number. */
function numbering() {
  const numbers = new Map()
  const all = []
  return {
    all,
    numberOf(id, make) {
      if (!numbers.has(id)) numbers.set(id, all.push(make()) - 1)
      return numbers.get(id)
    },
  }
}

/**
 * Makes the lists of a report, and functions that return the number of a stack, which may be undefined, and of the lock
 * of a report. `madeAt` finds where a lock, or the map of a key, was constructed.
 */
function listsOf(madeAt) {
  const [stacks, locks] = [numbering(), numbering()]
  const stackOf = (stack) =>
    stack && stacks.numberOf(stack, () => cut(stack.replace(/^ +/gm, ''), longest.stack))
  const lockOf = (report) => {
    const { kind, name, scope, thread } = report
    const traits = { kind, name, scope, thread, madeAt: stackOf(madeAt(report)) }
    return locks.numberOf(JSON.stringify(traits), () => ({ ...traits, name: textOfName(name) }))
  }
  return { lockOf, stackOf, locks: locks.all, stacks: stacks.all }
}

const isBusy = ({ waiting, holders }) => waiting > 0 || holders.length > 0

/** Returns how long the oldest known holder has held the lock. */
const holdOf = ({ holders }) =>
  holders.reduce((longest, { heldFor = 0 }) => Math.max(longest, heldFor), 0)

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
    const text = `${kind} ${name} ${key === undefined ? '' : nameOf(key)} ${scope}`.toLowerCase()
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
  const { at, pid, threads, deadlocks } = snapshot
  const lists = listsOf(madeAt)
  const isAsked = matches(filter)
  const found = busy.filter(({ lock }) => isAsked(lock))
  const totals = counted.filter(isAsked).slice(0, top)
  return {
    ...{ at, pid, threads },
    all: busy.length,
    found: found.length,
    waiting: found.reduce((sum, { lock }) => sum + lock.waiting, 0),
    oldestWait: oldestOf(found),
    rows: found.slice(0, top).map((one) => rowOf(one, lists)),
    totals: totals.map((report) => totalsOf(report, lists)),
    deadlocks: deadlocks.slice(-mostDeadlocks).map((deadlock) => deadlockOf(deadlock, lists)),
    locks: lists.locks,
    stacks: lists.stacks,
  }
}

function oldestOf(found) {
  const waits = found.flatMap(({ lock }) => lock.oldestWait ?? [])
  return waits.length === 0 ? undefined : waits.reduce((one, other) => Math.max(one, other))
}

/** Compares holders: leaked holds first, so that the limit does not omit them. */
function byHold(a, b) {
  const [leakedA, leakedB] = [a.isLeaked === true, b.isLeaked === true]
  return leakedA === leakedB ? (b.heldFor ?? 0) - (a.heldFor ?? 0) : leakedB - leakedA
}

function rowOf({ lock: report, usual, mark }, { lockOf, stackOf }) {
  const { id, key, waiting, oldestWait } = report
  const holders = report.holders.toSorted(byHold)
  const waiters = report.waiters.slice(0, mostWaiters)
  return {
    id: textOfId(id),
    lock: lockOf(report),
    key: textOfKey(key),
    ...{ waiting, oldestWait, usual, mark },
    held: holders.length,
    holders: holders
      .slice(0, mostHolders)
      .map(({ stack, ...holder }) => ({ ...holder, stack: stackOf(stack) })),
    waiters: waiters.map(({ stack, waitedFor: _, ...waiter }) => ({
      ...waiter,
      stack: stackOf(stack),
    })),
  }
}

const totalsOf = (report, { lockOf }) => ({
  id: textOfId(report.id),
  lock: lockOf(report),
  totals: report.totals,
  waits: report.waits,
})

function deadlockOf({ at, message, cycle }, { stackOf }) {
  const place = ({ kind, name, key, stack }) => ({
    kind,
    name: textOfName(name),
    key: textOfKey(key),
    stack: stackOf(stack),
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
