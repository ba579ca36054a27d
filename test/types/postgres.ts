// Compiled, never run: locks over PostgreSQL.
import { KeyedMutex, LockManager } from 'boxoffice'
import { type PostgresOptions, postgres, postgresSchema } from 'boxoffice/postgres'
import { Client, type Pool } from 'pg'

const options: PostgresOptions = { ttl: 1000, maxHold: 5000, schema: 'locks', connections: 2 }

async function locks(pool: Pool) {
  const engine = postgres(pool, options)
  postgres(pool, { connection: { host: '127.0.0.1', port: 5432 } })
  postgres(pool, { schema: undefined, table: undefined, connections: undefined })
  new KeyedMutex({ engine })
  new LockManager({ engine, name: 'jobs' })
  const schema: string = postgresSchema({ table: 'shop' })
  const own = engine.withTransaction(await pool.connect())
  // @ts-expect-error a pool runs each query on any of its connections
  engine.withTransaction(pool)
  await own.acquire(['a', 1, 2n], { timeout: 5, shared: true })
  await own.acquire('a', { timeout: undefined, shared: undefined })
  const isOurs: boolean = await own.tryAcquire('a', { shared: true })
  // @ts-expect-error it does not wait
  await own.tryAcquire('a', { timeout: 5 })
  // @ts-expect-error a statement cannot hear of it
  await own.acquire('a', { signal: new AbortController().signal })
  // @ts-expect-error a pool, not its URL
  postgres('postgres://localhost')
  // @ts-expect-error a pool: one client is one connection
  postgres(new Client())
  return [schema, isOurs]
}

export { locks }
