'use strict'
// zig: a C++ compiler with the C and C++ libraries of all systems, which npm has. It builds the prebuilt binaries,
// and the addon where a machine has no compiler.
const { execFileSync } = require('node:child_process')
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
const targets = require('./targets.js')

const root = path.join(__dirname, '..')
const version = '0.12.0-dev.1286'
const isWindows = process.platform === 'win32'

/** The program, from a package of npm that is nothing else, kept in build/; BOXOFFICE_ZIG names another one. */
function findZig() {
  if (process.env.BOXOFFICE_ZIG) return path.resolve(process.env.BOXOFFICE_ZIG)
  const name = `zig-${process.platform}-${process.arch}`
  const dir = path.join(root, 'build', `${name}-${version}`)
  const zig = path.join(dir, 'package', isWindows ? 'zig.exe' : 'zig')
  if (!existsSync(zig)) {
    const unpacked = `${dir}.part`
    mkdirSync(unpacked, { recursive: true })
    const pack = ['pack', '--silent', '--pack-destination', unpacked, `@oven/${name}@${version}`]
    // npm is a batch file on Windows, which takes a shell.
    execFileSync('npm', pack, { stdio: ['ignore', 'ignore', 'inherit'], shell: isWindows })
    const archive = path.join(unpacked, `oven-${name}-${version}.tgz`)
    execFileSync('tar', ['xzf', archive, '-C', unpacked], { stdio: 'inherit' })
    rmSync(archive)
    renameSync(unpacked, dir)
  }
  return zig
}

/** What targets.js calls this machine. */
function thisMachine() {
  const isMusl =
    process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`
}

/** Builds the addon at `output` by one command, for a target of targets.js. */
function buildWithZig(output, target = targets[thisMachine()]) {
  const zig = findZig()
  const scratch = path.join(root, 'build', 'zig-scratch')
  mkdirSync(scratch, { recursive: true })
  mkdirSync(path.dirname(output), { recursive: true })
  const { headers, wrapper } = nodeApi()
  const definitions = [
    'NDEBUG',
    'NAPI_VERSION=8',
    'NODE_ADDON_API_CPP_EXCEPTIONS',
    'NODE_ADDON_API_DISABLE_DEPRECATED',
    'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
    `BOXOFFICE_DIGEST=${digestOfSources()}`,
  ]
  const args = [
    ...['c++', '-target', target, '-shared', '-s', '-o', output],
    ...['-std=c++20', '-O2', '-fPIC', '-fvisibility=hidden', '-fvisibility-inlines-hidden'],
    ...definitions.map((definition) => `-D${definition}`),
    ...[`-I${path.join(root, 'src')}`, '-isystem', headers, '-isystem', wrapper],
    ...optionsOf[systemOf(target)]({ headers, scratch }),
    ...compiledFiles(systemOf(target), scratch),
  ]
  const env = { ...process.env, ZIG_GLOBAL_CACHE_DIR: scratch, ZIG_LOCAL_CACHE_DIR: scratch }
  execFileSync(zig, args, { stdio: 'inherit', env })
}

function systemOf(target) {
  return /linux|macos|windows/.exec(target)[0]
}

// Why: binding/CMakeLists.txt.
const optionsOf = {
  linux: () => ['-Wl,-z,nodelete', `-Wl,--version-script=${path.join(__dirname, 'exports.map')}`],
  macos: () => ['-undefined', 'dynamic_lookup'],
  windows({ headers, scratch }) {
    const names = readFileSync(path.join(headers, '..', 'def', 'node_api.def'), 'utf8')
      .split('\n')
      .filter((line) => /^(napi|node_api)_/.test(line))
    const lines = names.map((name) => `BOXOFFICE_FUNCTION(${name.trim()})\n`)
    writeFileSync(path.join(scratch, 'node_api_functions.inc'), lines.join(''))
    return [`-I${scratch}`, '-DBUILDING_NODE_EXTENSION']
  },
}

/** The library in one piece, as most of the time goes into reading headers, and the files of the binding. */
function compiledFiles(system, scratch) {
  const others = ['linux', 'macos', 'windows', 'unsupported'].filter(
    (name) => name !== system && (name !== 'unsupported' || system === 'linux'),
  )
  // As in CMakeLists.txt: a file of one system ends with its name.
  const ofOthers = new RegExp(`_(${others.join('|')})\\.(cpp|cc)$`)
  const files = allFiles().filter((file) => !ofOthers.test(file))
  const library = path.join(scratch, 'library.cpp')
  const includes = files
    .filter((file) => file.endsWith('.cpp'))
    .map((file) => `#include "${file}"\n`)
  writeFileSync(library, includes.join(''))
  return [library, ...files.filter((file) => file.endsWith('.cc'))]
}

/** Copies of the addon in one process work together when this is the same: see CMakeLists.txt. */
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

module.exports = { buildWithZig, findZig, hasZig: () => Object.hasOwn(targets, thisMachine()) }
