'use strict'
// The documents, the servers and packages that they need, and their links.
const assert = require('node:assert/strict')
const { existsSync, readdirSync, readFileSync, statSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { repository } = require('../../package.json')
const { require: requireOne } = require('./example_world.js')
const { blocksIn, lackOf, root } = require('./examples.js')

const read = (name) => readFileSync(path.join(root, name), 'utf8')
const isThere = (name) => existsSync(path.join(root, name))

/** The needs of a block, by the variable that refers to them. */
const servers = { REDIS_URL: 'redis', DATABASE_URL: 'postgres', ETCD_URL: 'etcd' }

const subfolders = ['recipes', 'coming-from', 'how-it-works', 'performance', 'decisions', 'site']
const folders = ['.', 'docs', ...subfolders.map((name) => `docs/${name}`)]

/**
 * All Markdown files at the root and in docs/: { name, blocks, needs }. `needs` are the servers.
 */
function documents() {
  return folders.flatMap((directory) =>
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

/** The blocks before the first one that needs a server. */
function serverlessBlocks(blocks) {
  const first = blocks.findIndex((block) => Object.keys(servers).some((one) => block.includes(one)))
  return first === -1 ? blocks : blocks.slice(0, first)
}

/** The blocks that can run here: with this Node, this system, and the installed packages. */
function knownBlocks(blocks) {
  return blocks.filter(
    (block) =>
      lackOf(block) === undefined &&
      !(block.includes('navigator.locks.') && !hasNavigatorLocks(block)) &&
      [...block.matchAll(/require\('([^']+)'\)/g)].every(([, name]) => isInstalled(name)) &&
      [...block.matchAll(/^import .* from '([^']+)'$/gm)].every(([, name]) => isImportable(name)),
  )
}

/** Whether Node has them, or the block installs them. */
const hasNavigatorLocks = (block) =>
  globalThis.navigator?.locks !== undefined || block.includes('installNavigatorLocks()')

/** Blocks import from the root of the repository. */
function isImportable(name) {
  try {
    createRequire(path.join(root, 'package.json')).resolve(name)
    return true
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return false
    throw error
  }
}

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

const page = repository.url.replace(/^git\+|\.git$/g, '')

/** The files and folders of the repository that links lead to by its address. */
function repositoryLinksIn(markdown) {
  const links = markdown.matchAll(/\]\(https:\/\/github\.com\/[\w-]+\/boxoffice\/([^)\s]*)\)/g)
  return [...links].map(([link, target]) => {
    const [, kind, name] = target.match(/^(blob|tree|raw)\/HEAD\/([^#]+)$/)
    assert.ok(link.startsWith(`](${page}/`), `${link} is in another repository than package.json`)
    assert.ok(isThere(name) && statSync(path.join(root, name)).isFile() === (kind !== 'tree'), link)
    return name
  })
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
  repositoryLinksIn,
  serverlessBlocks,
}
