'use strict'
// The renewing thread loads the package that a client is of, wherever that is installed.
const assert = require('node:assert/strict')
const { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } = require('node:fs')
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
const { run } = require('../helpers/processes.js')

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

  /** The path of the package `name` for a bundled client, in a program whose folder has the package `installed` only. */
  async function foundWith(installed, name) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'boxoffice-packages-')))
    ends.push(() => rmSync(folder, { recursive: true }))
    const place = join(folder, 'node_modules', installed)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name: installed, main: 'it.js' }))
    writeFileSync(join(place, 'it.js'), '')
    const copy = join(folder, 'find.js')
    cpSync(require.resolve('../../lib/cluster/find.js'), copy)
    const { code, shown, stderr } = await run([
      '-e',
      `process.chdir(${JSON.stringify(folder)})
       const show = (text) => console.log(JSON.stringify(text))
       try { show(require(${JSON.stringify(copy)}).findPackage('${name}', {})) }
       catch ({ message }) { show(message) }`,
    ])
    assert.equal(code, 0, stderr)
    return shown[0].replace(join(folder, 'node_modules'), '')
  }

  it('is @redis/client where a program has no redis', async () => {
    const place = join('@redis', 'client')
    assert.equal(await foundWith(place, 'redis'), join('/', place, 'it.js'))
  })

  it('is named, with what to install, where a program has none', async () => {
    assert.equal(
      await foundWith('other', 'redis'),
      'the thread that renews leases finds no package redis or @redis/client, of which the client is: npm install redis',
    )
    assert.match(await foundWith('other', 'ioredis'), /no package ioredis, .* npm install ioredis$/)
  })

  it("is the program's where no loaded file has the class of the client", () => {
    assert.equal(findPackage('pg', new (class Bundled {})()), require.resolve('pg'))
  })
})
