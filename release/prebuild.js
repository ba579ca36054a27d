'use strict'
// The prebuilt binaries of binding/targets.js, in prebuilds/<name>/boxoffice.node, on Linux on x64.
//   node release/prebuild.js [name ...] [-OPTION ...]     with options of the compiler
const { execFileSync } = require('node:child_process')
const { copyFileSync, mkdirSync } = require('node:fs')
const path = require('node:path')
const targets = require('../binding/targets.js')
const { buildWithZig, compileWithZig, findZig } = require('../binding/zig.js')
const check = require('./check.js')

const root = path.join(__dirname, '..')
// As in binding/exports.map, and those of src/platform/published.h.
const exported = [
  'napi_register_module_v1',
  'node_api_module_get_api_version_v1',
  'boxoffice_process_wide_*',
]
/**
 * Code that does not throw needs no unwind tables, except on Windows, and no function of C throws; macOS cannot be
 * tested here. Link-time optimisation for Windows drops the set-up of thread-local variables.
 */
const forSizeOnLinux = [
  ...['-fno-unwind-tables', '-fno-asynchronous-unwind-tables', '-Xclang', '-fexternc-nounwind'],
  '-flto',
]
const warnings = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion']

function main(args) {
  const options = args.filter((arg) => arg.startsWith('-'))
  const named = args.filter((arg) => !arg.startsWith('-'))
  const names = named.length > 0 ? named : Object.keys(targets)
  const unknown = names.filter((name) => !Object.hasOwn(targets, name))
  if (unknown.length > 0) {
    throw new Error(`There is no ${unknown}; try ${Object.keys(targets).join(', ')}.`)
  }
  for (const name of names) build(name, [...warnings, ...options])
}

function build(name, options) {
  const built = path.join(root, 'build', 'prebuild', name, 'boxoffice.node')
  if (name.startsWith('darwin')) buildForMac(built, name, [...forSize(name), ...options])
  else buildWithZig(built, targets[name], [...forSize(name), ...options])
  // No Node.js with musl is available here, but a program that contains musl runs anywhere.
  if (name === 'linux-x64-musl') {
    const program = path.join(root, 'build', 'everything')
    const source = path.join(root, 'test', 'cross', 'everything.cpp')
    compileWithZig(program, targets[name], /\.cpp$/, ['-O2', ...options, source])
    execFileSync(program, { stdio: 'inherit' })
  }
  // In a folder of its own: zig leaves an import library for Windows beside it.
  const binary = path.join(root, 'prebuilds', name, 'boxoffice.node')
  mkdirSync(path.dirname(binary), { recursive: true })
  copyFileSync(built, binary)
  console.log(`${name}: ${check(name, binary)}`)
}

/**
 * Links with LLVM's linker instead of zig's own for macOS, which exports the whole C++ library
 * inside and keeps the names of all functions: half of the file. It gets the arguments that zig
 * prints for its own linker with -v.
 */
function buildForMac(built, name, options) {
  const said = buildWithZig(built, targets[name], [...options, '-v'])
  const { lib_dir } = JSON.parse(execFileSync(findZig(), ['env'], { encoding: 'utf8' }))
  const system = path.join(lib_dir, 'libc', 'darwin', 'libSystem.tbd')
  const given = /^zig ld (.*)$/m.exec(said)[1].split(' ')
  const args = [
    ...['-arch', name.endsWith('arm64') ? 'arm64' : 'x86_64', '-adhoc_codesign', '-x', '-S'],
    ...['-install_name', '@rpath/boxoffice.node'],
    ...exported.flatMap((symbol) => ['-exported_symbol', `_${symbol}`]),
    ...given.map((arg) => (arg === '-lSystem' ? system : arg)),
  ]
  // An old version silently leaves out the parts that exceptions need.
  execFileSync('ld64.lld-19', args, { stdio: 'inherit' })
}

/** For size: the package holds eight binaries, each with the C++ library that zig builds. */
function forSize(name) {
  return [
    ...['-Os', '-ffunction-sections', '-fdata-sections', '-Wl,--gc-sections'],
    path.join(__dirname, 'no_demangler.cc'),
    // zig takes -Oz for -Os, clang itself does not. On macOS its short prologues need long unwind tables.
    ...(name.startsWith('darwin') ? [] : ['-Xclang', '-Oz']),
    ...(name.startsWith('linux') ? forSizeOnLinux : []),
  ]
}

main(process.argv.slice(2))
