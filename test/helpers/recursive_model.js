'use strict'
// Trees of tasks that enter one RecursiveMutex again and again, awaited or not, and their
// invariants:
//
//   - two sections are in together only if one was started from inside the other;
//   - while a hold is not over, only callers from inside it are admitted. It is over when its callback and all
//     callers from inside it have ended;
//   - callers from inside one hold are admitted first come, first served;
//   - a call that would wait for its own thread throws, and no other call does.
//
// Between the end of a callback and the moment its promise settles, some microtasks later, a
// newcomer may count as from inside or not: for such a newcomer only the first rule is checked. Nor is
// it known for a caller from inside that newcomer which holds around both it comes from.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { settled } = require('./keyed.js')

const pause = fc.constantFrom('none', 'none', 'microtask', 'microtasks', 'turn')

/**
 * A task enters nothing; a section does, and blocks if `sync`. Some are not awaited by their
 * parent.
 */
function tree(depth) {
  return fc.record({
    kind: fc.constantFrom('section', 'section', 'section', 'task', 'sync'),
    pauses: fc.array(pause, { minLength: 3, maxLength: 3 }),
    isLeft: fc.boolean(),
    throws: fc.boolean(),
    limit: fc.constantFrom('none', 'none', 'none', 'now', 'abort'),
    together: fc.boolean(),
    children:
      depth === 0 ? fc.constant([]) : fc.array(tree(depth - 1), { maxLength: 3, size: 'max' }),
  })
}
const forest = fc.array(tree(3), { minLength: 1, maxLength: 4, size: 'max' })

async function wait(how) {
  if (how === 'turn') await settled()
  const microtasks = { none: 0, microtask: 1, microtasks: 7 }[how] ?? 0
  for (let i = 0; i < microtasks; i++) await null
}

class Hold {
  state = 'waiting' // then open, closing, closed
  children = []

  constructor(parent, isClear) {
    this.parent = parent
    this.isClear = isClear
    parent.children.push(this)
  }

  hasEnded() {
    return this.state === 'closing' || this.state === 'closed'
  }

  isOver() {
    // A caller that gives up has left before it is rejected.
    if (this.state === 'waiting') return !this.isPatient
    return this.hasEnded() && this.children.every((child) => child.isOver())
  }

  /** And every caller's promise has settled. */
  isSettled() {
    return this.state === 'closed' && this.children.every((child) => child.isSettled())
  }

  /** Whether it is known which holds it comes from. */
  isCertain() {
    for (let one = this; one.parent !== undefined; one = one.parent) if (!one.isClear) return false
    return true
  }

  comesFrom(hold) {
    for (let one = this; one !== undefined; one = one.parent) if (one === hold) return true
    return false
  }
}

class Player {
  #mutex
  #root = { state: 'open', children: [], parent: undefined }
  #holds = []
  #left = []
  #onStack
  entries = 0

  constructor(mutex) {
    this.#mutex = mutex
  }

  async play(forest) {
    await Promise.all(forest.map((tree) => this.#start(tree, [])))
    // A task not awaited may start more.
    while (this.#left.length > 0) await this.#left.pop()
    for (const hold of this.#holds) assert.ok(hold.isSettled(), 'a hold that never ended')
  }

  /** `path` is the sections around it, the innermost last. */
  async #start(tree, path) {
    await wait(tree.pauses[0])
    if (tree.pauses[0] === 'turn') this.#checkHeld(path)
    if (tree.kind === 'task') return this.#work(tree, path)
    if (tree.kind === 'sync') return this.#enterSync(tree, path)
    return this.#enter(tree, path)
  }

  /** The hold that a caller with this path is nested in, now. */
  #from(path) {
    let isClear = true
    for (const hold of path.toReversed()) {
      if (hold.state === 'open') return { parent: hold, isClear }
      if (hold.state === 'closing') isClear = false
    }
    return { parent: this.#root, isClear }
  }

  #checkHeld(path) {
    const { parent, isClear } = this.#from(path)
    if (isClear) assert.equal(this.#mutex.isHeld(), parent !== this.#root)
  }

  async #enter(tree, path) {
    const { parent, isClear } = this.#from(path)
    const hold = new Hold(parent, isClear)
    hold.isPatient = tree.limit === 'none'
    this.#holds.push(hold)
    const body = async () => {
      this.#goIn(hold)
      try {
        await this.#work(tree, [...path, hold])
        if (tree.throws) throw hold
      } finally {
        hold.state = 'closing'
      }
    }
    const { options, over } = this.#limits(tree.limit)
    try {
      await this.#mutex.runExclusive(body, options)
    } catch (error) {
      assert.ok(error === hold || error === over || error.code === 'ERR_LOCK_TIMEOUT', error)
    }
    hold.state = 'closed'
  }

  #limits(limit) {
    if (limit === 'none') return {}
    if (limit === 'now') return { options: { timeout: 0 } }
    const controller = new AbortController()
    const over = new Error('aborted')
    setImmediate(() => controller.abort(over))
    return { options: { signal: controller.signal }, over }
  }

  #goIn(hold) {
    this.entries++
    for (const other of this.#holds) {
      if (other.state === 'open') assert.ok(hold.comesFrom(other), 'two are in')
      if (!hold.isCertain() || !other.isClear || other === hold) continue
      if (other.hasEnded() && !other.isOver()) {
        assert.ok(hold.comesFrom(other), 'in before a hold was over')
      }
    }
    const { children } = hold.parent
    const earlier = children.slice(0, children.indexOf(hold))
    if (hold.isClear) {
      const passed = earlier.filter(
        (one) => one.isClear && one.isPatient && one.state === 'waiting',
      )
      assert.equal(passed.length, 0, 'in before one that came first')
    }
    hold.state = 'open'
  }

  #enterSync(tree, path) {
    if (this.#onStack !== undefined) {
      // In again on the stack: no hold of its own.
      return this.#mutex.runExclusiveSync(() => this.#workSync(tree, path))
    }
    const { parent, isClear } = this.#from(path)
    const couldBeBusy = parent.children.some((one) => !one.isSettled()) || !isClear
    const hold = new Hold(parent, isClear)
    this.#holds.push(hold)
    try {
      this.#mutex.runExclusiveSync(() => {
        this.#goIn(hold)
        this.#onStack = hold
        this.#workSync(tree, [...path, hold])
        if (tree.throws) throw hold
      })
    } catch (error) {
      if (error !== hold) {
        assert.equal(error.code, 'ERR_LOCK_DEADLOCK', error)
        assert.ok(couldBeBusy, 'refused though no caller was in')
      }
    } finally {
      this.#onStack = undefined
      hold.state = 'closed'
    }
  }

  #workSync({ children }, path) {
    assert.equal(this.#mutex.isHeld(), true)
    for (const child of children) {
      if (child.kind === 'sync') this.#enterSync(child, path)
      else this.#left.push(this.#start(child, path))
    }
  }

  async #work({ pauses, children, together }, path) {
    await wait(pauses[1])
    if (path.at(-1)?.state === 'open') assert.equal(this.#mutex.isHeld(), true)
    const awaited = []
    for (const child of children) {
      const started = this.#start(child, path)
      if (child.isLeft) this.#left.push(started)
      else if (together) awaited.push(started)
      else await started
    }
    await Promise.all(awaited)
    await wait(pauses[2])
  }
}

module.exports = { forest, Player }
