'use strict'
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { LeaderElection } = require('boxoffice')

/** In each process: waits until it leads, and leads until it is told to stop. */
async function stand() {
  const election = new LeaderElection({ scope: 'host', name: 'mail' })
  await election.lead(async (signal, { abandoned }) => {
    process.send(abandoned ? 'leads after a leader that died' : 'leads')
    await once(signal, 'abort')
  })
}

async function main() {
  const candidates = [1, 2].map(() => fork(__filename, ['candidate']))
  while (candidates.length > 0) {
    const [leader, message] = await Promise.race(
      candidates.map(async (one) => [one, ...(await once(one, 'message'))]),
    )
    console.log(`a process ${message}`)
    leader.kill('SIGKILL')
    candidates.splice(candidates.indexOf(leader), 1)
  }
}

if (process.argv[2] === undefined) main()
else stand()
