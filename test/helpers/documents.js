'use strict'
// The documents, what they need to run, and what they link to.
const { existsSync, readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { require: requireOne } = require('./example_world.js')
const { blocksIn, isKnown, root } = require('./examples.js')

const read = (name) => readFileSync(path.join(root, name), 'utf8')
const isThere = (name) => existsSync(path.join(root, name))

/** What a block says that it needs, by the variable that leads to it. */
const servers = { REDIS_URL: 'redis', DATABASE_URL: 'postgres' }

/** All files of Markdown at the root, in docs/ and in docs/recipes/: { name, blocks, needs }. `needs` are the servers. */
function documents() {
  return ['.', 'docs', 'docs/recipes'].flatMap((directory) =>
    readdirSync(path.join(root, directory))
      .filter((file) => file.endsWith('.md'))
      .map((file) => {
        const name = path.join(directory, file)
        const text = read(name)
        const blocks = blocksIn(text)
        const needs = Object.keys(servers)
          .filter((variable) => blocks.some((block) => block.includes(variable)))
          .map((variable) => servers[variable])
        return { name, blocks, needs }
      }),
  )
}

/** Those that come before the first one that needs a server. */
function serverlessBlocks(blocks) {
  const first = blocks.findIndex((block) => Object.keys(servers).some((one) => block.includes(one)))
  return first === -1 ? blocks : blocks.slice(0, first)
}

/** Those that can run here: by this Node and this system, and with the packages that are installed. */
function knownBlocks(blocks) {
  return blocks.filter(
    (block) =>
      isKnown(block) &&
      !(block.includes('navigator.locks.') && navigatorLocks === undefined) &&
      [...block.matchAll(/require\('([^']+)'\)/g)].every(([, name]) => isInstalled(name)),
  )
}

const navigatorLocks = globalThis.navigator?.locks

function isInstalled(name) {
  try {
    requireOne(name)
    return true
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return false
    throw error
  }
}

/** The targets of links inside the repository. */
function linksIn(markdown) {
  const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target)
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** The anchors of the headings, as GitHub makes them. */
function anchorsIn(markdown) {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** All files in these folders. */
function filesIn(...folders) {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
  )
}

module.exports = {
  anchorsIn,
  documents,
  filesIn,
  isThere,
  knownBlocks,
  linksIn,
  read,
  serverlessBlocks,
}
