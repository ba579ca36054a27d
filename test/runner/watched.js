'use strict'
// watched.js SECONDS PROGRAM ARGUMENTS...: runs the program in a process group of its own, and ends the group with it.
// A program that runs for longer hangs: its stacks are printed, and it is ended.
const { spawn, spawnSync } = require('node:child_process')

const [seconds, program, ...args] = process.argv.slice(2)
/** As timeout(1) has it. */
const timedOut = 124
/** So many seconds a program has to say what it waited for (hung.js). */
const grace = 5

const child = spawn(program, args, { stdio: 'inherit', detached: true })
let isHung = false
const timer = setTimeout(endHung, Number(seconds) * 1000)

function endHung() {
  isHung = true
  console.log(`\n${program} did not end within ${seconds} s. Its stacks:`)
  const how = [
    '-p',
    child.pid,
    '-batch',
    '-ex',
    'set pagination off',
    '-ex',
    'thread apply all bt 30',
  ]
  const { error } = spawnSync('gdb', how, {
    stdio: ['ignore', 'inherit', 'ignore'],
    timeout: 60_000,
  })
  if (error) console.log(`No stacks: ${error.message}`)
  kill('SIGTERM')
  setTimeout(kill, grace * 1000, 'SIGKILL')
}

/** Sends `signal` to the group, if there still is one. */
function kill(signal) {
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

child.on('error', (error) => {
  console.error(`${program} does not start: ${error.message}`)
  process.exit(127)
})
child.on('exit', (code, signal) => {
  clearTimeout(timer)
  kill('SIGKILL')
  if (isHung) process.exit(timedOut)
  if (signal) console.error(`${program} was ended by ${signal}.`)
  process.exit(signal ? 128 : code)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    kill('SIGKILL')
    process.exit(130)
  })
}
