'use strict'
// Writes build/tidy: for each target of build/release one source that includes all of the target's, with its command. So
// clang-tidy reads the headers once, and takes a tenth of the time.
const { mkdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const folder = path.join(root, 'build/tidy')
const commands = JSON.parse(readFileSync(path.join(root, 'build/release/compile_commands.json')))

const unities = ['src', 'binding'].map((name) => {
  const all = commands.filter(({ file }) => path.relative(root, file).startsWith(`${name}/`))
  const sources = [...new Set(all.map(({ file }) => file))]
  const file = path.join(folder, `${name}.cpp`)
  const [{ command, directory }] = all
  const lines = sources.map((source) => `#include "${source}"\n`)
  return { directory, command: command.replace(/ -c .*$/, ` -c ${file}`), file, lines }
})

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const { file, lines } of unities) writeFileSync(file, lines.join(''))
const entries = unities.map(({ lines: _, ...entry }) => entry)
writeFileSync(path.join(folder, 'compile_commands.json'), JSON.stringify(entries))
