'use strict'
// What the user of a client must be allowed to do, in the words of ACL SETUSER. Redis 7.0 does not say which command of a
// script it has refused, and no version says which key or channel.

const inScripts =
  'exists hdel hget hgetall hmget hset lindex lpop lpush lrange lrem pexpire pttl rpush time'
const commands = ['del', 'eval', 'evalsha', 'ping', 'set', ...inScripts.split(' ')]

/** With `bases` as the server knows them: what all keys and channels begin with. */
function rightsOf(bases, isCluster) {
  const own = isCluster
    ? ['cluster', 'spublish', 'ssubscribe', 'sunsubscribe']
    : ['publish', 'subscribe', 'unsubscribe']
  const places = bases.flatMap((base) => [`~${base}*`, `&${base}:to:*`])
  return [...places, ...[...commands, ...own].sort().map((name) => `+${name}`)].join(' ')
}

const isRefusal = ({ message }) => /NOPERM|executing the script can't/.test(message)

/** `error`, or where the server has refused what it had no right to, one that says which rights there must be. */
function explained(error, rights) {
  if (!isRefusal(error)) return error
  return new Error(`${error.message.trim()}: the user of the client needs the rights ${rights}`, {
    cause: error,
  })
}

module.exports = { explained, rightsOf }
