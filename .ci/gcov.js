'use strict'
// The lines of src/ that `ctest --preset coverage` has reached: a table of the files, and the lines
// never reached.
const { execFileSync } = require('node:child_process')
const { readdirSync } = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const build = path.join(root, 'build', 'coverage')

/** For each file of src/, how often each line was reached, in all programs that contain it. */
function countLines() {
  const files = new Map()
  for (const { file, lines } of notes().flatMap(reportOf)) {
    const name = path.relative(root, path.resolve(build, file))
    if (!name.startsWith(`src${path.sep}`)) continue
    const counts = files.get(name) ?? new Map()
    for (const { line_number, count } of lines) {
      counts.set(line_number, (counts.get(line_number) ?? 0) + count)
    }
    files.set(name, counts)
  }
  return [...files]
    .filter(([, counts]) => counts.size > 0)
    .sort(([one], [other]) => (one < other ? -1 : 1))
}

function notes() {
  const entries = readdirSync(build, { recursive: true, withFileTypes: true })
  return entries
    .filter(({ name }) => name.endsWith('.gcda'))
    .map((entry) => path.join(entry.parentPath, entry.name))
}

function reportOf(file) {
  const args = ['--json-format', '--stdout', file]
  const options = { cwd: build, encoding: 'utf8', maxBuffer: 2 ** 30 }
  return JSON.parse(execFileSync('gcov', args, options)).files
}

/** 1, 2, 3, 7 as "1-3, 7". */
function ranges(numbers) {
  const found = []
  for (const number of numbers) {
    if (found.at(-1)?.[1] === number - 1) found.at(-1)[1] = number
    else found.push([number, number])
  }
  return found.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(', ')
}

const total = { all: 0, reached: 0 }
const percent = (reached, all) => `${((100 * reached) / all).toFixed(1)} %`
for (const [name, counts] of countLines()) {
  const missed = [...counts].filter(([, count]) => count === 0).map(([line]) => line)
  total.all += counts.size
  total.reached += counts.size - missed.length
  const share = percent(counts.size - missed.length, counts.size)
  console.log(`${name.padEnd(40)} ${share.padStart(8)}  ${ranges(missed.sort((a, b) => a - b))}`)
}
if (total.all === 0) throw new Error('Nothing was measured: run npm run coverage:native.')
console.log(`${'src/'.padEnd(40)} ${percent(total.reached, total.all).padStart(8)}`)
