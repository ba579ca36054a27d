'use strict'
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { readFile, rm, writeFile } = require('node:fs/promises')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { Mutex } = require('boxoffice')

const [, , file] = process.argv
const mutex = new Mutex({ scope: 'host', name: 'counter' }) // one lock for all processes of this machine

/** In each process: reads the number in the file and writes the next one, 100 times. */
async function count() {
  for (let i = 0; i < 100; ++i) {
    await mutex.runExclusive(async () => {
      const number = Number(await readFile(file, 'utf8'))
      await writeFile(file, String(number + 1))
    })
  }
}

async function main() {
  const counter = path.join(tmpdir(), `counter-${process.pid}`)
  await writeFile(counter, '0')
  const all = [1, 2, 3, 4].map(() => fork(__filename, [counter]))
  await Promise.all(all.map((one) => once(one, 'exit')))
  console.log(`4 processes counted to ${await readFile(counter, 'utf8')}`)
  await rm(counter)
}

if (file === undefined) main()
else count()
