'use strict'
// A witness outside of the locks: a file to which every process appends its events. The system
// orders the lines, each of which is one write. Wine does not append as a whole, so on Windows each thread has a file of
// its own, and the clock orders the lines: it is read after a lock is granted, and before it is released.
//
//   nanoseconds who + key weight token abandoned waited    enters (waited: microseconds)
//   nanoseconds who - key weight                           leaves
//   nanoseconds who killed                                 is about to be killed, by the parent
//   nanoseconds who gone                                   has ended
const fs = require('node:fs')
const path = require('node:path')
const { threadId } = require('node:worker_threads')
const { isWindows } = require('./skip.js')

/** A writer: `who` identifies the process. */
function pen(file, who) {
  const own = isWindows ? `${file}-${process.pid}-${threadId}` : file
  const fd = fs.openSync(own, 'a', 0o600)
  // The same clock for all processes of the machine.
  const write = (...words) =>
    fs.writeSync(fd, `${process.hrtime.bigint()} ${who} ${words.join(' ')}\n`)
  return {
    enter: (key, { weight, token, abandoned, waited }) =>
      write('+', key, weight, token, Number(abandoned), Math.round(waited * 1000)),
    leave: (key, weight) => write('-', key, weight),
    note: (what) => write(what),
    close: () => fs.closeSync(fd),
  }
}

/** All lines so far, each as its words. */
function linesOf(file) {
  const folder = path.dirname(file)
  const names = fs.readdirSync(folder).filter((name) => name.startsWith(path.basename(file)))
  const lines = names.flatMap((name) =>
    fs
      .readFileSync(path.join(folder, name), 'latin1')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ')),
  )
  return isWindows ? lines.sort(([one], [other]) => Number(BigInt(one) - BigInt(other))) : lines
}

const slow = 200_000 // microseconds: shorter times are not recorded

/** The events of one key. */
class Room {
  inside = [] // { who, weight }, in the order of entering
  token = 0n
  told = 0 // the number of reported deaths
  left = 0 // when the last holder left, if no caller has entered since
  idle = [] // [from, to] of long times without a holder, of which the end is known
}

/**
 * Reads the whole file and returns its faults: { faults, enters, takenOver, longestWait,
 * longestStuck }. `capacity` is how much weight may be in at once; tokens of entries with all that
 * weight must increase. A dead process that was inside must have been killed: by the parent, or by
 * itself if `suicides`.
 */
function read(file, { capacity, suicides = false }) {
  const rooms = new Map()
  const killed = new Map() // process number ─▶ time
  const robbed = new Map() // process number ─▶ its fault, should it turn out to be alive
  const report = {
    faults: [],
    enters: 0,
    takenOver: 0,
    abandoned: 0,
    killed: 0,
    longestWait: 0,
    longestStuck: 0,
  }
  const fault = (text) => report.faults.length < 20 && report.faults.push(text)

  function enter(line, time, who, key, weight, token, abandoned, waited) {
    const room = rooms.get(key) ?? rooms.set(key, new Room()).get(key)
    report.enters += 1
    const dead = []
    const weightOf = () => room.inside.reduce((sum, one) => sum + one.weight, 0)
    // Processes known to be dead make room first, then those that must be dead.
    room.inside.sort((a, b) => Number(killed.has(b.who)) - Number(killed.has(a.who)))
    while (room.inside.length > 0 && weightOf() + weight > capacity) dead.push(room.inside.shift())
    for (const one of dead) {
      const text = `line ${line}: ${who} came in to ${key} while ${one.who} was in`
      if (!killed.has(one.who) && !suicides) fault(text)
      robbed.set(one.who, text)
    }
    if (dead.length > 0) {
      report.takenOver += 1
      // If the dead holder left room for others, another caller may have been told of its death. Of several callers that
      // were admitted together only the first one is told, in whatever order they write their lines.
      const mustBeTold = weight === capacity && dead.some((one) => one.weight === capacity)
      if (mustBeTold && !abandoned) fault(`line ${line}: ${who} was not told of a death in ${key}`)
    }
    if (abandoned) {
      report.abandoned += 1
      // Each death is reported once per key, but perhaps by an older entry that was written down
      // later.
      room.told += 1
      if (room.told > killed.size && !suicides)
        fault(`line ${line}: ${who} was told of no death in ${key}`)
    }
    if (weight === capacity) {
      if (token <= room.token) {
        fault(`line ${line}: token ${token} of ${who} in ${key} came after ${room.token}`)
      }
      room.token = token
    }
    // How long there was no holder although a caller waited.
    const from =
      dead.length > 0 ? Math.max(...dead.map((one) => killed.get(one.who) ?? time)) : room.left
    if (room.inside.length === 0 && from > 0 && time - from > slow) room.idle.push([from, time])
    room.left = 0
    report.longestWait = Math.max(report.longestWait, waited)
    if (waited > slow) {
      for (const [start, end] of room.idle) {
        const both = Math.min(end, time) - Math.max(start, time - waited)
        if (both > report.longestStuck) {
          report.longestStuck = both
          report.stuck = `line ${line}: ${who} before ${key}`
        }
      }
    }
    room.inside.push({ who, weight })
  }

  function leave(line, time, who, key, weight) {
    const room = rooms.get(key)
    const at = room?.inside.findIndex((one) => one.who === who && one.weight === weight) ?? -1
    if (at < 0) fault(`line ${line}: ${who} went out of ${key}, where it was not`)
    else room.inside.splice(at, 1)
    if (room?.inside.length === 0) room.left = time
  }

  linesOf(file).forEach(([stamp, who, what, key, weight, token, abandoned, waited], line) => {
    const time = Number(BigInt(stamp) / 1000n)
    if (robbed.has(who) && (what === '+' || what === '-')) {
      fault(robbed.get(who))
      robbed.delete(who)
    }
    if (what === '+') {
      enter(line, time, who, key, +weight, BigInt(token), abandoned === '1', +waited)
    } else if (what === '-') {
      leave(line, time, who, key, +weight)
    } else if (what === 'killed') {
      killed.set(who, time)
      report.killed += 1
    } else if (what === 'gone') {
      if (suicides && !killed.has(who)) killed.set(who, time)
    }
  })
  return report
}

module.exports = { linesOf, pen, read }
