'use strict'
// The package as it is published, in build/boxoffice-<version>.tgz: with the prebuilt binaries, without an install
// script, and with the headers that a build from source takes, so that it depends on no other package.
//   node release/pack.js [--partial]     --partial: though some binaries are missing, as in the install tests
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { nodeApi } = require('../binding/node_api.js')
const targets = require('../binding/targets.js')
const check = require('./check.js')

const root = path.join(__dirname, '..')
const stage = path.join(root, 'build', 'package')
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

function main(isPartial) {
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(stage, { recursive: true })
  const sources = git('ls-files', ...manifest.files, 'README.md', 'LICENSE')
  for (const file of sources) cpSync(path.join(root, file), path.join(stage, file))
  const expected = [...sources, 'package.json', ...addBinaries(isPartial), ...addHeaders()]
  writeManifest()
  const [{ filename, files, size, unpackedSize }] = JSON.parse(
    run('npm', ['pack', stage, '--json', '--pack-destination', path.join(root, 'build')]),
  )
  assert.deepEqual(files.map((file) => file.path).sort(), expected.sort(), 'what is packed')
  const kilobytes = (bytes) => `${Math.round(bytes / 1024)} KiB`
  console.log(
    `build/${filename}: ${kilobytes(size)}, ${files.length} files, unpacked ${kilobytes(unpackedSize)}`,
  )
}

function addBinaries(isPartial) {
  const files = []
  const missing = []
  for (const name of Object.keys(targets)) {
    const file = `prebuilds/${name}/boxoffice.node`
    const binary = path.join(root, file)
    if (!existsSync(binary)) {
      missing.push(name)
      continue
    }
    console.log(`${name}: ${check(name, binary)}`)
    cpSync(binary, path.join(stage, file))
    files.push(file)
  }
  if (missing.length > 0 && !isPartial) {
    throw new Error(`No binary for ${missing.join(', ')}. Build it with: npm run binaries`)
  }
  return files
}

function addHeaders() {
  const { headers, wrapper } = nodeApi()
  const copied = {
    include: [
      headers,
      ['js_native_api.h', 'js_native_api_types.h', 'node_api.h', 'node_api_types.h'],
    ],
    def: [path.join(headers, '..', 'def'), ['node_api.def']],
    wrapper: [wrapper, ['napi.h', 'napi-inl.h', 'LICENSE.md']],
    '.': [path.join(headers, '..'), ['LICENSE']],
  }
  return Object.entries(copied).flatMap(([folder, [from, names]]) =>
    names.map((name) => {
      const file = path.posix.join('binding/node-api', folder, name)
      cpSync(path.join(from, name), path.join(stage, file))
      return file
    }),
  )
}

/** Without what only the repository needs. */
function writeManifest() {
  const { scripts, devDependencies, ...published } = manifest
  published.files = [...manifest.files, 'prebuilds']
  assert.equal(published.dependencies, undefined, 'no other package is needed')
  writeFileSync(path.join(stage, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
}

function git(...args) {
  return run('git', args).split('\n').filter(Boolean)
}

function run(program, args) {
  return execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

main(process.argv.includes('--partial'))
