'use strict'
// Runs a program in a process group of its own, passes its output on, and ends what it leaves behind.
const { spawnSync } = require('node:child_process')
const { readFileSync, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')

/** Calls `use` with a new folder, which is removed afterwards. */
function inScratch(use) {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxoffice-tests-'))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The JSON in `file`, or undefined if no program has written it. */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Runs `program`; the answer says how it ended. */
function run(program, args, options = {}) {
  const { status, signal, error } = spawnSync(program, args, { stdio: 'inherit', ...options })
  if (error && error.code !== 'ETIMEDOUT') throw error
  return { status, how: signal ? `it was ended by ${signal}` : `its exit status is ${status}` }
}

module.exports = { inScratch, readReport, run }
