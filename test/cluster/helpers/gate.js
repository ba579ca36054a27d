'use strict'

/** A step of a driver that ends when a test says so: { opened, open(), fail(error) }. */
function gate() {
  const it = {}
  it.opened = new Promise((resolve, reject) => {
    it.open = resolve
    it.fail = reject
  })
  return it
}

module.exports = { gate }
