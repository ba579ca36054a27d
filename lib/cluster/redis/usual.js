'use strict'
// The usual steps in Redis, for a key without a queue: to enter a free key, and to leave a key without other holders.
// The rest of the script (script.js) would do the same, but with more commands and with functions, which take twice the
// time. Keys with a minHold are left to the rest of the script.

/** The start of the script, which its rest needs, too. */
const begin = `
local base, state, queue = KEYS[1], KEYS[2], KEYS[3]
local key, id, publish, step = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local fields = redis.call('HMGET', state, 'c', 'o', 'f', 'a', 'h' .. id, 'w' .. id, 'm')
`

/** Tokens count from `epoch`, in seconds. Redis keeps a free key for `memory` ms. */
const usual = ({ epoch, memory }) => `
if step == 'enter' then
  local total, hold, units = ARGV[6], ARGV[7], ARGV[8]
  local isFree = (fields[2] or '0') == '0' and not fields[6] and not fields[7]
  if isFree and ARGV[11] == '0' and tonumber(units) <= tonumber(total) then
    local session = base .. ':s:' .. string.match(id, '^(.*)%-%d+$')
    -- The session is counted twice, so 2 means that it is alive and that there is no queue.
    if redis.call('EXISTS', session, session, queue) == 2 then
      local time = redis.call('TIME')
      local till = time[1] * 1000 + math.floor(time[2] / 1000) + hold
      local number = math.max((fields[3] or 0) + 1, (time[1] - ${epoch}) * 1000000 + time[2])
      local lost, token = fields[4] or '0', string.format('%.0f', number)
      redis.call('HSET', state, 'o', units, 'f', token, 'a', '0', 'c', total,
        'h' .. id, string.format('%s %.0f %s %s %s', units, till, token, lost, hold))
      redis.call('PEXPIRE', state, string.format('%.0f', hold + ${memory}))
      return { 'held', token, '0', lost }
    end
  end
elseif step == 'leave' and fields[5] and not fields[7] and ARGV[7] == '0' then
  local units, isAbandoned = string.match(fields[5], '^(%d+) %d+ %d+ (%d)')
  local isToTell = ARGV[8] == '1' and isAbandoned == '1'
  if units == fields[2] and not isToTell and redis.call('EXISTS', queue) == 0 then
    redis.call('HDEL', state, 'h' .. id)
    redis.call('HSET', state, 'o', '0')
    redis.call('PEXPIRE', state, '${memory}')
    return {}
  end
end
`

module.exports = { begin, usual }
