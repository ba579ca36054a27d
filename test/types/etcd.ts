// Compiled, never run: locks over etcd.
import { KeyedMutex, LockManager } from 'boxoffice'
import { type EtcdOptions, etcd } from 'boxoffice/etcd'
import { Etcd3 } from 'etcd3'

const options: EtcdOptions = { ttl: 1000, maxHold: 5000, prefix: 'shop' }

function locks(client: Etcd3) {
  const engine = etcd(client, options)
  etcd(new Etcd3(), { connection: { hosts: ['http://127.0.0.1:2379'] } })
  new KeyedMutex({ engine })
  new LockManager({ engine, name: 'jobs' })
  etcd(client, { ttl: undefined, prefix: undefined, connection: undefined })
  // @ts-expect-error a client, not its address
  etcd('http://127.0.0.1:2379')
  // @ts-expect-error an unknown option
  etcd(client, { shards: 2 })
}

export { locks }
