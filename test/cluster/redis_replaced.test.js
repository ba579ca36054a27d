'use strict'
// The client of a renewing thread that is replaced.
const assert = require('node:assert/strict')
const { replaced } = require('../../lib/cluster/redis/replaced.js')

describe('A client of the renewing thread that is silent', () => {
  it('rejects all its commands with the error of the silence', async () => {
    const start = () => {
      const rejects = []
      return {
        opening: Promise.resolve(),
        command: () => new Promise((_, reject) => rejects.push(reject)),
        close() {
          for (const reject of rejects) reject(new Error('Disconnects client'))
        },
      }
    }
    const { command, close } = replaced(start, () => {})
    const first = command('key', ['PING'], 20)
    const second = command('key', ['PING'], 10_000)
    await assert.rejects(first, { message: 'there was no answer within 20 ms' })
    await assert.rejects(second, { message: 'there was no answer within 20 ms' })
    await close()
  })
})
