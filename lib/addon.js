'use strict'
// Finds the addon: the binary that BOXOFFICE_BINARY names, such as a sanitizer build, or else the one that was compiled
// here, or else the prebuilt one for this system.
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { adviceForBundles, isBundled } = require('./bundle_advice.js')

/** What is tried in turn: a folder of the package, or the path of a binary. */
function candidates() {
  if (process.env.BOXOFFICE_BINARY) return [path.resolve(process.env.BOXOFFICE_BINARY)]
  return ['build/release', `prebuilds/${system()}`]
}

/** What the folder of a prebuilt binary for this system is called. */
function system() {
  const isMusl = process.platform === 'linux' && usesMusl()
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`
}

/** Is musl the C library of this process? It has then been mapped, whatever else lies on the disk. */
function usesMusl() {
  let maps
  try {
    maps = readFileSync('/proc/self/maps', 'utf8')
  } catch {
    // Without /proc the report has to do, which takes its time: it looks at all of the process.
    return process.report.getReport().header.glibcVersionRuntime === undefined
  }
  return /\/(ld-musl-|libc\.musl-)/.test(maps)
}

/**
 * What the binary gives, or what hinders it if it is there. Bundlers and tracers of files find the paths of these calls,
 * and forgive where a binary is missing, since the calls stand in a try.
 */
function requireBinary(candidate) {
  try {
    switch (candidate) {
      case 'build/release':
        return { native: connect(require('../build/release/boxoffice.node')) }
      case 'prebuilds/darwin-arm64':
        return { native: connect(require('../prebuilds/darwin-arm64/boxoffice.node')) }
      case 'prebuilds/darwin-x64':
        return { native: connect(require('../prebuilds/darwin-x64/boxoffice.node')) }
      case 'prebuilds/linux-arm64':
        return { native: connect(require('../prebuilds/linux-arm64/boxoffice.node')) }
      case 'prebuilds/linux-arm64-musl':
        return { native: connect(require('../prebuilds/linux-arm64-musl/boxoffice.node')) }
      case 'prebuilds/linux-x64':
        return { native: connect(require('../prebuilds/linux-x64/boxoffice.node')) }
      case 'prebuilds/linux-x64-musl':
        return { native: connect(require('../prebuilds/linux-x64-musl/boxoffice.node')) }
      case 'prebuilds/win32-arm64':
        return { native: connect(require('../prebuilds/win32-arm64/boxoffice.node')) }
      case 'prebuilds/win32-x64':
        return { native: connect(require('../prebuilds/win32-x64/boxoffice.node')) }
      default:
        // Otherwise no binary is published for this system.
        if (path.isAbsolute(candidate)) {
          return { native: connect(createRequire(candidate)(candidate)) }
        }
        return {}
    }
  } catch (cause) {
    return cause.code === 'MODULE_NOT_FOUND' ? {} : { cause }
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
  throw new Error(
    `boxoffice cannot load its addon for ${system()} with Node.js ${process.version}. ${advice()} Looked at:\n` +
      failures.map((failure) => `  ${describe(failure)}`).join('\n'),
    { cause: failures.findLast(({ cause }) => cause)?.cause },
  )
}

function advice() {
  if (isBundled) return `It runs from a bundle. ${adviceForBundles}\n`
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
