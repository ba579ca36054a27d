'use strict'
// A PostgreSQL primary and its standby, in two nodes of a network (network.js).
const { appendFileSync } = require('node:fs')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { Client } = require('pg')
const { asOwner, initialize, postgresWith } = require('./postgres_server.js')

const name = 'standby'

/** The rows that a server answers, asked through its socket. */
async function rowsOf({ socket: host, port }, text) {
  const client = new Client({ host, port, user: 'postgres', database: 'postgres' })
  await client.connect()
  try {
    const { rows } = await client.query(text)
    return rows
  } finally {
    await client.end()
  }
}

async function initializeOpen(data) {
  await initialize(data)
  const lines = ['all', 'replication'].map((what) => `host ${what} all samenet trust\n`)
  appendFileSync(join(data, 'pg_hba.conf'), lines.join(''))
}

/**
 * { first, second, hasAll(), close() }: `second` is a standby of `first`, which waits for it if `isSync`. It has all by
 * the end of hasAll().
 */
async function postgresPair([one, other], { isSync = false } = {}) {
  const first = await postgresWith({
    make: initializeOpen,
    host: '*',
    how: one,
    port: 5432,
    settings: isSync ? [`synchronous_standby_names = '${name}'`] : [],
  })
  const copy = (data) =>
    asOwner('pg_basebackup', [
      ...['-h', first.socket, '-p', first.port, '-U', 'postgres', '-D', data],
      ...['-R', '--checkpoint=fast', '--no-sync'],
    ])
  const source = `host=${one.address} port=${first.port} user=postgres application_name=${name}`
  const second = await postgresWith({
    make: copy,
    host: '*',
    how: other,
    port: 5432,
    settings: [`primary_conninfo = '${source}'`, `synchronous_standby_names = ''`],
  })
  const state = isSync ? 'sync' : 'async'
  const isLinked = `SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '${state}'`
  while ((await rowsOf(first, isLinked)).length === 0) await sleep(20)
  return {
    first,
    second,
    async hasAll() {
      const [{ lsn }] = await rowsOf(first, 'SELECT pg_current_wal_flush_lsn() AS lsn')
      const isThere = `SELECT WHERE pg_last_wal_replay_lsn() >= '${lsn}'`
      while ((await rowsOf(second, isThere)).length === 0) await sleep(20)
    },
    close: () => Promise.all([first.close(), second.close()]),
  }
}

module.exports = { postgresPair, rowsOf }
