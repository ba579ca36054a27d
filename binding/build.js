#!/usr/bin/env node
'use strict'
// Builds with plain CMake, in build/release. Without CMake or a compiler, or if CMake cannot configure the
// build, it builds the addon with zig. Run it as `npx boxoffice-build` if no prebuilt binary fits.
//   node binding/build.js [addon | tests | bench] [-DNAME=VALUE ...]
const { spawnSync } = require('node:child_process')
const { existsSync } = require('node:fs')
const { availableParallelism } = require('node:os')
const path = require('node:path')
const { nodeApi } = require('./node_api.js')
const { buildWithZig, hasZig } = require('./zig.js')

const root = path.join(__dirname, '..')
const buildDir = path.join(root, 'build', 'release')

const [what = 'addon', ...cmakeOptions] = process.argv.slice(2)
const { headers, wrapper } = nodeApi()
const parts = {
  addon: {
    folder: 'binding',
    targets: ['boxoffice_addon'],
    options: [
      '-DBOXOFFICE_ADDON=ON',
      `-DNODE_ADDON_API_DIR=${wrapper}`,
      `-DNODE_API_HEADERS_DIR=${headers}`,
    ],
  },
  tests: {
    folder: 'test/native',
    targets: ['boxoffice_tests', 'boxoffice_memory', 'boxoffice_stress'],
    options: ['-DBOXOFFICE_TESTS=ON'],
  },
  bench: {
    folder: 'bench/native',
    targets: ['boxoffice_bench'],
    options: ['-DBOXOFFICE_BENCH=ON'],
  },
}
// The published package has only the addon.
const known = Object.keys(parts).filter((part) => existsSync(path.join(root, parts[part].folder)))
if (what === '--help') {
  console.log(`boxoffice-build [${known.join(' | ')}] [-DNAME=VALUE of cmake ...]`)
  process.exit()
}
if (!known.includes(what)) stop(`There is no part "${what}"; try ${known.join(', ')}.`)
const { targets, options } = parts[what]

const missing = missingTools()
const mayUseZig = what === 'addon' && cmakeOptions.length === 0 && hasZig()
if (missing.length === 0) buildWithCMake()
else if (mayUseZig) buildWithoutTools(`This machine has no ${missing.join(', ')}`)
else stopWithoutTools()

function buildWithCMake() {
  const settings = ['-DCMAKE_BUILD_TYPE=Release', ...options, ...cmakeOptions]
  const status = cmake('-S', root, '-B', buildDir, ...settings)
  if (status !== 0) {
    if (!mayUseZig) process.exit(status)
    missing.push('a newer cmake or C++20 compiler')
    return buildWithoutTools('CMake cannot configure the build on this machine (see above)')
  }
  const jobs = String(availableParallelism())
  const how = ['--config', 'Release', '--parallel', jobs]
  process.exitCode = cmake('--build', buildDir, ...how, '--target', ...targets)
}

function buildWithoutTools(why) {
  console.log(`${why}: boxoffice is built with zig, from npm (74 MB), for a minute or two.`)
  try {
    buildWithZig(path.join(buildDir, 'boxoffice.node'))
  } catch (error) {
    if (error.status === undefined && error.code === undefined) throw error
    // npm, tar and zig have printed their own errors above.
    stopWithoutTools(`It could not be built with zig either: ${error.code ?? 'see above'}`)
  }
}

function missingTools() {
  const missing = []
  if (!runs('cmake')) missing.push('cmake')
  if (process.platform !== 'win32') {
    // CXX may have arguments, or a launcher before it.
    const compilers = process.env.CXX ? [process.env.CXX.split(' ')[0]] : ['c++', 'g++', 'clang++']
    if (!compilers.some(runs)) missing.push('a C++20 compiler')
    if (!runs('make')) missing.push('make')
  }
  return missing
}

function stopWithoutTools(...causes) {
  const install = {
    linux: [
      'Debian, Ubuntu: apt install cmake g++ make',
      'Fedora:         dnf install cmake gcc-c++ make',
      'Alpine:         apk add cmake g++ make',
    ],
    darwin: ['macOS: xcode-select --install && brew install cmake'],
    win32: ['Windows: winget install Kitware.CMake Microsoft.VisualStudio.2022.BuildTools'],
  }[process.platform] ?? ['Install them with the package manager of this system.']
  stop(`Building boxoffice needs ${missing.join(', ')}.`, ...install, ...causes)
}

function runs(tool) {
  return spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined
}

function cmake(...args) {
  return spawnSync('cmake', args, { stdio: 'inherit' }).status ?? 1
}

function stop(...lines) {
  console.error(lines.join('\n  '))
  process.exit(1)
}
