'use strict'
// What the documents tell users of Express, Fastify and Hono, in those.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { createAdaptorServer } = require('@hono/node-server')
const { blocksIn } = require('../helpers/examples.js')
const { read } = require('../helpers/documents.js')

const versionsOfExpress = ['express', 'express-4']

/** The block of a document that has the text `mark`, as a function of `names` that gives its variable `app`. */
function blockWith(file, mark, ...names) {
  const block = blocksIn(read(file)).find((one) => one.includes(mark))
  return new Function(...names, `${block}\nreturn app`)
}

/** What `use` makes of the address of `app`, an application of Express. */
async function served(app, use) {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await use(`http://127.0.0.1:${server.address().port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** The page, with and without a slash, and its data. */
async function checkInspector(url) {
  for (const [path, type] of [
    ['/locks', /^text\/html/],
    ['/locks/', /^text\/html/],
    ['/locks?filter=a', /^text\/html/],
    ['/locks/data', /^application\/json/],
  ]) {
    const response = await fetch(url + path)
    assert.equal(response.status, 200, path)
    assert.match(response.headers.get('content-type'), type)
    await response.text()
  }
  assert.equal((await fetch(`${url}/else`)).status, 404)
}

for (const name of versionsOfExpress) {
  describe(`the first lines of the README in ${name}`, () => {
    const express = require(name)

    /** An application with that handler, for a user whose order `findOrder` finds. */
    function shop(findOrder, createOrder) {
      const app = express()
      app.use((request, _response, next) => {
        request.user = 'ada'
        next()
      })
      const names = ['require', 'app', 'findOrder', 'createOrder']
      blockWith('README.md', "app.post('/tickets'", ...names)(require, app, findOrder, createOrder)
      app.use((error, _request, response, _next) => response.status(500).json(error.message))
      return app
    }

    it('answer two clicks with one order', async () => {
      const orders = []
      const app = shop(
        async (user) => orders.find((order) => order.user === user),
        async (user) => orders[orders.push({ user, number: orders.length }) - 1],
      )
      const click = async (url) => (await fetch(`${url}/tickets`, { method: 'POST' })).json()
      const answers = await served(app, (url) => Promise.all([click(url), click(url)]))
      assert.deepEqual(answers, [
        { user: 'ada', number: 0 },
        { user: 'ada', number: 0 },
      ])
    })

    it('pass an error on', async () => {
      const app = shop(async () => {
        throw new Error('no database')
      })
      await served(app, async (url) => {
        const response = await fetch(`${url}/tickets`, { method: 'POST' })
        assert.equal(response.status, 500)
        assert.equal(await response.json(), 'no database')
      })
    })
  })

  describe(`the inspector in ${name}`, () => {
    it('is where the document mounts it', async () => {
      const requireSo = (id) => require(id === 'express' ? name : id)
      const app = blockWith('docs/diagnostics.md', "require('express')", 'require')(requireSo)
      await served(app, checkInspector)
    })
  })
}

describe('the inspector in fastify', () => {
  it('is where the document mounts it', async () => {
    const app = blockWith('docs/diagnostics.md', "require('fastify')", 'require')(require)
    try {
      await checkInspector(await app.listen({ port: 0, host: '127.0.0.1' }))
    } finally {
      await app.close()
    }
  })
})

describe('the inspector in Hono', () => {
  it('is where the document mounts it', async () => {
    const app = blockWith('docs/diagnostics.md', "require('hono')", 'require')(require)
    const server = createAdaptorServer({ fetch: app.fetch })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      await checkInspector(`http://127.0.0.1:${server.address().port}`)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
