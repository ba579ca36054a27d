'use strict'
// The prebuilt binaries of binding/targets.js, in prebuilds/<name>/boxoffice.node, on Linux on x64.
//   node release/prebuild.js [name ...] [-DNAME=VALUE ...]
const { execFileSync } = require('node:child_process')
const { copyFileSync, mkdirSync } = require('node:fs')
const { availableParallelism } = require('node:os')
const path = require('node:path')
const { nodeApi } = require('../binding/node_api.js')
const targets = require('../binding/targets.js')
const { findZig } = require('../binding/zig.js')
const check = require('./check.js')

const root = path.join(__dirname, '..')
const buildDir = path.join(root, 'build', 'prebuild')

function main(args) {
  const options = args.filter((arg) => arg.startsWith('-D'))
  const named = args.filter((arg) => !arg.startsWith('-D'))
  const names = named.length > 0 ? named : Object.keys(targets)
  const unknown = names.filter((name) => !Object.hasOwn(targets, name))
  if (unknown.length > 0) {
    throw new Error(`There is no ${unknown}; try ${Object.keys(targets).join(', ')}.`)
  }
  const zig = findZig()
  for (const name of names) build(name, zig, options)
}

function build(name, zig, options) {
  const dir = path.join(buildDir, name)
  const { headers, wrapper } = nodeApi()
  // No Node.js with musl is at hand, but a program that has musl within runs anywhere.
  const hasProgram = name === 'linux-x64-musl'
  run('cmake', [
    '-S',
    root,
    '-B',
    dir,
    `-DCMAKE_TOOLCHAIN_FILE=${path.join(__dirname, 'zig.cmake')}`,
    `-DBOXOFFICE_ZIG=${zig}`,
    `-DBOXOFFICE_ZIG_TARGET=${targets[name]}`,
    '-DCMAKE_BUILD_TYPE=Release',
    '-DBOXOFFICE_ADDON=ON',
    `-DBOXOFFICE_CROSS=${hasProgram ? 'ON' : 'OFF'}`,
    // The library in one piece: most of the time goes into reading headers.
    '-DCMAKE_UNITY_BUILD=ON',
    '-DCMAKE_UNITY_BUILD_BATCH_SIZE=0',
    `-DNODE_API_HEADERS_DIR=${headers}`,
    `-DNODE_ADDON_API_DIR=${wrapper}`,
    ...options,
  ])
  const jobs = String(availableParallelism())
  const make = ['--build', dir, '--parallel', jobs, '--target']
  run('cmake', [...make, 'boxoffice_addon'])
  if (hasProgram) {
    run('cmake', [...make, 'boxoffice_everything'])
    run(path.join(dir, 'test', 'cross', 'boxoffice_everything'), [])
  }
  const binary = path.join(root, 'prebuilds', name, 'boxoffice.node')
  mkdirSync(path.dirname(binary), { recursive: true })
  copyFileSync(path.join(dir, 'boxoffice.node'), binary)
  console.log(`${name}: ${check(name, binary)}`)
}

function run(program, args) {
  execFileSync(program, args, { stdio: 'inherit' })
}

main(process.argv.slice(2))
