'use strict'
// What Redis does for an engine (../engine.js), in one step each. All names begin with KEYS[1], which has a hash tag:
//
//   :s:<session>    lives as long as the session does
//   :to:<session>   the channel that it hears of its grants by
//   :k:<key>        a hash. c: the capacity; o: the units out; f: the last token; a: 1 if a holder was lost;
//                   w<id>: the units that one in line wants; h<id>: what one holds: units, until, token, whether it
//                   has confirmed, whether the holder before was lost
//   :l:<key>        a list: the line of ids
//
// An id is that of its session, '-' and a number. Times are in milliseconds, and only Redis's clock is asked.
const { createHash } = require('node:crypto')

/** How long Redis remembers the last token of a key that nobody uses: its clock takes over after that. */
const memory = 3_600_000
/** 2024 began, in seconds. */
const epoch = Date.UTC(2024) / 1000

const prelude = `
local base, key, id, publish = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local claim = tonumber(ARGV[4])
local state, line = base .. ':k:' .. key, base .. ':l:' .. key
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function text(number) return string.format('%.0f', number) end
local function number(field) return tonumber(redis.call('HGET', state, field) or 0) end
local function sessionOf(one) return string.match(one, '^(.*)%-%d+$') end
local function lives(one) return redis.call('EXISTS', base .. ':s:' .. sessionOf(one)) == 1 end

-- How many have heard of it. In a cluster that is not known.
local function tell(session, message)
  local heard = redis.call(publish, base .. ':to:' .. session, message)
  return publish == 'SPUBLISH' or heard > 0
end

local function put(one, units, till, token, isConfirmed, isAbandoned)
  local words = { text(units), text(till), token, isConfirmed, isAbandoned }
  redis.call('HSET', state, 'h' .. one, table.concat(words, ' '))
end

local function get(one)
  local held = redis.call('HGET', state, 'h' .. one)
  if not held then return nil end
  local units, till, token, isConfirmed, isAbandoned = string.match(held, '^(%d+) (%d+) (%d+) (%d) (%d)$')
  return tonumber(units), tonumber(till), token, isConfirmed, isAbandoned
end

local function grant(one, units, till, isConfirmed)
  local clock = (time[1] - ${epoch}) * 1000000 + time[2]
  local token = text(math.max(number('f') + 1, clock))
  local isAbandoned = text(number('a'))
  redis.call('HSET', state, 'f', token, 'a', '0')
  redis.call('HINCRBY', state, 'o', units)
  put(one, units, till, token, isConfirmed, isAbandoned)
end

local function drop(one, units)
  redis.call('HDEL', state, 'h' .. one)
  redis.call('HINCRBY', state, 'o', -units)
end

-- From the head of the line whoever fits: only one who lives and hears of it.
local function admit(capacity)
  while true do
    local head = redis.call('LINDEX', line, 0)
    if not head then return end
    if lives(head) then
      local units = number('w' .. head)
      if number('o') + units > capacity then return end
      if tell(sessionOf(head), 'g' .. head) then grant(head, units, now + claim, '0') end
    end
    redis.call('LPOP', line)
    redis.call('HDEL', state, 'w' .. head)
  end
end

local function remember(time)
  redis.call('PEXPIRE', state, text(time))
  redis.call('PEXPIRE', line, text(time))
end
`

const enter = `${prelude}
local units, capacity = tonumber(ARGV[5]), tonumber(ARGV[6])
local wait, maxHold = ARGV[7] == '1', tonumber(ARGV[8])

if not lives(id) then return { 'lost' } end
local function confirm()
  local units, till, token, _, isAbandoned = get(id)
  if not units or till <= now then return nil end
  put(id, units, now + maxHold, token, '1', isAbandoned)
  local wanted = redis.call('EXISTS', line)
  return { 'held', token, text(wanted), isAbandoned }
end

local function take()
  if redis.call('EXISTS', line) == 1 or number('o') + units > capacity then return nil end
  grant(id, units, now + maxHold, '1')
  return confirm()
end

-- Takes out whose time is up. How long the others have, and who they are.
local function reap()
  local soonest, sessions = 3600000, {}
  local all = redis.call('HGETALL', state)
  for i = 1, #all, 2 do
    local one = string.match(all[i], '^h(.*)$')
    if one then
      local units, till, _, isConfirmed, isAbandoned = get(one)
      local session = sessionOf(one)
      local left = math.min(till - now, redis.call('PTTL', base .. ':s:' .. session))
      if left <= 0 then
        drop(one, units)
        if isConfirmed == '1' or isAbandoned == '1' then redis.call('HSET', state, 'a', '1') end
      else
        soonest = math.min(soonest, left)
        sessions[session] = true
      end
    end
  end
  return soonest, sessions
end

local known = number('c')
if known ~= capacity then
  if known ~= 0 then reap() end
  if known ~= 0 and (number('o') > 0 or redis.call('EXISTS', line) == 1) then
    return { 'mismatch', text(known) }
  end
  redis.call('HSET', state, 'c', text(capacity))
end
remember(maxHold + ${memory})

local isWaiting = redis.call('HEXISTS', state, 'w' .. id) == 1
local answer = confirm() or (not isWaiting and take())
if answer then return answer end

reap()
admit(capacity)
-- It may have been let in just now, by ourselves.
isWaiting = redis.call('HEXISTS', state, 'w' .. id) == 1
answer = confirm() or (not isWaiting and take())
if answer then return answer end
if not wait then return { 'refused' } end

local soonest, sessions = reap()
if not isWaiting then
  if redis.call('EXISTS', line) == 0 then
    for session in pairs(sessions) do tell(session, 'w' .. key) end
  end
  redis.call('RPUSH', line, id)
  redis.call('HSET', state, 'w' .. id, text(units))
  remember(maxHold + ${memory})
end
return { 'waiting', text(soonest) }
`

const leave = `${prelude}
local units = get(id)
if units then drop(id, units) end
if redis.call('HDEL', state, 'w' .. id) == 1 then redis.call('LREM', line, 0, id) end
admit(tonumber(ARGV[5]))
return {}
`

const asScript = (text) => ({ text, digest: createHash('sha1').update(text).digest('hex') })

module.exports = { enter: asScript(enter), leave: asScript(leave) }
