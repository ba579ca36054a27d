// Compiled, never run: leader elections.
import { type Engine, LeaderElection, type LeaderElectionOptions, type LeaderTerm } from 'boxoffice'

declare const engine: Engine

const options: LeaderElectionOptions = { scope: 'host', name: 'mail', directory: '/run/app' }

async function lead(signal: AbortSignal) {
  const election = new LeaderElection(options)
  const result: number | undefined = await election.lead(
    async (term: AbortSignal, { abandoned, fencingToken }: LeaderTerm) => {
      const token: bigint | undefined = fencingToken
      return term.aborted || abandoned ? 0 : Number(token)
    },
    { signal },
  )
  await election.lead(() => {})
  const isLeader: boolean = election.isLeader
  const pid: number | undefined = election.leader()
  await election.close()
  await election[Symbol.asyncDispose]()
  new LeaderElection({ engine, name: 'mail', diagnostics: 'counters' })
  // @ts-expect-error it needs a name
  new LeaderElection({ engine })
  // @ts-expect-error a scope that there is not
  new LeaderElection({ scope: 'machine', name: 'mail' })
  // @ts-expect-error it waits for as long as it takes
  await election.lead(() => {}, { timeout: 5 })
  // @ts-expect-error it is a getter
  election.isLeader = true
  return [result, isLeader, pid]
}

export { lead }
