'use strict'
// The database functions for the steps of a key: see schema.js.
const { isListening } = require('./listener_lock.js')
const { channelOf } = require('./names.js')

/**
 * A key that has been unused for an hour or more is deleted, with the requests of ended sessions and with its fence:
 * new tokens follow the clock. `used_at` is rounded down to the hour, so the limit is two hours.
 */
const idleTime = '2 hours'

/** Tokens count from this time, so that they stay below 2 ** 51 for long. */
const tokensBegin = '2024-01-01 00:00:00+00'

/** SQL for the next token of the row `lease` at time `t`. */
const nextToken = (lease) =>
  `greatest(${lease}.fence + 1, floor(extract(epoch FROM t - timestamptz '${tokensBegin}') * 1000000)::bigint)`

/**
 * SQL that tells the session of the request `s` that the request has been granted, so that it need not ask. `isWanted`
 * is whether others wait behind it.
 */
const granted = (isWanted) =>
  `pg_notify('${channelOf('')}' || s.session, format('g%s %s %s %s %s', s.id,
      s.token, (${isWanted})::int, s.abandoned::int, floor(extract(epoch FROM s.until) * 1000)))`

/**
 * The usual request, for a free key, as one statement. The rest of the function would do the same, but takes four times
 * as long.
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
    -- The statement has waited for a lock of the row or the table, so what it has read may be stale. Undo it.
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
    -- Each new key deletes up to two idle keys, so that there are never many.
    DELETE FROM ${leases} WHERE key IN (
      SELECT x.key FROM ${leases} x WHERE x.used_at < clock_timestamp() - interval '${idleTime}'
        AND (x.rest IS NULL OR x.rest < clock_timestamp())
        AND NOT EXISTS (SELECT FROM unnest(x.requests) y JOIN ${sessions} z ON z.session = y.session)
        ORDER BY x.used_at LIMIT 2 FOR UPDATE SKIP LOCKED
    );
  END LOOP;
  t := clock_timestamp();
  before := lease;
  -- A free key has no requests to remove.
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
      -- Only another upgrade, which also goes first, asks for as many units.
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
    -- Remove the request, which was added at one end.
    i := CASE WHEN is_first THEN 1 ELSE 0 END;
    lease.requests := lease.requests[1 + i : cardinality(lease.requests) - 1 + i];
  ELSIF state = 'waiting' THEN
    clock := ceil(extract(epoch FROM t) * 1000);
    -- How long no request can be granted: until the first end of a hold, a session or a rest.
    SELECT extract(epoch FROM min(x.until) - t) * 1000 INTO look FROM (
      SELECT least(y.until, z.until) FROM unnest(lease.requests) y
        JOIN ${sessions} z ON z.session = y.session WHERE y.token IS NOT NULL
      UNION ALL SELECT y.until FROM ${sessions} y WHERE y.session = '' AND y.until > t
      UNION ALL SELECT lease.rest WHERE lease.rest > t
    ) x (until);
    -- Tell the holders, unless requests ahead of this one have told them.
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
 * The usual hand-off, from a request that has all units to the next one, which wants all units, as one statement. The
 * rest of the function would do the same, but takes three times as long.
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
      PERFORM ${granted('cardinality(lease.requests) > 1')};
      RETURN;
    END IF;
    -- The statement has waited for a lock of the row or the table, so what it has read may be stale. Undo it.
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
  -- The usual case: the only request leaves. The rest of the function would take twice the time.
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
      -- Two such requests may arrive in the wrong order, so never increase the units.
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
  -- Admit requests, unless there are none.
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
