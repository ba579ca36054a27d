'use strict'
// The first code of the renewing thread, which keeper.js starts from text. It runs the files as they were when
// keeper.js read them, when the engine was made, because a deployment may have replaced them since by files of another
// version.
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { compileFunction } = require('node:vm')
const { workerData } = require('node:worker_threads')

const { addon, main, texts } = workerData
const loaded = new Map()
const names = ['module', 'exports', 'require', '__filename', '__dirname']

function load(file) {
  const known = loaded.get(file)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  loaded.set(file, module)
  const folder = dirname(file)
  const requireReal = createRequire(file)
  const requireFrom = (name) => {
    const target = name === '#addon' ? addon : join(folder, name)
    if (texts.has(target)) return load(target)
    return texts.has(name) ? load(name) : requireReal(name)
  }
  const run = compileFunction(texts.get(file), names, { filename: file })
  run(module, module.exports, requireFrom, file, folder)
  return module.exports
}

load(main)
