'use strict'
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { skip } = require('../helpers/skip.js')

/** Runs in a mount namespace of its own, in the directory of a file system with room for the first rows of slots only. */
async function fill(directory) {
  const { KeyedMutex } = require('../..')
  const options = { scope: 'host', name: 'users', directory }
  const locks = new KeyedMutex(options)
  const releases = new Map()
  let error
  for (let key = 0; !error; key++) {
    try {
      releases.set(key, await locks.acquire(key))
    } catch (thrown) {
      error = thrown
    }
  }
  const found = {
    code: error.code,
    message: error.message,
    // A lock of another form, of which this thread knows no key.
    kept: [...releases.keys()].every((key) => new KeyedMutex(options).isLocked(key)),
    held: releases.size,
    size: locks.size,
  }
  releases.get(0)()
  // Keys that are known still have their slots.
  found.again = locks.tryLock(0)
  locks.unlock(0)
  releases.delete(0)
  for (const release of releases.values()) release()
  found.left = locks.size
  process.stdout.write(JSON.stringify(found))
}

/** Runs `fill` on a tmpfs of this size. */
function fillOn(size) {
  // Of its own, so that the file system hides no file that Node.js needs.
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'boxoffice-'))
  const mount = 'mount -t tmpfs -o size=$1,mode=700 tmpfs "$2" && exec "$3" "$4" "$2"'
  const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', mount, 'sh', size]
  try {
    return spawnSync('unshare', [...args, directory, process.execPath, __filename], {
      encoding: 'utf8',
    })
  } finally {
    fs.rmdirSync(directory)
  }
}

if (require.main === module) {
  fill(process.argv[2])
} else {
  describe('A full disk at scope host', function () {
    this.timeout(60_000)

    it('rejects the key that needs room, and loses none that is held', function () {
      const { stdout, stderr, status, error } = fillOn('3m')
      if (error?.code === 'ENOENT' || /^(unshare|mount): /m.test(stderr))
        skip(this, 'this user cannot mount a file system')
      assert.equal(status, 0, stderr)
      const { code, message, held, size, ...rest } = JSON.parse(stdout)
      assert.equal(code, 'ERR_LOCK_SEGMENT')
      assert.match(message, /users/)
      assert.match(message, /space/)
      // How many keys fit depends on the random seed of their hashes.
      assert.ok(held > 1_000)
      assert.equal(size, held)
      assert.deepEqual(rest, { kept: true, again: true, left: 0 })
    })
  })
}
