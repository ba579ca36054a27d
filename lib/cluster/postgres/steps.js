'use strict'
// The steps of a key in the database, each one statement: see schema.js.
const { isListening } = require('./listener_lock.js')
const { channelOf } = require('./names.js')

/**
 * A key that has been unused for an hour or more is deleted, with its fence (new tokens follow the clock) and the requests
 * of sessions that are over. `used_at` is rounded down to the hour, so the limit is two hours.
 */
const idleTime = '2 hours'

/** Tokens count from here, so that they are below 2 ** 51 for long. */
const tokensBegin = '2024-01-01 00:00:00+00'

/** The next token of the key whose row is `lease`, at time `t`. */
const nextToken = (lease) =>
  `greatest(${lease}.fence + 1, floor(extract(epoch FROM t - timestamptz '${tokensBegin}') * 1000000)::bigint)`

/**
 * What tells the session of the request `s` that it has been granted: of its claim it need not ask. `isWanted` says whether
 * others wait behind it.
 */
const granted = (
  s,
  isWanted,
) => `pg_notify('${channelOf('')}' || ${s}.session, format('g%s %s %s %s %s', ${s}.id,
      ${s}.token, (${isWanted})::int, ${s}.abandoned::int, floor(extract(epoch FROM ${s}.until) * 1000)))`

/**
 * The usual request, for a key that is free: what the rest of the function does for it, as one statement. The rest takes
 * four times as long.
 */
const enterFree = ({ leases, sessions, request }) => `
  t := clock_timestamp();
  UPDATE ${leases} l SET fence = ${nextToken('l')}, abandoned = false, longest = greatest(hold, claim),
    requests = ARRAY[
      ROW (me, mine, ear, n, ${nextToken('l')}, t + hold * interval '1 ms', true, l.abandoned)::${request}
    ], used_at = date_trunc('hour', t)
    WHERE key = name AND cardinality(l.requests) = 0 AND l.rest IS NULL AND l.capacity = total
      AND n <= total AND min_hold = 0
      AND EXISTS (SELECT FROM ${sessions} x WHERE x.session = mine AND x.until >= t)
      AND NOT EXISTS (SELECT FROM ${sessions} x WHERE x.session = '' AND x.until > t)
    RETURNING l.fence, (l.requests[1]).abandoned INTO token, abandoned;
  IF FOUND AND clock_timestamp() < t + interval '20 ms' THEN
    state := 'held';
    wanted := false;
    resting := false;
    RETURN;
  ELSIF FOUND THEN
    -- It has waited for the row, or for the table, and went by what was true before.
    UPDATE ${leases} l SET requests = '{}', abandoned = (l.requests[1]).abandoned WHERE key = name;
    token := NULL;
    abandoned := NULL;
  END IF;
`

const enterFunction = ({ leases, sessions, request, clean, admit, enter }) => `
CREATE OR REPLACE FUNCTION ${enter}(
  name text, me text, mine text, n bigint, total bigint, is_to_wait boolean, is_first boolean, claim int, hold int,
  min_hold int, ear int,
  OUT state text, OUT token bigint, OUT wanted boolean, OUT abandoned boolean, OUT look float8, OUT clock float8,
  OUT capacity bigint, OUT resting boolean
) LANGUAGE plpgsql AS $function$
DECLARE
  lease ${leases};
  before ${leases};
  t timestamptz;
  s ${request};
  i int := 0;
  mark ${request};
  is_new boolean := true;
  had_queue boolean := false;
BEGIN
${enterFree({ leases, sessions, request })}
  LOOP
    SELECT * INTO lease FROM ${leases} WHERE key = name FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO ${leases} (key, capacity) VALUES (name, total) ON CONFLICT DO NOTHING;
    -- A request that brings one key takes two idle ones away: so there are never many of those.
    DELETE FROM ${leases} WHERE key IN (
      SELECT x.key FROM ${leases} x WHERE x.used_at < clock_timestamp() - interval '${idleTime}'
        AND (x.rest IS NULL OR x.rest < clock_timestamp())
        AND NOT EXISTS (SELECT FROM unnest(x.requests) y JOIN ${sessions} z ON z.session = y.session)
        ORDER BY x.used_at LIMIT 2 FOR UPDATE SKIP LOCKED
    );
  END LOOP;
  t := clock_timestamp();
  before := lease;
  -- A key that is free has nothing to take out.
  IF cardinality(lease.requests) > 0 OR lease.rest IS NOT NULL THEN
    lease := ${clean}(lease, t);
  END IF;
  IF cardinality(lease.requests) = 0 AND (lease.rest IS NULL OR lease.rest < t) THEN
    lease.longest := NULL;
  END IF;
  lease.longest := greatest(lease.longest, hold, claim, min_hold);
  IF NOT EXISTS (SELECT FROM ${sessions} WHERE session = mine AND until >= t) THEN
    state := 'lost';
    RETURN;
  END IF;

  FOREACH s IN ARRAY lease.requests LOOP
    i := i + 1;
    IF s.id = me THEN
      is_new := false;
      s.listener := ear;
      s.confirmed := s.token IS NOT NULL;
      s.until := CASE WHEN s.confirmed THEN t + hold * interval '1 ms' END;
      lease.requests[i] := s;
    ELSIF s.token IS NULL THEN
      had_queue := true;
      -- Only requests that want to be the first ask for that many.
      IF is_first AND s.units = n THEN
        state := 'upgrading';
      END IF;
    END IF;
  END LOOP;
  IF state IS NOT NULL THEN
    RETURN;
  END IF;
  IF lease.capacity <> total THEN
    IF cardinality(lease.requests) > 0 THEN
      state := 'mismatch';
      capacity := lease.capacity;
      RETURN;
    END IF;
    lease.capacity := total;
  END IF;
  IF is_new THEN
    mark := ROW (me, mine, ear, n, NULL, NULL, false, false);
    lease.requests := CASE WHEN is_first THEN mark || lease.requests ELSE lease.requests || mark END;
  END IF;
  lease := ${admit}(lease, me, claim, hold, min_hold, t);

  wanted := false;
  FOREACH s IN ARRAY lease.requests LOOP
    IF s.id <> me THEN
      wanted := wanted OR s.token IS NULL;
    ELSIF s.token IS NULL THEN
      state := CASE WHEN is_to_wait OR NOT is_new THEN 'waiting' ELSE 'refused' END;
    ELSE
      state := 'held';
      token := s.token;
      abandoned := s.abandoned;
    END IF;
  END LOOP;

  resting := false;
  IF state <> 'held' THEN
    resting := EXISTS (SELECT FROM ${sessions} x WHERE x.session = '' AND x.until > t);
  END IF;
  IF state = 'refused' THEN
    -- It has had its place at one of the ends.
    i := CASE WHEN is_first THEN 1 ELSE 0 END;
    lease.requests := lease.requests[1 + i : cardinality(lease.requests) - 1 + i];
  ELSIF state = 'waiting' THEN
    clock := ceil(extract(epoch FROM t) * 1000);
    -- Until when the holders have it for sure, or no request is let in.
    SELECT extract(epoch FROM min(x.until) - t) * 1000 INTO look FROM (
      SELECT least(y.until, z.until) FROM unnest(lease.requests) y
        JOIN ${sessions} z ON z.session = y.session WHERE y.token IS NOT NULL
      UNION ALL SELECT y.until FROM ${sessions} y WHERE y.session = '' AND y.until > t
      UNION ALL SELECT lease.rest WHERE lease.rest > t
    ) x (until);
    -- Requests ahead of this one have told the holders.
    IF is_new AND NOT had_queue THEN
      PERFORM pg_notify('${channelOf('')}' || x.session, 'w' || name)
        FROM (SELECT DISTINCT y.session FROM unnest(lease.requests) y WHERE y.token IS NOT NULL) x;
    END IF;
  END IF;
  IF lease IS DISTINCT FROM before THEN
    UPDATE ${leases} SET capacity = lease.capacity, fence = lease.fence, requests = lease.requests,
      abandoned = lease.abandoned, rest = lease.rest, longest = lease.longest, used_at = date_trunc('hour', t)
      WHERE key = name;
  END IF;
END
$function$;
`

const confirmFunction = ({ leases, request, confirm }) => `
CREATE OR REPLACE FUNCTION ${confirm}(name text, me text, hold int, OUT is_held boolean, OUT wanted boolean)
LANGUAGE plpgsql AS $function$
DECLARE
  all_requests ${request}[];
  t timestamptz;
  s ${request};
  i int := 0;
BEGIN
  is_held := false;
  wanted := false;
  SELECT requests INTO all_requests FROM ${leases} WHERE key = name FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  t := clock_timestamp();
  FOREACH s IN ARRAY all_requests LOOP
    i := i + 1;
    IF s.id <> me THEN
      wanted := wanted OR s.token IS NULL;
    ELSIF s.until >= t THEN
      is_held := true;
      s.confirmed := true;
      s.until := t + hold * interval '1 ms';
      all_requests[i] := s;
    END IF;
  END LOOP;
  IF is_held THEN
    UPDATE ${leases} SET requests = all_requests, longest = greatest(longest, hold) WHERE key = name;
  END IF;
END
$function$;
`

/**
 * The usual hand-over, from the request that has all units to the next one, which takes all: what the rest of the function
 * does for it, as one statement. The rest takes three times as long.
 */
const handOver = ({ leases, sessions, request }) => `
  t := clock_timestamp();
  UPDATE ${leases} l SET fence = ${nextToken('l')}, abandoned = false, longest = greatest(l.longest, claim),
    requests = ROW ((l.requests[2]).id, (l.requests[2]).session, (l.requests[2]).listener, l.capacity, ${nextToken('l')},
      t + claim * interval '1 ms', false, l.abandoned OR (untold AND (l.requests[1]).abandoned))::${request}
      || l.requests[3:], used_at = date_trunc('hour', t)
    WHERE key = name AND keep = 0 AND min_hold = 0 AND l.rest IS NULL AND (l.requests[1]).id = me
      AND (l.requests[1]).token IS NOT NULL AND (l.requests[1]).units = l.capacity
      AND (l.requests[2]).units = l.capacity
      AND EXISTS (SELECT FROM ${sessions} x WHERE x.session = (l.requests[2]).session AND x.until >= t
        AND (x.lasts IS NULL OR x.until <= t + x.lasts * interval '1 ms' + interval '1 s'))
      AND NOT EXISTS (SELECT FROM ${sessions} x WHERE x.session = '' AND x.until > t)
      AND ${isListening('(l.requests[2]).listener')}
    RETURNING l.* INTO lease;
  IF FOUND THEN
    s := lease.requests[1];
    IF clock_timestamp() < t + interval '20 ms' THEN
      PERFORM ${granted('s', 'cardinality(lease.requests) > 1')};
      RETURN;
    END IF;
    -- It has waited for the row, or for the table, and went by what was true before.
    UPDATE ${leases} l SET abandoned = s.abandoned,
      requests[1] = ROW (s.id, s.session, s.listener, s.units, NULL, NULL, false, false)::${request}
      WHERE key = name;
  END IF;
`

const leaveFunction = ({ leases, sessions, request, clean, admit, leave }) => `
CREATE OR REPLACE FUNCTION ${leave}(
  name text, me text, claim int, keep bigint, untold boolean, min_hold int, unused boolean
) RETURNS void LANGUAGE plpgsql AS $function$
DECLARE
  lease ${leases};
  before ${leases};
  t timestamptz;
  kept ${request}[] := '{}';
  s ${request};
BEGIN
  -- The only request. The rest of the function does the same for it, in twice the time.
  UPDATE ${leases} l SET requests = '{}', used_at = date_trunc('hour', clock_timestamp()),
    abandoned = l.abandoned OR (untold AND (l.requests[1]).abandoned)
    WHERE key = name AND keep = 0 AND cardinality(l.requests) = 1 AND (l.requests[1]).id = me AND l.rest IS NULL;
  IF FOUND THEN
    RETURN;
  END IF;
${handOver({ leases, sessions, request })}
  SELECT * INTO lease FROM ${leases} WHERE key = name FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  t := clock_timestamp();
  before := lease;
  FOREACH s IN ARRAY lease.requests LOOP
    IF s.id <> me THEN
      kept := kept || s;
    ELSIF keep > 0 THEN
      -- Where two of these come in another order than they were sent in, nothing is taken back.
      s.units := least(s.units, keep);
      kept := kept || s;
    ELSE
      lease.abandoned := lease.abandoned OR (untold AND s.abandoned);
      IF unused AND s.token IS NOT NULL THEN
        lease.rest := NULL;
      END IF;
    END IF;
  END LOOP;
  lease.requests := kept;
  -- Without waiters and other holders nothing is to be let in.
  IF cardinality(kept) > 0 OR lease.rest IS NOT NULL THEN
    lease := ${clean}(lease, t);
    lease.longest := greatest(lease.longest, claim, min_hold);
    lease := ${admit}(lease, '', claim, 0, min_hold, t);
  END IF;
  IF lease IS DISTINCT FROM before THEN
    UPDATE ${leases} SET fence = lease.fence, requests = lease.requests, abandoned = lease.abandoned,
      rest = lease.rest, longest = lease.longest, used_at = date_trunc('hour', t) WHERE key = name;
  END IF;
END
$function$;
`

module.exports = { confirmFunction, enterFunction, granted, leaveFunction, nextToken }
