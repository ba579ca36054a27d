'use strict'
// Finds the addon: the binary that BOXOFFICE_BINARY names (such as a sanitizer build), or else the
// one compiled here, or else the prebuilt one for this system.
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { adviceForAddon, isBundled } = require('./bundle_advice.js')
const { variable } = require('../core/builtins.js')

/** The candidates in order: a folder of the package, or the path of a binary. */
function candidates() {
  const named = variable('BOXOFFICE_BINARY')
  if (named) return [path.resolve(named)]
  return ['build/release', `prebuilds/${system()}`]
}

/** The folder name of a prebuilt binary for this system. */
function system() {
  const isMusl = process.platform === 'linux' && usesMusl()
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`
}

/** Whether this process runs on musl: then musl is mapped, whatever else is installed. */
function usesMusl() {
  let maps
  try {
    maps = readFileSync('/proc/self/maps', 'utf8')
  } catch {
    // Without /proc, ask the report, which is slow: it examines the whole process.
    return process.report.getReport().header.glibcVersionRuntime === undefined
  }
  return /\/(ld-musl-|libc\.musl-|[^/]*-linux-musl\/libc\.so)/.test(maps)
}

/**
 * Loads a binary; returns it, or the error if it is there and fails to load. Bundlers and file
 * tracers find the paths in these calls, and ignore a missing binary because the calls are in a
 * try.
 */
function requireBinary(candidate) {
  try {
    switch (candidate) {
      case 'build/release':
        return { native: connect(require('../../build/release/boxoffice.node')) }
      case 'prebuilds/darwin-arm64':
        return { native: connect(require('../../prebuilds/darwin-arm64/boxoffice.node')) }
      case 'prebuilds/darwin-x64':
        return { native: connect(require('../../prebuilds/darwin-x64/boxoffice.node')) }
      case 'prebuilds/linux-arm64':
        return { native: connect(require('../../prebuilds/linux-arm64/boxoffice.node')) }
      case 'prebuilds/linux-arm64-musl':
        return { native: connect(require('../../prebuilds/linux-arm64-musl/boxoffice.node')) }
      case 'prebuilds/linux-x64':
        return { native: connect(require('../../prebuilds/linux-x64/boxoffice.node')) }
      case 'prebuilds/linux-x64-musl':
        return { native: connect(require('../../prebuilds/linux-x64-musl/boxoffice.node')) }
      case 'prebuilds/win32-arm64':
        return { native: connect(require('../../prebuilds/win32-arm64/boxoffice.node')) }
      case 'prebuilds/win32-x64':
        return { native: connect(require('../../prebuilds/win32-x64/boxoffice.node')) }
      default:
        // A missing prebuilt folder means that no binary is published for this system.
        if (path.isAbsolute(candidate)) {
          return { native: connect(createRequire(candidate)(candidate)) }
        }
        return {}
    }
  } catch (cause) {
    // From a bundle the error has the name that the bundler gave the file.
    return cause.code === 'MODULE_NOT_FOUND' && !isBundled ? {} : { cause }
  }
}

function connect(addon) {
  return Object.assign(addon.connect(), { realm: addon.realm })
}

function load() {
  const failures = []
  for (const candidate of candidates()) {
    const { native, cause } = requireBinary(candidate)
    if (native !== undefined) return native
    failures.push({ candidate, cause })
  }
  const cause = failures.findLast(({ cause }) => cause)?.cause
  throw new Error(
    `boxoffice cannot load its addon for ${system()} with Node.js ${process.version}. ${adviceFor(cause)} Looked at:\n` +
      failures.map((failure) => `  ${describe(failure)}`).join('\n'),
    { cause },
  )
}

function adviceFor(cause) {
  if (cause?.code === 'ERR_DLOPEN_DISABLED') {
    return 'Node.js may not load addons here: start it with --allow-addons beside --permission, and without --no-addons.'
  }
  if (isBundled) return `It runs from a bundle. ${adviceForAddon}\n`
  return (
    'Build it, for which cmake and a C++20 compiler are needed: npx boxoffice-build ' +
    '(in its repository: npm run build).'
  )
}

function describe({ candidate, cause }) {
  const binary = path.isAbsolute(candidate) ? candidate : `${candidate}/boxoffice.node`
  return `${binary}: ${cause === undefined ? 'is not there' : cause.message.split('\n')[0]}`
}

module.exports = load()
