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

local function wordsOf(units, till, token, isConfirmed, isAbandoned)
  return table.concat({ text(units), text(till), token, isConfirmed, isAbandoned }, ' ')
end

local function put(one, ...)
  redis.call('HSET', state, 'h' .. one, wordsOf(...))
end

local function get(one)
  local held = redis.call('HGET', state, 'h' .. one)
  if not held then return nil end
  local units, till, token, isConfirmed, isAbandoned = string.match(held, '^(%d+) (%d+) (%d+) (%d) (%d)$')
  return tonumber(units), tonumber(till), token, isConfirmed, isAbandoned
end

-- The token after the last one, and what a holder of it is written down as.
local function grantOf(units, till, isConfirmed, last, lost)
  local clock = (time[1] - ${epoch}) * 1000000 + time[2]
  local token = text(math.max(tonumber(last or 0) + 1, clock))
  return token, wordsOf(units, till, token, isConfirmed, lost or '0')
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
      local units, out = number('w' .. head), number('o')
      if out + units > capacity then return end
      if tell(sessionOf(head), 'g' .. head) then
        local last, lost = unpack(redis.call('HMGET', state, 'f', 'a'))
        local token, words = grantOf(units, now + claim, '0', last, lost)
        redis.call('HSET', state, 'f', token, 'a', '0', 'o', out + units, 'h' .. head, words)
      end
    end
    redis.call('LPOP', line)
    redis.call('HDEL', state, 'w' .. head)
  end
end

-- Others may have asked for longer.
local function remember(time)
  for _, name in ipairs({ state, line }) do
    if redis.call('PTTL', name) < time then redis.call('PEXPIRE', name, text(time)) end
  end
end
`

const enter = `${prelude}
local units, capacity = tonumber(ARGV[5]), tonumber(ARGV[6])
local wait, maxHold, first = ARGV[7] == '1', tonumber(ARGV[8]), ARGV[9] == '1'

if not lives(id) then return { 'lost' } end

local function hasLine() return redis.call('EXISTS', line) == 1 end
local function isWaiting() return redis.call('HEXISTS', state, 'w' .. id) == 1 end

local function confirm()
  local units, till, token, _, isAbandoned = get(id)
  if not units or till <= now then return nil end
  put(id, units, now + maxHold, token, '1', isAbandoned)
  return { 'held', token, hasLine() and '1' or '0', isAbandoned }
end

local function take()
  local last, lost, out = unpack(redis.call('HMGET', state, 'f', 'a', 'o'))
  out = tonumber(out or 0)
  if out + units > capacity or (hasLine() and not first) then return nil end
  local token, words = grantOf(units, now + maxHold, '1', last, lost)
  redis.call('HSET', state, 'c', capacity, 'f', token, 'a', '0', 'o', out + units, 'h' .. id, words)
  return { 'held', token, hasLine() and '1' or '0', lost or '0' }
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
      local rest = redis.call('PTTL', base .. ':s:' .. session)
      -- With 0 ms left it is there still, and may be renewed.
      if till <= now or rest < 0 then
        drop(one, units)
        if isConfirmed == '1' or isAbandoned == '1' then redis.call('HSET', state, 'a', '1') end
      else
        soonest = math.min(soonest, till - now, rest)
        sessions[session] = true
      end
    end
  end
  return soonest, sessions
end

local function attempt()
  local known = number('c')
  if known ~= 0 and known ~= capacity and (number('o') > 0 or hasLine()) then return nil end
  return confirm() or (not isWaiting() and take()) or nil
end

local answer = attempt()
if not answer then
  reap()
  admit(number('c'))
  -- It may have been let in just now, by ourselves.
  answer = attempt()
end
if answer then
  remember(maxHold + ${memory})
  return answer
end
if number('c') ~= capacity then return { 'mismatch', text(number('c')) } end
-- Nobody else asks for as many as one does who wants to be the first.
local function isRivalled()
  local head = first and redis.call('LINDEX', line, 0)
  return head and head ~= id and number('w' .. head) == units
end
if isRivalled() then return { 'upgrading' } end
if not wait then return { 'refused' } end

local soonest, sessions = reap()
if not isWaiting() then
  if not hasLine() then
    for session in pairs(sessions) do tell(session, 'w' .. key) end
  end
  redis.call(first and 'LPUSH' or 'RPUSH', line, id)
  redis.call('HSET', state, 'w' .. id, text(units))
end
remember(maxHold + ${memory})
return { 'waiting', text(soonest) }
`

const leave = `${prelude}
local keep, untold = tonumber(ARGV[6]), ARGV[7] == '1'
local units, till, token, isConfirmed, isAbandoned = get(id)
if units and keep > 0 then
  put(id, keep, till, token, isConfirmed, isAbandoned)
  redis.call('HINCRBY', state, 'o', keep - units)
elseif units then
  drop(id, units)
  -- Who was to be told of who held it before is not there to hear it: the next one is told.
  if untold and isAbandoned == '1' then redis.call('HSET', state, 'a', '1') end
elseif redis.call('HDEL', state, 'w' .. id) == 1 then
  redis.call('LREM', line, 0, id)
end
admit(tonumber(ARGV[5]))
return {}
`

const asScript = (text) => ({ text, digest: createHash('sha1').update(text).digest('hex') })

module.exports = { enter: asScript(enter), leave: asScript(leave) }
