'use strict'
const { dirname } = require('node:path')

/** The user's package `name`, wherever it is: the thread that renews makes a connection with it, too. */
function findPackage(name) {
  const main = require.main === undefined ? [] : [dirname(require.main.filename)]
  return require.resolve(name, { paths: [__dirname, ...main, process.cwd()] })
}

module.exports = { findPackage }
