'use strict'
// The folders of examples/, each run by `node .` in a process of its own.
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { createInterface } = require('node:readline')
const { read } = require('./documents.js')
const { root } = require('./examples.js')

const folderOf = (name) => path.join(root, 'examples', name)
const examples = readdirSync(folderOf('.'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()

function start(folder, env) {
  return spawn(process.execPath, ['.'], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The output of `node .` there. Rejects when it fails, or prints an error. */
async function runFolder(folder, env) {
  const directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-example-')) // for locks of scope host
  try {
    const child = start(folder, { BOXOFFICE_DIRECTORY: directory, ...env })
    const texts = Promise.all([child.stdout, child.stderr].map(textOf))
    const [code] = await once(child, 'close')
    const [stdout, stderr] = await texts
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    return stdout
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function textOf(stream) {
  const chunks = await stream.setEncoding('utf8').toArray()
  return chunks.join('')
}

/** Runs an example, in its folder or in a copy, and compares with the output in its README. */
async function checkOutput(name, env = {}, folder = folderOf(name)) {
  const [, expected] = read(`examples/${name}/README.md`).match(/^```text\n([\s\S]*?)^```$/m)
  assert.equal(await runFolder(folder, env), expected)
}

/** Calls `use` with a copy of an example elsewhere, beside the packages installed there, of which `change` edits the code. */
async function withCopy(name, packages, use, change = (code) => code) {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxoffice-copy-'))
  try {
    const link = (one, target) =>
      symlinkSync(target, path.join(folder, 'node_modules', one), 'junction')
    mkdirSync(path.join(folder, 'node_modules'))
    link('boxoffice', root)
    for (const one of packages) link(one, path.join(root, 'node_modules', one))
    writeFileSync(path.join(folder, 'index.js'), change(read(`examples/${name}/index.js`)))
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** An example that runs until `stop()`, and the first line that it prints. */
async function startFolder(name, env) {
  const child = start(folderOf(name), env)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const stop = async () => {
    child.kill()
    await once(child, 'close')
  }
  return { line, stop }
}

module.exports = { checkOutput, examples, startFolder, withCopy }
