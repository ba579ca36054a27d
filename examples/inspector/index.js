'use strict'
const { createServer } = require('node:http')
const { setTimeout: work } = require('node:timers/promises')
const { KeyedMutex } = require('boxoffice')
const { inspector } = require('boxoffice/inspector')

const users = new KeyedMutex({ name: 'users', diagnostics: true })
const names = ['ada', 'bob', 'cleo', 'dan', 'eve']
const inspect = inspector()

setInterval(() => {
  const user = names[Math.floor(Math.random() * names.length)]
  users.runExclusive(user, () => work(Math.random() * 1000))
}, 100)

const server = createServer((request, response) => {
  if (request.url.startsWith('/locks')) return inspect(request, response)
  response.end('The locks are at /locks\n')
})
server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/locks`)
})
