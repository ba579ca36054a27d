'use strict'
const { dirname } = require('node:path')

/** The inner packages that define the clients of a package. A program may have installed only the inner package. */
const inner = { redis: '@redis/client' }

/**
 * Returns the path of the package that made `client`, because the renewing thread must connect with the same package:
 * several versions may be installed, and the client has the options of its version. If no loaded file exports the
 * client's class, as in a bundle, returns the path of the program's package `name`.
 */
function findPackage(name, client) {
  const folder = folderOf(client, inner[name] ?? name)
  if (folder !== undefined) return require.resolve(folder)
  const main = require.main === undefined ? [] : [dirname(require.main.filename)]
  const paths = [...main, process.cwd(), __dirname]
  const names = [name, inner[name]].filter(Boolean)
  const found = names.map((one) => resolved(one, paths)).find((path) => path !== undefined)
  if (found !== undefined) return found
  throw new Error(
    `the thread that renews leases finds no package ${names.join(' or ')}, of which the client is: npm install ${name}`,
  )
}

function resolved(name, paths) {
  try {
    return require.resolve(name, { paths })
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** Returns the folder of the loaded package `name` that exports a class of `client`, or a base of its class. */
function folderOf(client, name) {
  const classes = classesOf(client)
  for (const module of Object.values(require.cache ?? {})) {
    const [folder, found] =
      /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(module?.filename) ?? []
    if (found?.replace('\\', '/') === name && classes.some((one) => has(module.exports, one)))
      return folder
  }
  return undefined
}

function classesOf(client) {
  const all = []
  for (let one = Object.getPrototypeOf(client); one !== null; one = Object.getPrototypeOf(one)) {
    if (Object.hasOwn(one, 'constructor')) all.push(one.constructor)
  }
  return all
}

/** Whether `exports` contains `one`. Calls no getters, because packages load more files in getters. */
function has(exports, one) {
  if (exports === one) return true
  if (exports === null || !/^(object|function)$/.test(typeof exports)) return false
  const properties = Object.values(Object.getOwnPropertyDescriptors(exports))
  return properties.some(({ value }) => value === one)
}

module.exports = { findPackage }
