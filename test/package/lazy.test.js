'use strict'
// The cost of `require('boxoffice')`, and its exports before they are first read.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const root = path.join(__dirname, '..', '..')
const entry = path.join(root, 'lib', 'index.js')
const cost = path.join(root, 'bench', 'js', 'load.js')
const rounds = 7

function node(...args) {
  // V8's memory for counting coverage is not the library's. The variable is empty because
  // child_process copies a missing one.
  const env = { ...process.env, NODE_V8_COVERAGE: undefined }
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', env }))
}

/** How many files of lib/ a process has loaded after `code`, in which `all` is the package. */
function filesAfter(code) {
  const script = `const all = require(${JSON.stringify(entry)}); ${code}
    const lib = ${JSON.stringify(path.dirname(entry))}
    console.log(Object.keys(require.cache).filter((file) => file.startsWith(lib)).length)`
  return node('-e', script)
}

/** Median costs of this package and of async-mutex, measured in turns. */
function costs(...args) {
  const all = { ours: [], 'async-mutex': [] }
  for (let i = 0; i < rounds; i++) {
    for (const kit in all) all[kit].push(node('--expose-gc', cost, kit, ...args))
  }
  const median = (kit, field) =>
    all[kit].map((one) => one[field]).toSorted((a, b) => a - b)[(rounds - 1) / 2]
  return (field) => median('ours', field) / median('async-mutex', field)
}

describe("require('boxoffice')", function () {
  this.timeout(60_000)

  it('loads two files, one of which takes the clock, and for the first lock at most 34', () => {
    assert.equal(filesAfter(''), 2)
    for (const name of ['Mutex', 'Semaphore', 'RWLock', 'KeyedMutex', 'withTimeout', 'locks']) {
      const files = filesAfter(`void all.${name}`)
      assert.ok(files <= 34, `${files} for ${name}`)
    }
  })

  it('takes at most 1.5 times as long as async-mutex, and 3 times the memory', () => {
    const ratio = costs()
    assert.ok(ratio('value') <= 1.5, `${ratio('value')} times as long`)
    assert.ok(ratio('bytes') <= 3, `${ratio('bytes')} times the memory`)
  })

  it('takes at most 3 times the memory of async-mutex with a first lock', () => {
    const ratio = costs('use')
    assert.ok(ratio('bytes') <= 3, `${ratio('bytes')} times the memory`)
  })

  it('loads no module of Node that locks of one thread do not need', () => {
    const script = `const before = new Set(process.moduleLoadList)
      const all = require(${JSON.stringify(entry)})
      const { Mutex, KeyedSemaphore, LockManager } = all
      new Mutex().acquire()
      new KeyedSemaphore(1).acquire('a')
      const later = process.moduleLoadList.filter((one) => !before.has(one))
      console.log(JSON.stringify(later.filter((one) => one.includes('worker'))))`
    assert.deepEqual(node('-e', script), [])
  })
})

describe('an export', () => {
  const fresh = () => {
    const cached = require.cache[entry]
    delete require.cache[entry]
    const all = require(entry)
    require.cache[entry] = cached
    return all
  }

  it('can be replaced before it is first read, and after', () => {
    const all = fresh()
    all.Mutex = 1
    assert.equal(all.Mutex, 1)
    const { Semaphore } = all
    all.Semaphore = 2
    assert.equal(all.Semaphore, 2)
    all.Semaphore = Semaphore
    const plain = { configurable: true, enumerable: true, writable: true }
    const descriptor = Object.getOwnPropertyDescriptor(all, 'Semaphore')
    assert.deepEqual(descriptor, { value: Semaphore, ...plain })
  })

  it('is the same each time', () => {
    const all = fresh()
    for (const name of Object.keys(all)) {
      assert.notEqual(all[name], undefined, name)
      assert.equal(all[name], all[name], name)
    }
  })

  it('has a name that tools find in the text', async () => {
    const { default: all, ...named } = await import(pathToFileURL(entry))
    delete named['module.exports'] // of newer versions of Node
    assert.deepEqual(Object.keys(named), Object.keys(all).sort())
  })
})
