'use strict'
// The script that creates the engine's tables and functions, for the engine, `psql` and migrations.
//
// A key is one row. An array in it contains the holders and the queue, so that each change is one update of one row
// under the lock of that row. (A table of holders and waiters would also work, but the index keeps deleted rows until
// the next vacuum: after some thousand hand-offs it was three times as slow.)
//
//   a request        token            until          meaning
//   waits            null             null           is queued in the order of the array; `listener` is the process
//                                                    number of its session's listening connection, or null
//   has a claim      its token        soon           was granted when a holder left, and has not confirmed it yet
//   holds            its token        maxHold        has confirmed the claim, or was granted at once
//
// Invariants, besides those of engine.js:
//
//   1  A request counts as long as its session is in the table of sessions, and its `until` is not past.
//   2  An expired session ends when its row is deleted. A command that finds an expired session locks the row, and
//      deletes it if the session is still expired. So a concurrent renewal either comes first, and the session goes on,
//      or finds no row to renew. No command decides by a read without the lock.
//   3  Every command locks rows in one order: one key, then sessions by name. So commands do not deadlock.
//   4  No command waits for the disk, because the tables are unlogged. A crash of the server, or a failover to a standby,
//      empties them, which ends all sessions. The command that opens the next session finds that the row '' of the
//      sessions table is missing, and inserts it. No request is granted before the end of that row: by then all former
//      holders have given up by their own clocks. Its length is the longest ttl so far, which is in a logged table.

const { isListening } = require('./listener_lock.js')
const { readNames } = require('./names.js')
const { confirmFunction, enterFunction, granted, leaveFunction, nextToken } = require('./steps.js')

/**
 * The version of the tables. Engines of different versions cannot share tables. Functions have versions of their own.
 */
const protocol = 2

const tables = ({ schema, leases, sessions, longest, request, usedAt }) => `
-- Run one script after another: if two created the same object at once, one of them would fail.
SELECT pg_advisory_xact_lock(hashtextextended('boxoffice schema', 0));

DO $do$
BEGIN
  IF to_regnamespace('"${schema}"') IS NULL THEN
    CREATE SCHEMA "${schema}";
  END IF;
  IF to_regtype('${request}') IS NULL THEN
    CREATE TYPE ${request} AS (
      id text, session text, listener int, units bigint, token bigint, until timestamptz,
      confirmed boolean, abandoned boolean
    );
  END IF;
END
$do$;

CREATE TABLE IF NOT EXISTS ${longest} (ttl int NOT NULL);
INSERT INTO ${longest} SELECT 0 WHERE NOT EXISTS (SELECT FROM ${longest});

CREATE UNLOGGED TABLE IF NOT EXISTS ${sessions} (
  session text PRIMARY KEY,
  until timestamptz NOT NULL
) WITH (fillfactor = 50);
-- Without an earlier ttl no lease has been held before, so there is nothing to wait for.
INSERT INTO ${sessions} SELECT '', '-infinity' WHERE (SELECT max(ttl) FROM ${longest}) = 0 ON CONFLICT DO NOTHING;

CREATE UNLOGGED TABLE IF NOT EXISTS ${leases} (
  key text PRIMARY KEY,
  capacity bigint NOT NULL,
  fence bigint NOT NULL DEFAULT 0,
  requests ${request}[] NOT NULL DEFAULT '{}',
  abandoned boolean NOT NULL DEFAULT false,
  used_at timestamptz NOT NULL DEFAULT date_trunc('hour', now())
) WITH (fillfactor = 50);
-- No request is admitted until this time, after a grant with a minHold.
ALTER TABLE ${leases} ADD COLUMN IF NOT EXISTS rest timestamptz;
-- Each end is stored with its length in milliseconds, so that no end is further away after the clock was set back. The
-- length of a key is its longest hold, claim or minHold since it was free.
ALTER TABLE ${leases} ADD COLUMN IF NOT EXISTS longest int;
ALTER TABLE ${sessions} ADD COLUMN IF NOT EXISTS lasts int;

DO $do$
BEGIN
  IF obj_description('${leases}'::regclass, 'pg_class') IS NULL THEN
    COMMENT ON TABLE ${leases} IS 'boxoffice protocol ${protocol}';
  END IF;
END
$do$;

-- used_at changes once in an hour, so that most updates touch no index.
CREATE INDEX IF NOT EXISTS ${usedAt} ON ${leases} (used_at);
`

const sessionFunctions = ({ sessions, longest, open, renew, alive }) => `
CREATE OR REPLACE FUNCTION ${open}(mine text, lasting int) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  INSERT INTO ${sessions}
    SELECT '', clock_timestamp() + max(x.ttl) * interval '1 ms', max(x.ttl) FROM ${longest} x
    ON CONFLICT DO NOTHING;
  UPDATE ${sessions} SET until = clock_timestamp() + lasts * interval '1 ms'
    WHERE session = '' AND until > clock_timestamp() + lasts * interval '1 ms';
  UPDATE ${longest} SET ttl = lasting WHERE ttl < lasting;
  IF FOUND THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  DELETE FROM ${sessions} WHERE session IN (
    SELECT s.session FROM ${sessions} s
      WHERE s.until < clock_timestamp() AND s.session <> '' FOR UPDATE SKIP LOCKED
  );
  INSERT INTO ${sessions} (session, until, lasts)
    VALUES (mine, clock_timestamp() + lasting * interval '1 ms', lasting)
    ON CONFLICT (session) DO UPDATE SET until = excluded.until, lasts = excluded.lasts;
END
$function$;

CREATE OR REPLACE FUNCTION ${renew}(mine text, ttl int) RETURNS boolean LANGUAGE plpgsql AS $function$
BEGIN
  UPDATE ${sessions} SET until = clock_timestamp() + ttl * interval '1 ms', lasts = ttl
    WHERE session = mine AND until > clock_timestamp();
  RETURN FOUND;
END
$function$;

-- Returns the sessions of \`asked\` that are alive, and deletes those that have expired. A session that was renewed
-- after \`t\` may end a little later than its ttl after \`t\`.
CREATE OR REPLACE FUNCTION ${alive}(asked text[], t timestamptz) RETURNS text[] LANGUAGE plpgsql AS $function$
DECLARE
  good text[];
BEGIN
  IF cardinality(asked) = 0 THEN
    RETURN asked;
  END IF;
  SELECT array_agg(session) INTO good FROM ${sessions}
    WHERE session = ANY (asked) AND until >= t
      AND (lasts IS NULL OR until <= t + lasts * interval '1 ms' + interval '1 s');
  IF asked <@ good THEN
    RETURN good;
  END IF;
  UPDATE ${sessions} SET until = clock_timestamp() + lasts * interval '1 ms' WHERE session IN (
    SELECT s.session FROM ${sessions} s
      WHERE s.session = ANY (asked) AND s.until > t + s.lasts * interval '1 ms' + interval '1 s'
      ORDER BY s.session FOR UPDATE
  );
  DELETE FROM ${sessions} WHERE session IN (
    SELECT s.session FROM ${sessions} s WHERE s.session = ANY (asked) AND s.until < t ORDER BY s.session FOR UPDATE
  );
  SELECT coalesce(array_agg(session), '{}') INTO good FROM ${sessions} WHERE session = ANY (asked);
  RETURN good;
END
$function$;
`

const admitFunctions = ({ leases, sessions, request, alive, clean, admit }) => `
-- Removes requests that are over. The caller has locked the row.
CREATE OR REPLACE FUNCTION ${clean}(lease ${leases}, t timestamptz) RETURNS ${leases}
LANGUAGE plpgsql AS $function$
DECLARE
  good text[] := ${alive}(ARRAY(SELECT DISTINCT x.session FROM unnest(lease.requests) x), t);
  kept ${request}[] := '{}';
  s ${request};
BEGIN
  IF lease.rest > t + lease.longest * interval '1 ms' THEN
    lease.rest := t + lease.longest * interval '1 ms';
  END IF;
  FOREACH s IN ARRAY lease.requests LOOP
    IF s.until > t + lease.longest * interval '1 ms' THEN
      s.until := t + lease.longest * interval '1 ms';
    END IF;
    IF s.session = ANY (good) AND (s.until IS NULL OR s.until >= t) THEN
      kept := kept || s;
    ELSE
      -- The holder of an admitted request may have begun its work, even if it has not confirmed.
      lease.abandoned := lease.abandoned OR s.token IS NOT NULL;
    END IF;
  END LOOP;
  lease.requests := kept;
  RETURN lease;
END
$function$;

-- Admits the next requests. The request \`me\` learns it from the answer, so its session need not be listening.
CREATE OR REPLACE FUNCTION ${admit}(lease ${leases}, me text, claim int, hold int, min_hold int, t timestamptz)
RETURNS ${leases} LANGUAGE plpgsql AS $function$
DECLARE
  s ${request};
  used bigint := 0;
  i int := 0;
BEGIN
  IF lease.rest > t OR EXISTS (SELECT FROM ${sessions} WHERE session = '' AND until > t) THEN
    RETURN lease;
  END IF;
  FOREACH s IN ARRAY lease.requests LOOP
    used := used + CASE WHEN s.token IS NULL THEN 0 ELSE s.units END;
  END LOOP;
  FOREACH s IN ARRAY lease.requests LOOP
    EXIT WHEN used >= lease.capacity;
    i := i + 1;
    CONTINUE WHEN s.token IS NOT NULL;
    CONTINUE WHEN s.id <> me AND (${isListening('s.listener')}) IS NOT true;
    EXIT WHEN used + s.units > lease.capacity;
    used := used + s.units;
    lease.fence := ${nextToken('lease')};
    s.token := lease.fence;
    s.confirmed := s.id = me;
    s.abandoned := lease.abandoned;
    s.until := t + CASE WHEN s.id = me THEN hold ELSE claim END * interval '1 ms';
    lease.abandoned := false;
    lease.requests[i] := s;
    IF min_hold > 0 THEN
      lease.rest := t + min_hold * interval '1 ms';
    END IF;
    IF s.id <> me THEN
      -- All requests behind it wait, or are admitted after it.
      PERFORM ${granted('i < cardinality(lease.requests)')};
    END IF;
  END LOOP;
  RETURN lease;
END
$function$;
`

/** Returns the script that creates the engine's tables and functions, and keeps those that exist already. */
function schemaOf(names) {
  const parts = [
    tables,
    sessionFunctions,
    admitFunctions,
    enterFunction,
    confirmFunction,
    leaveFunction,
  ]
  return parts.map((part) => part(names)).join('')
}

/** Returns the script for the migrations of programs whose user may not create tables. */
function postgresSchema(options = {}) {
  return schemaOf(readNames(options))
}

module.exports = { postgresSchema, protocol, schemaOf }
