-- One query under each heading. Their text never varies: lists travel as one JSON parameter.
-- CROSS JOIN and unary plus tell the planner to start from such a list, not from a label's index.

-- workspace --
SELECT workspace, length, head, counter FROM workspaces WHERE name = :name;

-- whole_workspaces --
SELECT name, workspace FROM workspaces WHERE name IN (SELECT value FROM json_each(:names));

-- lock_workspace --
-- For a write; a file has one writer at a time anyhow.
SELECT workspace, length, head, counter FROM workspaces WHERE name = :name;

-- lock_workspaces --
SELECT name, workspace FROM workspaces WHERE name IN (SELECT value FROM json_each(:names));

-- add_workspace --
INSERT INTO workspaces (name, head) VALUES (:name, :head);

-- workspaces --
SELECT name FROM workspaces WHERE length > 0 ORDER BY name;

-- numbered_workspaces --
SELECT workspace, name FROM workspaces ORDER BY workspace;

-- advance_chain --
-- With the first event of a day it is noted where the day began.
UPDATE workspaces SET day_began = CASE WHEN day < ?5 THEN length ELSE day_began END,
       day = max(day, ?5), text_bytes = text_bytes + ?4, length = ?2, head = ?3
 WHERE workspace = ?1;

-- used --
-- A day that some other clock has begun already is today.
SELECT CASE WHEN day >= :day THEN length - day_began ELSE 0 END, text_bytes
  FROM workspaces WHERE workspace = :workspace;

-- memories_kept --
SELECT coalesce(sum(documents), 0) FROM labels WHERE workspace = :workspace;

-- bytes_kept --
SELECT coalesce(sum(bytes), 0)
  FROM json_each(:ids) AS gone
  CROSS JOIN events ON events.workspace = :workspace AND events.id = gone.value;

-- text_shrank --
UPDATE workspaces SET text_bytes = text_bytes - :bytes WHERE workspace = :workspace;

-- take_numbers --
UPDATE workspaces SET counter = counter + :count WHERE workspace = :workspace
RETURNING counter;

-- label --
SELECT label FROM labels
 WHERE workspace = :workspace AND scopes = :scopes AND learned = :learned;

-- add_label --
INSERT INTO labels (workspace, label, scopes, size, learned)
SELECT :workspace, coalesce(max(label), 0) + 1, :scopes, :size, :learned
  FROM labels WHERE workspace = :workspace
RETURNING label;

-- add_label_scope --
INSERT INTO label_scopes (workspace, scope, label) VALUES (?, ?, ?);

-- readable_labels --
-- Those whose scopes are all in the grant.
SELECT labels.workspace, labels.label, latest, generation, documents, terms, threads, names,
       learned, epoch
  FROM workspaces
  CROSS JOIN json_each(:scopes) AS scope
  CROSS JOIN label_scopes ON label_scopes.workspace = workspaces.workspace
                         AND label_scopes.scope = scope.value
  CROSS JOIN labels ON labels.workspace = workspaces.workspace
                   AND labels.label = label_scopes.label
 WHERE workspaces.name = :name
 GROUP BY labels.label
HAVING count(*) = size;

-- all_labels --
SELECT labels.workspace, label, latest, generation, documents, terms, threads, names, learned,
       epoch
  FROM labels JOIN workspaces ON workspaces.workspace = labels.workspace
 WHERE workspaces.name = :name;

-- known_events --
SELECT events.id, content
  FROM json_each(:ids) AS wanted
  CROSS JOIN events ON events.workspace = :workspace AND events.id = wanted.value;

-- event_salts --
SELECT events.id, salt
  FROM json_each(:ids) AS wanted
  CROSS JOIN events ON events.workspace = :workspace AND events.id = wanted.value;

-- drop_events_after --
DELETE FROM events WHERE workspace = :workspace AND seq > :length;

-- add_event --
-- Adds nothing if it is there already.
INSERT OR IGNORE INTO events
       (workspace, seq, id, label, key, at, content, salt, commitment, hash, bytes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- add_work --
INSERT INTO outbox (workspace, seq, label, step, due_at, priority) VALUES (?, ?, ?, ?, ?, ?);

-- events_by_id --
SELECT events.id, content
  FROM json_each(:ids) AS wanted
  CROSS JOIN events ON events.workspace = :workspace AND events.id = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels)) AND content IS NOT NULL
 ORDER BY wanted.key;

-- event_keys --
SELECT events.id, events.key
  FROM json_each(:ids) AS wanted
  CROSS JOIN events ON events.workspace = :workspace AND events.id = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels)) AND content IS NOT NULL;

-- events_by_time --
SELECT content FROM events
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
   AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
   AND content IS NOT NULL
 ORDER BY at DESC, id;

-- event_progress --
SELECT events.id, outbox.step, outbox.attempts, outbox.error
  FROM json_each(:ids) AS wanted
  CROSS JOIN events ON events.workspace = :workspace AND events.id = wanted.value
  LEFT JOIN outbox ON outbox.workspace = :workspace AND outbox.priority IN (0, 1)
                  AND outbox.seq = events.seq
 WHERE +events.label IN (SELECT value FROM json_each(:labels)) AND content IS NOT NULL;

-- chain --
-- With the other columns, and whether what is empty was erased by somebody.
SELECT seq, content, salt, commitment, hash, key, id, at,
       (SELECT scopes FROM labels WHERE labels.workspace = events.workspace
                                    AND labels.label = events.label AND NOT learned),
       content IS NULL AND EXISTS (SELECT 1 FROM tombstones
                                    WHERE tombstones.workspace = events.workspace
                                      AND kind = 'event' AND digest = events.id)
  FROM events WHERE workspace = :workspace ORDER BY seq;

-- pending --
SELECT count(*) FROM outbox
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels));

-- homes_with_work --
-- The next workspaces in which anything waits, without reading all that waits in them.
WITH RECURSIVE homes (workspace) AS (
    SELECT (SELECT min(workspace) FROM outbox WHERE workspace > :after)
     UNION ALL
    SELECT (SELECT min(workspace) FROM outbox WHERE outbox.workspace > homes.workspace)
      FROM homes WHERE homes.workspace IS NOT NULL
     LIMIT :limit)
SELECT workspace FROM homes WHERE workspace IS NOT NULL;

-- any_due_in --
SELECT 1 FROM outbox
         WHERE workspace = ?1 AND due_at <= ?2 AND (?3 IS NULL OR step = ?3)
           AND (leased_until IS NULL OR leased_until <= ?2)
           AND NOT EXISTS (SELECT 1 FROM outbox AS other
                            WHERE other.workspace = outbox.workspace AND other.label = outbox.label
                              AND other.step = outbox.step AND other.leased_until > ?2)
 LIMIT 1;

-- lock_homes --
-- A file has one writer at a time anyhow.
SELECT value FROM json_each(:homes);

-- lease_in --
-- The oldest of a workspace, but nothing of a place in which somebody else is at work.
UPDATE outbox SET attempts = attempts + (leased_until IS NOT NULL),
                  error = CASE WHEN leased_until IS NULL THEN error ELSE ?7 END,
                  leased_until = ?5, fence = max(fence + 1, ?6)
 WHERE workspace = ?1 AND (priority, seq) IN
       (SELECT priority, seq FROM outbox
         WHERE workspace = ?1 AND due_at <= ?2 AND (?3 IS NULL OR step = ?3)
           AND (leased_until IS NULL OR leased_until <= ?2)
           AND NOT EXISTS (SELECT 1 FROM outbox AS other
                            WHERE other.workspace = outbox.workspace AND other.label = outbox.label
                              AND other.step = outbox.step AND other.leased_until > ?2)
         ORDER BY priority, seq LIMIT ?4)
RETURNING (SELECT name FROM workspaces WHERE workspaces.workspace = outbox.workspace), workspace,
          seq, step, attempts, priority, fence, error;

-- due_work_of --
-- What has not failed is due at once, whatever the clock of whoever wrote it said.
SELECT name, outbox.workspace, seq, step, attempts, priority, 0, error
  FROM outbox JOIN workspaces ON workspaces.workspace = outbox.workspace
 WHERE outbox.workspace = :workspace
   AND outbox.label IN (SELECT value FROM json_each(:labels))
   AND (attempts = 0 OR due_at <= :now OR :failed) AND due_at < :never
   AND (:step IS NULL OR step = :step)
   AND (leased_until IS NULL OR leased_until <= :now OR :leased)
 ORDER BY priority, seq LIMIT :limit;

-- lease_work_of --
UPDATE outbox SET leased_until = :until, fence = max(fence + 1, :fence)
 WHERE workspace = :workspace
   AND (priority, seq) IN
       (SELECT priority, seq FROM outbox
         WHERE workspace = :workspace
           AND label IN (SELECT value FROM json_each(:labels))
           AND (attempts = 0 OR due_at <= :now OR :failed) AND due_at < :never
           AND (:step IS NULL OR step = :step)
           AND (leased_until IS NULL OR leased_until <= :now)
           AND NOT EXISTS (SELECT 1 FROM outbox AS other
                            WHERE other.workspace = outbox.workspace AND other.label = outbox.label
                              AND other.step = outbox.step AND other.leased_until > :now)
         ORDER BY priority, seq LIMIT :limit)
RETURNING (SELECT name FROM workspaces WHERE workspaces.workspace = outbox.workspace), workspace,
          seq, step, attempts, priority, fence, error;

-- held_work --
SELECT count(*)
  FROM json_each(:held) AS wanted
  CROSS JOIN workspaces ON workspaces.name = wanted.value ->> 0
  CROSS JOIN outbox ON outbox.workspace = workspaces.workspace
                   AND outbox.priority = wanted.value ->> 1 AND outbox.seq = wanted.value ->> 2
 WHERE fence = wanted.value ->> 3 AND leased_until IS NOT NULL;

-- renew_work --
UPDATE outbox SET leased_until = :until
 WHERE leased_until IS NOT NULL AND (workspace, priority, seq, fence) IN
       (SELECT workspaces.workspace, wanted.value ->> 1, wanted.value ->> 2, wanted.value ->> 3
          FROM json_each(:held) AS wanted JOIN workspaces ON workspaces.name = wanted.value ->> 0)
RETURNING (SELECT name FROM workspaces WHERE workspaces.workspace = outbox.workspace),
          priority, seq, fence;

-- contents_at --
SELECT seq, content, events.id
  FROM json_each(:seqs) AS wanted
  CROSS JOIN events ON events.workspace = :workspace AND events.seq = wanted.value
 WHERE content IS NOT NULL;

-- backlog --
SELECT count(*),
       coalesce(sum(error IS NOT NULL AND due_at < :never), 0),
       coalesce(sum(due_at >= :never), 0),
       min(due_at) FILTER (WHERE error IS NULL AND due_at < :never),
       min(seq) FILTER (WHERE error IS NOT NULL AND due_at < :never)
  FROM outbox
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels));

-- waiting --
SELECT events.id, content ->> 'scope', step, attempts, error, due_at
  FROM outbox
  JOIN events ON events.workspace = outbox.workspace AND events.seq = outbox.seq
 WHERE outbox.workspace = :workspace
   AND outbox.label IN (SELECT value FROM json_each(:labels))
 ORDER BY error IS NULL, due_at DESC, events.id LIMIT :limit;

-- retry --
-- Whoever is at it loses it.
UPDATE outbox SET attempts = CASE WHEN due_at >= :never THEN 0 ELSE attempts END, due_at = :now,
                  leased_until = NULL
 WHERE workspace = :workspace AND error IS NOT NULL
   AND (:ids IS NULL OR seq IN (SELECT seq FROM events WHERE events.workspace = :workspace
                                   AND id IN (SELECT value FROM json_each(:ids))));

-- next_step --
UPDATE outbox SET step = ?5, attempts = 0, error = NULL, leased_until = NULL, due_at = ?6
 WHERE workspace = ?1 AND priority IN (0, 1) AND step = ?3 AND (?4 IS NULL OR fence = ?4)
   AND seq = (SELECT seq FROM events WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL);

-- drop_work --
DELETE FROM outbox
 WHERE workspace = ?1 AND priority IN (0, 1) AND step = ?3 AND (?4 IS NULL OR fence = ?4)
   AND seq = (SELECT seq FROM events WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL);

-- fail_work --
UPDATE outbox SET attempts = attempts + 1, error = ?5, due_at = ?6, leased_until = NULL
 WHERE workspace = ?1 AND priority IN (0, 1) AND step = ?3 AND (?4 IS NULL OR fence = ?4)
   AND seq = (SELECT seq FROM events WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL);

-- requeue --
-- Whoever is at it loses it.
INSERT INTO outbox (workspace, seq, label, step, due_at, priority)
SELECT workspace, seq, label, ?3, ?4, coalesce(
           (SELECT priority FROM outbox WHERE outbox.workspace = ?1 AND outbox.priority IN (0, 1)
               AND outbox.seq = events.seq), 0)
  FROM events WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL
    ON CONFLICT (workspace, priority, seq) DO UPDATE
   SET step = excluded.step, due_at = excluded.due_at, fence = fence + 1, leased_until = NULL,
       attempts = 0, error = NULL;

-- plant_jobs --
-- Every workspace has these; for some workspaces at a time.
INSERT INTO jobs (workspace, name, key, every_seconds, on_news, priority, due_at)
SELECT workspace, each.value ->> 0, '', each.value ->> 1, each.value ->> 2, each.value ->> 3,
       each.value ->> 4
  FROM (SELECT workspace FROM workspaces
         WHERE workspace > :after AND workspace <= :last) AS home
  CROSS JOIN json_each(:recurring) AS each
 WHERE true
    ON CONFLICT (workspace, name, key) DO UPDATE
   SET every_seconds = excluded.every_seconds, on_news = excluded.on_news,
       priority = excluded.priority,
       due_at = CASE WHEN leased_until IS NULL AND error IS NULL
                          AND (due_at IS NOT NULL OR NOT excluded.on_news)
                     THEN min(coalesce(due_at, excluded.due_at), excluded.due_at)
                     ELSE due_at END
 WHERE every_seconds IS NOT excluded.every_seconds OR on_news <> excluded.on_news
    OR priority <> excluded.priority;

-- jobs_to_plant --
-- How many are not there, or otherwise.
SELECT (SELECT count(*) FROM workspaces WHERE workspace > :after AND workspace <= :last)
       * json_array_length(:recurring)
     - (SELECT count(*) FROM workspaces AS home
         CROSS JOIN json_each(:recurring) AS each
         CROSS JOIN jobs ON jobs.workspace = home.workspace AND jobs.name = each.value ->> 0
                        AND jobs.key = ''
         WHERE home.workspace > :after AND home.workspace <= :last
           AND every_seconds = each.value ->> 1 AND on_news = each.value ->> 2
           AND priority = each.value ->> 3);

-- ask_only_jobs --
-- These come no more by themselves.
UPDATE jobs SET every_seconds = NULL, on_news = 0, due_at = NULL, woken = 0
 WHERE workspace > :after AND workspace <= :last AND key = ''
   AND name IN (SELECT value FROM json_each(:names))
   AND every_seconds IS NOT NULL AND leased_until IS NULL;

-- last_workspace --
-- Of those after one, the last of so many.
SELECT max(workspace) FROM (SELECT workspace FROM workspaces
                             WHERE workspace > :after ORDER BY workspace LIMIT :limit);

-- job_names --
SELECT name, key FROM jobs WHERE workspace = :workspace;

-- schedule_job --
-- Whoever is at it already does it again afterwards.
INSERT INTO jobs (workspace, name, key, on_news, priority, due_at) VALUES (?, ?, ?, 0, ?, ?)
    ON CONFLICT (workspace, name, key) DO UPDATE
   SET due_at = CASE WHEN leased_until IS NULL
                     THEN min(coalesce(due_at, excluded.due_at), excluded.due_at)
                     ELSE due_at END,
       woken = leased_until IS NOT NULL OR woken, priority = min(priority, excluded.priority),
       attempts = CASE WHEN dead THEN 0 ELSE attempts END, dead = 0;

-- any_due_job --
SELECT 1 FROM jobs
 WHERE priority IN (0, 1, 2) AND due_at <= :now
   AND (:names IS NULL OR name IN (SELECT value FROM json_each(:names)))
 LIMIT 1;

-- claim_jobs --
UPDATE jobs SET attempts = attempts + (leased_until IS NOT NULL),
                error = CASE WHEN leased_until IS NULL THEN error ELSE :lost END,
                leased_until = :until,
                due_at = :until, fence = max(fence + 1, :fence),
                woken = CASE WHEN cursor IS NULL THEN 0 ELSE woken END
 WHERE (workspace, name, key) IN
       (SELECT workspace, name, key FROM jobs
         WHERE priority = :priority AND due_at <= :now
           AND (:names IS NULL OR name IN (SELECT value FROM json_each(:names)))
         ORDER BY due_at, workspace, name, key LIMIT :limit)
RETURNING (SELECT name FROM workspaces WHERE workspaces.workspace = jobs.workspace),
          name, key, fence, attempts, error, cursor, every_seconds, seconds, counts;

-- take_job --
UPDATE jobs SET attempts = attempts + (leased_until IS NOT NULL),
                error = CASE WHEN leased_until IS NULL THEN error ELSE :lost END,
                leased_until = :until,
                due_at = :until, fence = max(fence + 1, :fence),
                woken = CASE WHEN cursor IS NULL THEN 0 ELSE woken END
 WHERE workspace = :workspace AND name = :name AND key = ''
   AND (leased_until IS NULL OR leased_until <= :now)
RETURNING name, key, fence, attempts, error, cursor, every_seconds, seconds, counts;

-- keep_jobs --
UPDATE jobs SET leased_until = ?5, due_at = ?5
 WHERE workspace = (SELECT workspace FROM workspaces WHERE workspaces.name = ?1)
   AND name = ?2 AND key = ?3 AND fence = ?4 AND leased_until IS NOT NULL;

-- finish_jobs --
UPDATE jobs SET cursor = ?5, seconds = ?6, counts = ?7, last_run_at = ?8, leased_until = NULL,
                attempts = 0, error = NULL,
                due_at = CASE WHEN ?5 IS NOT NULL THEN ?8
                              WHEN woken THEN min(coalesce(?9, ?10, ?8), coalesce(?10, ?8))
                              WHEN ?9 IS NOT NULL THEN ?9
                              WHEN on_news THEN NULL ELSE ?10 END
 WHERE workspace = (SELECT workspace FROM workspaces WHERE workspaces.name = ?1)
   AND name = ?2 AND key = ?3 AND fence = ?4 AND leased_until IS NOT NULL;

-- drop_jobs --
DELETE FROM jobs
 WHERE workspace = (SELECT workspace FROM workspaces WHERE workspaces.name = ?1)
   AND name = ?2 AND key = ?3 AND fence = ?4 AND leased_until IS NOT NULL AND NOT woken;

-- fail_jobs --
UPDATE jobs SET attempts = attempts + 1, error = ?5, due_at = ?6, dead = ?6 IS NULL,
                leased_until = NULL
 WHERE workspace = (SELECT workspace FROM workspaces WHERE workspaces.name = ?1)
   AND name = ?2 AND key = ?3 AND fence = ?4 AND leased_until IS NOT NULL;

-- held_jobs --
SELECT count(*)
  FROM json_each(:held) AS wanted
  CROSS JOIN workspaces ON workspaces.name = wanted.value ->> 0
  CROSS JOIN jobs ON jobs.workspace = workspaces.workspace AND jobs.name = wanted.value ->> 1
                 AND jobs.key = wanted.value ->> 2
 WHERE fence = wanted.value ->> 3 AND leased_until IS NOT NULL;

-- sleeping_jobs --
SELECT name, key, every_seconds FROM jobs
 WHERE workspace = :workspace AND on_news AND NOT woken AND NOT dead;

-- wake_jobs --
UPDATE jobs SET woken = 1,
                due_at = CASE WHEN due_at IS NULL OR leased_until IS NULL AND error IS NULL
                              THEN min(coalesce(due_at, ?4), ?4) ELSE due_at END
 WHERE workspace = ?1 AND name = ?2 AND key = ?3;

-- job_states --
SELECT name, key, every_seconds, on_news, priority, due_at, leased_until, attempts, error, dead,
       last_run_at, seconds, counts
  FROM jobs WHERE workspace = :workspace ORDER BY name, key;

-- retry_jobs --
UPDATE jobs SET due_at = :now, attempts = CASE WHEN dead THEN 0 ELSE attempts END, dead = 0
 WHERE workspace = :workspace AND error IS NOT NULL AND leased_until IS NULL
   AND (:names IS NULL OR name IN (SELECT value FROM json_each(:names)));

-- forget_job_errors --
-- An error may quote what somebody said.
UPDATE jobs SET error = 'it failed' WHERE workspace = :workspace AND error IS NOT NULL;

-- memories_placed --
SELECT memories.id, memory, label, content, thread, tier, archived
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value;

-- add_memory --
INSERT INTO memories (workspace, memory, id, label, kind, at, subject, predicate, thread, speaker,
                      role, length, asks, directs, content, tier, archived, salience, confidence,
                      trust, pinned)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- thread --
SELECT thread FROM threads WHERE workspace = :workspace AND label = :label AND name = :name;

-- add_thread --
INSERT INTO threads (workspace, label, thread, name)
SELECT :workspace, :label, coalesce(max(thread), 0) + 1, :name
  FROM threads WHERE workspace = :workspace AND label = :label
RETURNING thread;

-- thread_changed --
UPDATE threads SET terms = terms + ?4 WHERE workspace = ?1 AND label = ?2 AND thread = ?3;

-- drop_empty_thread --
DELETE FROM threads
 WHERE workspace = :workspace AND label = :label AND thread = :thread
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = :workspace
                      AND memories.label = :label AND memories.thread = :thread);

-- threads_counted --
UPDATE labels SET threads = threads + :more WHERE workspace = :workspace AND label = :label;

-- thread_lengths --
SELECT thread, terms FROM threads WHERE workspace = ? AND label = ?;

-- new_cards --
-- All cards of a label are found by the label, and not among those of the whole workspace; those
-- that came later are found by their numbers.
SELECT id, memory, thread, at, speaker, role, length, asks, directs, kind
  FROM memories INDEXED BY memories_by_thread
 WHERE workspace = ?1 AND label = ?2 AND ?3 = 0
 UNION ALL
SELECT id, memory, thread, at, speaker, role, length, asks, directs, kind
  FROM memories
 WHERE workspace = ?1 AND label = ?2 AND memory > ?3 AND ?3 > 0
 ORDER BY thread, at, id;

-- contents --
SELECT memories.id, content
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels));

-- add_name --
INSERT INTO names (workspace, label, name, kind, at, id) VALUES (?, ?, ?, ?, ?, ?);

-- drop_name --
DELETE FROM names
 WHERE workspace = ? AND label = ? AND name = ? AND kind = ? AND at = ? AND id = ?;

-- names_counted --
UPDATE labels SET names = names + ?3 WHERE workspace = ?1 AND label = ?2;

-- between --
-- Of one label, so that the index gives them in order and reading ends with the limit.
SELECT at, id FROM memories INDEXED BY memories_by_time
 WHERE workspace = ? AND label = ? AND at >= ? AND at < ?
 ORDER BY at DESC, id LIMIT ?;

-- named --
-- The newest are chosen before any content is read: of each name, and then of all. Most of what
-- may be a name in a question is none, which one look tells; and a list is read anew for each
-- entry of those before it, so the longest comes last.
SELECT content, tier, archived
  FROM (SELECT DISTINCT names.at, names.id
          FROM json_each(:labels) AS readable
          CROSS JOIN json_each(:kinds) AS asked
          CROSS JOIN json_each(:names) AS wanted
          CROSS JOIN names ON names.workspace = :workspace AND names.label = readable.value
                          AND names.name = wanted.value AND names.kind = asked.value
                          AND names.at >= coalesce(
                              (SELECT newest.at FROM names AS newest
                                WHERE newest.workspace = :workspace
                                  AND newest.label = readable.value
                                  AND newest.name = wanted.value AND newest.kind = asked.value
                                ORDER BY newest.at DESC LIMIT 1 OFFSET :limit - 1), '')
         WHERE EXISTS (SELECT 1 FROM names AS known
                        WHERE known.workspace = :workspace AND known.label = readable.value
                          AND known.name = wanted.value AND known.kind = asked.value)
         ORDER BY names.at DESC, names.id LIMIT :limit) AS chosen
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = chosen.id
 ORDER BY chosen.at DESC, chosen.id;

-- outlines --
-- As much of a content as tells what a fact is about, and read in one go: chosen as those that are
-- named.
SELECT json_extract(
           content, '$.id', '$.body.predicate', '$.body.category', '$.body.exact', '$.learned')
  FROM (SELECT DISTINCT names.at, names.id
          FROM json_each(:labels) AS readable
          CROSS JOIN json_each(:kinds) AS asked
          CROSS JOIN json_each(:names) AS wanted
          CROSS JOIN names ON names.workspace = :workspace AND names.label = readable.value
                          AND names.name = wanted.value AND names.kind = asked.value
                          AND names.at >= coalesce(
                              (SELECT newest.at FROM names AS newest
                                WHERE newest.workspace = :workspace
                                  AND newest.label = readable.value
                                  AND newest.name = wanted.value AND newest.kind = asked.value
                                ORDER BY newest.at DESC LIMIT 1 OFFSET :limit - 1), '')
         WHERE EXISTS (SELECT 1 FROM names AS known
                        WHERE known.workspace = :workspace AND known.label = readable.value
                          AND known.name = wanted.value AND known.kind = asked.value)
         ORDER BY names.at DESC, names.id LIMIT :limit) AS chosen
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = chosen.id
 ORDER BY chosen.at DESC, chosen.id;

-- latest --
-- Of each key the newest, before any content is read.
SELECT content, tier, archived
  FROM (SELECT at, id
          FROM (SELECT told.at, told.id,
                       row_number() OVER (PARTITION BY told.subject, told.predicate
                                          ORDER BY told.at DESC, told.id) AS place
                  FROM json_each(:labels) AS readable
                  CROSS JOIN json_each(:subjects) AS wanted
                  CROSS JOIN memories AS told INDEXED BY memories_by_fact
                          ON told.workspace = :workspace AND told.label = readable.value
                         AND told.subject = wanted.value AND told.kind = 'fact')
         WHERE place = 1
         ORDER BY at DESC, id LIMIT coalesce(:limit, -1)) AS chosen
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = chosen.id
 ORDER BY chosen.at DESC, chosen.id;

-- add_link --
INSERT OR IGNORE INTO links (workspace, origin, relation, target) VALUES (?, ?, ?, ?);

-- add_posting --
INSERT INTO postings (workspace, label, term, memory, frequency, length, thread)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- label_grew --
UPDATE labels SET latest = ?3, documents = documents + ?4, terms = terms + ?5
 WHERE workspace = ?1 AND label = ?2;

-- events_came --
UPDATE labels SET epoch = epoch + 1 WHERE workspace = ? AND label = ?;

-- label_shrank --
UPDATE labels SET generation = generation + 1, documents = documents - 1, terms = terms - ?3
 WHERE workspace = ?1 AND label = ?2;

-- label_lost --
-- Something else than a memory is gone: whoever read it before starts over.
UPDATE labels SET generation = generation + 1, epoch = epoch + 1
 WHERE workspace = ? AND label = ?;

-- answers_changed --
-- Everywhere in a workspace, although nobody told anything.
UPDATE labels SET epoch = epoch + 1 WHERE workspace = :workspace;

-- drop_memory --
DELETE FROM memories WHERE workspace = ? AND memory = ?;

-- drop_posting --
DELETE FROM postings
 WHERE workspace = ? AND label = ? AND term = ? AND memory = ?;

-- drop_links --
DELETE FROM links WHERE workspace = ? AND origin = ?;

-- drop_vectors --
DELETE FROM vectors WHERE workspace = ? AND memory = ?
   AND profile IN (SELECT profile FROM profiles);

-- memories_by_id --
SELECT content, tier, archived
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels))
 ORDER BY wanted.key;

-- memories_by_time --
SELECT content, tier, archived FROM memories
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
 ORDER BY at DESC, id;

-- memories_by_kind --
SELECT content, tier, archived FROM memories
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
   AND kind = :kind
 ORDER BY at DESC, id;

-- newest_of_kind --
-- Of one label, so that the index gives them in order and reading ends with the limit.
SELECT at, id, content, tier, archived FROM memories INDEXED BY memories_by_kind
 WHERE workspace = ? AND label = ? AND kind = ?
 ORDER BY at DESC, id LIMIT ?;

-- memories_by_fact --
SELECT content, tier, archived FROM memories
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
   AND subject = :subject AND (:predicate IS NULL OR predicate = :predicate)
 ORDER BY at DESC, id;

-- ids_by_number --
SELECT memory, memories.id
  FROM json_each(:numbers) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.memory = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels));

-- memories_by_number --
SELECT memory, content, tier, archived
  FROM json_each(:numbers) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.memory = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels));

-- new_postings --
SELECT memory, frequency, length, thread FROM postings
 WHERE workspace = ? AND label = ? AND term = ? AND memory > ?
 ORDER BY memory;

-- profile --
SELECT profile FROM profiles
 WHERE provider = :provider AND model = :model AND dimension = :dimension
   AND revision = :revision;

-- add_profile --
INSERT INTO profiles (provider, model, dimension, revision)
VALUES (:provider, :model, :dimension, :revision)
RETURNING profile;

-- profiles --
SELECT provider, model, dimension, revision FROM profiles
 ORDER BY provider, model, dimension, revision;

-- numbered_profiles --
SELECT profile, dimension FROM profiles ORDER BY profile;

-- profile_in_use --
SELECT provider, model, dimension, revision
  FROM workspaces JOIN profiles ON profiles.profile = workspaces.profile
 WHERE workspace = :workspace;

-- use_profile --
UPDATE workspaces SET profile = :profile WHERE workspace = :workspace;

-- use_first_profile --
UPDATE workspaces SET profile = :profile WHERE workspace = :workspace AND profile IS NULL;

-- some_vectors --
SELECT number, label, memory FROM vectors
 WHERE workspace = :workspace AND profile = :profile
   AND profile IS NOT (SELECT profile FROM workspaces WHERE workspace = :workspace)
 LIMIT :limit;

-- vector_coverage --
SELECT count(vectors.memory), count(*) - count(vectors.memory)
  FROM memories
  LEFT JOIN vectors ON vectors.workspace = :workspace AND vectors.profile = :profile
                   AND vectors.memory = memories.memory
 WHERE memories.workspace = :workspace AND length > 0
   AND memories.label IN (SELECT value FROM json_each(:labels));

-- add_vector --
INSERT INTO vectors (workspace, label, profile, number, memory, data) VALUES (?, ?, ?, ?, ?, ?);

-- vectors_placed --
-- Memories that are there, with their vectors if they have one.
SELECT memories.id, memories.memory, memories.label, data
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
  LEFT JOIN vectors ON vectors.workspace = :workspace AND vectors.profile = :profile
                   AND vectors.memory = memories.memory
 ORDER BY wanted.key;

-- drop_vector --
DELETE FROM vectors WHERE workspace = ? AND profile = ? AND memory = ?;

-- label_vectors_grew --
UPDATE labels SET latest = ?3, generation = generation + ?4 WHERE workspace = ?1 AND label = ?2;

-- new_vectors --
SELECT number, memory, data FROM vectors
 WHERE workspace = :workspace AND label = :label AND profile = :profile AND number > :after
 ORDER BY number;

-- vectors_after --
SELECT number, memory, data FROM vectors
 WHERE workspace = ? AND label = ? AND profile = ? AND number > ?
 ORDER BY number LIMIT ?;

-- next_vectors --
-- For an index beside the records, a batch at a time.
SELECT number, memory, data FROM vectors
 WHERE workspace = :workspace AND label = :label AND profile = :profile AND number > :after
 ORDER BY number LIMIT :limit;

-- vector_numbers --
SELECT number FROM vectors
 WHERE workspace = :workspace AND label = :label AND profile = :profile AND number <= :upto
 ORDER BY number;

-- made_at --
SELECT min(applied_at) FROM schema_version;

-- workspace_counters --
SELECT name, counter FROM workspaces;

-- next_named --
SELECT memory, label, content, tier, archived FROM memories
 WHERE workspace = :workspace AND memory > :after
   AND +kind IN (SELECT value FROM json_each(:kinds))
 ORDER BY memory LIMIT :limit;

-- named_since --
-- By number: few are new, and a label may hold many.
SELECT content, tier, archived FROM memories
 WHERE workspace = :workspace AND memory > :after
   AND +label IN (SELECT value FROM json_each(:labels))
   AND +kind IN (SELECT value FROM json_each(:kinds));

-- read_ahead --
-- Their pages, and nothing of what they hold: label by label, as they are given. In one statement,
-- because a thread that begins another one holds up the question for which it reads.
SELECT total(length(content)),
       (SELECT count(*) FROM json_each(:labels) AS wanted
         CROSS JOIN names ON names.workspace = :workspace AND names.label = wanted.value),
       (SELECT total(length(data)) FROM json_each(:labels) AS wanted
         CROSS JOIN vectors ON vectors.workspace = :workspace AND vectors.label = wanted.value)
  FROM json_each(:labels) AS wanted
 CROSS JOIN memories INDEXED BY memories_by_time
            ON memories.workspace = :workspace AND memories.label = wanted.value;

-- names_of_label --
SELECT DISTINCT kind, name FROM names WHERE workspace = ? AND label = ?;

-- named_in_label --
SELECT DISTINCT id FROM names WHERE workspace = :workspace AND label = :label;

-- vectors_at --
-- Each place is [label, number]; labels come from the grant.
SELECT vectors.memory, data
  FROM json_each(:places) AS wanted
  CROSS JOIN vectors ON vectors.workspace = :workspace AND vectors.label = wanted.value ->> 0
                    AND vectors.profile = :profile AND vectors.number = wanted.value ->> 1;

-- vectors_by_id --
SELECT memories.id, data
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
  CROSS JOIN vectors ON vectors.workspace = :workspace AND vectors.profile = :profile
                    AND vectors.memory = memories.memory
 WHERE +memories.label IN (SELECT value FROM json_each(:labels));

-- vectors_by_number --
SELECT vectors.memory, data
  FROM json_each(:numbers) AS wanted
  CROSS JOIN vectors ON vectors.workspace = :workspace AND vectors.profile = :profile
                    AND vectors.memory = wanted.value
 WHERE +vectors.label IN (SELECT value FROM json_each(:labels));

-- without_vector --
SELECT content, tier, archived FROM memories
 WHERE workspace = :workspace AND +label IN (SELECT value FROM json_each(:labels))
   AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.workspace = :workspace
                      AND vectors.profile = :profile AND vectors.memory = memories.memory)
   AND content ->> 'indexed_text' IS NOT '' AND id > :after
 ORDER BY id LIMIT :limit;

-- indexed_to --
SELECT reached, generation FROM vector_indexes
 WHERE workspace = :workspace AND label = :label AND profile = :profile;

-- index_reached --
INSERT OR REPLACE INTO vector_indexes (workspace, label, profile, reached, generation)
VALUES (:workspace, :label, :profile, :reached, :generation);

-- index_chunks --
SELECT name FROM sqlite_master
 WHERE type = 'table' AND substr(name, 1, 4) = 'vec_' AND instr(name, '_vector_chunks');

-- forget_index --
DELETE FROM vector_indexes
 WHERE workspace = :workspace AND label = :label AND profile = :profile;

-- forget_indexes --
DELETE FROM vector_indexes;

-- resting_on --
-- Everything derived from these, at any depth.
WITH RECURSIVE reached (id) AS (
    SELECT origin FROM json_each(:ids) AS given
      JOIN links ON links.workspace = :workspace AND links.target = given.value
               AND links.relation = 'derived_from'
     UNION
    SELECT origin FROM reached
      JOIN links ON links.workspace = :workspace AND links.target = reached.id
               AND links.relation = 'derived_from'
)
SELECT content, tier, archived FROM memories JOIN reached ON memories.id = reached.id
 WHERE workspace = :workspace
 ORDER BY at DESC, memories.id;

-- erase_event --
UPDATE events
   SET label = NULL, key = NULL, at = NULL, content = NULL, salt = NULL, bytes = 0
 WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL;

-- drop_any_work --
DELETE FROM outbox WHERE workspace = ?1 AND priority IN (0, 1)
   AND seq = (SELECT seq FROM events WHERE workspace = ?1 AND id = ?2);

-- add_tombstone --
INSERT INTO tombstones (workspace, kind, digest, at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET at = excluded.at WHERE excluded.at > tombstones.at;

-- tombstones --
SELECT kind, digest, at FROM tombstones WHERE workspace = :workspace ORDER BY kind, digest;

-- stones_of_drawers --
SELECT kind, digest, at
  FROM json_each(:digests) AS wanted
  CROSS JOIN tombstones ON tombstones.workspace = :workspace AND kind IN ('scope', 'user')
                       AND digest = wanted.value;

-- among_tombstones --
SELECT digest
  FROM json_each(:digests) AS wanted
  CROSS JOIN tombstones ON tombstones.workspace = :workspace AND kind = :kind
                       AND digest = wanted.value;

-- still_kept --
SELECT EXISTS (SELECT 1 FROM events WHERE instr(content, :text))
    OR EXISTS (SELECT 1 FROM memories WHERE instr(content, :text))
    OR EXISTS (SELECT 1 FROM window_items WHERE instr(content, :text))
    OR EXISTS (SELECT 1 FROM audit WHERE instr(content, :text))
    OR EXISTS (SELECT 1 FROM vectors WHERE instr(data, :bytes));

-- window_items --
-- What says when it expires lives until then; the rest as long as something happens in its place:
-- from the last time something was put there, in steps from message to message.
WITH RECURSIVE stretch (label, reached) AS (
    SELECT value, (SELECT at FROM window_items
                    WHERE workspace = :workspace AND label = value
                      AND slot <> 'summary' AND at <= :now ORDER BY at DESC LIMIT 1)
      FROM json_each(:labels)
     UNION ALL
    SELECT label, (SELECT at FROM events
                    WHERE events.workspace = :workspace AND events.label = stretch.label
                      AND events.at > reached
                      AND events.at < min(:until, strftime('%Y-%m-%dT%H:%M:%S',
                            substr(reached, 1, 19), :idle) || substr(reached, 20))
                    ORDER BY at DESC LIMIT 1)
      FROM stretch WHERE reached <= :idle_since)
SELECT content FROM window_items
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
   AND slot IN (SELECT value FROM json_each(:slots)) AND (:key IS NULL OR key = :key)
   AND CASE WHEN expires_at IS NOT NULL THEN expires_at > :now
            ELSE at > :idle_since
              OR label IN (SELECT label FROM stretch WHERE reached > :idle_since) END
 ORDER BY at DESC, slot, key;

-- put_window_item --
INSERT OR REPLACE INTO window_items
       (workspace, label, slot, key, at, expires_at, tied_to, content)
VALUES (:workspace, :label, :slot, :key, :at, :expires_at, :tied_to, :content);

-- let_go_of_window --
-- What was over in a place goes before something new is put there.
DELETE FROM window_items
 WHERE workspace = :workspace AND label = :label AND expires_at IS NULL AND at <= :idle_since
   AND NOT EXISTS (
                 WITH RECURSIVE stretch (reached) AS (
                   SELECT max(at) FROM window_items AS other
                    WHERE other.workspace = :workspace AND other.label = :label
                      AND other.slot <> 'summary' AND other.at <= :now
                    UNION ALL
                   SELECT (SELECT at FROM events
                            WHERE events.workspace = :workspace AND events.label = :label
                              AND events.at > reached
                              AND events.at < min(:until, strftime('%Y-%m-%dT%H:%M:%S',
                                    substr(reached, 1, 19), :idle) || substr(reached, 20))
                            ORDER BY at DESC LIMIT 1)
                     FROM stretch WHERE reached <= :idle_since)
                 SELECT 1 FROM stretch WHERE reached > :idle_since);

-- trim_window --
-- Only the newest of a slot stay. They are counted first, which an index tells: mostly none goes,
-- and rows are long.
DELETE FROM window_items
 WHERE workspace = :workspace AND label = :label AND slot = :slot
   AND key IN (SELECT key FROM window_items
                WHERE workspace = :workspace AND label = :label AND slot = :slot
                ORDER BY at DESC, key
                LIMIT max(0, (SELECT count(*) FROM window_items
                               WHERE workspace = :workspace AND label = :label AND slot = :slot)
                             - :most)
               OFFSET :most);

-- drop_window_item --
DELETE FROM window_items
 WHERE workspace = :workspace AND label = :label AND slot = :slot
   AND (:key IS NULL OR key = :key);

-- prune_window --
DELETE FROM window_items
 WHERE workspace IN (SELECT workspace FROM workspaces WHERE :names IS NULL
                     UNION ALL
                     SELECT home.workspace FROM json_each(:names)
                      CROSS JOIN workspaces AS home ON home.name = json_each.value)
   AND CASE WHEN expires_at IS NOT NULL THEN expires_at <= :now
            ELSE at <= :idle_since
             AND NOT EXISTS (
                 WITH RECURSIVE stretch (reached) AS (
                   SELECT max(at) FROM window_items AS other
                    WHERE other.workspace = window_items.workspace AND other.label = window_items.label
                      AND other.slot <> 'summary' AND other.at <= :now
                    UNION ALL
                   SELECT (SELECT at FROM events
                            WHERE events.workspace = window_items.workspace
                              AND events.label = window_items.label AND events.at > reached
                              AND events.at < min(:until, strftime('%Y-%m-%dT%H:%M:%S',
                                    substr(reached, 1, 19), :idle) || substr(reached, 20))
                            ORDER BY at DESC LIMIT 1)
                     FROM stretch WHERE reached <= :idle_since)
                 SELECT 1 FROM stretch WHERE reached > :idle_since) END
RETURNING (SELECT name FROM workspaces WHERE workspaces.workspace = window_items.workspace);

-- any_erased --
-- Most workspaces have no tombstone at all: then none is looked for, a hundred times.
SELECT 1 FROM json_each(:ids) AS given
  CROSS JOIN events ON events.workspace = :workspace AND events.id = given.value
 WHERE content IS NULL
 UNION ALL
SELECT 1 FROM (SELECT 1 FROM tombstones WHERE workspace = :workspace LIMIT 1)
  CROSS JOIN json_each(:ids) AS given
  CROSS JOIN tombstones AS stone ON stone.workspace = :workspace
        AND stone.kind IN ('memory', 'scope', 'user') AND stone.digest = given.value
 WHERE stone.kind = 'memory' OR stone.at >= :since
 LIMIT 1;

-- window_tied_to --
-- Also the thoughts of a place where one of these was said: they may say it again.
SELECT content FROM window_items
 WHERE workspace = :workspace
   AND (EXISTS (SELECT 1 FROM json_each(tied_to) AS tie
                 WHERE tie.value IN (SELECT value FROM json_each(:ids)))
        OR (slot = 'thought'
            AND label IN (SELECT events.label FROM json_each(:ids) AS given
                           CROSS JOIN events ON events.workspace = :workspace
                                            AND events.id = given.value)))
 ORDER BY at DESC, slot, key;

-- erase_from_window --
DELETE FROM window_items
 WHERE workspace = :workspace
   AND (EXISTS (SELECT 1 FROM json_each(tied_to) AS tie
                 WHERE tie.value IN (SELECT value FROM json_each(:ids)))
        OR (slot = 'thought'
            AND label IN (SELECT events.label FROM json_each(:ids) AS given
                           CROSS JOIN events ON events.workspace = :workspace
                                            AND events.id = given.value)));

-- newest_events --
-- Of one label, so that the index gives them in order and reading ends with the limit.
SELECT at, id, content FROM events INDEXED BY events_by_time
 WHERE workspace = ?1 AND label = ?2
   AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR at < ?4)
   AND content IS NOT NULL
 ORDER BY at DESC, id LIMIT ?5;

-- add_spending --
INSERT INTO spending (workspace, day, purpose, model, calls, input_tokens, output_tokens, cost)
VALUES (:workspace, :day, :purpose, :model, :calls, :input_tokens, :output_tokens, :cost)
ON CONFLICT (workspace, day, purpose, model) DO UPDATE
   SET calls = calls + excluded.calls,
       input_tokens = input_tokens + excluded.input_tokens,
       output_tokens = output_tokens + excluded.output_tokens,
       cost = cost + excluded.cost;

-- spending --
SELECT day, purpose, model, calls, input_tokens, output_tokens, cost FROM spending
 WHERE workspace = :workspace AND (:since IS NULL OR day >= :since)
 ORDER BY day, purpose, model;

-- next_label --
SELECT min(label) FROM labels WHERE workspace = :workspace AND label >= :label;

-- memories_of_label --
-- From the oldest on, a part at a time.
SELECT memory, at, id, kind, thread, length, asks, directs, content, tier, archived
  FROM memories INDEXED BY memories_by_time
 WHERE workspace = :workspace AND label = :label AND at >= :at AND (at, id) > (:at, :id)
 ORDER BY at, id LIMIT :limit;

-- restore_thread --
-- A thread whose memories are there, and which has their number.
INSERT OR IGNORE INTO threads (workspace, label, thread, name)
VALUES (:workspace, :label, :thread, :name);

-- mend_posting --
INSERT INTO postings (workspace, label, term, memory, frequency, length, thread)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (workspace, label, term, memory) DO UPDATE
   SET frequency = excluded.frequency, length = excluded.length, thread = excluded.thread
 WHERE (postings.frequency, postings.length, postings.thread)
       IS NOT (excluded.frequency, excluded.length, excluded.thread);

-- count_postings --
SELECT count(*) FROM postings WHERE workspace = :workspace AND label = :label;

-- stray_postings --
-- Memories whose words do not add up, and numbers that no memory of this label has.
SELECT held.memory
  FROM (SELECT memory, sum(frequency) AS words FROM postings
         WHERE workspace = :workspace AND label = :label GROUP BY memory) AS held
  LEFT JOIN memories ON memories.workspace = :workspace AND memories.memory = held.memory
                    AND memories.label = :label
 WHERE memories.length IS NOT held.words;

-- drop_postings_of --
DELETE FROM postings
 WHERE workspace = :workspace AND label = :label
   AND memory IN (SELECT value FROM json_each(:memories));

-- recount_threads --
UPDATE threads SET terms = (SELECT coalesce(sum(length), 0) FROM memories
                             WHERE memories.workspace = threads.workspace
                               AND memories.label = threads.label
                               AND memories.thread = threads.thread)
 WHERE workspace = :workspace AND label = :label
   AND terms <> (SELECT coalesce(sum(length), 0) FROM memories
                  WHERE memories.workspace = threads.workspace
                    AND memories.label = threads.label AND memories.thread = threads.thread);

-- drop_empty_threads --
DELETE FROM threads
 WHERE workspace = :workspace AND label = :label
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = threads.workspace
                      AND memories.label = threads.label AND memories.thread = threads.thread);

-- label_sums --
-- What a label says of itself, and what there is.
SELECT documents, terms, threads, names,
       (SELECT count(*) FROM memories AS m
         WHERE m.workspace = labels.workspace AND m.label = labels.label),
       (SELECT coalesce(sum(length), 0) FROM memories AS m
         WHERE m.workspace = labels.workspace AND m.label = labels.label),
       (SELECT count(*) FROM threads AS t
         WHERE t.workspace = labels.workspace AND t.label = labels.label),
       (SELECT count(*) FROM names AS n
         WHERE n.workspace = labels.workspace AND n.label = labels.label),
       (SELECT coalesce(sum(t.terms), 0) FROM threads AS t
         WHERE t.workspace = labels.workspace AND t.label = labels.label),
       (SELECT coalesce(sum(frequency), 0) FROM postings AS p
         WHERE p.workspace = labels.workspace AND p.label = labels.label)
  FROM labels
 WHERE workspace = :workspace AND label = :label;

-- set_label_sums --
UPDATE labels SET documents = :documents, terms = :terms, threads = :threads, names = :names
 WHERE workspace = :workspace AND label = :label;

-- links_from --
SELECT origin, target
  FROM json_each(:ids) AS wanted
  CROSS JOIN links ON links.workspace = :workspace AND links.origin = wanted.value
                  AND links.relation = 'derived_from';

-- drop_link --
DELETE FROM links WHERE workspace = ? AND origin = ? AND relation = ? AND target = ?;

-- drop_stray_links --
DELETE FROM links
 WHERE workspace = :workspace
   AND NOT EXISTS (SELECT 1 FROM memories
                    WHERE memories.workspace = links.workspace AND memories.id = links.origin);

-- link_damage --
-- Memories that rest on nothing, and links that belong to no memory.
SELECT (SELECT count(*) FROM memories
         WHERE workspace = :workspace
           AND NOT EXISTS (SELECT 1 FROM links
                            WHERE links.workspace = :workspace AND links.origin = memories.id
                              AND relation = 'derived_from')),
       (SELECT count(*) FROM links
         WHERE workspace = :workspace
           AND NOT EXISTS (SELECT 1 FROM memories
                            WHERE memories.workspace = :workspace
                              AND memories.id = links.origin));

-- mend_name --
INSERT OR IGNORE INTO names (workspace, label, name, kind, at, id) VALUES (?, ?, ?, ?, ?, ?);

-- count_names --
SELECT count(*) FROM names WHERE workspace = :workspace AND label = :label;

-- drop_names_of --
DELETE FROM names WHERE workspace = :workspace AND label = :label;

-- stray_vectors --
SELECT vectors.label, vectors.profile, vectors.memory
  FROM vectors
  LEFT JOIN memories ON memories.workspace = vectors.workspace
                    AND memories.memory = vectors.memory
 WHERE vectors.workspace = :workspace AND memories.label IS NOT vectors.label
 LIMIT :limit;

-- count_events --
SELECT count(*) FROM events
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels));

-- count_memories --
-- By label first, as the index has them: few rows are left to be sorted by their kind.
SELECT kind, sum(memories)
  FROM (SELECT kind, count(*) AS memories FROM memories
         WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
         GROUP BY label, kind)
 GROUP BY kind ORDER BY kind;

-- count_vectors --
SELECT count(*) FROM vectors
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels));

-- versions --
SELECT version FROM schema_version ORDER BY version;

-- add_version --
INSERT INTO schema_version (version, description, applied_at)
VALUES (:version, :description, :applied_at);

-- named_workspaces --
SELECT name FROM workspaces ORDER BY name;

-- standing_counts --
-- In the order in which shelves are moved.
SELECT (SELECT count(*) FROM events WHERE workspace = :workspace),
       (SELECT count(*) FROM memories WHERE workspace = :workspace),
       (SELECT count(*) FROM vectors WHERE workspace = :workspace),
       (SELECT count(*) FROM uses WHERE workspace = :workspace),
       (SELECT count(*) FROM tombstones WHERE workspace = :workspace),
       (SELECT count(*) FROM spending WHERE workspace = :workspace),
       (SELECT count(*) FROM window_items WHERE workspace = :workspace),
       (SELECT count(*) FROM outbox WHERE workspace = :workspace),
       (SELECT count(*) FROM jobs WHERE workspace = :workspace),
       (SELECT count(*) FROM audit WHERE workspace = :workspace);

-- standing_events --
SELECT seq, id, content, salt, commitment, hash FROM events
 WHERE workspace = :workspace AND seq > :first ORDER BY seq LIMIT :limit;

-- standing_memories --
SELECT memory, content, tier, archived FROM memories
 WHERE workspace = :workspace AND memory > :first ORDER BY memory LIMIT :limit;

-- standing_vectors --
SELECT vectors.profile, vectors.memory, memories.id, provider, model, dimension, revision, data
  FROM vectors
  JOIN memories ON memories.workspace = vectors.workspace AND memories.memory = vectors.memory
  JOIN profiles ON profiles.profile = vectors.profile
 WHERE vectors.workspace = :workspace
   AND (vectors.profile, vectors.memory) > (:first, :second)
 ORDER BY vectors.profile, vectors.memory LIMIT :limit;

-- standing_tombstones --
SELECT kind, digest, at FROM tombstones
 WHERE workspace = :workspace AND (kind, digest) > (:first, :second)
 ORDER BY kind, digest LIMIT :limit;

-- standing_spending --
SELECT day, purpose, model, calls, input_tokens, output_tokens, cost FROM spending
 WHERE workspace = :workspace AND (day, purpose, model) > (:first, :second, :third)
 ORDER BY day, purpose, model LIMIT :limit;

-- standing_window --
SELECT label, slot, key, content FROM window_items
 WHERE workspace = :workspace AND (label, slot, key) > (:first, :second, :third)
 ORDER BY label, slot, key LIMIT :limit;

-- standing_work --
SELECT priority, outbox.seq, events.id, step, due_at, attempts, error
  FROM outbox JOIN events ON events.workspace = outbox.workspace AND events.seq = outbox.seq
 WHERE outbox.workspace = :workspace AND (priority, outbox.seq) > (:first, :second)
 ORDER BY priority, outbox.seq LIMIT :limit;

-- standing_jobs --
SELECT name, key, every_seconds, on_news, priority, due_at, attempts, error, dead, cursor,
       last_run_at, seconds, counts
  FROM jobs WHERE workspace = :workspace AND (name, key) > (:first, :second)
 ORDER BY name, key LIMIT :limit;

-- move_jobs --
INSERT OR IGNORE INTO jobs (workspace, name, key, every_seconds, on_news, priority, due_at,
                            attempts, error, dead, cursor, last_run_at, seconds, counts)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- known_memories --
SELECT memories.id, content, tier, archived
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value;

-- count_known_vectors --
SELECT count(*)
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
  JOIN vectors ON vectors.workspace = :workspace AND vectors.profile = :profile
              AND vectors.memory = memories.memory;

-- places_of_events --
SELECT events.id, seq, label
  FROM json_each(:ids) AS wanted
  CROSS JOIN events ON events.workspace = :workspace AND events.id = wanted.value;

-- move_spending --
INSERT OR IGNORE INTO spending
       (workspace, day, purpose, model, calls, input_tokens, output_tokens, cost)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- move_window_item --
INSERT OR IGNORE INTO window_items
       (workspace, label, slot, key, at, expires_at, tied_to, content)
VALUES (:workspace, :label, :slot, :key, :at, :expires_at, :tied_to, :content);

-- move_work --
INSERT OR IGNORE INTO outbox (workspace, seq, label, step, due_at, attempts, error, priority)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- fading --
-- The conditions on the state are those of the index, which holds all that is asked for. What is worth
-- something and was told lately cannot have become weak.
SELECT memory, id, label, kind, at, length, salience, confidence, trust, 'short', 0, 0
  FROM memories INDEXED BY memories_fading
 WHERE workspace = ?1 AND memory > ?2
   AND tier = 'short' AND pinned = 0 AND archived = 0
   AND (salience < ?4
        OR at < CASE WHEN kind IN ('fact', 'entity', 'procedure') THEN ?6 ELSE ?5 END)
 ORDER BY memory LIMIT ?3;

-- fading_in_idle_conversations --
SELECT memory, id, label, kind, at, length, salience, confidence, trust, 'short', 0, 0
  FROM memories INDEXED BY memories_fading
 WHERE workspace = ?1 AND memory > ?2
   AND tier = 'short' AND pinned = 0 AND archived = 0 AND at < ?4
   AND NOT EXISTS (SELECT 1 FROM memories AS later INDEXED BY memories_by_thread
                    WHERE later.workspace = ?1 AND later.label = memories.label
                      AND later.thread = memories.thread AND later.at >= ?4)
 ORDER BY memory LIMIT ?3;

-- going_on --
SELECT min(last)
  FROM (SELECT max(at) AS last FROM memories INDEXED BY memories_fading
         WHERE workspace = ?1 AND tier = 'short' AND pinned = 0 AND archived = 0 AND at >= ?2
         GROUP BY label, thread);

-- used_lately --
-- By id: the index of uses gives them in that order.
SELECT memory, memories.id, label, kind, at, length, salience, confidence, trust, tier, archived,
       pinned
  FROM (SELECT DISTINCT id FROM uses INDEXED BY uses_by_memory
         WHERE workspace = ?1 AND id > ?2 AND last_at >= ?4
           AND EXISTS (SELECT 1 FROM memories WHERE memories.workspace = ?1
                          AND memories.id = uses.id AND (NOT ?5 OR archived))
         ORDER BY id LIMIT ?3) AS used
  CROSS JOIN memories ON memories.workspace = ?1 AND memories.id = used.id
 ORDER BY used.id;

-- some_uses --
SELECT id, label, count, conversations, last_at FROM uses WHERE workspace = ? LIMIT ?;

-- label_sets --
SELECT label, learned, scopes FROM labels WHERE workspace = ?;

-- uses_of --
SELECT id, label, count, conversations, last_at FROM uses
 WHERE workspace = :workspace AND id IN (SELECT value FROM json_each(:ids));

-- uses_seen --
-- Only of memories that may be seen, and in places that may be read.
SELECT uses.id, uses.label, count, conversations, last_at
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
  CROSS JOIN uses ON uses.workspace = :workspace AND uses.id = memories.id
 WHERE +memories.label IN (SELECT value FROM json_each(:labels))
   AND +uses.label IN (SELECT value FROM json_each(:labels));

-- among_memories --
SELECT memories.id
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value;

-- put_use --
INSERT OR REPLACE INTO uses (workspace, label, id, count, conversations, last_at, owner)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- move_use --
INSERT OR IGNORE INTO uses (workspace, label, id, count, conversations, last_at, owner)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- erase_uses --
-- Of what is gone, in places that are gone, and in those of people who are gone.
DELETE FROM uses
 WHERE workspace = :workspace
   AND (id IN (SELECT value FROM json_each(:ids))
        OR owner IN (SELECT value FROM json_each(:ids))
        OR label IN (SELECT labels.label FROM labels
                      WHERE labels.workspace = :workspace
                        AND scopes IN (SELECT '["' || value || '"]' FROM json_each(:ids))));

-- any_stray_uses --
SELECT 1 FROM uses
 WHERE workspace = ?1 AND last_at < ?2
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = ?1 AND memories.id = uses.id)
 LIMIT 1;

-- drop_stray_uses --
-- Of memories that went otherwise than by forgetting, and did not come back.
DELETE FROM uses
 WHERE workspace = :workspace AND last_at < :before
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = :workspace
                      AND memories.id = uses.id);

-- mark_memories --
-- Postings and vectors stay as they are.
UPDATE memories SET tier = coalesce(?3, tier), archived = coalesce(?4, archived)
 WHERE workspace = ?1 AND id IN (SELECT value FROM json_each(?2))
   AND (tier <> coalesce(?3, tier) OR archived <> coalesce(?4, archived))
RETURNING label;

-- standing_uses --
SELECT uses.label, uses.id, scopes, count, conversations, last_at, owner
  FROM uses JOIN labels ON labels.workspace = uses.workspace AND labels.label = uses.label
 WHERE uses.workspace = :workspace AND (uses.label, uses.id) > (:first, :second)
 ORDER BY uses.label, uses.id LIMIT :limit;

-- forgotten_people --
SELECT kind, digest, at
  FROM json_each(:digests) AS wanted
  CROSS JOIN tombstones ON tombstones.workspace = :workspace AND kind = 'user'
                       AND digest = wanted.value;

-- trail_end --
SELECT audited, trail FROM workspaces WHERE workspace = ?;

-- advance_trail --
UPDATE workspaces SET audited = ?2, trail = ?3 WHERE workspace = ?1;

-- add_audit --
INSERT INTO audit (workspace, number, day, at, action, content, salt, commitment, hash, seal)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- newest_audit --
SELECT number, at, action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = :workspace AND number > :after AND (:action IS NULL OR action = :action)
   AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
 ORDER BY number DESC LIMIT :limit;

-- next_audit --
SELECT number, at, action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = :workspace AND number > :after AND (:action IS NULL OR action = :action)
   AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
 ORDER BY number LIMIT :limit;

-- trail --
SELECT number, at, action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = :workspace ORDER BY number;

-- audit_contents --
SELECT number, content FROM audit WHERE workspace = :workspace AND content IS NOT NULL;

-- blank_audit --
UPDATE audit SET content = NULL, salt = NULL
 WHERE workspace = ? AND number = ? AND content IS NOT NULL;

-- oldest_audit --
SELECT day FROM audit WHERE workspace = :workspace ORDER BY number LIMIT 1;

-- old_audit --
-- Those before the first of a day that is kept.
SELECT number, day, hash FROM audit
 WHERE workspace = :workspace
   AND number < coalesce((SELECT min(number) FROM audit
                           WHERE workspace = :workspace AND day >= :before), 9223372036854775807)
 ORDER BY number;

-- drop_audit --
DELETE FROM audit WHERE workspace = :workspace AND number <= :through;

-- standing_audit --
SELECT number, at, action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = :workspace AND number > :first ORDER BY number LIMIT :limit;
