'use strict'
// Runs the steps of .ci/run and .ci/full. Each has a time limit, and what it starts ends with it. A step is red if it
// fails, if it takes too long, or if it ran fewer tests than it has at the least.
const { spawn } = require('node:child_process')
const { randomUUID } = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { stripVTControlCharacters } = require('node:util')
const { mostUnsteady } = require('../test/runner/tries.js')

const root = path.join(__dirname, '..')
/** By this variable of its environment a process is known as one of a step. */
const mark = 'BOXOFFICE_STEP'
const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs `step`: `{ name, run, limit, least }`, a name, lines of bash, seconds, and a number of tests. Resolves to the
 * same with what it came to. Its output goes to a file in `folder`, and to `print` meanwhile.
 */
async function runStep(step, { folder, environment = {}, print }) {
  const log = path.join(folder, `${step.name.replace(/\W+/g, '-')}.log`)
  const id = randomUUID()
  const interrupt = () => {
    endAll(id)
    process.exit(1)
  }
  for (const signal of interruptions) process.on(signal, interrupt)
  const start = performance.now()
  const child = spawn('bash', ['-euo', 'pipefail', '-c', step.run], {
    cwd: root,
    detached: true,
    env: { ...process.env, ...environment, [mark]: id },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  const file = fs.createWriteStream(log)
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      file.write(data)
      print?.(data)
    })
  }
  const limit = after(step.limit, () => endAll(id))
  const [code, signal] = await once(child, 'exit')
  const isLate = limit.end()
  const left = endAll(id)
  for (const signal of interruptions) process.off(signal, interrupt)
  // The last lines, with the numbers of tests, may come after the exit.
  const patience = after(5)
  await Promise.race([closed, patience.ended])
  patience.end()
  for (const stream of [child.stdout, child.stderr]) stream.destroy()
  await once(file.end(), 'finish')
  const output = stripVTControlCharacters(fs.readFileSync(log, 'utf8'))
  const seconds = Math.round((performance.now() - start) / 1000)
  return { ...step, output, seconds, left, ...judge(step, output, { code, signal, isLate }) }
}

/** After so many seconds `ended` resolves, and `then` is called, unless `end()` came first. */
function after(seconds, then = () => {}) {
  let isOver = false
  let timer
  const ended = new Promise((resolve) => {
    timer = setTimeout(() => {
      isOver = true
      resolve(then())
    }, seconds * 1000)
  })
  const end = () => {
    clearTimeout(timer)
    return isOver
  }
  return { ended, end }
}

/** Ends all processes of the step, and names them. */
function endAll(id) {
  const ended = []
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${mark}=${id}`)) continue
      ended.push(fs.readFileSync(`/proc/${pid}/comm`, 'latin1').trim())
      process.kill(Number(pid), 'SIGKILL')
    } catch (error) {
      // It has ended, or is not ours.
      if (!['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(error.code)) throw error
    }
  }
  return ended
}

/** What the output of a step says, and whether the step is red. */
function judge(step, output, { code, signal, isLate }) {
  const { tests, failed } = count(output)
  const unsteady = [...output.matchAll(/^unsteady: .*(\n {2}.*)*/gm)].map(([text]) => text)
  let why
  if (isLate) why = `not done within ${step.limit} s`
  else if (signal) why = `ended by ${signal}`
  else if (code !== 0) why = `exit status ${code}`
  else if (failed > 0) why = `${failed} tests failed`
  else if (tests < (step.least ?? 0)) why = `only ${tests} tests ran, at least ${step.least} should`
  return { tests, failed, unsteady, why }
}

/** The numbers of test/run.js, or else of ctest, of mocha and of the models. */
function count(output) {
  const sum = (pattern) =>
    [...output.matchAll(pattern)].reduce((total, [, number]) => total + Number(number), 0)
  const failed = sum(/^\d+ passed, (\d+) failed$/gm)
  const own = sum(/^(\d+) passed, \d+ failed$/gm)
  const others =
    sum(/^ *(\d+) passing\b/gm) +
    sum(/^100% tests passed, 0 tests failed out of (\d+)$/gm) +
    sum(/^(\d+) models passed$/gm)
  return { tests: own || others, failed }
}

/** Calls `work` with the path of a new folder, which is removed when that is done. */
async function inScratch(name, work) {
  const folder = fs.mkdtempSync(path.join(tmpdir(), `boxoffice-${name}-`))
  // Tests run its Node.js as another user, too.
  fs.chmodSync(folder, 0o755)
  try {
    await work(folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** The steps of these names, or all where there are none. */
function chosen(steps, names) {
  return names.length === 0 ? steps : steps.filter(({ name }) => names.includes(name))
}

/**
 * The steps, one by one; `beside` of them at a time, and each when the one has ended that it is `after`, which stands before
 * it. With `stops`, none comes after a red one.
 */
async function runSteps(steps, { folder, environment, stops = false, beside = 1 }) {
  const results = []
  const waiting = [...steps]
  const running = new Map()
  const print = beside === 1 ? (data) => process.stdout.write(data) : undefined
  const runAfter = async (former, step) => {
    await former
    console.log(`== ${step.name}`)
    return runStep(step, { folder, environment, print })
  }
  const work = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      // Set before anything is awaited: another worker looks up the step that its own comes after.
      const ending = runAfter(running.get(step.after), step)
      running.set(step.name, ending)
      const result = await ending
      results.push(result)
      say(result, print)
      if (result.why && stops) waiting.length = 0
    }
  }
  await Promise.all(Array.from({ length: beside }, work))
  return results
}

function say({ name, why, seconds, tests, left, output }, isPrinted) {
  if (left.length > 0) console.log(`Left running, and ended: ${left.join(', ')}`)
  if (why && !isPrinted) console.log(output.split('\n').slice(-80).join('\n'))
  const counted = tests > 0 ? `, ${tests} tests` : ''
  console.log(`== ${name}: ${why ? `FAILED, ${why}` : 'ok'} (${seconds} s${counted})`)
}

/** Prints the last lines. Returns the exit status. */
function summarize(results) {
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  const unsteady = results.flatMap((result) => result.unsteady)
  const red = results.filter(({ why }) => why)
  for (const text of unsteady) console.log(text)
  for (const { name, why, output } of red) {
    const failed = [...output.matchAll(/^failed: .*(\n {2}.*)*/gm)].map(([text]) => text)
    console.log([`${name}: FAILED, ${why}`, ...failed].join('\n'))
  }
  const tooMany = unsteady.length > mostUnsteady
  if (tooMany) console.log(`${unsteady.length} tests are unsteady: more than ${mostUnsteady}.`)
  else if (unsteady.length > 0) console.log(`${unsteady.length} unsteady`)
  const failed = sum('failed') + red.filter((result) => result.failed === 0).length
  console.log(`${sum('tests')} passed, ${failed + (tooMany ? 1 : 0)} failed`)
  return red.length > 0 || tooMany ? 1 : 0
}

module.exports = { chosen, inScratch, runSteps, summarize }
