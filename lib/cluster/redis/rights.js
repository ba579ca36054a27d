'use strict'
// Lists the rights that a client's user needs, in the syntax of ACL SETUSER. Redis 7.0 does not report which command of
// a script it has refused, and no version reports which key or channel.

const inScripts =
  'exists get hdel hget hgetall hmget hset lindex lpop lpos lpush lrange lrem pexpire pttl rpush time'
const commands = ['del', 'eval', 'evalsha', 'ping', 'set', ...inScripts.split(' ')]

/** Returns the text of the rights. All keys and channels at the server begin with one of `bases`. */
function rightsOf(bases, isCluster) {
  const own = isCluster
    ? ['cluster', 'spublish', 'ssubscribe', 'sunsubscribe']
    : ['publish', 'subscribe', 'unsubscribe']
  const places = bases.flatMap((base) => [`~${base}*`, `&${base}:to:*`])
  return [...places, ...[...commands, ...own].sort().map((name) => `+${name}`)].join(' ')
}

/**
 * A step of script.js that uses every command of the other steps. So a missing right shows before any lock is held.
 * Returns how Redis evicts keys, or nothing if it never does or the user may not know.
 */
const check = `
if step == 'check' then
  redis.call('HSET', state, 'c', '1')
  redis.call('PEXPIRE', state, '1000')
  redis.call('PTTL', state)
  redis.call('HGET', state, 'c')
  redis.call('HGETALL', state)
  redis.call('HDEL', state, 'c')
  redis.call('RPUSH', queue, id)
  redis.call('PEXPIRE', queue, '1000')
  redis.call('LPUSH', queue, id)
  redis.call('LPOS', queue, id)
  redis.call('LINDEX', queue, 0)
  redis.call('LRANGE', queue, 0, 1)
  redis.call('LPOP', queue)
  redis.call('LREM', queue, 0, id)
  redis.call('EXISTS', queue)
  redis.call('GET', base .. ':s:' .. id)
  redis.call('DEL', state, queue)
  tell(id, 'e')
  local memory = redis.pcall('INFO', 'memory')
  if type(memory) ~= 'string' or string.find(memory, '\\nmaxmemory:0\\r') then return {} end
  return { string.match(memory, 'maxmemory_policy:(%S+)') }
end
`

const isRefusal = ({ message }) => /NOPERM|executing the script can't/.test(message)

/** Returns an error that lists the rights `rights()` if `error` is about a missing right, or else `error`. */
function explained(error, rights) {
  if (!isRefusal(error)) return error
  return new Error(`${error.message.trim()}: the user of the client needs the rights ${rights()}`, {
    cause: error,
  })
}

module.exports = { check, explained, rightsOf }
