'use strict'
// The store of another process: each of its methods is a request message and a response.

/** The parent's store, in a process that was forked with `serialization: 'advanced'`. */
function remoteStore() {
  let last = 0
  const pending = new Map()
  process.on('message', ({ id, value, error }) => {
    if (!pending.has(id)) return
    const { resolve, reject } = pending.get(id)
    pending.delete(id)
    if (error === undefined) resolve(value)
    else reject(error)
  })
  return new Proxy(
    { close: async () => {} },
    {
      get: (own, method) =>
        own[method] ??
        ((...args) =>
          new Promise((resolve, reject) => {
            const id = ++last
            pending.set(id, { resolve, reject })
            process.send({ id, method, args })
          })),
    },
  )
}

/** Answers the queries of `child`; `onQuery` is called before each. */
function serveStore(store, child, onQuery = () => {}) {
  child.on('message', async ({ id, method, args }) => {
    if (method === undefined) return
    onQuery()
    const answer = await store[method](...args).then(
      (value) => ({ id, value }),
      (error) => ({ id, error }),
    )
    if (child.connected) child.send(answer, () => {}) // it may just have been killed
  })
}

module.exports = { remoteStore, serveStore }
