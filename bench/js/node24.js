// Node 24, the first version with navigator.locks, from an npm package that contains only node;
// downloaded at the first use.
const { existsSync } = require('node:fs')
const path = require('node:path')
const { npmInstall } = require('./npm.js')

const version = '24.21.0'
const home = path.join(__dirname, 'node_modules', `.node-${version}`)
const isWindows = process.platform === 'win32'
const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`
const file = path.join(home, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node')

/** The path of its program. */
function node24() {
  if (!existsSync(file)) {
    console.error(`Installing Node ${version} into ${path.relative(process.cwd(), home)} ...`)
    npmInstall(home, `${name}@${version}`)
  }
  return file
}

/** Kits that run on it are recognized by their names. */
const isOnNode24 = (kit) => kit.endsWith('Node 24')

module.exports = { isOnNode24, node24 }
