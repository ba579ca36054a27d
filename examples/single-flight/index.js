'use strict'
const { setTimeout: query } = require('node:timers/promises')
const { SingleFlight } = require('boxoffice')

const flight = new SingleFlight()
const cache = new Map()
let loads = 0

async function load(city) {
  loads++
  await query(10)
  cache.set(city, `weather of ${city}`)
  return cache.get(city)
}
const weather = async (city) => cache.get(city) ?? flight.do(city, () => load(city))

async function main() {
  const answers = await Promise.all(Array.from({ length: 100 }, () => weather('Oslo')))
  console.log(`${answers.length} callers, ${loads} load: ${answers[99]}`)
}
main()
