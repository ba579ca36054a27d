'use strict'
// Finds the addon: the one that BOXOFFICE_BINARY names, such as a sanitizer build, or else the one that was
// compiled here, or else the prebuilt one for this system.
const { existsSync, readFileSync } = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')

/** Where the addon may be, the first that loads being the one: each is looked for only when it comes to it. */
function* binaries() {
  if (process.env.BOXOFFICE_BINARY) {
    yield path.resolve(process.env.BOXOFFICE_BINARY)
    return
  }
  yield path.join(root, 'build', 'release', 'boxoffice.node')
  yield path.join(root, 'prebuilds', system(), 'boxoffice.node')
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

function load() {
  const failures = []
  for (const binary of binaries()) {
    if (!existsSync(binary)) {
      failures.push({ binary, message: 'is not there' })
      continue
    }
    try {
      const addon = require(binary)
      return Object.assign(addon.connect(), { realm: addon.realm })
    } catch (cause) {
      failures.push({ binary, message: cause.message.split('\n')[0], cause })
    }
  }
  throw new Error(
    `boxoffice cannot load its addon for ${system()} with Node.js ${process.version}. Build it, for which ` +
      `cmake and a C++20 compiler are needed: npx boxoffice-build (in its repository: npm run build). Looked at:\n` +
      failures.map(({ binary, message }) => `  ${binary}: ${message}`).join('\n'),
    { cause: failures.findLast(({ cause }) => cause)?.cause },
  )
}

module.exports = load()
