'use strict'
// The steps of an engine (../engine.js) in Redis. All names (names.js) begin with a base, which has a hash tag:
//
//   :version        the protocol of all processes that use these names
//   :shards         the number of shards of all these processes, at the first base only
//   :s:<session>    exists as long as the session: the host and the pid of its process, for operators, and its ttl
//   :to:<session>   the channel for its messages: 'w<key>' if a request waits for a key that it holds, and for a grant
//                   'g<id> <token> <whether others wait> <whether the previous holder was lost> <end of the claim>'
//   :k:<key>        a hash. c: the capacity; o: the units in use; f: the last token; a: 1 if a holder was lost;
//                   m: the end of a rest after a grant with a minHold, during which no request is admitted, and the
//                   minHold; w<id>: the units that a request in the queue wants; h<id>: a hold: its units, end, token,
//                   whether the previous holder was lost, and its length when it was granted or confirmed
//   :l:<key>        a list: the queue of ids
//
// An id is its session's id, '-' and a number. Times are in milliseconds, by Redis's clock only. Each end is stored
// with its length, so that no end is further away than that after the clock was set back.
//
// While a cluster moves a slot, its keys are at two servers, and neither server can tell an absent key from a key at
// the other one. A step reads and writes several keys, also of sessions that it only finds by reading. So no step may
// run meanwhile: each declares the keys of its lock and a key that never exists, and so is missing at both servers. A
// server that lacks some of the declared keys answers TRYAGAIN, and one that lacks all of them sends the client to the
// other one. Sessions go on meanwhile: the commands that open, renew and end a session have one key each, so the
// cluster always has a server that can answer them.
//
// All steps are in one script, so that Redis has it in its cache once a request waits: a confirmation has no time to
// load a script. The script reads each field of a key once, and if possible writes all fields by one command, because
// the next caller waits meanwhile.
const { createHash } = require('node:crypto')
const { check } = require('./rights.js')
const { begin, usual } = require('./usual.js')

/** How long Redis keeps an unused key with its last token, in ms. After that, tokens follow Redis's clock. */
const memory = 3_600_000
/** The start of 2024, in seconds. */
const epoch = Date.UTC(2024) / 1000

const common = `
local claim, capacity = tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local known, out, last, lost = tonumber(fields[1] or 0), tonumber(fields[2] or 0), tonumber(fields[3] or 0), fields[4] or '0'
local held, isWaiting = fields[5], fields[6]
local restEnd, restLength = string.match(fields[7] or '0 0', '^(%d+) (%d+)$')
local rest = tonumber(restEnd)

local function text(number) return string.format('%.0f', number) end
local function sessionOf(one) return string.match(one, '^(.*)%-%d+$') end
local function lives(one) return redis.call('EXISTS', base .. ':s:' .. sessionOf(one)) == 1 end
local function hasQueue() return redis.call('EXISTS', queue) == 1 end
local function read(held) return string.match(held, '^(%d+) (%d+) (%d+) (%d) (%d+)$') end
local function join(...) return table.concat({ ... }, ' ') end

-- Sends a message. Returns whether any connection got it, which is assumed in a cluster.
local function tell(session, message)
  local heard = redis.call(publish, base .. ':to:' .. session, message)
  return publish == 'SPUBLISH' or heard > 0
end

-- Keeps the state for at least \`time\` ms and an hour.
local function outlast(time)
  local kept = time + ${memory}
  if redis.call('PTTL', state) < kept then redis.call('PEXPIRE', state, text(kept)) end
end

-- The token after the last one.
local function nextToken()
  return math.max(last + 1, (time[1] - ${epoch}) * 1000000 + time[2])
end

-- How long no other request is admitted after a grant, even if its holder leaves.
local minHold = 0

-- Records a grant. It reports the lost holder, so the next grant does not.
local function grant(one, units, till, token, ...)
  local words = join(text(units), text(till), text(token), lost, text(till - now))
  out, last, lost = out + units, token, '0'
  redis.call('HSET', state, 'o', text(out), 'f', text(token), 'a', '0', 'h' .. one, words, ...)
  if minHold > 0 then
    rest = now + minHold
    redis.call('HSET', state, 'm', join(text(rest), text(minHold)))
  end
  outlast(math.max(till - now, minHold))
end

-- Admits requests from the head of the queue while they fit. Drops those whose session is over or gets no message.
-- Returns whether any was admitted.
local function admit(total)
  local isAny = false
  while out < total and rest <= now do
    local head, second = unpack(redis.call('LRANGE', queue, 0, 1))
    if not head then return isAny end
    local units = tonumber(redis.call('HGET', state, 'w' .. head))
    if units and lives(head) then
      if out + units > total then return isAny end
      local token, till = nextToken(), now + claim
      if tell(sessionOf(head), 'g' .. join(head, text(token), second and '1' or '0', lost, text(till))) then
        grant(head, units, till, token)
        isAny = true
      end
    end
    redis.call('LPOP', queue)
    redis.call('HDEL', state, 'w' .. head)
  end
  return isAny
end

-- Confirms or extends the hold of this request. Returns nil if there is none, or if it has ended.
local function confirm(maxHold)
  if not held then return nil end
  local units, till, token, isAbandoned = read(held)
  if tonumber(till) <= now then return nil end
  -- A server without free memory refuses HSET, but not after another write of the same step.
  redis.call('PEXPIRE', state, text(maxHold + ${memory}), 'GT')
  redis.call('HSET', state, 'h' .. id, join(units, text(now + maxHold), token, isAbandoned, text(maxHold)))
  return { 'held', token, hasQueue() and '1' or '0', isAbandoned }
end
`

const leave = `
if step == 'leave' then
  local keep, untold, unused = tonumber(ARGV[7]), ARGV[8] == '1', ARGV[10] == '1'
  minHold = tonumber(ARGV[9])
  if held then
    local units, till, token, isAbandoned, length = read(held)
    -- Two such requests may arrive in the wrong order, so never increase the units.
    keep = math.min(keep, tonumber(units))
    out = out - units + keep
    if keep > 0 then
      redis.call('HSET', state, 'h' .. id, join(text(keep), till, token, isAbandoned, length))
    else
      redis.call('HDEL', state, 'h' .. id)
      -- No caller has been told of the lost holder, so the next grant reports it.
      if untold and isAbandoned == '1' then lost = '1' end
      if unused and rest > now then
        rest = 0
        redis.call('HDEL', state, 'm')
      end
    end
  elseif isWaiting then
    redis.call('HDEL', state, 'w' .. id)
    redis.call('LREM', queue, 0, id)
  end
  -- Use the known capacity: the request may leave because its own capacity is a different one.
  if not admit(known) and held then redis.call('HSET', state, 'o', text(out), 'a', lost) end
  -- Without a holder the state is kept for an hour after the rest. Waiters extend that when they ask again.
  if out == 0 then redis.call('PEXPIRE', state, text(math.max(rest - now, 0) + ${memory})) end
  return {}
end
`

const confirm = `
if step == 'confirm' then
  return lives(id) and confirm(tonumber(ARGV[7])) or { 'over' }
end
`

const enter = `
local maxHold, units, wait, first = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9] == '1', ARGV[10] == '1'
minHold = tonumber(ARGV[11])
if not lives(id) then return { 'lost' } end

local function take()
  -- A hold of this request that has ended still counts until reap() removes it.
  if held or isWaiting or out + units > capacity or rest > now then return nil end
  local wanted = hasQueue()
  if wanted and not first then return nil end
  local isAbandoned, token = lost, nextToken()
  grant(id, units, now + maxHold, token, 'c', text(capacity))
  return { 'held', text(token), wanted and '1' or '0', isAbandoned }
end

local function attempt()
  if known ~= 0 and known ~= capacity and (out > 0 or hasQueue()) then return nil end
  return confirm(maxHold) or take()
end

-- Returns how long the session lasts. If that is more than its ttl, the clock was set back: then cuts it to the ttl.
local function leftOf(session)
  local name = base .. ':s:' .. session
  local left = redis.call('PTTL', name)
  if left < 0 then return left end
  local ttl = tonumber(string.match(redis.call('GET', name), ' (%d+)$'))
  if not ttl or left <= ttl then return left end
  redis.call('PEXPIRE', name, text(ttl))
  return ttl
end

-- Removes holders whose hold or session has ended, and counts the units of the others. Returns the time until the first
-- of their ends, and their sessions.
local function reap()
  local soonest, sessions, counted, isAnyLost = 3600000, {}, 0, false
  if rest > now + tonumber(restLength) then
    rest = now + tonumber(restLength)
    redis.call('HSET', state, 'm', join(text(rest), restLength))
  end
  if rest > now then soonest = rest - now end
  local all = redis.call('HGETALL', state)
  for i = 1, #all, 2 do
    local one = string.match(all[i], '^h(.*)$')
    if one then
      local units, till, token, isAbandoned, length = read(all[i + 1])
      local session = sessionOf(one)
      local left = leftOf(session)
      if till - now > tonumber(length) then
        till = text(now + length)
        redis.call('HSET', state, all[i], join(units, till, token, isAbandoned, length))
      end
      -- A session with 0 ms left still exists, and may be renewed.
      if tonumber(till) <= now or left < 0 then
        redis.call('HDEL', state, all[i])
        isAnyLost = true
      else
        counted = counted + units
        soonest = math.min(soonest, till - now, left)
        sessions[session] = true
      end
    end
  end
  -- A lost holder may have begun its work, even if it has not confirmed.
  if isAnyLost then lost = '1' end
  -- The units differ after a step that failed half way.
  if isAnyLost or counted ~= out then
    out = counted
    redis.call('HSET', state, 'o', text(out), 'a', lost)
  end
  return soonest, sessions
end

-- Returns whether another upgrade waits: only an upgrade, which goes first, asks for as many units.
local function isRivalled()
  local head = first and redis.call('LINDEX', queue, 0)
  return head and head ~= id and tonumber(redis.call('HGET', state, 'w' .. head)) == units
end

-- Repairs the state after the hash or the list was deleted by an operator, or evicted for lack of memory.
local function mend()
  if known == 0 then
    -- The units that queued requests want are lost. These requests join the queue again when they ask again.
    redis.call('DEL', queue)
    known = capacity
  elseif isWaiting and not redis.call('LPOS', queue, id) then
    redis.call('HDEL', state, 'w' .. id)
  end
end

local answer = attempt()
local soonest, sessions
if not answer then
  mend()
  soonest, sessions = reap()
  local isAny = admit(known)
  held, isWaiting = unpack(redis.call('HMGET', state, 'h' .. id, 'w' .. id))
  -- admit() may have granted this request.
  answer = attempt()
  if isAny then soonest, sessions = reap() end
end
if not answer then
  if known ~= capacity then return { 'mismatch', text(known) } end
  if isRivalled() then return { 'upgrading' } end
  if not wait then return { 'refused' } end
  if not isWaiting then
    if not hasQueue() then
      for session in pairs(sessions) do tell(session, 'w' .. key) end
    end
    redis.call(first and 'LPUSH' or 'RPUSH', queue, id)
    redis.call('HSET', state, 'c', text(capacity), 'w' .. id, text(units))
  end
  redis.call('PEXPIRE', queue, text(${memory}))
  outlast(0)
  return { 'waiting', text(soonest), text(now) }
end
return answer
`

const rest = common + check + leave + confirm + enter
const text = begin + usual({ epoch, memory }) + rest

module.exports = {
  text,
  digest: createHash('sha1').update(text).digest('hex'),
  /** The script without the usual steps (usual.js), for a test that compares both. */
  unusual: begin + rest,
}
