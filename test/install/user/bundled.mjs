// A program for bundlers: a lock of each scope that needs no server.
import { KeyedMutex, Mutex, snapshot } from 'boxoffice'

async function main() {
  let sold = 0
  const sell = async () => {
    const before = sold
    await null
    sold = before + 1
  }
  await new Mutex({ name: 'tickets' }).runExclusive(sell)
  const keyed = new KeyedMutex({ diagnostics: true })
  await Promise.all([keyed.runExclusive('ann', sell), keyed.runExclusive('ann', sell)])
  if (process.platform === 'linux') {
    const host = new Mutex({ scope: 'host', name: 'bundled', directory: process.argv[2] })
    await host.runExclusive(sell)
  }
  await snapshot()
  console.log(`sold ${sold}`)
}

main()
