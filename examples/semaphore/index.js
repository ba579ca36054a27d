'use strict'
const { setTimeout: request } = require('node:timers/promises')
const { Semaphore } = require('boxoffice')

const connections = new Semaphore(2)
let open = 0
let most = 0

async function load(page) {
  most = Math.max(most, ++open)
  await request(10)
  open--
  return `page ${page}`
}

async function main() {
  const pages = await connections.map([1, 2, 3, 4, 5], load) // stops after the first failure
  console.log(pages.join(', '))
  console.log(`at most ${most} at a time`)
}
main()
