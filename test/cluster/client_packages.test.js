'use strict'
// The renewing thread loads the package that a client is of, wherever that is installed.
const assert = require('node:assert/strict')
const { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { Etcd3 } = require('etcd3')
const { Redis } = require('ioredis')
const { Pool } = require('pg')
const { createClient } = require('redis')
const { findPackage } = require('../../lib/cluster/find.js')
const { makeDriver } = require('../../lib/cluster/postgres/driver.js')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { useEnds } = require('./helpers/ends.js')

const fakes = {
  pg: `
    class Client {}
    class Pool {
      Client = Client
      options = {}
      on() {}
      query() {}
    }
    module.exports = { Client, Pool }`,
  ioredis: `
    class Redis {
      status = 'wait'
      options = {}
      call() {}
      duplicate() {}
    }
    module.exports = { Redis }`,
}

describe('The package of a client', () => {
  const ends = useEnds()

  /** A folder with another version of both packages. */
  function another() {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'boxoffice-packages-')))
    ends.push(() => rmSync(folder, { recursive: true }))
    for (const [name, text] of Object.entries(fakes)) {
      const place = join(folder, 'node_modules', name)
      mkdirSync(place, { recursive: true })
      writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '99.0.0' }))
      writeFileSync(join(place, 'index.js'), text)
    }
    return (name) => join(folder, 'node_modules', name, 'index.js')
  }

  it('is the one that it was made with', () => {
    const pathOf = another()
    const other = require(pathOf('pg'))
    assert.equal(makeDriver(new other.Pool(), {}).keeper.data.path, pathOf('pg'))
    assert.equal(makeDriver(new Pool(), {}).keeper.data.path, require.resolve('pg'))
    const { Redis: Other } = require(pathOf('ioredis'))
    class Mine extends Other {}
    for (const Class of [Other, Mine]) {
      assert.equal(redisDriver(new Class()).keeper.data.path, pathOf('ioredis'))
    }
    const own = new Redis({ lazyConnect: true })
    assert.equal(redisDriver(own).keeper.data.path, require.resolve('ioredis'))
  })

  it('is found for each package', () => {
    const client = createClient()
    assert.equal(findPackage('redis', client), require.resolve('@redis/client'))
    const etcd = new Etcd3({ hosts: '127.0.0.1:1' })
    assert.equal(findPackage('etcd3', etcd), require.resolve('etcd3'))
    etcd.close()
    const { GlideClient } = require('@valkey/valkey-glide')
    assert.equal(
      findPackage('@valkey/valkey-glide', Object.create(GlideClient.prototype)),
      require.resolve('@valkey/valkey-glide'),
    )
  })

  it("is the program's where no loaded file has the class of the client", () => {
    assert.equal(findPackage('pg', new (class Bundled {})()), require.resolve('pg'))
  })
})
