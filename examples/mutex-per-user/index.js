'use strict'
const { setTimeout: query } = require('node:timers/promises')
const { KeyedMutex } = require('boxoffice')

const users = new KeyedMutex()
const orders = []

async function buy(user) {
  const isNew = !orders.includes(user)
  await query(10) // a second click comes before the first one has written
  if (isNew) orders.push(user)
}
const buyOnce = (user) => users.runExclusive(user, () => buy(user))

async function main() {
  await Promise.all(['ada', 'ada', 'bob'].map(buy))
  console.log('without a lock:', orders.splice(0).join(' '))
  await Promise.all(['ada', 'ada', 'bob'].map(buyOnce))
  console.log('with a mutex per user:', orders.join(' '))
}
main()
