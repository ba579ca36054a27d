'use strict'
// The rights that a client's user needs, in the syntax of ACL SETUSER. Redis 7.0 does not say which
// command of a script it refused, and no version says which key or channel.

const inScripts =
  'exists hdel hget hgetall hmget hset lindex lpop lpos lpush lrange lrem pexpire pttl rpush time'
const commands = ['del', 'eval', 'evalsha', 'ping', 'set', ...inScripts.split(' ')]

/** `bases`, as the server knows them, are the prefixes of all keys and channels. */
function rightsOf(bases, isCluster) {
  const own = isCluster
    ? ['cluster', 'spublish', 'ssubscribe', 'sunsubscribe']
    : ['publish', 'subscribe', 'unsubscribe']
  const places = bases.flatMap((base) => [`~${base}*`, `&${base}:to:*`])
  return [...places, ...[...commands, ...own].sort().map((name) => `+${name}`)].join(' ')
}

const isRefusal = ({ message }) => /NOPERM|executing the script can't/.test(message)

/** Returns `error`; if the server refused a right, an error that lists the required rights. */
function explained(error, rights) {
  if (!isRefusal(error)) return error
  return new Error(`${error.message.trim()}: the user of the client needs the rights ${rights}`, {
    cause: error,
  })
}

module.exports = { explained, rightsOf }
