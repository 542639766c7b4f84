-- One query under each heading, of the same names as SQLite's. Their text never varies: lists
-- travel as one JSON parameter. What runs for many rows takes them as one JSON array, `rows`, and
-- what is read for each of many rows says first for which. No query crosses the wall of its
-- transaction, whatever it is given: see the policies in schema.sql.
--
-- Under row-level security an index serves only comparisons that cannot leak, and reading JSON is
-- none: rows are read from it first, behind OFFSET 0, and then compared column by column.
--
-- What the server believes about a table may be wrong: it counts now and then, and one workspace may
-- hold more than all others. So a query leaves it no choice that would matter. What is looked up for
-- many rows is looked up for one after the other, in a LATERAL or EXISTS that ends with OFFSET 0; and
-- what is found by its key compares the label with `+ 0`, so that no index of the label is taken.

-- workspace --
SELECT workspace, length, head, counter FROM whole_workspaces(ARRAY[%(name)s]);

-- whole_workspaces --
SELECT name, workspace
  FROM whole_workspaces(ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb)));

-- lock_workspace --
SELECT workspace, length, head, counter FROM lock_workspaces(ARRAY[%(name)s], %(mark)s::uuid);

-- lock_workspaces --
SELECT name, workspace, length, head
  FROM lock_workspaces(ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb)), %(mark)s::uuid);

-- add_workspace --
-- Two may come at once: one waits for the other, and then there is one.
INSERT INTO workspaces (name, head) VALUES (%(name)s, %(head)s) ON CONFLICT DO NOTHING;

-- serve_everybody --
SELECT serve_everybody();

-- workspaces --
SELECT name FROM workspaces WHERE length > 0 ORDER BY name;

-- numbered_workspaces --
SELECT workspace, name FROM workspaces ORDER BY workspace;

-- advance_chain --
-- With the first event of a day it is noted where the day began.
UPDATE workspaces
   SET day_began = CASE WHEN workspaces.day < given.day THEN workspaces.length ELSE day_began END,
       day = greatest(workspaces.day, given.day), text_bytes = text_bytes + given.bytes,
       length = given.length, head = given.head
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS length,
               decode(r ->> 2, 'hex') AS head, (r ->> 3)::bigint AS bytes, r ->> 4 AS day
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE workspaces.workspace = given.workspace;

-- used --
-- A day that some other clock has begun already is today.
SELECT CASE WHEN day >= %(day)s THEN length - day_began ELSE 0 END, text_bytes
  FROM workspaces WHERE workspace = %(workspace)s;

-- memories_kept --
SELECT coalesce(sum(documents), 0)::bigint FROM labels WHERE workspace = %(workspace)s;

-- bytes_kept --
SELECT coalesce(sum(bytes), 0)::bigint
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT bytes FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- text_shrank --
UPDATE workspaces SET text_bytes = text_bytes - %(bytes)s WHERE workspace = %(workspace)s;

-- take_numbers --
UPDATE workspaces SET counter = counter + %(count)s WHERE workspace = %(workspace)s
RETURNING counter;

-- label --
SELECT label FROM labels
 WHERE workspace = %(workspace)s AND md5(scopes) = md5(%(scopes)s) AND scopes = %(scopes)s
   AND learned = %(learned)s;

-- add_label --
INSERT INTO labels (workspace, label, scopes, size, learned)
SELECT %(workspace)s, coalesce(max(label), 0) + 1, %(scopes)s, %(size)s, %(learned)s
  FROM labels WHERE workspace = %(workspace)s
RETURNING label;

-- add_label_scope --
INSERT INTO label_scopes (workspace, scope, label)
SELECT (r ->> 0)::bigint, r ->> 1, (r ->> 2)::integer FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- readable_labels --
-- Those whose scopes are all in the grant; from here on, the transaction reads nothing else.
SELECT * FROM read_as(%(name)s, ARRAY(SELECT jsonb_array_elements_text(%(scopes)s::jsonb)));

-- all_labels --
SELECT * FROM read_as(%(name)s, NULL);

-- known_events --
SELECT found.id, content
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id, content FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- event_salts --
SELECT found.id, salt
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id, salt FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- drop_events_after --
DELETE FROM events WHERE workspace = %(workspace)s AND seq > %(length)s;

-- add_event --
-- Adds nothing if it is there already.
INSERT INTO events (workspace, seq, id, label, key, at, content, salt, commitment, hash, bytes)
SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, r ->> 2, (r ->> 3)::integer, r ->> 4,
       (r ->> 5)::timestamptz, r ->> 6, decode(r ->> 7, 'hex'), decode(r ->> 8, 'hex'),
       decode(r ->> 9, 'hex'), (r ->> 10)::bigint
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- add_work --
INSERT INTO outbox (workspace, seq, label, step, due_at, priority)
SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 2)::integer, r ->> 3, (r ->> 4)::timestamptz,
       (r ->> 5)::integer
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- events_follow --
-- What new events bring about in several workspaces: work, longer chains, new epochs.
WITH work AS (
    INSERT INTO outbox (workspace, seq, label, step, due_at, priority)
    SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 2)::integer, r ->> 3,
           (r ->> 4)::timestamptz, (r ->> 5)::integer
      FROM jsonb_array_elements(%(work)s::jsonb) AS r
), chains AS (
    UPDATE workspaces
       SET day_began = CASE WHEN workspaces.day < given.day THEN workspaces.length
                            ELSE day_began END,
           day = greatest(workspaces.day, given.day), text_bytes = text_bytes + given.bytes,
           length = given.length, head = given.head
      FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS length,
                   decode(r ->> 2, 'hex') AS head, (r ->> 3)::bigint AS bytes, r ->> 4 AS day
              FROM jsonb_array_elements(%(ends)s::jsonb) AS r OFFSET 0) AS given
     WHERE workspaces.workspace = given.workspace
)
UPDATE labels SET epoch = epoch + 1
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label
          FROM jsonb_array_elements(%(news)s::jsonb) AS r OFFSET 0) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- events_by_id --
SELECT id, content
  FROM jsonb_array_elements_text(%(ids)s::jsonb) WITH ORDINALITY AS wanted (value, key)
 CROSS JOIN LATERAL (SELECT id, content FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.value
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                        AND content IS NOT NULL OFFSET 0) AS found
 ORDER BY wanted.key;

-- event_keys --
SELECT found.id, key
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id, key FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.id
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                        AND content IS NOT NULL OFFSET 0) AS found;

-- events_by_time --
SELECT content FROM events
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND (%(since)s::timestamptz IS NULL OR at >= %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR at < %(until)s::timestamptz)
   AND content IS NOT NULL
 ORDER BY at DESC, id;

-- event_progress --
SELECT id, step, attempts, error
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT seq FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.id
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                        AND content IS NOT NULL OFFSET 0) AS told
  LEFT JOIN LATERAL (SELECT step, attempts, error FROM outbox
                      WHERE workspace = %(workspace)s AND priority IN (0, 1)
                        AND seq = told.seq OFFSET 0) AS work ON true;

-- chain --
-- With the other columns, and whether what is empty was erased by somebody.
SELECT seq, content, salt, commitment, hash, key, id, spelt(at),
       (SELECT scopes FROM labels WHERE labels.workspace = events.workspace
                                    AND labels.label = events.label AND NOT learned),
       content IS NULL AND EXISTS (SELECT 1 FROM tombstones
                                    WHERE tombstones.workspace = events.workspace
                                      AND kind = 'event' AND digest = events.id)
  FROM events WHERE workspace = %(workspace)s ORDER BY seq;

-- pending --
SELECT count(*) FROM outbox
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- announce --
SELECT pg_notify('nexus_work', '');

-- homes_with_work --
-- The next workspaces in which anything waits, without reading all that waits in them.
WITH RECURSIVE homes (workspace) AS (
    (SELECT workspace FROM outbox WHERE workspace > %(after)s ORDER BY workspace LIMIT 1)
     UNION ALL
    SELECT next.workspace FROM homes CROSS JOIN LATERAL
           (SELECT workspace FROM outbox WHERE outbox.workspace > homes.workspace
             ORDER BY workspace LIMIT 1) AS next)
SELECT workspace FROM homes LIMIT %(limit)s;

-- any_due_in --
SELECT given.place, 1
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::timestamptz AS present,
               r ->> 2 AS step
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT 1 FROM outbox AS o
         WHERE o.workspace = given.workspace AND o.due_at <= given.present
           AND (given.step IS NULL OR o.step = given.step)
           AND (o.leased_until IS NULL OR o.leased_until <= given.present)
           AND NOT EXISTS (SELECT 1 FROM outbox AS other
                            WHERE other.workspace = o.workspace AND other.label = o.label
                              AND other.step = o.step AND other.leased_until > given.present)
         LIMIT 1) AS one;

-- lock_homes --
-- Two who look at one workspace at once would each find its places free.
SELECT home.value FROM (SELECT value::bigint AS value
                          FROM jsonb_array_elements_text(%(homes)s::jsonb) OFFSET 0) AS home
 WHERE pg_try_advisory_xact_lock(hashtextextended('nexus.outbox', home.value));

-- lease_in --
-- The oldest of a workspace, but nothing of a place in which somebody else is at work.
WITH given AS MATERIALIZED (
    SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::timestamptz AS present,
           r ->> 2 AS step, (r ->> 3)::bigint AS share, (r ->> 4)::timestamptz AS until,
           (r ->> 5)::bigint AS fence, r ->> 6 AS lost
      FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
), chosen AS (
    SELECT given.*, due.priority, due.seq
      FROM given CROSS JOIN LATERAL
       (SELECT o.priority, o.seq FROM outbox AS o
         WHERE o.workspace = given.workspace AND o.due_at <= given.present
           AND (given.step IS NULL OR o.step = given.step)
           AND (o.leased_until IS NULL OR o.leased_until <= given.present)
           AND NOT EXISTS (SELECT 1 FROM outbox AS other
                            WHERE other.workspace = o.workspace AND other.label = o.label
                              AND other.step = o.step AND other.leased_until > given.present)
         ORDER BY o.priority, o.seq LIMIT given.share FOR UPDATE SKIP LOCKED) AS due
)
UPDATE outbox SET attempts = attempts + (leased_until IS NOT NULL)::integer,
                  error = CASE WHEN leased_until IS NULL THEN error ELSE chosen.lost END,
                  leased_until = chosen.until, fence = greatest(outbox.fence + 1, chosen.fence)
  FROM chosen JOIN workspaces ON workspaces.workspace = chosen.workspace
 WHERE outbox.workspace = chosen.workspace AND outbox.priority = chosen.priority
   AND outbox.seq = chosen.seq
RETURNING chosen.place, name, outbox.workspace, outbox.seq, outbox.step, attempts,
          outbox.priority, outbox.fence, error;

-- due_work_of --
-- What has not failed is due at once, whatever the clock of whoever wrote it said.
SELECT name, outbox.workspace, seq, step, attempts, priority, 0, error
  FROM outbox JOIN workspaces ON workspaces.workspace = outbox.workspace
 WHERE outbox.workspace = %(workspace)s
   AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND (attempts = 0 OR due_at <= %(now)s::timestamptz OR %(failed)s)
   AND due_at < %(never)s::timestamptz
   AND (%(step)s::text IS NULL OR step = %(step)s::text)
   AND (leased_until IS NULL OR leased_until <= %(now)s::timestamptz OR %(leased)s)
 ORDER BY priority, seq LIMIT %(limit)s;

-- lease_work_of --
WITH chosen AS (
    SELECT workspace, priority, seq FROM outbox AS o
     WHERE workspace = %(workspace)s
       AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
       AND (attempts = 0 OR due_at <= %(now)s::timestamptz OR %(failed)s)
       AND due_at < %(never)s::timestamptz
       AND (%(step)s::text IS NULL OR step = %(step)s::text)
       AND (o.leased_until IS NULL OR o.leased_until <= %(now)s::timestamptz)
       AND NOT EXISTS (SELECT 1 FROM outbox AS other
                        WHERE other.workspace = o.workspace AND other.label = o.label
                          AND other.step = o.step AND other.leased_until > %(now)s::timestamptz)
     ORDER BY priority, seq LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE outbox SET leased_until = %(until)s::timestamptz, fence = greatest(fence + 1, %(fence)s)
  FROM chosen JOIN workspaces ON workspaces.workspace = chosen.workspace
 WHERE outbox.workspace = %(workspace)s AND outbox.priority = chosen.priority
   AND outbox.seq = chosen.seq
RETURNING name, outbox.workspace, outbox.seq, step, attempts, outbox.priority, fence, error;

-- held_work --
-- Nobody takes it before this transaction ends.
SELECT count(*) FROM (
    SELECT 1
      FROM (SELECT r ->> 0 AS home, (r ->> 1)::integer AS priority, (r ->> 2)::bigint AS seq,
                   (r ->> 3)::bigint AS fence
              FROM jsonb_array_elements(%(held)s::jsonb) AS r OFFSET 0) AS wanted
      JOIN workspaces ON workspaces.name = wanted.home
     CROSS JOIN LATERAL (SELECT 1 FROM outbox
                          WHERE outbox.workspace = workspaces.workspace
                            AND priority = wanted.priority AND seq = wanted.seq
                            AND fence = wanted.fence AND leased_until IS NOT NULL
                         OFFSET 0 FOR SHARE) AS held) AS ours;

-- renew_work --
UPDATE outbox SET leased_until = %(until)s::timestamptz
  FROM (SELECT r ->> 0 AS home, (r ->> 1)::integer AS priority, (r ->> 2)::bigint AS seq,
               (r ->> 3)::bigint AS fence
          FROM jsonb_array_elements(%(held)s::jsonb) AS r OFFSET 0) AS wanted
  JOIN workspaces ON workspaces.name = wanted.home
 WHERE outbox.workspace = workspaces.workspace AND outbox.priority = wanted.priority
   AND outbox.seq = wanted.seq AND outbox.fence = wanted.fence AND leased_until IS NOT NULL
RETURNING name, outbox.priority, outbox.seq, outbox.fence;

-- contents_at --
SELECT seq, content, id FROM events
 WHERE workspace = %(workspace)s AND seq = ANY (translate(%(seqs)s, '[]', '{}')::bigint[])
   AND content IS NOT NULL;

-- backlog --
SELECT count(*),
       count(*) FILTER (WHERE error IS NOT NULL AND due_at < %(never)s::timestamptz),
       count(*) FILTER (WHERE due_at >= %(never)s::timestamptz),
       spelt(min(due_at) FILTER (WHERE error IS NULL AND due_at < %(never)s::timestamptz)),
       min(seq) FILTER (WHERE error IS NOT NULL AND due_at < %(never)s::timestamptz)
  FROM outbox
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- waiting --
SELECT told.id, content::json ->> 'scope', step, attempts, error, spelt(due_at)
  FROM (SELECT seq, step, attempts, error, due_at FROM outbox
         WHERE workspace = %(workspace)s
           AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]) OFFSET 0) AS work
 CROSS JOIN LATERAL (SELECT id, content FROM events
                      WHERE workspace = %(workspace)s AND seq = work.seq OFFSET 0) AS told
 ORDER BY error IS NULL, due_at DESC, told.id LIMIT %(limit)s;

-- retry --
-- Whoever is at it loses it.
UPDATE outbox SET attempts = CASE WHEN due_at >= %(never)s::timestamptz THEN 0 ELSE attempts END,
                  due_at = %(now)s::timestamptz, leased_until = NULL
 WHERE workspace = %(workspace)s AND error IS NOT NULL
   AND (%(ids)s::text IS NULL
        OR seq = ANY (ARRAY(
               SELECT told.seq
                 FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
                CROSS JOIN LATERAL (SELECT seq FROM events
                                     WHERE workspace = %(workspace)s AND id = wanted.id
                                    OFFSET 0) AS told)));

-- next_step --
-- Each is looked up by its key, one after the other: what is known of a table that is empty most of
-- the time leads to other plans, which compare everything with everything.
UPDATE outbox SET step = %(rows)s::jsonb -> 0 ->> 4, attempts = 0, error = NULL,
                  leased_until = NULL, due_at = (%(rows)s::jsonb -> 0 ->> 5)::timestamptz
 WHERE ctid = ANY (ARRAY(
       SELECT place
         FROM (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS id, r ->> 2 AS step,
                      (r ->> 3)::bigint AS fence
                 FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
        CROSS JOIN LATERAL (SELECT seq FROM events
                             WHERE events.workspace = given.workspace AND events.id = given.id
                               AND content IS NOT NULL OFFSET 0) AS told
        CROSS JOIN LATERAL (SELECT outbox.ctid AS place FROM outbox
                             WHERE outbox.workspace = given.workspace AND outbox.priority IN (0, 1)
                               AND outbox.seq = told.seq AND outbox.step = given.step
                               AND (given.fence IS NULL OR outbox.fence = given.fence)
                            OFFSET 0) AS work));

-- drop_work --
DELETE FROM outbox
 WHERE ctid = ANY (ARRAY(
       SELECT place
         FROM (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS id, r ->> 2 AS step,
                      (r ->> 3)::bigint AS fence
                 FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
        CROSS JOIN LATERAL (SELECT seq FROM events
                             WHERE events.workspace = given.workspace AND events.id = given.id
                               AND content IS NOT NULL OFFSET 0) AS told
        CROSS JOIN LATERAL (SELECT outbox.ctid AS place FROM outbox
                             WHERE outbox.workspace = given.workspace AND outbox.priority IN (0, 1)
                               AND outbox.seq = told.seq AND outbox.step = given.step
                               AND (given.fence IS NULL OR outbox.fence = given.fence)
                            OFFSET 0) AS work));

-- fail_work --
UPDATE outbox SET attempts = attempts + 1, error = %(rows)s::jsonb -> 0 ->> 4,
                  due_at = (%(rows)s::jsonb -> 0 ->> 5)::timestamptz, leased_until = NULL
 WHERE ctid = ANY (ARRAY(
       SELECT place
         FROM (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS id, r ->> 2 AS step,
                      (r ->> 3)::bigint AS fence
                 FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
        CROSS JOIN LATERAL (SELECT seq FROM events
                             WHERE events.workspace = given.workspace AND events.id = given.id
                               AND content IS NOT NULL OFFSET 0) AS told
        CROSS JOIN LATERAL (SELECT outbox.ctid AS place FROM outbox
                             WHERE outbox.workspace = given.workspace AND outbox.priority IN (0, 1)
                               AND outbox.seq = told.seq AND outbox.step = given.step
                               AND (given.fence IS NULL OR outbox.fence = given.fence)
                            OFFSET 0) AS work));

-- requeue --
-- Whoever is at it loses it.
INSERT INTO outbox (workspace, seq, label, step, due_at, priority)
SELECT given.workspace, told.seq, told.label, given.step, given.due_at, coalesce(
           (SELECT o.priority FROM outbox AS o
             WHERE o.workspace = given.workspace AND o.priority IN (0, 1) AND o.seq = told.seq), 0)
  FROM (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS id, r ->> 2 AS step,
               (r ->> 3)::timestamptz AS due_at
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 CROSS JOIN LATERAL (SELECT seq, label FROM events
                      WHERE events.workspace = given.workspace AND id = given.id
                        AND content IS NOT NULL OFFSET 0) AS told
    ON CONFLICT (workspace, priority, seq) DO UPDATE
   SET label = excluded.label, step = excluded.step, due_at = excluded.due_at,
       fence = outbox.fence + 1, leased_until = NULL, attempts = 0, error = NULL;

-- plant_jobs --
-- Every workspace has these; for some workspaces at a time.
INSERT INTO jobs (workspace, name, key, every_seconds, on_news, priority, due_at)
SELECT home.workspace, each.r ->> 0, '', (each.r ->> 1)::double precision, (each.r ->> 2)::boolean,
       (each.r ->> 3)::integer, (each.r ->> 4)::timestamptz
  FROM workspaces AS home CROSS JOIN jsonb_array_elements(%(recurring)s::jsonb) AS each (r)
 WHERE home.workspace > %(after)s AND home.workspace <= %(last)s
    ON CONFLICT (workspace, name, key) DO UPDATE
   SET every_seconds = excluded.every_seconds, on_news = excluded.on_news,
       priority = excluded.priority,
       due_at = CASE WHEN jobs.leased_until IS NULL AND jobs.error IS NULL
                          AND (jobs.due_at IS NOT NULL OR NOT excluded.on_news)
                     THEN least(jobs.due_at, excluded.due_at) ELSE jobs.due_at END
 WHERE jobs.every_seconds IS DISTINCT FROM excluded.every_seconds
    OR jobs.on_news <> excluded.on_news OR jobs.priority <> excluded.priority;

-- jobs_to_plant --
-- How many are not there, or otherwise. To plant what is there would lock it, and that is a write.
SELECT (SELECT count(*) FROM workspaces WHERE workspace > %(after)s AND workspace <= %(last)s)
       * jsonb_array_length(%(recurring)s::jsonb)
     - (SELECT count(*) FROM jobs
          JOIN jsonb_array_elements(%(recurring)s::jsonb) AS each (r) ON name = r ->> 0
         WHERE workspace > %(after)s AND workspace <= %(last)s AND key = ''
           AND every_seconds = (r ->> 1)::double precision AND on_news = (r ->> 2)::boolean
           AND priority = (r ->> 3)::integer);

-- ask_only_jobs --
-- These come no more by themselves.
UPDATE jobs SET every_seconds = NULL, on_news = false, due_at = NULL, woken = false
 WHERE workspace > %(after)s AND workspace <= %(last)s AND key = ''
   AND name = ANY (ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb)))
   AND every_seconds IS NOT NULL AND leased_until IS NULL;

-- last_workspace --
-- Of those after one, the last of so many.
SELECT max(workspace) FROM (SELECT workspace FROM workspaces
                             WHERE workspace > %(after)s ORDER BY workspace LIMIT %(limit)s) AS next;

-- job_names --
SELECT name, key FROM jobs WHERE workspace = %(workspace)s;

-- schedule_job --
-- Whoever is at it already does it again afterwards.
INSERT INTO jobs (workspace, name, key, on_news, priority, due_at)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, false, (r ->> 3)::integer, (r ->> 4)::timestamptz
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT (workspace, name, key) DO UPDATE
   SET due_at = CASE WHEN jobs.leased_until IS NULL THEN least(jobs.due_at, excluded.due_at)
                     ELSE jobs.due_at END,
       woken = jobs.leased_until IS NOT NULL OR jobs.woken,
       priority = least(jobs.priority, excluded.priority),
       attempts = CASE WHEN jobs.dead THEN 0 ELSE jobs.attempts END, dead = false;

-- any_due_job --
SELECT 1 FROM jobs
 WHERE priority IN (0, 1, 2) AND due_at <= %(now)s::timestamptz
   AND (%(names)s::text IS NULL
        OR name = ANY (ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb))))
 LIMIT 1;

-- claim_jobs --
-- What another worker is just taking is left to it.
WITH chosen AS (
    SELECT workspace, name, key FROM jobs
     WHERE priority = %(priority)s AND due_at <= %(now)s::timestamptz
       AND (%(names)s::text IS NULL
            OR name = ANY (ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb))))
     ORDER BY due_at, workspace, name, key LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET attempts = attempts + (leased_until IS NOT NULL)::integer,
                error = CASE WHEN leased_until IS NULL THEN error ELSE %(lost)s END,
                leased_until = %(until)s::timestamptz, due_at = %(until)s::timestamptz,
                fence = greatest(fence + 1, %(fence)s), woken = cursor IS NOT NULL AND woken
  FROM chosen JOIN workspaces ON workspaces.workspace = chosen.workspace
 WHERE jobs.workspace = chosen.workspace AND jobs.name = chosen.name AND jobs.key = chosen.key
RETURNING workspaces.name, jobs.name, jobs.key, fence, attempts, error, cursor, every_seconds,
          seconds, counts;

-- take_job --
UPDATE jobs SET attempts = attempts + (leased_until IS NOT NULL)::integer,
                error = CASE WHEN leased_until IS NULL THEN error ELSE %(lost)s END,
                leased_until = %(until)s::timestamptz, due_at = %(until)s::timestamptz,
                fence = greatest(fence + 1, %(fence)s), woken = cursor IS NOT NULL AND woken
 WHERE workspace = %(workspace)s AND name = %(name)s AND key = ''
   AND (leased_until IS NULL OR leased_until <= %(now)s::timestamptz)
RETURNING name, key, fence, attempts, error, cursor, every_seconds, seconds, counts;

-- keep_jobs --
UPDATE jobs SET leased_until = given.until, due_at = given.until
  FROM (SELECT r ->> 0 AS home, r ->> 1 AS job, r ->> 2 AS of, (r ->> 3)::bigint AS fence,
               (r ->> 4)::timestamptz AS until
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
  JOIN workspaces ON workspaces.name = given.home
 WHERE jobs.workspace = workspaces.workspace AND jobs.name = given.job AND jobs.key = given.of
   AND jobs.fence = given.fence AND leased_until IS NOT NULL;

-- finish_jobs --
UPDATE jobs SET cursor = given.cursor, seconds = given.seconds, counts = given.counts,
                last_run_at = given.at, leased_until = NULL, attempts = 0, error = NULL,
                due_at = CASE WHEN given.cursor IS NOT NULL THEN given.at
                              WHEN woken THEN least(coalesce(given.again, given.next, given.at),
                                                    coalesce(given.next, given.at))
                              WHEN given.again IS NOT NULL THEN given.again
                              WHEN on_news THEN NULL ELSE given.next END
  FROM (SELECT r ->> 0 AS home, r ->> 1 AS job, r ->> 2 AS of, (r ->> 3)::bigint AS fence,
               r ->> 4 AS cursor, (r ->> 5)::double precision AS seconds, r ->> 6 AS counts,
               (r ->> 7)::timestamptz AS at, (r ->> 8)::timestamptz AS again,
               (r ->> 9)::timestamptz AS next
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
  JOIN workspaces ON workspaces.name = given.home
 WHERE jobs.workspace = workspaces.workspace AND jobs.name = given.job AND jobs.key = given.of
   AND jobs.fence = given.fence AND leased_until IS NOT NULL;

-- drop_jobs --
DELETE FROM jobs
 USING (SELECT r ->> 0 AS home, r ->> 1 AS job, r ->> 2 AS of, (r ->> 3)::bigint AS fence
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
  JOIN workspaces ON workspaces.name = given.home
 WHERE jobs.workspace = workspaces.workspace AND jobs.name = given.job AND jobs.key = given.of
   AND jobs.fence = given.fence AND leased_until IS NOT NULL AND NOT woken;

-- fail_jobs --
UPDATE jobs SET attempts = attempts + 1, error = given.error, due_at = given.due_at,
                dead = given.due_at IS NULL, leased_until = NULL
  FROM (SELECT r ->> 0 AS home, r ->> 1 AS job, r ->> 2 AS of, (r ->> 3)::bigint AS fence,
               r ->> 4 AS error, (r ->> 5)::timestamptz AS due_at
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
  JOIN workspaces ON workspaces.name = given.home
 WHERE jobs.workspace = workspaces.workspace AND jobs.name = given.job AND jobs.key = given.of
   AND jobs.fence = given.fence AND leased_until IS NOT NULL;

-- held_jobs --
-- Nobody takes them before this transaction ends.
SELECT count(*) FROM (
    SELECT 1
      FROM (SELECT r ->> 0 AS home, r ->> 1 AS job, r ->> 2 AS of, (r ->> 3)::bigint AS fence
              FROM jsonb_array_elements(%(held)s::jsonb) AS r OFFSET 0) AS wanted
      JOIN workspaces ON workspaces.name = wanted.home
     CROSS JOIN LATERAL (SELECT 1 FROM jobs
                          WHERE jobs.workspace = workspaces.workspace
                            AND jobs.name = wanted.job AND key = wanted.of
                            AND fence = wanted.fence AND leased_until IS NOT NULL
                         OFFSET 0 FOR SHARE) AS held) AS ours;

-- sleeping_jobs --
SELECT name, key, every_seconds FROM jobs
 WHERE workspace = %(workspace)s AND on_news AND NOT woken AND NOT dead;

-- wake_jobs --
UPDATE jobs SET woken = true,
                due_at = CASE WHEN jobs.due_at IS NULL OR leased_until IS NULL AND error IS NULL
                              THEN least(jobs.due_at, given.due_at) ELSE jobs.due_at END
  FROM (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS name, r ->> 2 AS key,
               (r ->> 3)::timestamptz AS due_at
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE jobs.workspace = given.workspace AND jobs.name = given.name AND jobs.key = given.key;

-- job_states --
SELECT name, key, every_seconds, on_news, priority, spelt(due_at), spelt(leased_until), attempts,
       error, dead, spelt(last_run_at), seconds, counts
  FROM jobs WHERE workspace = %(workspace)s ORDER BY name, key;

-- retry_jobs --
UPDATE jobs SET due_at = %(now)s::timestamptz,
                attempts = CASE WHEN dead THEN 0 ELSE attempts END, dead = false
 WHERE workspace = %(workspace)s AND error IS NOT NULL AND leased_until IS NULL
   AND (%(names)s::text IS NULL
        OR name = ANY (ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb))));

-- forget_job_errors --
-- An error may quote what somebody said.
UPDATE jobs SET error = 'it failed' WHERE workspace = %(workspace)s AND error IS NOT NULL;

-- memories_placed --
-- A few are found one by one, however large the workspace is. For many, all of it is read at most
-- once: a server that takes the table for empty may find each of them by reading all.
SELECT found.id, memory, label, content, thread, tier, archived
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id
         WHERE jsonb_array_length(%(ids)s::jsonb) <= 100) AS wanted
 CROSS JOIN LATERAL (SELECT id, memory, label, content, thread, tier, archived FROM remembered
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found
 UNION ALL
SELECT id, memory, label, content, thread, tier, archived FROM remembered
 WHERE workspace = %(workspace)s
   AND id = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)))
   AND (SELECT jsonb_array_length(%(ids)s::jsonb) > 100);

-- add_memory --
WITH archived AS (
    INSERT INTO archive (workspace, memory, label)
    SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 3)::integer
      FROM jsonb_array_elements(%(rows)s::jsonb) AS r WHERE (r ->> 16)::boolean
)
INSERT INTO memories (workspace, memory, id, label, kind, at, subject, predicate, thread, speaker,
                      role, length, asks, directs, content, tier, salience, confidence, trust,
                      pinned)
SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, r ->> 2, (r ->> 3)::integer, r ->> 4,
       (r ->> 5)::timestamptz, r ->> 6, r ->> 7, (r ->> 8)::integer, r ->> 9, r ->> 10,
       (r ->> 11)::integer, (r ->> 12)::boolean, (r ->> 13)::boolean, r ->> 14, r ->> 15,
       (r ->> 17)::double precision, (r ->> 18)::double precision,
       (r ->> 19)::smallint, (r ->> 20)::boolean
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- thread --
SELECT thread FROM threads
 WHERE workspace = %(workspace)s AND label = %(label)s AND md5(name) = md5(%(name)s)
   AND name = %(name)s;

-- add_thread --
INSERT INTO threads (workspace, label, thread, name)
SELECT %(workspace)s, %(label)s, coalesce(max(thread), 0) + 1, %(name)s
  FROM threads WHERE workspace = %(workspace)s AND label = %(label)s
RETURNING thread;

-- thread_changed --
-- Each thread is named once: the rows are added up before.
UPDATE threads SET terms = threads.terms + changed.terms
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               (r ->> 2)::integer AS thread, sum((r ->> 3)::bigint) AS terms
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r GROUP BY 1, 2, 3) AS changed
 WHERE threads.workspace = changed.workspace AND threads.label = changed.label
   AND threads.thread = changed.thread;

-- drop_empty_thread --
DELETE FROM threads
 WHERE workspace = %(workspace)s AND label = %(label)s AND thread = %(thread)s
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = %(workspace)s
                      AND memories.label = %(label)s AND memories.thread = %(thread)s);

-- threads_counted --
UPDATE labels SET threads = threads + %(more)s
 WHERE workspace = %(workspace)s AND label = %(label)s;

-- thread_lengths --
SELECT place, thread, terms
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT thread, terms FROM threads
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                     OFFSET 0) AS found
 ORDER BY place, thread;

-- new_cards --
SELECT place, id, memory, thread, spelt(at), speaker, role, length, asks, directs, kind
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND memory > (r ->> 2)::bigint
                     OFFSET 0) AS found
 ORDER BY place, thread, at, id;

-- contents --
SELECT found.id, content
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id, content FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.id
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                     OFFSET 0) AS found;

-- add_name --
INSERT INTO names (workspace, label, name, kind, at, id)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, r ->> 3, (r ->> 4)::timestamptz, r ->> 5
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- drop_name --
DELETE FROM names
 USING (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label, r ->> 2 AS name,
               r ->> 3 AS kind, (r ->> 4)::timestamptz AS at, r ->> 5 AS id
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE names.workspace = given.workspace AND names.label = given.label
   AND md5(names.name) = md5(given.name) AND names.name = given.name
   AND names.kind = given.kind AND names.at = given.at AND names.id = given.id;

-- names_counted --
UPDATE labels SET names = names + given.more
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               (r ->> 2)::bigint AS more
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- between --
SELECT place, at, id
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT at, id FROM memories
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND at >= (r ->> 2)::timestamptz AND at < (r ->> 3)::timestamptz
                      ORDER BY at DESC, id LIMIT (r ->> 4)::bigint) AS found;

-- named --
-- The newest are chosen before any content is read: of each name, and then of all.
SELECT content, tier, archived
  FROM (SELECT DISTINCT found.at, found.id
          FROM unnest(translate(%(labels)s, '[]', '{}')::integer[]) AS readable (label)
         CROSS JOIN jsonb_array_elements_text(%(names)s::jsonb) AS wanted (name)
         CROSS JOIN jsonb_array_elements_text(%(kinds)s::jsonb) AS asked (kind)
         CROSS JOIN LATERAL (SELECT at, id FROM names
                              WHERE names.workspace = %(workspace)s
                                AND names.label = readable.label
                                AND md5(names.name) = md5(wanted.name)
                                AND names.name = wanted.name AND names.kind = asked.kind
                              ORDER BY at DESC, id LIMIT %(limit)s) AS found
         ORDER BY found.at DESC, found.id LIMIT %(limit)s) AS chosen
 CROSS JOIN LATERAL (SELECT content, tier, archived FROM remembered
                      WHERE workspace = %(workspace)s AND id = chosen.id OFFSET 0) AS found
 ORDER BY chosen.at DESC, chosen.id;

-- outlines --
-- Whole contents, which may be sealed: chosen as those that are named.
SELECT content
  FROM (SELECT DISTINCT found.at, found.id
          FROM unnest(translate(%(labels)s, '[]', '{}')::integer[]) AS readable (label)
         CROSS JOIN jsonb_array_elements_text(%(names)s::jsonb) AS wanted (name)
         CROSS JOIN jsonb_array_elements_text(%(kinds)s::jsonb) AS asked (kind)
         CROSS JOIN LATERAL (SELECT at, id FROM names
                              WHERE names.workspace = %(workspace)s
                                AND names.label = readable.label
                                AND md5(names.name) = md5(wanted.name)
                                AND names.name = wanted.name AND names.kind = asked.kind
                              ORDER BY at DESC, id LIMIT %(limit)s) AS found
         ORDER BY found.at DESC, found.id LIMIT %(limit)s) AS chosen
 CROSS JOIN LATERAL (SELECT content FROM memories
                      WHERE workspace = %(workspace)s AND id = chosen.id OFFSET 0) AS found
 ORDER BY chosen.at DESC, chosen.id;

-- latest --
-- Of each key the newest, before any content is read.
SELECT content, tier, archived
  FROM (SELECT at, id
          FROM (SELECT DISTINCT ON (told.subject, told.predicate) told.at, told.id
                  FROM unnest(translate(%(labels)s, '[]', '{}')::integer[]) AS readable (label)
                 CROSS JOIN jsonb_array_elements_text(%(subjects)s::jsonb) AS wanted (subject)
                 CROSS JOIN LATERAL (SELECT subject, predicate, at, id FROM memories
                                      WHERE workspace = %(workspace)s
                                        AND label = readable.label
                                        AND md5(subject) = md5(wanted.subject)
                                        AND subject = wanted.subject AND kind = 'fact'
                                     OFFSET 0) AS told
                 ORDER BY told.subject, told.predicate, told.at DESC, told.id) AS newest
         ORDER BY at DESC, id LIMIT %(limit)s::bigint) AS chosen
 CROSS JOIN LATERAL (SELECT content, tier, archived FROM remembered
                      WHERE workspace = %(workspace)s AND id = chosen.id OFFSET 0) AS found
 ORDER BY chosen.at DESC, chosen.id;

-- add_link --
INSERT INTO links (workspace, origin, relation, target)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, r ->> 3
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- add_posting --
INSERT INTO postings (workspace, label, term, memory, frequency, length, thread)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, (r ->> 3)::bigint, (r ->> 4)::integer,
       (r ->> 5)::integer, (r ->> 6)::integer
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- label_grew --
UPDATE labels SET latest = given.latest, documents = documents + given.more,
                  terms = terms + given.longer
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               (r ->> 2)::bigint AS latest, (r ->> 3)::bigint AS more, (r ->> 4)::bigint AS longer
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- events_came --
UPDATE labels SET epoch = epoch + 1
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- label_shrank --
-- One row for each memory that went: a label may be named often.
UPDATE labels SET generation = generation + shrunk.documents,
                  documents = labels.documents - shrunk.documents,
                  terms = labels.terms - shrunk.terms
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               count(*) AS documents, sum((r ->> 2)::bigint) AS terms
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r GROUP BY 1, 2) AS shrunk
 WHERE labels.workspace = shrunk.workspace AND labels.label = shrunk.label;

-- label_lost --
-- Something else than a memory is gone: whoever read it before starts over.
UPDATE labels SET generation = generation + 1, epoch = epoch + 1
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- answers_changed --
-- Everywhere in a workspace, although nobody told anything.
UPDATE labels SET epoch = epoch + 1 WHERE workspace = %(workspace)s;

-- drop_memory --
WITH given AS MATERIALIZED (
    SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS memory
      FROM jsonb_array_elements(%(rows)s::jsonb) AS r
), forgotten AS (
    DELETE FROM archive USING given
     WHERE archive.workspace = given.workspace AND archive.memory = given.memory
)
DELETE FROM memories USING given
 WHERE memories.workspace = given.workspace AND memories.memory = given.memory;

-- drop_posting --
DELETE FROM postings
 USING (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label, r ->> 2 AS term,
               (r ->> 3)::bigint AS memory
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE postings.workspace = given.workspace AND postings.label = given.label
   AND postings.term = given.term AND postings.memory = given.memory;

-- drop_links --
DELETE FROM links
 USING (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS origin
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE links.workspace = given.workspace AND links.origin = given.origin;

-- drop_vectors --
DELETE FROM vectors
 USING (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS memory, profile
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r CROSS JOIN profiles OFFSET 0) AS given
 WHERE vectors.workspace = given.workspace AND vectors.profile = given.profile
   AND vectors.memory = given.memory;

-- memories_by_id --
SELECT content, tier, archived
  FROM jsonb_array_elements_text(%(ids)s::jsonb) WITH ORDINALITY AS wanted (value, key)
 CROSS JOIN LATERAL (SELECT content, tier, archived FROM remembered
                      WHERE workspace = %(workspace)s AND id = wanted.value
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                     OFFSET 0) AS found
 ORDER BY wanted.key;

-- memories_by_time --
SELECT content, tier, archived FROM remembered
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
 ORDER BY at DESC, id;

-- memories_by_kind --
SELECT content, tier, archived FROM remembered
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND kind = %(kind)s
 ORDER BY at DESC, id;

-- newest_of_kind --
SELECT place, at, id, content, tier, archived
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT at, id, content, tier, archived FROM remembered
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND kind = r ->> 2
                      ORDER BY at DESC, id LIMIT (r ->> 3)::bigint) AS found;

-- memories_by_fact --
SELECT content, tier, archived FROM remembered
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND md5(subject) = md5(%(subject)s) AND subject = %(subject)s
   AND (%(predicate)s::text IS NULL OR predicate = %(predicate)s::text)
 ORDER BY at DESC, id;

-- ids_by_number --
SELECT memory, id FROM memories
 WHERE workspace = %(workspace)s AND memory = ANY (translate(%(numbers)s, '[]', '{}')::bigint[])
   AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- memories_by_number --
SELECT memory, content, tier, archived FROM remembered
 WHERE workspace = %(workspace)s AND memory = ANY (translate(%(numbers)s, '[]', '{}')::bigint[])
   AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- new_postings --
SELECT place, memory, frequency, length, thread
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT memory, frequency, length, thread FROM postings
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND term = r ->> 2 AND memory > (r ->> 3)::bigint
                     OFFSET 0) AS found
 ORDER BY place, memory;

-- profile --
SELECT profile FROM profiles
 WHERE provider = %(provider)s AND model = %(model)s AND dimension = %(dimension)s
   AND revision = %(revision)s;

-- add_profile --
-- Two may come at once: both get the same number.
INSERT INTO profiles (provider, model, dimension, revision)
VALUES (%(provider)s, %(model)s, %(dimension)s, %(revision)s)
    ON CONFLICT (provider, model, dimension, revision) DO UPDATE SET revision = profiles.revision
RETURNING profile;

-- profiles --
SELECT provider, model, dimension, revision FROM profiles
 ORDER BY provider, model, dimension, revision;

-- numbered_profiles --
SELECT profile, dimension FROM profiles ORDER BY profile;

-- profile_in_use --
SELECT provider, model, dimension, revision
  FROM workspaces JOIN profiles ON profiles.profile = workspaces.profile
 WHERE workspace = %(workspace)s;

-- use_profile --
UPDATE workspaces SET profile = %(profile)s WHERE workspace = %(workspace)s;

-- use_first_profile --
UPDATE workspaces SET profile = %(profile)s WHERE workspace = %(workspace)s AND profile IS NULL;

-- some_vectors --
SELECT number, label, memory FROM vectors
 WHERE workspace = %(workspace)s AND profile = %(profile)s
   AND profile IS DISTINCT FROM (SELECT w.profile FROM workspaces AS w
                                  WHERE w.workspace = %(workspace)s)
 LIMIT %(limit)s;

-- vector_coverage --
SELECT count(*) FILTER (WHERE has_vector), count(*) FILTER (WHERE NOT has_vector)
  FROM (SELECT EXISTS (SELECT 1 FROM vectors
                        WHERE vectors.workspace = %(workspace)s
                          AND vectors.profile = %(profile)s
                          AND vectors.memory = memories.memory OFFSET 0) AS has_vector
          FROM memories
         WHERE workspace = %(workspace)s AND length > 0
           AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])) AS told;

-- add_vector --
INSERT INTO vectors (workspace, label, profile, number, memory, data)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, (r ->> 2)::integer, (r ->> 3)::bigint,
       (r ->> 4)::bigint, (r ->> 5)::vector
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- vectors_placed --
-- Memories that are there, with their vectors if they have one.
SELECT id, told.memory, label, data
  FROM jsonb_array_elements_text(%(ids)s::jsonb) WITH ORDINALITY AS wanted (value, key)
 CROSS JOIN LATERAL (SELECT id, memory, label FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.value OFFSET 0) AS told
  LEFT JOIN LATERAL (SELECT data FROM vectors
                      WHERE workspace = %(workspace)s AND profile = %(profile)s
                        AND memory = told.memory OFFSET 0) AS placed ON true
 ORDER BY wanted.key;

-- drop_vector --
DELETE FROM vectors
 USING (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS profile,
               (r ->> 2)::bigint AS memory
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE vectors.workspace = given.workspace AND vectors.profile = given.profile
   AND vectors.memory = given.memory;

-- label_vectors_grew --
UPDATE labels SET latest = given.latest, generation = generation + given.replaced
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               (r ->> 2)::bigint AS latest, (r ->> 3)::bigint AS replaced
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- vectors_after --
SELECT place, number, memory, data
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT number, memory, data FROM vectors
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND profile = (r ->> 2)::integer AND number > (r ->> 3)::bigint
                      ORDER BY number LIMIT (r ->> 4)::bigint) AS found;

-- next_vectors --
-- For an index beside the records, a batch at a time.
SELECT number, memory, data FROM vectors
 WHERE workspace = %(workspace)s AND label = %(label)s AND profile = %(profile)s
   AND number > %(after)s
 ORDER BY number LIMIT %(limit)s;

-- vector_numbers --
SELECT number FROM vectors
 WHERE workspace = %(workspace)s AND label = %(label)s AND profile = %(profile)s
   AND number <= %(upto)s
 ORDER BY number;

-- made_at --
SELECT spelt(min(applied_at)) FROM schema_version;

-- workspace_counters --
SELECT name, counter FROM workspaces;

-- next_named --
SELECT memory, label, content, tier, archived FROM remembered
 WHERE workspace = %(workspace)s AND memory > %(after)s
   AND kind = ANY (ARRAY(SELECT jsonb_array_elements_text(%(kinds)s::jsonb)))
 ORDER BY memory LIMIT %(limit)s;

-- named_since --
-- By number: few are new, and a label may hold many.
SELECT content, tier, archived FROM remembered
 WHERE workspace = %(workspace)s AND memory > %(after)s
   AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND kind = ANY (ARRAY(SELECT jsonb_array_elements_text(%(kinds)s::jsonb)));

-- names_of_label --
SELECT place, kind, name
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT DISTINCT kind, name FROM names
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer) AS found
 ORDER BY place;

-- named_in_label --
SELECT DISTINCT id FROM names WHERE workspace = %(workspace)s AND label = %(label)s;

-- vectors_at --
-- Each place is [label, number]; labels come from the grant.
SELECT memory, data
  FROM jsonb_array_elements(%(places)s::jsonb) AS wanted
 CROSS JOIN LATERAL (SELECT memory, data FROM vectors
                      WHERE workspace = %(workspace)s AND label = (wanted ->> 0)::integer
                        AND profile = %(profile)s AND number = (wanted ->> 1)::bigint
                     OFFSET 0) AS found;

-- vectors_by_id --
SELECT id, data
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT memory FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.id
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                     OFFSET 0) AS told
 CROSS JOIN LATERAL (SELECT data FROM vectors
                      WHERE workspace = %(workspace)s AND profile = %(profile)s
                        AND memory = told.memory OFFSET 0) AS placed;

-- vectors_by_number --
SELECT memory, data
  FROM vectors
 WHERE workspace = %(workspace)s AND profile = %(profile)s
   AND memory = ANY (translate(%(numbers)s, '[]', '{}')::bigint[])
   AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- nearest_in_label --
-- For a label that is too large for memory: all of its vectors are compared, and no index is used
-- (`+ 0`).
SELECT number, data <=> %(asked)s::vector FROM vectors
 WHERE workspace = %(workspace)s AND label = %(label)s AND profile = %(profile)s
 ORDER BY (data <=> %(asked)s::vector) + 0 LIMIT %(limit)s;

-- vector_indexes --
SELECT relname FROM pg_class
 WHERE relnamespace = 'nexus'::regnamespace AND relkind = 'i'
   AND starts_with(relname, 'vectors_near_');

-- without_vector --
SELECT content, tier, archived FROM remembered
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.workspace = %(workspace)s
                      AND vectors.profile = %(profile)s AND vectors.memory = remembered.memory
                   OFFSET 0)
   AND content::json ->> 'indexed_text' IS DISTINCT FROM '' AND id > %(after)s
 ORDER BY id LIMIT %(limit)s;

-- resting_on --
-- Everything derived from these, at any depth.
WITH RECURSIVE reached (id) AS (
    SELECT origin FROM jsonb_array_elements_text(%(ids)s::jsonb) AS given (value)
     CROSS JOIN LATERAL (SELECT origin FROM links
                          WHERE workspace = %(workspace)s AND target = given.value
                            AND relation = 'derived_from' OFFSET 0) AS first
     UNION
    SELECT origin FROM reached
     CROSS JOIN LATERAL (SELECT origin FROM links
                          WHERE workspace = %(workspace)s AND target = reached.id
                            AND relation = 'derived_from' OFFSET 0) AS next
)
SELECT content, tier, archived FROM reached
 CROSS JOIN LATERAL (SELECT at, content, tier, archived FROM remembered
                      WHERE workspace = %(workspace)s AND id = reached.id OFFSET 0) AS found
 ORDER BY at DESC, reached.id;

-- erase_event --
UPDATE events
   SET label = NULL, key = NULL, at = NULL, content = NULL, salt = NULL, bytes = 0
  FROM (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS id
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE events.workspace = given.workspace AND events.id = given.id AND content IS NOT NULL;

-- drop_any_work --
DELETE FROM outbox
 USING (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS id
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 CROSS JOIN LATERAL (SELECT seq FROM events
                      WHERE events.workspace = given.workspace AND events.id = given.id
                     OFFSET 0) AS told
 WHERE outbox.workspace = given.workspace AND outbox.priority IN (0, 1)
   AND outbox.seq = told.seq;

-- add_tombstone --
INSERT INTO tombstones (workspace, kind, digest, at)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, (r ->> 3)::timestamptz
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT (workspace, kind, digest) DO UPDATE SET at = excluded.at
 WHERE excluded.at > tombstones.at;

-- tombstones --
SELECT kind, digest, spelt(at) FROM tombstones
 WHERE workspace = %(workspace)s ORDER BY kind, digest;

-- stones_of_drawers --
SELECT kind, digest, spelt(at) FROM tombstones
 WHERE workspace = %(workspace)s AND kind IN ('scope', 'user')
   AND digest = ANY (ARRAY(SELECT jsonb_array_elements_text(%(digests)s::jsonb)));

-- among_tombstones --
SELECT digest FROM tombstones
 WHERE workspace = %(workspace)s AND kind = %(kind)s
   AND digest = ANY (ARRAY(SELECT jsonb_array_elements_text(%(digests)s::jsonb)));

-- text_columns --
-- Every table of a tenant, with all of its columns that can hold a text.
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'nexus'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND a.attnum > 0 AND a.atttypid = 'text'::regtype
   AND EXISTS (SELECT 1 FROM pg_attribute AS w
                WHERE w.attrelid = c.oid AND w.attname = 'workspace')
 GROUP BY c.relname ORDER BY c.relname;

-- orphaned_vectors --
SELECT count(*) FROM vectors
 WHERE workspace = %(workspace)s
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = %(workspace)s
                      AND memories.memory = vectors.memory OFFSET 0);

-- part_of --
-- Which part of every large table holds a workspace.
SELECT part FROM generate_series(0, 7) AS part
 WHERE satisfies_hash_partition('events'::regclass, 8, part, %(workspace)s::bigint);

-- was_committed --
SELECT EXISTS (SELECT 1 FROM commits
                WHERE workspace = ANY (translate(%(workspaces)s, '[]', '{}')::bigint[])
                  AND mark = %(lost)s::uuid);

-- lock_schema --
SELECT pg_advisory_xact_lock(hashtext('nexus.schema'));

-- has_schema --
SELECT to_regclass('nexus.schema_version') IS NOT NULL;

-- extension --
-- Where pgvector lives here, and in which version.
SELECT nspname, extversion FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace
 WHERE extname = 'vector';

-- vector_type --
SELECT typ.oid FROM pg_type AS typ JOIN pg_extension AS ext ON ext.extnamespace = typ.typnamespace
 WHERE extname = 'vector' AND typname = 'vector';

-- window_items --
-- What says when it expires lives until then; the rest as long as something happens in its place.
SELECT content FROM window_items AS item
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND slot = ANY (ARRAY(SELECT jsonb_array_elements_text(%(slots)s::jsonb)))
   AND (%(key)s::text IS NULL OR key = %(key)s::text)
   AND NOT expired(item, %(now)s::timestamptz, %(idle_since)s::timestamptz)
 ORDER BY at DESC, slot, key;

-- put_window_item --
INSERT INTO window_items (workspace, label, slot, key, at, expires_at, tied_to, content)
VALUES (%(workspace)s, %(label)s, %(slot)s, %(key)s, %(at)s::timestamptz,
        %(expires_at)s::timestamptz, %(tied_to)s, %(content)s)
    ON CONFLICT (workspace, label, slot, key) DO UPDATE
   SET at = excluded.at, expires_at = excluded.expires_at, tied_to = excluded.tied_to,
       content = excluded.content;

-- let_go_of_window --
DELETE FROM window_items AS item
 WHERE workspace = %(workspace)s AND label = %(label)s AND expires_at IS NULL
   AND expired(item, %(now)s::timestamptz, %(idle_since)s::timestamptz);

-- trim_window --
-- Only the newest of a slot stay.
DELETE FROM window_items
 WHERE workspace = %(workspace)s AND label = %(label)s AND slot = %(slot)s
   AND key IN (SELECT key FROM window_items
                WHERE workspace = %(workspace)s AND label = %(label)s AND slot = %(slot)s
                ORDER BY at DESC, key OFFSET %(most)s);

-- drop_window_item --
DELETE FROM window_items
 WHERE workspace = %(workspace)s AND label = %(label)s AND slot = %(slot)s
   AND (%(key)s::text IS NULL OR key = %(key)s::text);

-- prune_window --
SELECT * FROM prune_windows(%(now)s::timestamptz, %(idle_since)s::timestamptz,
                            CASE WHEN %(names)s::text IS NOT NULL
                                 THEN ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb)) END);

-- any_erased --
SELECT 1 FROM jsonb_array_elements_text(%(ids)s::jsonb) AS given (value)
 WHERE EXISTS (SELECT 1 FROM events WHERE events.workspace = %(workspace)s
                  AND events.id = given.value AND content IS NULL)
    OR EXISTS (SELECT 1 FROM tombstones WHERE tombstones.workspace = %(workspace)s
                  AND kind = 'memory' AND digest = given.value)
    OR EXISTS (SELECT 1 FROM tombstones WHERE tombstones.workspace = %(workspace)s
                  AND kind IN ('scope', 'user') AND digest = given.value AND at >= %(since)s::timestamptz)
 LIMIT 1;

-- window_tied_to --
-- Also the thoughts of a place where one of these was said: they may say it again.
SELECT content FROM window_items
 WHERE workspace = %(workspace)s
   AND (EXISTS (SELECT 1 FROM json_array_elements_text(tied_to::json) AS tie (value)
                 WHERE tie.value = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb))))
        OR (slot = 'thought'
            AND label = ANY (ARRAY(
                    SELECT told.label
                      FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
                     CROSS JOIN LATERAL (SELECT events.label FROM events
                                          WHERE events.workspace = %(workspace)s
                                            AND events.id = wanted.id OFFSET 0) AS told))))
 ORDER BY at DESC, slot, key;

-- erase_from_window --
DELETE FROM window_items
 WHERE workspace = %(workspace)s
   AND (EXISTS (SELECT 1 FROM json_array_elements_text(tied_to::json) AS tie (value)
                 WHERE tie.value = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb))))
        OR (slot = 'thought'
            AND label = ANY (ARRAY(
                    SELECT told.label
                      FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
                     CROSS JOIN LATERAL (SELECT events.label FROM events
                                          WHERE events.workspace = %(workspace)s
                                            AND events.id = wanted.id OFFSET 0) AS told))));

-- newest_events --
SELECT place, at, id, content
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT at, id, content FROM events
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND at >= coalesce((r ->> 2)::timestamptz, '-infinity')
                        AND at < coalesce((r ->> 3)::timestamptz, 'infinity')
                        AND content IS NOT NULL
                      ORDER BY at DESC, id LIMIT (r ->> 4)::bigint) AS found;

-- add_spending --
INSERT INTO spending (workspace, day, purpose, model, calls, input_tokens, output_tokens, cost)
VALUES (%(workspace)s, %(day)s::timestamptz, %(purpose)s, %(model)s, %(calls)s, %(input_tokens)s,
        %(output_tokens)s, %(cost)s)
    ON CONFLICT (workspace, day, purpose, model) DO UPDATE
   SET calls = spending.calls + excluded.calls,
       input_tokens = spending.input_tokens + excluded.input_tokens,
       output_tokens = spending.output_tokens + excluded.output_tokens,
       cost = spending.cost + excluded.cost;

-- spending --
SELECT spelt(day), purpose, model, calls, input_tokens, output_tokens, cost FROM spending
 WHERE workspace = %(workspace)s
   AND (%(since)s::timestamptz IS NULL OR day >= %(since)s::timestamptz)
 ORDER BY day, purpose, model;

-- next_label --
SELECT min(label) FROM labels WHERE workspace = %(workspace)s AND label >= %(label)s;

-- memories_of_label --
-- From the oldest on, a part at a time.
SELECT memory, spelt(at), id, kind, thread, length, asks, directs, content, tier, archived
  FROM remembered
 WHERE workspace = %(workspace)s AND label = %(label)s
   AND (at, id) > (%(at)s::timestamptz, %(id)s)
 ORDER BY at, id LIMIT %(limit)s;

-- restore_thread --
-- A thread whose memories are there, and which has their number.
INSERT INTO threads (workspace, label, thread, name)
VALUES (%(workspace)s, %(label)s, %(thread)s, %(name)s)
    ON CONFLICT DO NOTHING;

-- mend_posting --
INSERT INTO postings (workspace, label, term, memory, frequency, length, thread)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, (r ->> 3)::bigint, (r ->> 4)::integer,
       (r ->> 5)::integer, (r ->> 6)::integer
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT (workspace, label, term, memory) DO UPDATE
   SET frequency = excluded.frequency, length = excluded.length, thread = excluded.thread
 WHERE (postings.frequency, postings.length, postings.thread)
       IS DISTINCT FROM (excluded.frequency, excluded.length, excluded.thread);

-- count_postings --
SELECT count(*) FROM postings WHERE workspace = %(workspace)s AND label = %(label)s;

-- stray_postings --
-- Memories whose words do not add up, and numbers that no memory of this label has.
SELECT held.memory
  FROM (SELECT memory, sum(frequency) AS words FROM postings
         WHERE workspace = %(workspace)s AND label = %(label)s GROUP BY memory) AS held
  LEFT JOIN LATERAL (SELECT length FROM memories
                      WHERE workspace = %(workspace)s AND memory = held.memory
                        AND label = %(label)s OFFSET 0) AS told ON true
 WHERE told.length IS DISTINCT FROM held.words;

-- drop_postings_of --
DELETE FROM postings
 WHERE workspace = %(workspace)s AND label = %(label)s
   AND memory = ANY (translate(%(memories)s, '[]', '{}')::bigint[]);

-- recount_threads --
UPDATE threads SET terms = counted.terms
  FROM (SELECT t.thread, coalesce(sum(m.length), 0)::bigint AS terms
          FROM threads AS t
          LEFT JOIN LATERAL (SELECT length FROM memories
                              WHERE workspace = %(workspace)s AND label = %(label)s
                                AND thread = t.thread OFFSET 0) AS m ON true
         WHERE t.workspace = %(workspace)s AND t.label = %(label)s
         GROUP BY t.thread) AS counted
 WHERE threads.workspace = %(workspace)s AND threads.label = %(label)s
   AND threads.thread = counted.thread AND threads.terms <> counted.terms;

-- drop_empty_threads --
DELETE FROM threads
 WHERE workspace = %(workspace)s AND label = %(label)s
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = threads.workspace
                      AND memories.label = threads.label AND memories.thread = threads.thread
                   OFFSET 0);

-- label_sums --
-- What a label says of itself, and what there is.
SELECT documents, terms, threads, names,
       (SELECT count(*) FROM memories AS m
         WHERE m.workspace = labels.workspace AND m.label = labels.label),
       (SELECT coalesce(sum(length), 0)::bigint FROM memories AS m
         WHERE m.workspace = labels.workspace AND m.label = labels.label),
       (SELECT count(*) FROM threads AS t
         WHERE t.workspace = labels.workspace AND t.label = labels.label),
       (SELECT count(*) FROM names AS n
         WHERE n.workspace = labels.workspace AND n.label = labels.label),
       (SELECT coalesce(sum(t.terms), 0)::bigint FROM threads AS t
         WHERE t.workspace = labels.workspace AND t.label = labels.label),
       (SELECT coalesce(sum(frequency), 0)::bigint FROM postings AS p
         WHERE p.workspace = labels.workspace AND p.label = labels.label)
  FROM labels
 WHERE workspace = %(workspace)s AND label = %(label)s;

-- set_label_sums --
UPDATE labels SET documents = %(documents)s, terms = %(terms)s, threads = %(threads)s,
                  names = %(names)s
 WHERE workspace = %(workspace)s AND label = %(label)s;

-- links_from --
SELECT origin, target
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT origin, target FROM links
                      WHERE workspace = %(workspace)s AND origin = wanted.id
                        AND relation = 'derived_from' OFFSET 0) AS found;

-- drop_link --
DELETE FROM links
 USING (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS origin, r ->> 2 AS relation,
               r ->> 3 AS target
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE links.workspace = given.workspace AND links.origin = given.origin
   AND links.relation = given.relation AND links.target = given.target;

-- drop_stray_links --
DELETE FROM links
 WHERE workspace = %(workspace)s
   AND NOT EXISTS (SELECT 1 FROM memories
                    WHERE memories.workspace = links.workspace AND memories.id = links.origin
                   OFFSET 0);

-- link_damage --
-- Memories that rest on nothing, and links that belong to no memory.
SELECT (SELECT count(*) FROM memories
         WHERE workspace = %(workspace)s
           AND NOT EXISTS (SELECT 1 FROM links
                            WHERE links.workspace = %(workspace)s AND links.origin = memories.id
                              AND relation = 'derived_from' OFFSET 0)),
       (SELECT count(*) FROM links
         WHERE workspace = %(workspace)s
           AND NOT EXISTS (SELECT 1 FROM memories
                            WHERE memories.workspace = %(workspace)s
                              AND memories.id = links.origin OFFSET 0));

-- mend_name --
INSERT INTO names (workspace, label, name, kind, at, id)
SELECT given.* FROM
       (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label, r ->> 2 AS name,
               r ->> 3 AS kind, (r ->> 4)::timestamptz AS at, r ->> 5 AS id
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE NOT EXISTS (SELECT 1 FROM names
                    WHERE names.workspace = given.workspace AND names.label = given.label
                      AND md5(names.name) = md5(given.name) AND names.name = given.name
                      AND names.kind = given.kind AND names.at = given.at
                      AND names.id = given.id OFFSET 0);

-- count_names --
SELECT count(*) FROM names WHERE workspace = %(workspace)s AND label = %(label)s;

-- drop_names_of --
DELETE FROM names WHERE workspace = %(workspace)s AND label = %(label)s;

-- stray_vectors --
SELECT label, profile, memory FROM vectors
 WHERE workspace = %(workspace)s
   AND label IS DISTINCT FROM (SELECT memories.label FROM memories
                                WHERE memories.workspace = %(workspace)s
                                  AND memories.memory = vectors.memory)
 LIMIT %(limit)s;

-- count_events --
SELECT count(*) FROM events
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- count_memories --
SELECT kind, count(*) FROM memories
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
 GROUP BY kind ORDER BY kind;

-- count_vectors --
SELECT count(*) FROM vectors
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- versions --
SELECT version FROM schema_version ORDER BY version;

-- add_version --
INSERT INTO schema_version (version, description, applied_at)
VALUES (%(version)s, %(description)s, %(applied_at)s::timestamptz);

-- named_workspaces --
SELECT name FROM workspaces ORDER BY name;

-- standing_counts --
-- In the order in which shelves are moved.
SELECT (SELECT count(*) FROM events WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM memories WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM vectors WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM uses WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM tombstones WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM spending WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM window_items WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM outbox WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM jobs WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM audit WHERE workspace = %(workspace)s);

-- standing_events --
SELECT seq, id, content, salt, commitment, hash FROM events
 WHERE workspace = %(workspace)s AND seq > %(first)s ORDER BY seq LIMIT %(limit)s;

-- standing_memories --
SELECT memory, content, tier, archived FROM remembered
 WHERE workspace = %(workspace)s AND memory > %(first)s ORDER BY memory LIMIT %(limit)s;

-- standing_vectors --
SELECT placed.profile, memory, id, provider, model, dimension, revision, data
  FROM (SELECT profile, memory, data FROM vectors
         WHERE workspace = %(workspace)s AND (profile, memory) > (%(first)s, %(second)s)
         ORDER BY profile, memory LIMIT %(limit)s) AS placed
 CROSS JOIN LATERAL (SELECT id FROM memories
                      WHERE workspace = %(workspace)s AND memory = placed.memory
                     OFFSET 0) AS told
  JOIN profiles ON profiles.profile = placed.profile
 ORDER BY placed.profile, memory;

-- standing_tombstones --
SELECT kind, digest, spelt(at) FROM tombstones
 WHERE workspace = %(workspace)s AND (kind, digest) > (%(first)s, %(second)s)
 ORDER BY kind, digest LIMIT %(limit)s;

-- standing_spending --
SELECT spelt(day), purpose, model, calls, input_tokens, output_tokens, cost FROM spending
 WHERE workspace = %(workspace)s
   AND (spelt(day) COLLATE "C", purpose, model) > (%(first)s, %(second)s, %(third)s)
 ORDER BY day, purpose, model LIMIT %(limit)s;

-- standing_window --
SELECT label, slot, key, content FROM window_items
 WHERE workspace = %(workspace)s AND (label, slot, key) > (%(first)s, %(second)s, %(third)s)
 ORDER BY label, slot, key LIMIT %(limit)s;

-- standing_work --
SELECT priority, seq, id, step, spelt(due_at), attempts, error
  FROM (SELECT priority, seq, step, due_at, attempts, error FROM outbox
         WHERE workspace = %(workspace)s AND (priority, seq) > (%(first)s, %(second)s)
         ORDER BY priority, seq LIMIT %(limit)s) AS work
 CROSS JOIN LATERAL (SELECT id FROM events
                      WHERE workspace = %(workspace)s AND seq = work.seq OFFSET 0) AS told
 ORDER BY priority, seq;

-- standing_jobs --
SELECT name, key, every_seconds, on_news, priority, spelt(due_at), attempts, error, dead, cursor,
       spelt(last_run_at), seconds, counts
  FROM jobs WHERE workspace = %(workspace)s AND (name, key) > (%(first)s::text, %(second)s::text)
 ORDER BY name, key LIMIT %(limit)s;

-- move_jobs --
INSERT INTO jobs (workspace, name, key, every_seconds, on_news, priority, due_at, attempts, error,
                  dead, cursor, last_run_at, seconds, counts)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, (r ->> 3)::double precision, (r ->> 4)::boolean,
       (r ->> 5)::integer, (r ->> 6)::timestamptz, (r ->> 7)::integer, r ->> 8, (r ->> 9)::boolean,
       r ->> 10, (r ->> 11)::timestamptz, (r ->> 12)::double precision, r ->> 13
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- known_memories --
SELECT found.id, content, tier, archived
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id, content, tier, archived FROM remembered
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- count_known_vectors --
SELECT count(*)
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT memory FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS told
 WHERE EXISTS (SELECT 1 FROM vectors
                WHERE vectors.workspace = %(workspace)s AND vectors.profile = %(profile)s
                  AND vectors.memory = told.memory OFFSET 0);

-- places_of_events --
SELECT found.id, seq, label
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id, seq, label FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- move_spending --
INSERT INTO spending (workspace, day, purpose, model, calls, input_tokens, output_tokens, cost)
SELECT (r ->> 0)::bigint, (r ->> 1)::timestamptz, r ->> 2, r ->> 3, (r ->> 4)::bigint,
       (r ->> 5)::bigint, (r ->> 6)::bigint, (r ->> 7)::double precision
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- move_window_item --
INSERT INTO window_items (workspace, label, slot, key, at, expires_at, tied_to, content)
VALUES (%(workspace)s, %(label)s, %(slot)s, %(key)s, %(at)s::timestamptz,
        %(expires_at)s::timestamptz, %(tied_to)s, %(content)s)
    ON CONFLICT DO NOTHING;

-- move_work --
INSERT INTO outbox (workspace, seq, label, step, due_at, attempts, error, priority)
SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 2)::integer, r ->> 3,
       (r ->> 4)::timestamptz, (r ->> 5)::integer, r ->> 6, (r ->> 7)::integer
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- vault --
SELECT salt, proof FROM vault;

-- add_vault --
INSERT INTO vault (salt, proof) VALUES (%(salt)s, %(proof)s) ON CONFLICT DO NOTHING;

-- keys_by_id --
SELECT id, wrapped FROM keys
 WHERE workspace = %(workspace)s
   AND id = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)));

-- keys_of_owners --
SELECT owner, id, wrapped FROM keys
 WHERE workspace = %(workspace)s
   AND owner = ANY (ARRAY(SELECT jsonb_array_elements_text(%(owners)s::jsonb)));

-- add_key --
INSERT INTO keys (workspace, id, owner, wrapped)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, decode(r ->> 3, 'hex')
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- needs_key --
-- Whether anything that is kept was sealed with it.
SELECT 1
 WHERE EXISTS (SELECT 1 FROM events WHERE workspace = %(workspace)s
                  AND strpos(content, %(id)s) > 0)
    OR EXISTS (SELECT 1 FROM memories WHERE workspace = %(workspace)s
                  AND strpos(content, %(id)s) > 0)
    OR EXISTS (SELECT 1 FROM window_items WHERE workspace = %(workspace)s
                  AND strpos(content, %(id)s) > 0)
    OR EXISTS (SELECT 1 FROM audit WHERE workspace = %(workspace)s
                  AND strpos(content, %(id)s) > 0);

-- destroy_key --
DELETE FROM keys WHERE workspace = %(workspace)s AND id = %(id)s;

-- fading --
-- The first conditions on the state are those of the index, which holds all that is asked for. What is
-- worth something and was told lately cannot have become weak.
SELECT given.place, found.*
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS after, (r ->> 2)::bigint AS most,
               (r ->> 3)::double precision AS worth, (r ->> 4)::timestamptz AS since,
               (r ->> 5)::timestamptz AS knowledge_since
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT memory, id, label, kind, at, length, salience, confidence, trust, 'short', false, false
          FROM remembered
         WHERE workspace = given.workspace AND memory > given.after
           AND tier = 'short' AND NOT pinned
           AND (salience < given.worth
                OR at < CASE WHEN kind IN ('fact', 'entity', 'procedure') THEN given.knowledge_since
                             ELSE given.since END)
           AND NOT archived
         ORDER BY memory LIMIT given.most) AS found;

-- fading_in_idle_conversations --
SELECT given.place, found.*
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS after, (r ->> 2)::bigint AS most,
               (r ->> 3)::timestamptz AS since
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT memory, id, label, kind, at, length, salience, confidence, trust, 'short', false, false
          FROM remembered AS told
         WHERE workspace = given.workspace AND memory > given.after
           AND tier = 'short' AND NOT pinned AND at < given.since AND NOT archived
           AND NOT EXISTS (SELECT 1 FROM memories AS later
                            WHERE later.workspace = given.workspace
                              AND later.label = told.label AND later.thread = told.thread
                              AND later.at >= given.since
                           OFFSET 0)
         ORDER BY memory LIMIT given.most) AS found;

-- going_on --
SELECT given.place, spelt(found.last)
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::timestamptz AS since
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT min(newest) AS last
          FROM (SELECT max(at) AS newest FROM remembered
                 WHERE workspace = given.workspace AND tier = 'short' AND NOT pinned
                   AND NOT archived AND at >= given.since
                 GROUP BY label, thread) AS talks) AS found;

-- used_lately --
-- One look for all of a workspace: one for each would have to find its partition again.
SELECT given.place, found.*
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::text COLLATE "C" AS after,
               (r ->> 2)::bigint AS most, (r ->> 3)::timestamptz AS since,
               (r ->> 4)::boolean AS only_archived
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT ARRAY(SELECT id FROM uses
                      WHERE workspace = given.workspace AND id > given.after
                        AND last_at >= given.since) AS ids
        OFFSET 0) AS used
 CROSS JOIN LATERAL
       (SELECT memory, id, label, kind, at, length, salience, confidence, trust, tier, archived,
               pinned
          FROM remembered
         WHERE workspace = given.workspace AND id = ANY (used.ids)
           AND (NOT given.only_archived OR archived)
         ORDER BY id LIMIT given.most) AS found;

-- some_uses --
SELECT place, found.*
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT id, label, count, conversations, last_at FROM uses
                      WHERE workspace = (r ->> 0)::bigint LIMIT (r ->> 1)::bigint) AS found;

-- label_sets --
SELECT place, found.*
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT label, learned, scopes FROM labels
                      WHERE workspace = (r ->> 0)::bigint OFFSET 0) AS found;

-- uses_of --
SELECT id, label, count, conversations, spelt(last_at) FROM uses
 WHERE workspace = %(workspace)s
   AND id = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)));

-- uses_seen --
-- Only of memories that may be seen, and in places that may be read.
SELECT told.id, used.label, count, conversations, spelt(last_at)
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.id
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                     OFFSET 0) AS told
 CROSS JOIN LATERAL (SELECT label, count, conversations, last_at FROM uses
                      WHERE workspace = %(workspace)s AND id = told.id
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                     OFFSET 0) AS used;

-- among_memories --
SELECT found.id
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- put_use --
INSERT INTO uses (workspace, label, id, count, conversations, last_at, owner)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, (r ->> 3)::bigint, r ->> 4,
       (r ->> 5)::timestamptz, r ->> 6
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT (workspace, label, id) DO UPDATE
   SET count = excluded.count, conversations = excluded.conversations,
       last_at = excluded.last_at;

-- move_use --
INSERT INTO uses (workspace, label, id, count, conversations, last_at, owner)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, (r ->> 3)::bigint, r ->> 4,
       (r ->> 5)::timestamptz, r ->> 6
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- erase_uses --
-- Of what is gone, in places that are gone, and in those of people who are gone.
DELETE FROM uses
 WHERE workspace = %(workspace)s
   AND (id = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)))
        OR owner = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)))
        OR label = ANY (ARRAY(SELECT labels.label FROM labels
                               WHERE labels.workspace = %(workspace)s
                                 AND md5(scopes) = ANY (ARRAY(
                                     SELECT md5('["' || value || '"]')
                                       FROM jsonb_array_elements_text(%(ids)s::jsonb) AS value)))));

-- any_stray_uses --
SELECT place, found.*
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL
       (SELECT 1 FROM uses
         WHERE workspace = (r ->> 0)::bigint AND last_at < (r ->> 1)::timestamptz
           AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = (r ->> 0)::bigint
                              AND memories.id = uses.id OFFSET 0)
         LIMIT 1) AS found;

-- drop_stray_uses --
-- Of memories that went otherwise than by forgetting, and did not come back.
DELETE FROM uses
 WHERE workspace = %(workspace)s AND last_at < %(before)s::timestamptz
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = %(workspace)s
                      AND memories.id = uses.id OFFSET 0);

-- mark_memories --
-- Postings and vectors stay as they are; and so do the rows of what is archived, and their indexes.
WITH changed AS MATERIALIZED (
    SELECT given.place, given.workspace, found.memory, found.label, given.tier, given.archived
      FROM (SELECT place, (r ->> 0)::bigint AS workspace,
                   ARRAY(SELECT jsonb_array_elements_text((r ->> 1)::jsonb)) AS ids,
                   r ->> 2 AS tier, (r ->> 3)::boolean AS archived
              FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
            OFFSET 0) AS given
     CROSS JOIN LATERAL
           (SELECT memory, label, tier, archived FROM remembered
             WHERE workspace = given.workspace AND id = ANY (given.ids) OFFSET 0) AS found
     WHERE found.tier <> given.tier OR found.archived <> given.archived
), put_away AS (
    INSERT INTO archive (workspace, memory, label)
    SELECT workspace, memory, label FROM changed WHERE archived
), taken_out AS (
    DELETE FROM archive USING changed
     WHERE NOT changed.archived AND archive.workspace = changed.workspace
       AND archive.memory = changed.memory
), moved AS (
    UPDATE memories SET tier = changed.tier FROM changed
     WHERE changed.tier IS NOT NULL AND memories.workspace = changed.workspace
       AND memories.memory = changed.memory
)
SELECT place, label FROM changed;

-- standing_uses --
SELECT uses.label, uses.id, scopes, count, conversations, spelt(last_at), owner
  FROM (SELECT * FROM uses
         WHERE workspace = %(workspace)s AND (label, id) > (%(first)s, %(second)s)
         ORDER BY label, id LIMIT %(limit)s) AS uses
 CROSS JOIN LATERAL (SELECT scopes FROM labels
                      WHERE workspace = %(workspace)s AND label = uses.label OFFSET 0) AS known
 ORDER BY uses.label, uses.id;

-- forgotten_people --
SELECT kind, digest, spelt(at) FROM tombstones
 WHERE workspace = %(workspace)s AND kind = 'user'
   AND digest = ANY (ARRAY(SELECT jsonb_array_elements_text(%(digests)s::jsonb)));

-- trail_end --
SELECT place, found.*
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT audited, trail FROM workspaces
                      WHERE workspace = (r ->> 0)::bigint OFFSET 0) AS found;

-- advance_trail --
UPDATE workspaces SET audited = given.length, trail = given.head
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS length,
               decode(r ->> 2, 'hex') AS head
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE workspaces.workspace = given.workspace;

-- add_audit --
INSERT INTO audit (workspace, number, day, at, action, content, salt, commitment, hash, seal)
SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 2)::date, (r ->> 3)::timestamptz, r ->> 4,
       r ->> 5, decode(r ->> 6, 'hex'), decode(r ->> 7, 'hex'), decode(r ->> 8, 'hex'),
       decode(r ->> 9, 'hex')
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- newest_audit --
SELECT number, spelt(at), action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = %(workspace)s AND number > %(after)s
   AND (%(action)s::text IS NULL OR action = %(action)s::text)
   AND (%(since)s::timestamptz IS NULL OR at >= %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR at < %(until)s::timestamptz)
 ORDER BY number DESC LIMIT %(limit)s;

-- next_audit --
SELECT number, spelt(at), action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = %(workspace)s AND number > %(after)s
   AND (%(action)s::text IS NULL OR action = %(action)s::text)
   AND (%(since)s::timestamptz IS NULL OR at >= %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR at < %(until)s::timestamptz)
 ORDER BY number LIMIT %(limit)s;

-- trail --
SELECT number, spelt(at), action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = %(workspace)s ORDER BY number;

-- audit_contents --
SELECT number, content FROM audit WHERE workspace = %(workspace)s AND content IS NOT NULL;

-- blank_audit --
UPDATE audit SET content = NULL, salt = NULL
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS number
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE audit.workspace = given.workspace AND audit.number = given.number
   AND content IS NOT NULL;

-- oldest_audit --
SELECT day::text FROM audit WHERE workspace = %(workspace)s ORDER BY number LIMIT 1;

-- old_audit --
-- Those before the first of a day that is kept.
SELECT number, day::text, hash FROM audit
 WHERE workspace = %(workspace)s
   AND number < coalesce((SELECT min(number) FROM audit
                           WHERE workspace = %(workspace)s AND day >= %(before)s::date),
                         9223372036854775807)
 ORDER BY number;

-- drop_audit --
DELETE FROM audit WHERE workspace = %(workspace)s AND number <= %(through)s;

-- audit_days --
SELECT made, dropped FROM audit_days(%(today)s::date, %(ahead)s::integer, %(before)s::date);

-- standing_audit --
SELECT number, spelt(at), action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = %(workspace)s AND number > %(first)s ORDER BY number LIMIT %(limit)s;

-- wait_for_no_disk --
-- For this transaction: it is on the disk with the next one, or within a second.
SELECT set_config('synchronous_commit', 'off', true);
