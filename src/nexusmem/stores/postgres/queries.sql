-- One query per heading, with the same names as in SQLite. The text never depends on input: a list
-- is one JSON parameter. A batch takes its rows as one JSON array, `rows`. A query for each of many
-- rows returns the index of the row first. Row-level security restricts every query to the
-- workspaces and labels of its transaction: see the policies in migrations/.
--
-- Under row-level security an index is used only for leakproof comparisons, and JSON functions are
-- not leakproof. So rows are first read from JSON, behind OFFSET 0, and then compared by column.
--
-- The statistics of the planner may be wrong: they are updated rarely, and one workspace may be
-- larger than all others. So the queries fix the plan. A lookup for many rows runs row by row, in
-- a LATERAL or EXISTS that ends with OFFSET 0. A lookup by key compares the label with `+ 0`, so
-- that no index by label is used.

-- find_workspace --
SELECT workspace, event_count, chain_head, last_number FROM find_workspaces(ARRAY[%(name)s]);

-- find_workspaces --
SELECT name, workspace
  FROM find_workspaces(ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb)));

-- lock_workspace --
SELECT workspace, event_count, chain_head, last_number
  FROM lock_workspaces(ARRAY[%(name)s], %(mark)s::uuid);

-- lock_workspaces --
SELECT name, workspace, event_count, chain_head
  FROM lock_workspaces(ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb)), %(mark)s::uuid);

-- add_workspace --
-- Concurrent inserts of the same workspace: the second one waits and then inserts nothing.
INSERT INTO workspaces (name, chain_head) VALUES (%(name)s, %(head)s) ON CONFLICT DO NOTHING;

-- bind_worker --
SELECT bind_worker();

-- workspaces --
SELECT name FROM workspaces WHERE event_count > 0 ORDER BY name;

-- workspace_numbers --
SELECT workspace, name FROM workspaces ORDER BY workspace;

-- advance_chain --
-- The first event of a day stores the event count before that day.
UPDATE workspaces
   SET events_before_day = CASE WHEN workspaces.last_write_day < given.last_write_day
                                THEN workspaces.event_count ELSE events_before_day END,
       last_write_day = greatest(workspaces.last_write_day, given.last_write_day),
       text_bytes = text_bytes + given.bytes,
       event_count = given.event_count, chain_head = given.chain_head
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS event_count,
               decode(r ->> 2, 'hex') AS chain_head, (r ->> 3)::bigint AS bytes, r ->> 4 AS last_write_day
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE workspaces.workspace = given.workspace;

-- workspace_usage --
-- A stored day after :day comes from another clock and counts as today.
SELECT CASE WHEN last_write_day >= %(day)s THEN event_count - events_before_day ELSE 0 END, text_bytes
  FROM workspaces WHERE workspace = %(workspace)s;

-- count_workspace_memories --
SELECT coalesce(sum(document_count), 0)::bigint FROM labels WHERE workspace = %(workspace)s;

-- sum_event_bytes --
SELECT coalesce(sum(bytes), 0)::bigint
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT bytes FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- subtract_text_bytes --
UPDATE workspaces SET text_bytes = text_bytes - %(bytes)s WHERE workspace = %(workspace)s;

-- allocate_numbers --
UPDATE workspaces SET last_number = last_number + %(count)s WHERE workspace = %(workspace)s
RETURNING last_number;

-- find_label --
SELECT label FROM labels
 WHERE workspace = %(workspace)s AND md5(scopes) = md5(%(scopes)s) AND scopes = %(scopes)s
   AND is_derived = %(learned)s;

-- add_label --
INSERT INTO labels (workspace, label, scopes, scope_count, is_derived)
SELECT %(workspace)s, coalesce(max(label), 0) + 1, %(scopes)s, %(size)s, %(learned)s
  FROM labels WHERE workspace = %(workspace)s
RETURNING label;

-- add_label_scope --
INSERT INTO label_scopes (workspace, scope, label)
SELECT (r ->> 0)::bigint, r ->> 1, (r ->> 2)::integer FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- readable_labels --
-- Labels whose scopes are all in the grant. Binds the transaction to them.
SELECT * FROM read_as(%(name)s, ARRAY(SELECT jsonb_array_elements_text(%(scopes)s::jsonb)));

-- all_labels --
SELECT * FROM read_as(%(name)s, NULL);

-- event_contents_by_id --
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
-- Inserts nothing if the event exists.
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

-- apply_new_events --
-- After new events of several workspaces: insert work, advance chains, bump epochs.
WITH work AS (
    INSERT INTO outbox (workspace, seq, label, step, due_at, priority)
    SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 2)::integer, r ->> 3,
           (r ->> 4)::timestamptz, (r ->> 5)::integer
      FROM jsonb_array_elements(%(work)s::jsonb) AS r
), chains AS (
    UPDATE workspaces
       SET events_before_day = CASE WHEN workspaces.last_write_day < given.last_write_day THEN workspaces.event_count
                            ELSE events_before_day END,
           last_write_day = greatest(workspaces.last_write_day, given.last_write_day), text_bytes = text_bytes + given.bytes,
           event_count = given.event_count, chain_head = given.chain_head
      FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS event_count,
                   decode(r ->> 2, 'hex') AS chain_head, (r ->> 3)::bigint AS bytes, r ->> 4 AS last_write_day
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
-- The last column tells whether an event without content has a tombstone.
SELECT seq, content, salt, commitment, hash, key, id, format_time(at),
       (SELECT scopes FROM labels WHERE labels.workspace = events.workspace
                                    AND labels.label = events.label AND NOT is_derived),
       content IS NULL AND EXISTS (SELECT 1 FROM tombstones
                                    WHERE tombstones.workspace = events.workspace
                                      AND kind = 'event' AND digest = events.id)
  FROM events WHERE workspace = %(workspace)s ORDER BY seq;

-- count_pending --
SELECT count(*) FROM outbox
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- notify_work --
SELECT pg_notify('nexus_work', '');

-- workspaces_with_work --
-- The next workspaces with queued work, by index skips instead of a scan of the queue.
WITH RECURSIVE homes (workspace) AS (
    (SELECT workspace FROM outbox WHERE workspace > %(after)s ORDER BY workspace LIMIT 1)
     UNION ALL
    SELECT next.workspace FROM homes CROSS JOIN LATERAL
           (SELECT workspace FROM outbox WHERE outbox.workspace > homes.workspace
             ORDER BY workspace LIMIT 1) AS next)
SELECT workspace FROM homes LIMIT %(limit)s;

-- any_due_work --
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

-- lock_workspaces_with_work --
-- Without this lock two workers could lease work of the same scope.
SELECT home.value FROM (SELECT value::bigint AS value
                          FROM jsonb_array_elements_text(%(homes)s::jsonb) OFFSET 0) AS home
 WHERE pg_try_advisory_xact_lock(hashtextextended('nexus.outbox', home.value));

-- lease_workspace_work --
-- The oldest due work of a workspace, without scopes in which another worker has a lease.
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

-- due_work --
-- Work without failures is due immediately: clocks of other machines may be ahead.
SELECT name, outbox.workspace, seq, step, attempts, priority, 0, error
  FROM outbox JOIN workspaces ON workspaces.workspace = outbox.workspace
 WHERE outbox.workspace = %(workspace)s
   AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND (attempts = 0 OR due_at <= %(now)s::timestamptz OR %(failed)s)
   AND due_at < %(never)s::timestamptz
   AND (%(step)s::text IS NULL OR step = %(step)s::text)
   AND (leased_until IS NULL OR leased_until <= %(now)s::timestamptz OR %(leased)s)
 ORDER BY priority, seq LIMIT %(limit)s;

-- pending_scopes --
-- The label and the scope of queued work. Events with one label have one scope.
SELECT pending.label, told.scope
  FROM (SELECT label, min(seq) AS seq FROM outbox
         WHERE workspace = %(workspace)s
           AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
         GROUP BY label OFFSET 0) AS pending
 CROSS JOIN LATERAL (SELECT content::json ->> 'scope' AS scope FROM events
                      WHERE workspace = %(workspace)s AND seq = pending.seq OFFSET 0) AS told;

-- lease_granted_work --
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

-- count_leased_work --
-- Locks the rows until the transaction ends.
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

-- event_contents_by_seq --
SELECT seq, content, id FROM events
 WHERE workspace = %(workspace)s AND seq = ANY (translate(%(seqs)s, '[]', '{}')::bigint[])
   AND content IS NOT NULL;

-- backlog --
SELECT count(*),
       count(*) FILTER (WHERE error IS NOT NULL AND due_at < %(never)s::timestamptz),
       count(*) FILTER (WHERE due_at >= %(never)s::timestamptz),
       format_time(min(due_at) FILTER (WHERE error IS NULL AND due_at < %(never)s::timestamptz)),
       min(seq) FILTER (WHERE error IS NOT NULL AND due_at < %(never)s::timestamptz)
  FROM outbox
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- list_pending --
SELECT told.id, content::json ->> 'scope', step, attempts, error, format_time(due_at)
  FROM (SELECT seq, step, attempts, error, due_at FROM outbox
         WHERE workspace = %(workspace)s
           AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]) OFFSET 0) AS work
 CROSS JOIN LATERAL (SELECT id, content FROM events
                      WHERE workspace = %(workspace)s AND seq = work.seq OFFSET 0) AS told
 ORDER BY error IS NULL, due_at DESC, told.id LIMIT %(limit)s;

-- retry_work --
-- A worker that has a lease on it loses the lease.
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

-- advance_work_step --
-- Row by row: the table is mostly empty, and its statistics would lead to a nested loop over all
-- rows.
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

-- gather_work --
-- Work of the scope of this event that waits for more work becomes due together.
UPDATE outbox
   SET due_at = CASE WHEN (SELECT count(*)
                             FROM (SELECT 1 FROM outbox AS other
                                    WHERE other.workspace = outbox.workspace
                                      AND other.label = outbox.label AND other.step = %(step)s
                                      AND other.attempts = 0 AND other.leased_until IS NULL
                                    LIMIT %(enough)s) AS waiting) >= %(enough)s
                     THEN %(now)s::timestamptz ELSE %(later)s::timestamptz END
 WHERE workspace = %(workspace)s AND step = %(step)s AND attempts = 0 AND leased_until IS NULL
   AND due_at > %(now)s::timestamptz
   AND label = (SELECT label FROM events WHERE workspace = %(workspace)s AND id = %(id)s);

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

-- reset_work --
-- A worker that has a lease on it loses the lease.
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

-- ensure_recurring_jobs --
-- The recurring jobs of a range of workspaces.
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

-- count_missing_jobs --
-- The number of missing or different jobs. A read first: the upsert would lock existing rows.
SELECT (SELECT count(*) FROM workspaces WHERE workspace > %(after)s AND workspace <= %(last)s)
       * jsonb_array_length(%(recurring)s::jsonb)
     - (SELECT count(*) FROM jobs
          JOIN jsonb_array_elements(%(recurring)s::jsonb) AS each (r) ON name = r ->> 0
         WHERE workspace > %(after)s AND workspace <= %(last)s AND key = ''
           AND every_seconds = (r ->> 1)::double precision AND on_news = (r ->> 2)::boolean
           AND priority = (r ->> 3)::integer);

-- unschedule_jobs --
-- These jobs recur no longer.
UPDATE jobs SET every_seconds = NULL, on_news = false, due_at = NULL, has_news = false
 WHERE workspace > %(after)s AND workspace <= %(last)s AND key = ''
   AND name = ANY (ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb)))
   AND every_seconds IS NOT NULL AND leased_until IS NULL;

-- last_workspace --
-- The last of the next :limit workspaces.
SELECT max(workspace) FROM (SELECT workspace FROM workspaces
                             WHERE workspace > %(after)s ORDER BY workspace LIMIT %(limit)s) AS next;

-- job_names --
SELECT name, key FROM jobs WHERE workspace = %(workspace)s;

-- schedule_job --
-- If the job is running, it runs again afterwards.
INSERT INTO jobs (workspace, name, key, on_news, priority, due_at)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, false, (r ->> 3)::integer, (r ->> 4)::timestamptz
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT (workspace, name, key) DO UPDATE
   SET due_at = CASE WHEN jobs.leased_until IS NULL THEN least(jobs.due_at, excluded.due_at)
                     ELSE jobs.due_at END,
       has_news = jobs.leased_until IS NOT NULL OR jobs.has_news,
       priority = least(jobs.priority, excluded.priority),
       attempts = CASE WHEN jobs.is_dead THEN 0 ELSE jobs.attempts END, is_dead = false;

-- any_due_job --
SELECT 1 FROM jobs
 WHERE priority IN (0, 1, 2) AND due_at <= %(now)s::timestamptz
   AND (%(names)s::text IS NULL
        OR name = ANY (ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb))))
 LIMIT 1;

-- claim_jobs --
-- SKIP LOCKED: another worker is claiming these rows.
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
                fence = greatest(fence + 1, %(fence)s), has_news = cursor IS NOT NULL AND has_news
  FROM chosen JOIN workspaces ON workspaces.workspace = chosen.workspace
 WHERE jobs.workspace = chosen.workspace AND jobs.name = chosen.name AND jobs.key = chosen.key
RETURNING workspaces.name, jobs.name, jobs.key, fence, attempts, error, cursor, every_seconds,
          seconds, counts;

-- lease_job --
UPDATE jobs SET attempts = attempts + (leased_until IS NOT NULL)::integer,
                error = CASE WHEN leased_until IS NULL THEN error ELSE %(lost)s END,
                leased_until = %(until)s::timestamptz, due_at = %(until)s::timestamptz,
                fence = greatest(fence + 1, %(fence)s), has_news = cursor IS NOT NULL AND has_news
 WHERE workspace = %(workspace)s AND name = %(name)s AND key = ''
   AND (leased_until IS NULL OR leased_until <= %(now)s::timestamptz)
RETURNING name, key, fence, attempts, error, cursor, every_seconds, seconds, counts;

-- extend_job_leases --
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
                              WHEN has_news THEN least(coalesce(given.again, given.next, given.at),
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
   AND jobs.fence = given.fence AND leased_until IS NOT NULL AND NOT has_news;

-- fail_jobs --
UPDATE jobs SET attempts = attempts + 1, error = given.error, due_at = given.due_at,
                is_dead = given.due_at IS NULL, leased_until = NULL
  FROM (SELECT r ->> 0 AS home, r ->> 1 AS job, r ->> 2 AS of, (r ->> 3)::bigint AS fence,
               r ->> 4 AS error, (r ->> 5)::timestamptz AS due_at
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
  JOIN workspaces ON workspaces.name = given.home
 WHERE jobs.workspace = workspaces.workspace AND jobs.name = given.job AND jobs.key = given.of
   AND jobs.fence = given.fence AND leased_until IS NOT NULL;

-- count_leased_jobs --
-- Locks the rows until the transaction ends.
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

-- jobs_waiting_for_news --
SELECT name, key, every_seconds FROM jobs
 WHERE workspace = %(workspace)s AND on_news AND NOT has_news AND NOT is_dead;

-- wake_jobs --
UPDATE jobs SET has_news = true,
                due_at = CASE WHEN jobs.due_at IS NULL OR leased_until IS NULL AND error IS NULL
                              THEN least(jobs.due_at, given.due_at) ELSE jobs.due_at END
  FROM (SELECT (r ->> 0)::bigint AS workspace, r ->> 1 AS name, r ->> 2 AS key,
               (r ->> 3)::timestamptz AS due_at
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE jobs.workspace = given.workspace AND jobs.name = given.name AND jobs.key = given.key;

-- job_states --
SELECT name, key, every_seconds, on_news, priority, format_time(due_at), format_time(leased_until), attempts,
       error, is_dead, format_time(last_run_at), seconds, counts
  FROM jobs WHERE workspace = %(workspace)s ORDER BY name, key;

-- retry_jobs --
UPDATE jobs SET due_at = %(now)s::timestamptz,
                attempts = CASE WHEN is_dead THEN 0 ELSE attempts END, is_dead = false
 WHERE workspace = %(workspace)s AND error IS NOT NULL AND leased_until IS NULL
   AND (%(names)s::text IS NULL
        OR name = ANY (ARRAY(SELECT jsonb_array_elements_text(%(names)s::jsonb))));

-- clear_job_errors --
-- An error text may quote an event.
UPDATE jobs SET error = 'it failed' WHERE workspace = %(workspace)s AND error IS NOT NULL;

-- memory_rows_by_id --
-- A few ids are looked up one by one. Many ids use one scan at most: with wrong statistics the
-- planner could scan the table for each id.
SELECT found.id, memory, label, content, conversation, tier, is_archived
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id
         WHERE jsonb_array_length(%(ids)s::jsonb) <= 100) AS wanted
 CROSS JOIN LATERAL (SELECT id, memory, label, content, conversation, tier, is_archived FROM memories_with_state
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found
 UNION ALL
SELECT id, memory, label, content, conversation, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s
   AND id = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)))
   AND (SELECT jsonb_array_length(%(ids)s::jsonb) > 100);

-- add_memory --
WITH is_archived AS (
    INSERT INTO archived_memories (workspace, memory, label)
    SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 3)::integer
      FROM jsonb_array_elements(%(rows)s::jsonb) AS r WHERE (r ->> 16)::boolean
)
INSERT INTO memories (workspace, memory, id, label, kind, at, subject, predicate, conversation, speaker,
                      role, length, is_question, is_instruction, content, tier, salience, confidence, trust,
                      is_pinned)
SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, r ->> 2, (r ->> 3)::integer, r ->> 4,
       (r ->> 5)::timestamptz, r ->> 6, r ->> 7, (r ->> 8)::integer, r ->> 9, r ->> 10,
       (r ->> 11)::integer, (r ->> 12)::boolean, (r ->> 13)::boolean, r ->> 14, r ->> 15,
       (r ->> 17)::double precision, (r ->> 18)::double precision,
       (r ->> 19)::smallint, (r ->> 20)::boolean
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- find_conversation --
SELECT conversation FROM conversations
 WHERE workspace = %(workspace)s AND label = %(label)s AND md5(name) = md5(%(name)s)
   AND name = %(name)s;

-- add_conversation --
INSERT INTO conversations (workspace, label, conversation, name)
SELECT %(workspace)s, %(label)s, coalesce(max(conversation), 0) + 1, %(name)s
  FROM conversations WHERE workspace = %(workspace)s AND label = %(label)s
RETURNING conversation;

-- add_conversation_terms --
-- The rows have distinct conversations.
UPDATE conversations SET term_count = conversations.term_count + changed.term_count
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               (r ->> 2)::integer AS conversation, sum((r ->> 3)::bigint) AS term_count
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r GROUP BY 1, 2, 3) AS changed
 WHERE conversations.workspace = changed.workspace AND conversations.label = changed.label
   AND conversations.conversation = changed.conversation;

-- drop_empty_conversation --
DELETE FROM conversations
 WHERE workspace = %(workspace)s AND label = %(label)s AND conversation = %(thread)s
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = %(workspace)s
                      AND memories.label = %(label)s AND memories.conversation = %(thread)s);

-- add_conversation_count --
UPDATE labels SET conversation_count = conversation_count + %(more)s
 WHERE workspace = %(workspace)s AND label = %(label)s;

-- conversation_lengths --
SELECT place, conversation, term_count
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT conversation, term_count FROM conversations
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                     OFFSET 0) AS found
 ORDER BY place, conversation;

-- new_candidate_rows --
SELECT place, id, memory, conversation, format_time(at), speaker, role, length, is_question, is_instruction, kind
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND memory > (r ->> 2)::bigint
                     OFFSET 0) AS found
 ORDER BY place, conversation, at, id;

-- memory_contents --
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

-- add_name_count --
UPDATE labels SET name_count = name_count + given.more
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               (r ->> 2)::bigint AS more
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- memory_ids_between --
SELECT place, at, id
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT at, id FROM memories
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND at >= (r ->> 2)::timestamptz AND at < (r ->> 3)::timestamptz
                      ORDER BY at DESC, id LIMIT (r ->> 4)::bigint) AS found;

-- memories_by_name --
-- Selects the newest rows before any content is read: per name, then overall.
SELECT content, tier, is_archived
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
 CROSS JOIN LATERAL (SELECT content, tier, is_archived FROM memories_with_state
                      WHERE workspace = %(workspace)s AND id = chosen.id OFFSET 0) AS found
 ORDER BY chosen.at DESC, chosen.id;

-- oldest_by_name --
-- As memories_by_name, from the other end of each list.
SELECT content, tier, is_archived
  FROM (SELECT DISTINCT found.at, found.id
          FROM unnest(translate(%(labels)s, '[]', '{}')::integer[]) AS readable (label)
         CROSS JOIN jsonb_array_elements_text(%(names)s::jsonb) AS wanted (name)
         CROSS JOIN jsonb_array_elements_text(%(kinds)s::jsonb) AS asked (kind)
         CROSS JOIN LATERAL (SELECT at, id FROM names
                              WHERE names.workspace = %(workspace)s
                                AND names.label = readable.label
                                AND md5(names.name) = md5(wanted.name)
                                AND names.name = wanted.name AND names.kind = asked.kind
                              ORDER BY at, id LIMIT %(limit)s) AS found
         ORDER BY found.at, found.id LIMIT %(limit)s) AS chosen
 CROSS JOIN LATERAL (SELECT content, tier, is_archived FROM memories_with_state
                      WHERE workspace = %(workspace)s AND id = chosen.id OFFSET 0) AS found
 ORDER BY chosen.at, chosen.id;

-- memories_by_source --
-- Those derived directly from these events or memories.
SELECT content, tier, is_archived
  FROM (SELECT DISTINCT first.origin AS id
          FROM jsonb_array_elements_text(%(sources)s::jsonb) AS given (value)
         CROSS JOIN LATERAL (SELECT origin FROM links
                              WHERE workspace = %(workspace)s AND target = given.value
                                AND relation = 'derived_from' OFFSET 0) AS first) AS derived
 CROSS JOIN LATERAL (SELECT at, content, tier, is_archived FROM memories_with_state
                      WHERE workspace = %(workspace)s AND id = derived.id
                        AND kind IN (SELECT jsonb_array_elements_text(%(kinds)s::jsonb))
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                      OFFSET 0) AS found
 ORDER BY at DESC, derived.id;

-- fact_outlines --
-- Complete contents, which may be encrypted; rows are selected as in memories_by_name.
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

-- latest_facts --
-- Selects the newest row per subject and predicate before any content is read.
SELECT content, tier, is_archived
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
 CROSS JOIN LATERAL (SELECT content, tier, is_archived FROM memories_with_state
                      WHERE workspace = %(workspace)s AND id = chosen.id OFFSET 0) AS found
 ORDER BY chosen.at DESC, chosen.id;

-- add_link --
INSERT INTO links (workspace, origin, relation, target)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, r ->> 3
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- add_posting --
INSERT INTO postings (workspace, label, term, memory, frequency, length, conversation)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, (r ->> 3)::bigint, (r ->> 4)::integer,
       (r ->> 5)::integer, (r ->> 6)::integer
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- add_label_totals --
UPDATE labels SET last_number = given.last_number, document_count = document_count + given.more,
                  term_count = term_count + given.longer
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               (r ->> 2)::bigint AS last_number, (r ->> 3)::bigint AS more, (r ->> 4)::bigint AS longer
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- bump_label_epoch --
UPDATE labels SET epoch = epoch + 1
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- subtract_label_totals --
-- One row per deleted memory, so a label may occur several times.
UPDATE labels SET generation = generation + shrunk.document_count,
                  document_count = labels.document_count - shrunk.document_count,
                  term_count = labels.term_count - shrunk.term_count
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               count(*) AS document_count, sum((r ->> 2)::bigint) AS term_count
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r GROUP BY 1, 2) AS shrunk
 WHERE labels.workspace = shrunk.workspace AND labels.label = shrunk.label;

-- bump_label_generation --
-- After other deletions than of memories: caches of the label are rebuilt.
UPDATE labels SET generation = generation + 1, epoch = epoch + 1
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r) AS given
 WHERE labels.workspace = given.workspace AND labels.label = given.label;

-- bump_all_epochs --
-- All labels of a workspace, without new events.
UPDATE labels SET epoch = epoch + 1 WHERE workspace = %(workspace)s;

-- drop_memory --
WITH given AS MATERIALIZED (
    SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS memory
      FROM jsonb_array_elements(%(rows)s::jsonb) AS r
), forgotten AS (
    DELETE FROM archived_memories USING given
     WHERE archived_memories.workspace = given.workspace AND archived_memories.memory = given.memory
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
-- A few ids are looked up one by one; many ids use one scan at most, as in memory_rows_by_id.
SELECT content, tier, is_archived
  FROM (SELECT wanted.key, found.content, found.tier, found.is_archived
          FROM (SELECT value, key
                  FROM jsonb_array_elements_text(%(ids)s::jsonb) WITH ORDINALITY AS each (value, key)
                 WHERE jsonb_array_length(%(ids)s::jsonb) <= 100) AS wanted
         CROSS JOIN LATERAL (SELECT content, tier, is_archived FROM memories_with_state
                              WHERE workspace = %(workspace)s AND id = wanted.value
                                AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                             OFFSET 0) AS found
         UNION ALL
        SELECT wanted.key, found.content, found.tier, found.is_archived
          FROM (SELECT id, content, tier, is_archived FROM memories_with_state
                 WHERE workspace = %(workspace)s
                   AND id = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)))
                   AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                   AND (SELECT jsonb_array_length(%(ids)s::jsonb) > 100) OFFSET 0) AS found
          JOIN jsonb_array_elements_text(%(ids)s::jsonb) WITH ORDINALITY AS wanted (value, key)
            ON wanted.value = found.id) AS every_row
 ORDER BY key;

-- memories_by_time --
SELECT content, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
 ORDER BY at DESC, id;

-- memories_by_kind --
SELECT content, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND kind = %(kind)s
 ORDER BY at DESC, id;

-- newest_of_kind --
SELECT place, at, id, content, tier, is_archived
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT at, id, content, tier, is_archived FROM memories_with_state
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND kind = r ->> 2
                      ORDER BY at DESC, id LIMIT (r ->> 3)::bigint) AS found;

-- memories_by_fact --
SELECT content, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND md5(subject) = md5(%(subject)s) AND subject = %(subject)s
   AND (%(predicate)s::text IS NULL OR predicate = %(predicate)s::text)
 ORDER BY at DESC, id;

-- ids_by_number --
SELECT memory, id FROM memories
 WHERE workspace = %(workspace)s AND memory = ANY (translate(%(numbers)s, '[]', '{}')::bigint[])
   AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- memories_by_number --
SELECT memory, content, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s AND memory = ANY (translate(%(numbers)s, '[]', '{}')::bigint[])
   AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- new_postings --
SELECT place, memory, frequency, length, conversation
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT memory, frequency, length, conversation FROM postings
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer
                        AND term = r ->> 2 AND memory > (r ->> 3)::bigint
                     OFFSET 0) AS found
 ORDER BY place, memory;

-- find_profile --
SELECT profile FROM profiles
 WHERE provider = %(provider)s AND model = %(model)s AND dimension = %(dimension)s
   AND revision = %(revision)s;

-- add_profile --
-- Concurrent inserts return the same number.
INSERT INTO profiles (provider, model, dimension, revision)
VALUES (%(provider)s, %(model)s, %(dimension)s, %(revision)s)
    ON CONFLICT (provider, model, dimension, revision) DO UPDATE SET revision = profiles.revision
RETURNING profile;

-- profiles --
SELECT provider, model, dimension, revision FROM profiles
 ORDER BY provider, model, dimension, revision;

-- profile_dimensions --
SELECT profile, dimension FROM profiles ORDER BY profile;

-- active_profile --
SELECT provider, model, dimension, revision
  FROM workspaces JOIN profiles ON profiles.profile = workspaces.active_profile
 WHERE workspace = %(workspace)s;

-- activate_profile --
UPDATE workspaces SET active_profile = %(profile)s WHERE workspace = %(workspace)s;

-- activate_first_profile --
UPDATE workspaces SET active_profile = %(profile)s WHERE workspace = %(workspace)s AND active_profile IS NULL;

-- some_vectors --
SELECT number, label, memory FROM vectors
 WHERE workspace = %(workspace)s AND profile = %(profile)s
   AND profile IS DISTINCT FROM (SELECT w.active_profile FROM workspaces AS w
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

-- memories_with_vectors --
-- Existing memories, with their vectors or NULL.
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

-- update_label_vectors --
UPDATE labels SET last_number = given.last_number, generation = generation + given.replaced
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::integer AS label,
               (r ->> 2)::bigint AS last_number, (r ->> 3)::bigint AS replaced
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
-- For an external index, in batches.
SELECT number, memory, data FROM vectors
 WHERE workspace = %(workspace)s AND label = %(label)s AND profile = %(profile)s
   AND number > %(after)s
 ORDER BY number LIMIT %(limit)s;

-- vector_numbers --
SELECT number FROM vectors
 WHERE workspace = %(workspace)s AND label = %(label)s AND profile = %(profile)s
   AND number <= %(upto)s
 ORDER BY number;

-- store_created_at --
SELECT format_time(min(applied_at)) FROM schema_version;

-- workspace_counters --
SELECT name, last_number FROM workspaces;

-- next_named_memories --
SELECT memory, label, content, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s AND memory > %(after)s
   AND kind = ANY (ARRAY(SELECT jsonb_array_elements_text(%(kinds)s::jsonb)))
 ORDER BY memory LIMIT %(limit)s;

-- named_memories_since --
-- By number: few rows are new, and a label may have many.
SELECT content, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s AND memory > %(after)s
   AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND kind = ANY (ARRAY(SELECT jsonb_array_elements_text(%(kinds)s::jsonb)));

-- label_names --
SELECT place, kind, name
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT DISTINCT kind, name FROM names
                      WHERE workspace = (r ->> 0)::bigint AND label = (r ->> 1)::integer) AS found
 ORDER BY place;

-- ids_with_names --
SELECT DISTINCT id FROM names WHERE workspace = %(workspace)s AND label = %(label)s;

-- vectors_by_position --
-- Each position is [label, number]; the labels come from the grant.
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
-- For a label that does not fit into the cache: an exact scan without an index (`+ 0`).
SELECT number, data <=> %(asked)s::vector FROM vectors
 WHERE workspace = %(workspace)s AND label = %(label)s AND profile = %(profile)s
 ORDER BY (data <=> %(asked)s::vector) + 0 LIMIT %(limit)s;

-- vector_indexes --
SELECT relname FROM pg_class
 WHERE relnamespace = 'nexus'::regnamespace AND relkind = 'i'
   AND starts_with(relname, 'vectors_near_');

-- memories_without_vector --
SELECT content, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.workspace = %(workspace)s
                      AND vectors.profile = %(profile)s AND vectors.memory = memories_with_state.memory
                   OFFSET 0)
   AND content::json ->> 'indexed_text' IS DISTINCT FROM '' AND id > %(after)s
 ORDER BY id LIMIT %(limit)s;

-- derived_memories --
-- All memories derived from these, at any depth.
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
SELECT content, tier, is_archived FROM reached
 CROSS JOIN LATERAL (SELECT at, content, tier, is_archived FROM memories_with_state
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
SELECT kind, digest, format_time(at) FROM tombstones
 WHERE workspace = %(workspace)s ORDER BY kind, digest;

-- scope_tombstones --
SELECT kind, digest, format_time(at) FROM tombstones
 WHERE workspace = %(workspace)s AND kind IN ('scope', 'user')
   AND digest = ANY (ARRAY(SELECT jsonb_array_elements_text(%(digests)s::jsonb)));

-- existing_tombstones --
SELECT digest FROM tombstones
 WHERE workspace = %(workspace)s AND kind = %(kind)s
   AND digest = ANY (ARRAY(SELECT jsonb_array_elements_text(%(digests)s::jsonb)));

-- text_columns --
-- Every table with workspaces, and its columns that can contain text.
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

-- find_partition --
-- The partition number of a workspace in every hash-partitioned table.
SELECT part FROM generate_series(0, 7) AS part
 WHERE satisfies_hash_partition('events'::regclass, 8, part, %(workspace)s::bigint);

-- was_committed --
SELECT EXISTS (SELECT 1 FROM commits
                WHERE workspace = ANY (translate(%(workspaces)s, '[]', '{}')::bigint[])
                  AND commit_token = %(lost)s::uuid);

-- lock_schema --
SELECT pg_advisory_xact_lock(hashtext('nexus.schema'));

-- has_schema --
SELECT to_regclass('nexus.schema_version') IS NOT NULL;

-- find_extension --
-- Schema and version of pgvector.
SELECT nspname, extversion FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace
 WHERE extname = 'vector';

-- vector_type --
SELECT typ.oid FROM pg_type AS typ JOIN pg_extension AS ext ON ext.extnamespace = typ.typnamespace
 WHERE extname = 'vector' AND typname = 'vector';

-- window_items --
-- An item with expires_at lives until then, other items until their scope has been idle.
SELECT content FROM window_items AS item
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
   AND slot = ANY (ARRAY(SELECT jsonb_array_elements_text(%(slots)s::jsonb)))
   AND (%(key)s::text IS NULL OR key = %(key)s::text)
   AND NOT is_item_expired(item, %(now)s::timestamptz, %(idle_since)s::timestamptz)
 ORDER BY at DESC, slot, key;

-- put_window_item --
INSERT INTO window_items (workspace, label, slot, key, at, expires_at, linked_ids, content)
VALUES (%(workspace)s, %(label)s, %(slot)s, %(key)s, %(at)s::timestamptz,
        %(expires_at)s::timestamptz, %(tied_to)s, %(content)s)
    ON CONFLICT (workspace, label, slot, key) DO UPDATE
   SET at = excluded.at, expires_at = excluded.expires_at, linked_ids = excluded.linked_ids,
       content = excluded.content;

-- drop_idle_window_items --
DELETE FROM window_items AS item
 WHERE workspace = %(workspace)s AND label = %(label)s AND expires_at IS NULL
   AND is_item_expired(item, %(now)s::timestamptz, %(idle_since)s::timestamptz);

-- trim_window --
-- Keeps the newest items of a slot.
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

-- window_items_by_link --
-- Also thoughts in scopes of these events: they may repeat the text.
SELECT content FROM window_items
 WHERE workspace = %(workspace)s
   AND (EXISTS (SELECT 1 FROM json_array_elements_text(linked_ids::json) AS tie (value)
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
   AND (EXISTS (SELECT 1 FROM json_array_elements_text(linked_ids::json) AS tie (value)
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

-- add_model_cost --
INSERT INTO model_costs (workspace, day, purpose, model, calls, input_tokens, output_tokens, cost)
VALUES (%(workspace)s, %(day)s::timestamptz, %(purpose)s, %(model)s, %(calls)s, %(input_tokens)s,
        %(output_tokens)s, %(cost)s)
    ON CONFLICT (workspace, day, purpose, model) DO UPDATE
   SET calls = model_costs.calls + excluded.calls,
       input_tokens = model_costs.input_tokens + excluded.input_tokens,
       output_tokens = model_costs.output_tokens + excluded.output_tokens,
       cost = model_costs.cost + excluded.cost;

-- model_costs --
SELECT format_time(day), purpose, model, calls, input_tokens, output_tokens, cost FROM model_costs
 WHERE workspace = %(workspace)s
   AND (%(since)s::timestamptz IS NULL OR day >= %(since)s::timestamptz)
 ORDER BY day, purpose, model;

-- next_label --
SELECT min(label) FROM labels WHERE workspace = %(workspace)s AND label >= %(label)s;

-- memories_of_label --
-- Oldest first, in batches.
SELECT memory, format_time(at), id, kind, conversation, length, is_question, is_instruction, content, tier, is_archived
  FROM memories_with_state
 WHERE workspace = %(workspace)s AND label = %(label)s
   AND (at, id) > (%(at)s::timestamptz, %(id)s)
 ORDER BY at, id LIMIT %(limit)s;

-- restore_conversation --
-- Restores a conversation with the number that its memories have.
INSERT INTO conversations (workspace, label, conversation, name)
VALUES (%(workspace)s, %(label)s, %(thread)s, %(name)s)
    ON CONFLICT DO NOTHING;

-- repair_posting --
INSERT INTO postings (workspace, label, term, memory, frequency, length, conversation)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, (r ->> 3)::bigint, (r ->> 4)::integer,
       (r ->> 5)::integer, (r ->> 6)::integer
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT (workspace, label, term, memory) DO UPDATE
   SET frequency = excluded.frequency, length = excluded.length, conversation = excluded.conversation
 WHERE (postings.frequency, postings.length, postings.conversation)
       IS DISTINCT FROM (excluded.frequency, excluded.length, excluded.conversation);

-- count_postings --
SELECT count(*) FROM postings WHERE workspace = %(workspace)s AND label = %(label)s;

-- stray_postings --
-- Memories with wrong postings, and numbers without a memory in this label.
SELECT held.memory
  FROM (SELECT memory, sum(frequency) AS words FROM postings
         WHERE workspace = %(workspace)s AND label = %(label)s GROUP BY memory) AS held
  LEFT JOIN LATERAL (SELECT length FROM memories
                      WHERE workspace = %(workspace)s AND memory = held.memory
                        AND label = %(label)s OFFSET 0) AS told ON true
 WHERE told.length IS DISTINCT FROM held.words;

-- drop_memory_postings --
DELETE FROM postings
 WHERE workspace = %(workspace)s AND label = %(label)s
   AND memory = ANY (translate(%(memories)s, '[]', '{}')::bigint[]);

-- recount_conversations --
UPDATE conversations SET term_count = counted.term_count
  FROM (SELECT t.conversation, coalesce(sum(m.length), 0)::bigint AS term_count
          FROM conversations AS t
          LEFT JOIN LATERAL (SELECT length FROM memories
                              WHERE workspace = %(workspace)s AND label = %(label)s
                                AND conversation = t.conversation OFFSET 0) AS m ON true
         WHERE t.workspace = %(workspace)s AND t.label = %(label)s
         GROUP BY t.conversation) AS counted
 WHERE conversations.workspace = %(workspace)s AND conversations.label = %(label)s
   AND conversations.conversation = counted.conversation AND conversations.term_count <> counted.term_count;

-- drop_empty_conversations --
DELETE FROM conversations
 WHERE workspace = %(workspace)s AND label = %(label)s
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = conversations.workspace
                      AND memories.label = conversations.label AND memories.conversation = conversations.conversation
                   OFFSET 0);

-- label_totals --
-- The stored counters of a label, then the counted ones.
SELECT document_count, term_count, conversation_count, name_count,
       (SELECT count(*) FROM memories AS m
         WHERE m.workspace = labels.workspace AND m.label = labels.label),
       (SELECT coalesce(sum(length), 0)::bigint FROM memories AS m
         WHERE m.workspace = labels.workspace AND m.label = labels.label),
       (SELECT count(*) FROM conversations AS t
         WHERE t.workspace = labels.workspace AND t.label = labels.label),
       (SELECT count(*) FROM names AS n
         WHERE n.workspace = labels.workspace AND n.label = labels.label),
       (SELECT coalesce(sum(t.term_count), 0)::bigint FROM conversations AS t
         WHERE t.workspace = labels.workspace AND t.label = labels.label),
       (SELECT coalesce(sum(frequency), 0)::bigint FROM postings AS p
         WHERE p.workspace = labels.workspace AND p.label = labels.label)
  FROM labels
 WHERE workspace = %(workspace)s AND label = %(label)s;

-- set_label_totals --
UPDATE labels SET document_count = %(documents)s, term_count = %(terms)s, conversation_count = %(threads)s,
                  name_count = %(names)s
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

-- count_broken_links --
-- Memories without source links, and links without a memory.
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

-- repair_name --
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

-- drop_label_names --
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

-- count_tiers --
SELECT tier, count(*), min(at), max(at) FROM memories
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[])
 GROUP BY tier ORDER BY tier;

-- count_vectors --
SELECT count(*) FROM vectors
 WHERE workspace = %(workspace)s AND label = ANY (translate(%(labels)s, '[]', '{}')::integer[]);

-- versions --
SELECT version FROM schema_version ORDER BY version;

-- add_version --
INSERT INTO schema_version (version, description, applied_at)
VALUES (%(version)s, %(description)s, %(applied_at)s::timestamptz);

-- workspace_names --
SELECT name FROM workspaces ORDER BY name;

-- count_all_rows --
-- In the order of RecordType.
SELECT (SELECT count(*) FROM events WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM memories WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM vectors WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM usage_counts WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM tombstones WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM model_costs WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM window_items WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM outbox WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM jobs WHERE workspace = %(workspace)s),
       (SELECT count(*) FROM audit WHERE workspace = %(workspace)s);

-- page_events --
SELECT seq, id, content, salt, commitment, hash FROM events
 WHERE workspace = %(workspace)s AND seq > %(first)s ORDER BY seq LIMIT %(limit)s;

-- page_memories --
SELECT memory, content, tier, is_archived FROM memories_with_state
 WHERE workspace = %(workspace)s AND memory > %(first)s ORDER BY memory LIMIT %(limit)s;

-- page_vectors --
SELECT placed.profile, memory, id, provider, model, dimension, revision, data
  FROM (SELECT profile, memory, data FROM vectors
         WHERE workspace = %(workspace)s AND (profile, memory) > (%(first)s, %(second)s)
         ORDER BY profile, memory LIMIT %(limit)s) AS placed
 CROSS JOIN LATERAL (SELECT id FROM memories
                      WHERE workspace = %(workspace)s AND memory = placed.memory
                     OFFSET 0) AS told
  JOIN profiles ON profiles.profile = placed.profile
 ORDER BY placed.profile, memory;

-- page_tombstones --
SELECT kind, digest, format_time(at) FROM tombstones
 WHERE workspace = %(workspace)s AND (kind, digest) > (%(first)s, %(second)s)
 ORDER BY kind, digest LIMIT %(limit)s;

-- page_model_costs --
SELECT format_time(day), purpose, model, calls, input_tokens, output_tokens, cost FROM model_costs
 WHERE workspace = %(workspace)s
   AND (format_time(day) COLLATE "C", purpose, model) > (%(first)s, %(second)s, %(third)s)
 ORDER BY day, purpose, model LIMIT %(limit)s;

-- page_window_items --
SELECT label, slot, key, content FROM window_items
 WHERE workspace = %(workspace)s AND (label, slot, key) > (%(first)s, %(second)s, %(third)s)
 ORDER BY label, slot, key LIMIT %(limit)s;

-- page_work --
SELECT priority, seq, id, step, format_time(due_at), attempts, error
  FROM (SELECT priority, seq, step, due_at, attempts, error FROM outbox
         WHERE workspace = %(workspace)s AND (priority, seq) > (%(first)s, %(second)s)
         ORDER BY priority, seq LIMIT %(limit)s) AS work
 CROSS JOIN LATERAL (SELECT id FROM events
                      WHERE workspace = %(workspace)s AND seq = work.seq OFFSET 0) AS told
 ORDER BY priority, seq;

-- page_jobs --
SELECT name, key, every_seconds, on_news, priority, format_time(due_at), attempts, error, is_dead, cursor,
       format_time(last_run_at), seconds, counts
  FROM jobs WHERE workspace = %(workspace)s AND (name, key) > (%(first)s::text, %(second)s::text)
 ORDER BY name, key LIMIT %(limit)s;

-- import_job --
INSERT INTO jobs (workspace, name, key, every_seconds, on_news, priority, due_at, attempts, error,
                  is_dead, cursor, last_run_at, seconds, counts)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, (r ->> 3)::double precision, (r ->> 4)::boolean,
       (r ->> 5)::integer, (r ->> 6)::timestamptz, (r ->> 7)::integer, r ->> 8, (r ->> 9)::boolean,
       r ->> 10, (r ->> 11)::timestamptz, (r ->> 12)::double precision, r ->> 13
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- memory_states_by_id --
SELECT found.id, content, tier, is_archived
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id, content, tier, is_archived FROM memories_with_state
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- count_known_vectors --
SELECT count(*)
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT memory FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS told
 WHERE EXISTS (SELECT 1 FROM vectors
                WHERE vectors.workspace = %(workspace)s AND vectors.profile = %(profile)s
                  AND vectors.memory = told.memory OFFSET 0);

-- event_positions --
SELECT found.id, seq, label
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id, seq, label FROM events
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- import_model_cost --
INSERT INTO model_costs (workspace, day, purpose, model, calls, input_tokens, output_tokens, cost)
SELECT (r ->> 0)::bigint, (r ->> 1)::timestamptz, r ->> 2, r ->> 3, (r ->> 4)::bigint,
       (r ->> 5)::bigint, (r ->> 6)::bigint, (r ->> 7)::double precision
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- import_window_item --
INSERT INTO window_items (workspace, label, slot, key, at, expires_at, linked_ids, content)
VALUES (%(workspace)s, %(label)s, %(slot)s, %(key)s, %(at)s::timestamptz,
        %(expires_at)s::timestamptz, %(tied_to)s, %(content)s)
    ON CONFLICT DO NOTHING;

-- import_work --
INSERT INTO outbox (workspace, seq, label, step, due_at, attempts, error, priority)
SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 2)::integer, r ->> 3,
       (r ->> 4)::timestamptz, (r ->> 5)::integer, r ->> 6, (r ->> 7)::integer
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- read_key_vault --
SELECT salt, proof FROM key_vault;

-- add_key_vault --
INSERT INTO key_vault (salt, proof) VALUES (%(salt)s, %(proof)s) ON CONFLICT DO NOTHING;

-- keys_by_id --
SELECT id, wrapped_key FROM keys
 WHERE workspace = %(workspace)s
   AND id = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)));

-- keys_by_owner --
SELECT owner, id, wrapped_key FROM keys
 WHERE workspace = %(workspace)s
   AND owner = ANY (ARRAY(SELECT jsonb_array_elements_text(%(owners)s::jsonb)));

-- add_key --
INSERT INTO keys (workspace, id, owner, wrapped_key)
SELECT (r ->> 0)::bigint, r ->> 1, r ->> 2, decode(r ->> 3, 'hex')
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- is_key_used --
-- Whether a stored record is encrypted with this key.
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

-- decay_candidates --
-- The first conditions on the state match the partial index, which covers the query. A salient and
-- recent memory cannot have decayed yet.
SELECT given.place, found.*
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS after, (r ->> 2)::bigint AS most,
               (r ->> 3)::double precision AS worth, (r ->> 4)::timestamptz AS since,
               (r ->> 5)::timestamptz AS knowledge_since
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT memory, id, label, kind, at, length, salience, confidence, trust, 'short', false, false
          FROM memories_with_state
         WHERE workspace = given.workspace AND memory > given.after
           AND tier = 'short' AND NOT is_pinned
           AND (salience < given.worth
                OR at < CASE WHEN kind IN ('fact', 'entity', 'procedure') THEN given.knowledge_since
                             ELSE given.since END)
           AND NOT is_archived
         ORDER BY memory LIMIT given.most) AS found;

-- idle_decay_candidates --
SELECT given.place, found.*
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS after, (r ->> 2)::bigint AS most,
               (r ->> 3)::timestamptz AS since
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT memory, id, label, kind, at, length, salience, confidence, trust, 'short', false, false
          FROM memories_with_state AS told
         WHERE workspace = given.workspace AND memory > given.after
           AND tier = 'short' AND NOT is_pinned AND at < given.since AND NOT is_archived
           AND NOT EXISTS (SELECT 1 FROM memories AS later
                            WHERE later.workspace = given.workspace
                              AND later.label = told.label AND later.conversation = told.conversation
                              AND later.at >= given.since
                           OFFSET 0)
         ORDER BY memory LIMIT given.most) AS found;

-- oldest_active_conversation --
SELECT given.place, format_time(found.last)
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::timestamptz AS since
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT min(newest) AS last
          FROM (SELECT max(at) AS newest FROM memories_with_state
                 WHERE workspace = given.workspace AND tier = 'short' AND NOT is_pinned
                   AND NOT is_archived AND at >= given.since
                 GROUP BY label, conversation) AS talks) AS found;

-- recently_used_memories --
-- One scan per workspace: a lookup per row would prune partitions again each time.
SELECT given.place, found.*
  FROM (SELECT place, (r ->> 0)::bigint AS workspace, (r ->> 1)::text COLLATE "C" AS after,
               (r ->> 2)::bigint AS most, (r ->> 3)::timestamptz AS since,
               (r ->> 4)::boolean AS only_archived
          FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
        OFFSET 0) AS given
 CROSS JOIN LATERAL
       (SELECT ARRAY(SELECT id FROM usage_counts
                      WHERE workspace = given.workspace AND id > given.after
                        AND last_at >= given.since) AS ids
        OFFSET 0) AS used
 CROSS JOIN LATERAL
       (SELECT memory, id, label, kind, at, length, salience, confidence, trust, tier, is_archived,
               is_pinned
          FROM memories_with_state
         WHERE workspace = given.workspace AND id = ANY (used.ids)
           AND (NOT given.only_archived OR is_archived)
         ORDER BY id LIMIT given.most) AS found;

-- some_uses --
SELECT place, found.*
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT id, label, count, conversations, last_at FROM usage_counts
                      WHERE workspace = (r ->> 0)::bigint LIMIT (r ->> 1)::bigint) AS found;

-- label_scope_sets --
SELECT place, found.*
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT label, is_derived, scopes FROM labels
                      WHERE workspace = (r ->> 0)::bigint OFFSET 0) AS found;

-- uses_by_id --
SELECT id, label, count, conversations, format_time(last_at) FROM usage_counts
 WHERE workspace = %(workspace)s
   AND id = ANY (ARRAY(SELECT jsonb_array_elements_text(%(ids)s::jsonb)));

-- readable_uses --
-- Only readable memories, and only usage in readable scopes.
SELECT told.id, used.label, count, conversations, format_time(last_at)
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.id
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                     OFFSET 0) AS told
 CROSS JOIN LATERAL (SELECT label, count, conversations, last_at FROM usage_counts
                      WHERE workspace = %(workspace)s AND id = told.id
                        AND label + 0 = ANY (translate(%(labels)s, '[]', '{}')::integer[])
                     OFFSET 0) AS used;

-- existing_memory_ids --
SELECT found.id
  FROM (SELECT DISTINCT jsonb_array_elements_text(%(ids)s::jsonb) AS id) AS wanted
 CROSS JOIN LATERAL (SELECT id FROM memories
                      WHERE workspace = %(workspace)s AND id = wanted.id OFFSET 0) AS found;

-- put_use --
INSERT INTO usage_counts (workspace, label, id, count, conversations, last_at, owner)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, (r ->> 3)::bigint, r ->> 4,
       (r ->> 5)::timestamptz, r ->> 6
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT (workspace, label, id) DO UPDATE
   SET count = excluded.count, conversations = excluded.conversations,
       last_at = excluded.last_at;

-- import_use --
INSERT INTO usage_counts (workspace, label, id, count, conversations, last_at, owner)
SELECT (r ->> 0)::bigint, (r ->> 1)::integer, r ->> 2, (r ->> 3)::bigint, r ->> 4,
       (r ->> 5)::timestamptz, r ->> 6
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r
    ON CONFLICT DO NOTHING;

-- erase_uses --
-- Usage of erased memories, in erased scopes, and in scopes of erased users.
DELETE FROM usage_counts
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
       (SELECT 1 FROM usage_counts
         WHERE workspace = (r ->> 0)::bigint AND last_at < (r ->> 1)::timestamptz
           AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = (r ->> 0)::bigint
                              AND memories.id = usage_counts.id OFFSET 0)
         LIMIT 1) AS found;

-- drop_stray_uses --
-- Usage of memories that were deleted by other means than erasure.
DELETE FROM usage_counts
 WHERE workspace = %(workspace)s AND last_at < %(before)s::timestamptz
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = %(workspace)s
                      AND memories.id = usage_counts.id OFFSET 0);

-- set_memory_state --
-- Postings and vectors do not change, nor do the rows of archived memories and their indexes.
WITH changed AS MATERIALIZED (
    SELECT given.place, given.workspace, found.memory, found.label, given.tier, given.is_archived
      FROM (SELECT place, (r ->> 0)::bigint AS workspace,
                   ARRAY(SELECT jsonb_array_elements_text((r ->> 1)::jsonb)) AS ids,
                   r ->> 2 AS tier, (r ->> 3)::boolean AS is_archived
              FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS rows (r, place)
            OFFSET 0) AS given
     CROSS JOIN LATERAL
           (SELECT memory, label, tier, is_archived FROM memories_with_state
             WHERE workspace = given.workspace AND id = ANY (given.ids) OFFSET 0) AS found
     WHERE found.tier <> given.tier OR found.is_archived <> given.is_archived
), put_away AS (
    INSERT INTO archived_memories (workspace, memory, label)
    SELECT workspace, memory, label FROM changed WHERE is_archived
), taken_out AS (
    DELETE FROM archived_memories USING changed
     WHERE NOT changed.is_archived AND archived_memories.workspace = changed.workspace
       AND archived_memories.memory = changed.memory
), moved AS (
    UPDATE memories SET tier = changed.tier FROM changed
     WHERE changed.tier IS NOT NULL AND memories.workspace = changed.workspace
       AND memories.memory = changed.memory
)
SELECT place, label FROM changed;

-- page_uses --
SELECT page.label, page.id, scopes, count, conversations, format_time(last_at), owner
  FROM (SELECT * FROM usage_counts
         WHERE workspace = %(workspace)s AND (label, id) > (%(first)s, %(second)s)
         ORDER BY label, id LIMIT %(limit)s) AS page
 CROSS JOIN LATERAL (SELECT scopes FROM labels
                      WHERE workspace = %(workspace)s AND label = page.label OFFSET 0) AS known
 ORDER BY page.label, page.id;

-- user_tombstones --
SELECT kind, digest, format_time(at) FROM tombstones
 WHERE workspace = %(workspace)s AND kind = 'user'
   AND digest = ANY (ARRAY(SELECT jsonb_array_elements_text(%(digests)s::jsonb)));

-- audit_chain_end --
SELECT place, found.*
  FROM jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS given (r, place)
 CROSS JOIN LATERAL (SELECT audit_count, audit_head FROM workspaces
                      WHERE workspace = (r ->> 0)::bigint OFFSET 0) AS found;

-- advance_audit_chain --
UPDATE workspaces SET audit_count = given.event_count, audit_head = given.chain_head
  FROM (SELECT (r ->> 0)::bigint AS workspace, (r ->> 1)::bigint AS event_count,
               decode(r ->> 2, 'hex') AS chain_head
          FROM jsonb_array_elements(%(rows)s::jsonb) AS r OFFSET 0) AS given
 WHERE workspaces.workspace = given.workspace;

-- add_audit --
INSERT INTO audit (workspace, number, day, at, action, content, salt, commitment, hash, seal)
SELECT (r ->> 0)::bigint, (r ->> 1)::bigint, (r ->> 2)::date, (r ->> 3)::timestamptz, r ->> 4,
       r ->> 5, decode(r ->> 6, 'hex'), decode(r ->> 7, 'hex'), decode(r ->> 8, 'hex'),
       decode(r ->> 9, 'hex')
  FROM jsonb_array_elements(%(rows)s::jsonb) AS r;

-- newest_audit --
SELECT number, format_time(at), action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = %(workspace)s AND number > %(after)s
   AND (%(action)s::text IS NULL OR action = %(action)s::text)
   AND (%(since)s::timestamptz IS NULL OR at >= %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR at < %(until)s::timestamptz)
 ORDER BY number DESC LIMIT %(limit)s;

-- next_audit --
SELECT number, format_time(at), action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = %(workspace)s AND number > %(after)s
   AND (%(action)s::text IS NULL OR action = %(action)s::text)
   AND (%(since)s::timestamptz IS NULL OR at >= %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR at < %(until)s::timestamptz)
 ORDER BY number LIMIT %(limit)s;

-- audit_chain --
SELECT number, format_time(at), action, content, salt, commitment, hash, seal FROM audit
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
-- Entries before the first entry of a retained day.
SELECT number, day::text, hash FROM audit
 WHERE workspace = %(workspace)s
   AND number < coalesce((SELECT min(number) FROM audit
                           WHERE workspace = %(workspace)s AND day >= %(before)s::date),
                         9223372036854775807)
 ORDER BY number;

-- drop_audit --
DELETE FROM audit WHERE workspace = %(workspace)s AND number <= %(through)s;

-- rotate_audit_partitions --
SELECT made, dropped FROM rotate_audit_partitions(%(today)s::date, %(ahead)s::integer, %(before)s::date);

-- page_audit --
SELECT number, format_time(at), action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = %(workspace)s AND number > %(first)s ORDER BY number LIMIT %(limit)s;

-- set_async_commit --
-- For this transaction only: a crash may lose the commits of the last second.
SELECT set_config('synchronous_commit', 'off', true);
