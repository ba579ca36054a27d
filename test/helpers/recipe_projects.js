'use strict'
// Projects of the files in a document: blocks of JavaScript and TypeScript whose first line is
// their name.
const { execFile } = require('node:child_process')
const { mkdirSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const { read } = require('./documents.js')
const { root } = require('./examples.js')

const execute = promisify(execFile)
const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')

/** The files of a document, by name. */
function filesOf(document) {
  const blocks = read(document).matchAll(/^```(?:javascript|ts)\n(\/\/ (\S+)\n.*?)^```$/gms)
  return Object.fromEntries([...blocks].map(([, code, name]) => [name, code]))
}

/** The block of JSON in a document. */
const jsonIn = (document) => JSON.parse(read(document).match(/^```json\n(.*?)^```$/ms)[1])

/** A new folder in build/ with these files, of ES modules, where the package is installed. */
function projectOf(name, files) {
  const dir = path.join(root, 'build', 'recipes', name)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(path.join(dir, 'node_modules'), { recursive: true })
  symlinkSync(root, path.join(dir, 'node_modules', 'boxoffice'), 'junction')
  const all = { 'package.json': JSON.stringify({ type: 'module' }), ...files }
  for (const [file, text] of Object.entries(all)) writeFileSync(path.join(dir, file), text)
  return dir
}

/**
 * Compiles its TypeScript with these options to `out` in it. Rejects with the compiler's output, as
 * `stdout`.
 */
async function compile(dir, compilerOptions) {
  const config = { compilerOptions: { ...compilerOptions, outDir: 'out', rootDir: '.' } }
  writeFileSync(path.join(dir, 'tsconfig.json'), JSON.stringify(config))
  await execute(process.execPath, [tsc, '--project', dir])
}

module.exports = { compile, filesOf, jsonIn, projectOf }
