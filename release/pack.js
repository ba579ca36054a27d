'use strict'
// The package as it is published, in build/boxoffice-<version>.tgz: with the prebuilt binaries, without an install
// script, and with the headers that a build from source takes, so that it depends on no other package.
//   node release/pack.js [--partial]     --partial: though some binaries are missing, as in the install tests
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs')
const path = require('node:path')
const { gunzipSync } = require('node:zlib')
const { nodeApi } = require('../binding/node_api.js')
const targets = require('../binding/targets.js')
const check = require('./check.js')

const root = path.join(__dirname, '..')
// The largest package allowed, packed and unpacked.
const most = { size: 2_000_000, unpackedSize: 6_000_000 }
const stage = path.join(root, 'build', 'package')
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
/** Documents and pictures that only the repository has. With them the package would be too large. */
const onlyInRepository =
  /^docs\/((coming-from|decisions|how-it-works|recipes)\/|performance|[^/]+\.svg$|(coming-from|guarantees|host-files|inspector|platforms|runtimes|scaling|ticket-story)\.md$)/
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '')

function main(isPartial) {
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(stage, { recursive: true })
  const copied = sources()
  for (const file of copied) cpSync(path.join(root, file), path.join(stage, file))
  const binaries = addBinaries(isPartial)
  const headers = addHeaders()
  for (const file of [...copied, ...headers]) dropComments(path.join(stage, file))
  for (const file of copied) if (file.endsWith('.md')) linkToRepository(file)
  const expected = [...copied, 'package.json', ...binaries, ...headers]
  writeManifest()
  const [{ filename, files, unpackedSize }] = JSON.parse(
    run('npm', ['pack', stage, '--json', '--pack-destination', path.join(root, 'build')]),
  )
  const size = compress(path.join(root, 'build', filename))
  assert.deepEqual(files.map((file) => file.path).sort(), expected.sort(), 'what is packed')
  const kilobytes = (bytes) => `${Math.round(bytes / 1024)} KiB`
  console.log(
    `build/${filename}: ${kilobytes(size)}, ${files.length} files, unpacked ${kilobytes(unpackedSize)}`,
  )
  checkSize({ size, unpackedSize }, binaries)
}

/** The files of the repository that the package has, besides package.json. */
function sources() {
  const patterns = manifest.files.map((pattern) =>
    pattern.startsWith('!') ? `:(exclude)${pattern.slice(1)}` : `:(glob)${pattern}`,
  )
  return run('git', ['ls-files', ...patterns, 'README.md', 'LICENSE'])
    .split('\n')
    .filter((file) => file !== '' && !onlyInRepository.test(file))
}

/** Compresses the package better than npm does: it becomes 6 % smaller. Returns its size. */
function compress(archive) {
  const unpacked = archive.replace(/\.tgz$/, '.tar')
  writeFileSync(unpacked, gunzipSync(readFileSync(archive)))
  const packed = compressed(unpacked)
  rmSync(unpacked)
  writeFileSync(archive, packed)
  return packed.length
}

const compressed = (file) => execFileSync('zopfli', ['--i5', '-c', file], { maxBuffer: 2 ** 30 })

/**
 * Estimates a missing binary by the one for the other processor; if that is missing, too, there is
 * no estimate.
 */
function checkSize({ size, unpackedSize }, binaries) {
  const whole = { size, unpackedSize }
  for (const name of Object.keys(targets)) {
    if (binaries.includes(fileOf(name))) continue
    const other = fileOf(name.replace(/x64|arm64/, (found) => (found === 'x64' ? 'arm64' : 'x64')))
    if (!binaries.includes(other)) {
      console.log(`whether all is small enough is not known without a binary like ${name}`)
      return
    }
    const file = path.join(stage, other)
    whole.size += compressed(file).length
    whole.unpackedSize += statSync(file).size
  }
  console.log(`with all binaries: ${whole.size} bytes, unpacked ${whole.unpackedSize}`)
  for (const [name, bytes] of Object.entries(whole))
    assert.ok(bytes <= most[name], `${name} of all is ${bytes} bytes, more than ${most[name]}`)
}

const fileOf = (name) => `prebuilds/${name}/boxoffice.node`

function addBinaries(isPartial) {
  const files = []
  const missing = []
  for (const name of Object.keys(targets)) {
    const file = fileOf(name)
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

/**
 * Leaves out the comments of the code, which are as large as a binary, but not those of the declarations. The repository has
 * them, in the same lines: an error's stack names the lines of both.
 */
function dropComments(file) {
  if (!/\.(h|cpp|cc|js|mjs)$/.test(file)) return
  const comments = /^[ \t]*(\/\/.*|\/\*\*((?!\*\/)[\s\S])*\*\/[ \t]*)$/gm
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(comments, (comment) => comment.replace(/[^\n]/g, '')),
  )
}

/** Links of `file` to what only the repository has lead to its address there. */
function linkToRepository(file) {
  const document = path.join(stage, file)
  const text = readFileSync(document, 'utf8').replace(
    /\]\(([^)\s#:]+)(#[^)\s]*)?\)/g,
    (link, target, anchor = '') => {
      const name = path.posix.join(path.posix.dirname(file), target)
      if (existsSync(path.join(stage, name))) return link
      assert.ok(statSync(path.join(root, name)).isFile(), `${link} of ${file}`)
      return `](${repository}/${name.endsWith('.svg') ? 'raw' : 'blob'}/HEAD/${name}${anchor})`
    },
  )
  writeFileSync(document, text)
}

/** Without scripts and fields that only the repository needs. */
function writeManifest() {
  const { scripts, devDependencies, ...published } = manifest
  published.files = [...manifest.files, 'prebuilds']
  assert.equal(published.dependencies, undefined, 'no other package is needed')
  writeFileSync(path.join(stage, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
}

function run(program, args) {
  return execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

main(process.argv.includes('--partial'))
