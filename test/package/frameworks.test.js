'use strict'
// The documented set-ups for Express, Fastify and Hono.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { createAdaptorServer } = require('@hono/node-server')
const { blocksIn, withoutImports } = require('../helpers/examples.js')
const { read } = require('../helpers/documents.js')
const { filesOf, projectOf } = require('../helpers/recipe_projects.js')

const versionsOfExpress = ['express', 'express-4']

const AsyncFunction = (async () => {}).constructor

/** The `app` of the block for `framework` in docs/inspector.md, which imports `name` in its place. */
function appOf(framework, name = framework) {
  const block = blocksIn(read('docs/inspector.md')).find((one) =>
    one.includes(`from '${framework}'`),
  )
  const code = withoutImports(block.replace(`from '${framework}'`, `from '${name}'`))
  return new AsyncFunction(`${code}\nreturn app`)()
}

/** The result of `use` with the address of `app`, an application of Express. */
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
  describe(`the inspector in ${name}`, () => {
    it('is where the document mounts it', async () => {
      const app = await appOf('express', name)
      await served(app, checkInspector)
    })
  })
}

describe('the inspector for one user, in Express', () => {
  const { OPS_PASSWORD } = process.env
  afterEach(() => {
    if (OPS_PASSWORD === undefined) delete process.env.OPS_PASSWORD
    else process.env.OPS_PASSWORD = OPS_PASSWORD
  })

  it('refuses requests without the password, and starts with one only', async () => {
    const { 'ops.mjs': program } = filesOf('docs/inspector.md')
    const file = path.join(projectOf('ops', { 'ops.mjs': program }), 'ops.mjs')
    const load = (query) => import(`${pathToFileURL(file)}${query}`)
    delete process.env.OPS_PASSWORD
    await assert.rejects(load('?without'), /OPS_PASSWORD is missing/)
    process.env.OPS_PASSWORD = 'pä:ss'
    const { app } = await load('')
    await served(app, async (url) => {
      const status = async (page, user) => {
        const authorization = `Basic ${Buffer.from(user).toString('base64')}`
        return (await fetch(url + page, { headers: user === '' ? {} : { authorization } })).status
      }
      for (const page of ['/locks', '/locks/data']) {
        assert.equal(await status(page, 'ops:pä:ss'), 200)
        for (const user of ['', 'ops:', 'ops:undefined', 'eve:pä:ss'])
          assert.equal(await status(page, user), 401, user)
      }
      assert.equal(await status('/locks?token=1', 'ops:pä:ss'), 400)
      const { headers } = await fetch(`${url}/locks`)
      assert.equal(headers.get('www-authenticate'), 'Basic realm="locks"')
    })
  })
})

describe('the inspector in fastify', () => {
  it('is where the document mounts it', async () => {
    const app = await appOf('fastify')
    try {
      await checkInspector(await app.listen({ port: 0, host: '127.0.0.1' }))
    } finally {
      await app.close()
    }
  })
})

describe('the inspector in Hono', () => {
  it('is where the document mounts it', async () => {
    const app = await appOf('hono')
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
