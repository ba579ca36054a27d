'use strict'
// Warnings that a lock gives without diagnostics, by process.emitWarning.
const { capture } = require('./frames.js')

/** Enough for the package's frames on top and the interesting ones below. */
const mostFrames = 16
/** The folder of the package in the frame of this file. A bundle has other names, and shows all frames. */
const here = /([^\s(]*)core[/\\]warning\.js:\d+:\d+\)?$/

/** The lines of the stack that are the user's. */
function callSite() {
  const holder = {}
  capture(holder, undefined, mostFrames)
  const frames = `${holder.stack ?? ''}`.split('\n').slice(1)
  const ours = frames.map((frame) => here.exec(frame)?.[1]).find((folder) => folder !== undefined)
  const isOurs = (frame) =>
    frame.includes('node:internal/') || (ours !== undefined && frame.includes(ours))
  return frames.filter((frame) => !isOurs(frame)).join('\n')
}

/** `what` happened at the site of the detail. */
function warnHere(code, message, what) {
  const site = callSite()
  const detail = site === '' ? undefined : `${what} here:\n${site}`
  process.emitWarning(message, { type: 'BoxofficeWarning', code, detail })
}

module.exports = { warnHere }
