// The cost of the Web Locks standard in plain JavaScript, on one thread: a Map of names, an array
// for each, without signals, stealing or deaths.

class PlainBroker {
  #names = new Map()

  request(name, callback) {
    return new Promise((resolve, reject) => {
      const run = async () => {
        try {
          resolve(await callback({ name, mode: 'exclusive' }))
        } catch (error) {
          reject(error)
        } finally {
          this.#next(name)
        }
      }
      const queue = this.#names.get(name)
      if (queue !== undefined) {
        queue.push(run)
        return
      }
      this.#names.set(name, [])
      queueMicrotask(run)
    })
  }

  #next(name) {
    const next = this.#names.get(name).shift()
    if (next === undefined) this.#names.delete(name)
    else queueMicrotask(next)
  }
}

module.exports = { PlainBroker }
