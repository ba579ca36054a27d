'use strict'
const { dirname } = require('node:path')

/** The path of the user's package `name`. The renewing thread connects with the same package. */
function findPackage(name) {
  const main = require.main === undefined ? [] : [dirname(require.main.filename)]
  return require.resolve(name, { paths: [__dirname, ...main, process.cwd()] })
}

module.exports = { findPackage }
