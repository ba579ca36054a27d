// The usual hand-written map of locks for a kit without keys. It is a careful one: it counts the
// users of a key, and drops the key with the last of them.

class KeyedMap {
  #locks = new Map()
  #create

  constructor(create) {
    this.#create = create
  }

  take(key) {
    let entry = this.#locks.get(key)
    if (entry === undefined) {
      entry = { lock: this.#create(), users: 0 }
      this.#locks.set(key, entry)
    }
    ++entry.users
    return entry
  }

  drop(key, entry) {
    if (--entry.users === 0) this.#locks.delete(key)
  }
}

/** Keyed forms made from a kit's form with enter and leave, and from its form with run. */
function keyedForms(held, run) {
  return { keyed: held && keyedHeld(held), keyedRun: keyedRun(run) }
}

function keyedHeld({ create, enter, leave }) {
  return {
    create: () => new KeyedMap(create),
    enter: async (map, key) => {
      const entry = map.take(key)
      const grant = await enter(entry.lock)
      return () => {
        leave(entry.lock, grant)
        map.drop(key, entry)
      }
    },
    leave: (_map, release) => release(),
  }
}

function keyedRun({ create, run }) {
  return {
    create: () => new KeyedMap(create),
    run: async (map, callback, key) => {
      const entry = map.take(key)
      try {
        return await run(entry.lock, callback)
      } finally {
        map.drop(key, entry)
      }
    },
  }
}

module.exports = { keyedForms }
