-- One query per heading. The text never depends on input: a list is one JSON parameter.
-- CROSS JOIN and unary plus make the planner start from such a list, not from an index by label.

-- find_workspace --
SELECT workspace, event_count, chain_head, last_number FROM workspaces WHERE name = :name;

-- find_workspaces --
SELECT name, workspace FROM workspaces WHERE name IN (SELECT value FROM json_each(:names));

-- lock_workspace --
-- For a write. A SQLite file has one writer at a time, so there is nothing to lock.
SELECT workspace, event_count, chain_head, last_number FROM workspaces WHERE name = :name;

-- lock_workspaces --
SELECT name, workspace FROM workspaces WHERE name IN (SELECT value FROM json_each(:names));

-- add_workspace --
INSERT INTO workspaces (name, chain_head) VALUES (:name, :head);

-- workspaces --
SELECT name FROM workspaces WHERE event_count > 0 ORDER BY name;

-- workspace_numbers --
SELECT workspace, name FROM workspaces ORDER BY workspace;

-- advance_chain --
-- The first event of a day stores the event count before that day.
UPDATE workspaces SET events_before_day = CASE WHEN last_write_day < ?5 THEN event_count ELSE events_before_day END,
       last_write_day = max(last_write_day, ?5), text_bytes = text_bytes + ?4, event_count = ?2, chain_head = ?3
 WHERE workspace = ?1;

-- workspace_usage --
-- A stored day after :day comes from another clock and counts as today.
SELECT CASE WHEN last_write_day >= :day THEN event_count - events_before_day ELSE 0 END, text_bytes
  FROM workspaces WHERE workspace = :workspace;

-- count_workspace_memories --
SELECT coalesce(sum(document_count), 0) FROM labels WHERE workspace = :workspace;

-- sum_event_bytes --
SELECT coalesce(sum(bytes), 0)
  FROM json_each(:ids) AS gone
  CROSS JOIN events ON events.workspace = :workspace AND events.id = gone.value;

-- subtract_text_bytes --
UPDATE workspaces SET text_bytes = text_bytes - :bytes WHERE workspace = :workspace;

-- allocate_numbers --
UPDATE workspaces SET last_number = last_number + :count WHERE workspace = :workspace
RETURNING last_number;

-- find_label --
SELECT label FROM labels
 WHERE workspace = :workspace AND scopes = :scopes AND is_derived = :learned;

-- add_label --
INSERT INTO labels (workspace, label, scopes, scope_count, is_derived)
SELECT :workspace, coalesce(max(label), 0) + 1, :scopes, :size, :learned
  FROM labels WHERE workspace = :workspace
RETURNING label;

-- add_label_scope --
INSERT INTO label_scopes (workspace, scope, label) VALUES (?, ?, ?);

-- readable_labels --
-- Labels whose scopes are all in the grant.
SELECT labels.workspace, labels.label, labels.last_number, generation, document_count, term_count, conversation_count, name_count,
       is_derived, epoch
  FROM workspaces
  CROSS JOIN json_each(:scopes) AS scope
  CROSS JOIN label_scopes ON label_scopes.workspace = workspaces.workspace
                         AND label_scopes.scope = scope.value
  CROSS JOIN labels ON labels.workspace = workspaces.workspace
                   AND labels.label = label_scopes.label
 WHERE workspaces.name = :name
 GROUP BY labels.label
HAVING count(*) = scope_count;

-- all_labels --
SELECT labels.workspace, label, labels.last_number, generation, document_count, term_count, conversation_count, name_count, is_derived,
       epoch
  FROM labels JOIN workspaces ON workspaces.workspace = labels.workspace
 WHERE workspaces.name = :name;

-- event_contents_by_id --
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
-- Inserts nothing if the event exists.
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
-- The last column tells whether an event without content has a tombstone.
SELECT seq, content, salt, commitment, hash, key, id, at,
       (SELECT scopes FROM labels WHERE labels.workspace = events.workspace
                                    AND labels.label = events.label AND NOT is_derived),
       content IS NULL AND EXISTS (SELECT 1 FROM tombstones
                                    WHERE tombstones.workspace = events.workspace
                                      AND kind = 'event' AND digest = events.id)
  FROM events WHERE workspace = :workspace ORDER BY seq;

-- count_pending --
SELECT count(*) FROM outbox
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels));

-- workspaces_with_work --
-- The next workspaces with queued work, by index skips instead of a scan of the queue.
WITH RECURSIVE homes (workspace) AS (
    SELECT (SELECT min(workspace) FROM outbox WHERE workspace > :after)
     UNION ALL
    SELECT (SELECT min(workspace) FROM outbox WHERE outbox.workspace > homes.workspace)
      FROM homes WHERE homes.workspace IS NOT NULL
     LIMIT :limit)
SELECT workspace FROM homes WHERE workspace IS NOT NULL;

-- any_due_work --
SELECT 1 FROM outbox
         WHERE workspace = ?1 AND due_at <= ?2 AND (?3 IS NULL OR step = ?3)
           AND (leased_until IS NULL OR leased_until <= ?2)
           AND NOT EXISTS (SELECT 1 FROM outbox AS other
                            WHERE other.workspace = outbox.workspace AND other.label = outbox.label
                              AND other.step = outbox.step AND other.leased_until > ?2)
 LIMIT 1;

-- lock_workspaces_with_work --
-- A SQLite file has one writer at a time, so there is nothing to lock.
SELECT value FROM json_each(:homes);

-- lease_workspace_work --
-- The oldest due work of a workspace, without scopes in which another worker has a lease.
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

-- due_work --
-- Work without failures is due immediately: clocks of other machines may be ahead.
SELECT name, outbox.workspace, seq, step, attempts, priority, 0, error
  FROM outbox JOIN workspaces ON workspaces.workspace = outbox.workspace
 WHERE outbox.workspace = :workspace
   AND outbox.label IN (SELECT value FROM json_each(:labels))
   AND (attempts = 0 OR due_at <= :now OR :failed) AND due_at < :never
   AND (:step IS NULL OR step = :step)
   AND (leased_until IS NULL OR leased_until <= :now OR :leased)
 ORDER BY priority, seq LIMIT :limit;

-- pending_scopes --
-- The label and the scope of queued work. Events with one label have one scope.
SELECT pending.label, content ->> 'scope'
  FROM (SELECT label, min(seq) AS seq FROM outbox
         WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
         GROUP BY label) AS pending
  JOIN events ON events.workspace = :workspace AND events.seq = pending.seq;

-- lease_granted_work --
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

-- count_leased_work --
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

-- event_contents_by_seq --
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

-- list_pending --
SELECT events.id, content ->> 'scope', step, attempts, error, due_at
  FROM outbox
  JOIN events ON events.workspace = outbox.workspace AND events.seq = outbox.seq
 WHERE outbox.workspace = :workspace
   AND outbox.label IN (SELECT value FROM json_each(:labels))
 ORDER BY error IS NULL, due_at DESC, events.id LIMIT :limit;

-- retry_work --
-- A worker that has a lease on it loses the lease.
UPDATE outbox SET attempts = CASE WHEN due_at >= :never THEN 0 ELSE attempts END, due_at = :now,
                  leased_until = NULL
 WHERE workspace = :workspace AND error IS NOT NULL
   AND (:ids IS NULL OR seq IN (SELECT seq FROM events WHERE events.workspace = :workspace
                                   AND id IN (SELECT value FROM json_each(:ids))));

-- advance_work_step --
UPDATE outbox SET step = ?5, attempts = 0, error = NULL, leased_until = NULL, due_at = ?6
 WHERE workspace = ?1 AND priority IN (0, 1) AND step = ?3 AND (?4 IS NULL OR fence = ?4)
   AND seq = (SELECT seq FROM events WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL);

-- gather_work --
-- Work of the scope of this event that waits for more work becomes due together.
UPDATE outbox
   SET due_at = CASE WHEN (SELECT count(*)
                             FROM (SELECT 1 FROM outbox AS other
                                    WHERE other.workspace = outbox.workspace
                                      AND other.label = outbox.label AND other.step = :step
                                      AND other.attempts = 0 AND other.leased_until IS NULL
                                    LIMIT :enough)) >= :enough
                     THEN :now ELSE :later END
 WHERE workspace = :workspace AND step = :step AND attempts = 0 AND leased_until IS NULL
   AND due_at > :now
   AND label = (SELECT label FROM events WHERE workspace = :workspace AND id = :id);

-- drop_work --
DELETE FROM outbox
 WHERE workspace = ?1 AND priority IN (0, 1) AND step = ?3 AND (?4 IS NULL OR fence = ?4)
   AND seq = (SELECT seq FROM events WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL);

-- fail_work --
UPDATE outbox SET attempts = attempts + 1, error = ?5, due_at = ?6, leased_until = NULL
 WHERE workspace = ?1 AND priority IN (0, 1) AND step = ?3 AND (?4 IS NULL OR fence = ?4)
   AND seq = (SELECT seq FROM events WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL);

-- reset_work --
-- A worker that has a lease on it loses the lease.
INSERT INTO outbox (workspace, seq, label, step, due_at, priority)
SELECT workspace, seq, label, ?3, ?4, coalesce(
           (SELECT priority FROM outbox WHERE outbox.workspace = ?1 AND outbox.priority IN (0, 1)
               AND outbox.seq = events.seq), 0)
  FROM events WHERE workspace = ?1 AND id = ?2 AND content IS NOT NULL
    ON CONFLICT (workspace, priority, seq) DO UPDATE
   SET step = excluded.step, due_at = excluded.due_at, fence = fence + 1, leased_until = NULL,
       attempts = 0, error = NULL;

-- ensure_recurring_jobs --
-- The recurring jobs of a range of workspaces.
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

-- count_missing_jobs --
-- The number of missing or different jobs.
SELECT (SELECT count(*) FROM workspaces WHERE workspace > :after AND workspace <= :last)
       * json_array_length(:recurring)
     - (SELECT count(*) FROM workspaces AS home
         CROSS JOIN json_each(:recurring) AS each
         CROSS JOIN jobs ON jobs.workspace = home.workspace AND jobs.name = each.value ->> 0
                        AND jobs.key = ''
         WHERE home.workspace > :after AND home.workspace <= :last
           AND every_seconds = each.value ->> 1 AND on_news = each.value ->> 2
           AND priority = each.value ->> 3);

-- unschedule_jobs --
-- These jobs recur no longer.
UPDATE jobs SET every_seconds = NULL, on_news = 0, due_at = NULL, has_news = 0
 WHERE workspace > :after AND workspace <= :last AND key = ''
   AND name IN (SELECT value FROM json_each(:names))
   AND every_seconds IS NOT NULL AND leased_until IS NULL;

-- last_workspace --
-- The last of the next :limit workspaces.
SELECT max(workspace) FROM (SELECT workspace FROM workspaces
                             WHERE workspace > :after ORDER BY workspace LIMIT :limit);

-- job_names --
SELECT name, key FROM jobs WHERE workspace = :workspace;

-- schedule_job --
-- If the job is running, it runs again afterwards.
INSERT INTO jobs (workspace, name, key, on_news, priority, due_at) VALUES (?, ?, ?, 0, ?, ?)
    ON CONFLICT (workspace, name, key) DO UPDATE
   SET due_at = CASE WHEN leased_until IS NULL
                     THEN min(coalesce(due_at, excluded.due_at), excluded.due_at)
                     ELSE due_at END,
       has_news = leased_until IS NOT NULL OR has_news, priority = min(priority, excluded.priority),
       attempts = CASE WHEN is_dead THEN 0 ELSE attempts END, is_dead = 0;

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
                has_news = CASE WHEN cursor IS NULL THEN 0 ELSE has_news END
 WHERE (workspace, name, key) IN
       (SELECT workspace, name, key FROM jobs
         WHERE priority = :priority AND due_at <= :now
           AND (:names IS NULL OR name IN (SELECT value FROM json_each(:names)))
         ORDER BY due_at, workspace, name, key LIMIT :limit)
RETURNING (SELECT name FROM workspaces WHERE workspaces.workspace = jobs.workspace),
          name, key, fence, attempts, error, cursor, every_seconds, seconds, counts;

-- lease_job --
UPDATE jobs SET attempts = attempts + (leased_until IS NOT NULL),
                error = CASE WHEN leased_until IS NULL THEN error ELSE :lost END,
                leased_until = :until,
                due_at = :until, fence = max(fence + 1, :fence),
                has_news = CASE WHEN cursor IS NULL THEN 0 ELSE has_news END
 WHERE workspace = :workspace AND name = :name AND key = ''
   AND (leased_until IS NULL OR leased_until <= :now)
RETURNING name, key, fence, attempts, error, cursor, every_seconds, seconds, counts;

-- extend_job_leases --
UPDATE jobs SET leased_until = ?5, due_at = ?5
 WHERE workspace = (SELECT workspace FROM workspaces WHERE workspaces.name = ?1)
   AND name = ?2 AND key = ?3 AND fence = ?4 AND leased_until IS NOT NULL;

-- finish_jobs --
UPDATE jobs SET cursor = ?5, seconds = ?6, counts = ?7, last_run_at = ?8, leased_until = NULL,
                attempts = 0, error = NULL,
                due_at = CASE WHEN ?5 IS NOT NULL THEN ?8
                              WHEN has_news THEN min(coalesce(?9, ?10, ?8), coalesce(?10, ?8))
                              WHEN ?9 IS NOT NULL THEN ?9
                              WHEN on_news THEN NULL ELSE ?10 END
 WHERE workspace = (SELECT workspace FROM workspaces WHERE workspaces.name = ?1)
   AND name = ?2 AND key = ?3 AND fence = ?4 AND leased_until IS NOT NULL;

-- drop_jobs --
DELETE FROM jobs
 WHERE workspace = (SELECT workspace FROM workspaces WHERE workspaces.name = ?1)
   AND name = ?2 AND key = ?3 AND fence = ?4 AND leased_until IS NOT NULL AND NOT has_news;

-- fail_jobs --
UPDATE jobs SET attempts = attempts + 1, error = ?5, due_at = ?6, is_dead = ?6 IS NULL,
                leased_until = NULL
 WHERE workspace = (SELECT workspace FROM workspaces WHERE workspaces.name = ?1)
   AND name = ?2 AND key = ?3 AND fence = ?4 AND leased_until IS NOT NULL;

-- count_leased_jobs --
SELECT count(*)
  FROM json_each(:held) AS wanted
  CROSS JOIN workspaces ON workspaces.name = wanted.value ->> 0
  CROSS JOIN jobs ON jobs.workspace = workspaces.workspace AND jobs.name = wanted.value ->> 1
                 AND jobs.key = wanted.value ->> 2
 WHERE fence = wanted.value ->> 3 AND leased_until IS NOT NULL;

-- jobs_waiting_for_news --
SELECT name, key, every_seconds FROM jobs
 WHERE workspace = :workspace AND on_news AND NOT has_news AND NOT is_dead;

-- wake_jobs --
UPDATE jobs SET has_news = 1,
                due_at = CASE WHEN due_at IS NULL OR leased_until IS NULL AND error IS NULL
                              THEN min(coalesce(due_at, ?4), ?4) ELSE due_at END
 WHERE workspace = ?1 AND name = ?2 AND key = ?3;

-- job_states --
SELECT name, key, every_seconds, on_news, priority, due_at, leased_until, attempts, error, is_dead,
       last_run_at, seconds, counts
  FROM jobs WHERE workspace = :workspace ORDER BY name, key;

-- retry_jobs --
UPDATE jobs SET due_at = :now, attempts = CASE WHEN is_dead THEN 0 ELSE attempts END, is_dead = 0
 WHERE workspace = :workspace AND error IS NOT NULL AND leased_until IS NULL
   AND (:names IS NULL OR name IN (SELECT value FROM json_each(:names)));

-- clear_job_errors --
-- An error text may quote an event.
UPDATE jobs SET error = 'it failed' WHERE workspace = :workspace AND error IS NOT NULL;

-- memory_rows_by_id --
SELECT memories.id, memory, label, content, conversation, tier, is_archived
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value;

-- add_memory --
INSERT INTO memories (workspace, memory, id, label, kind, at, subject, predicate, conversation, speaker,
                      role, length, is_question, is_instruction, content, tier, is_archived, salience, confidence,
                      trust, is_pinned)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- find_conversation --
SELECT conversation FROM conversations WHERE workspace = :workspace AND label = :label AND name = :name;

-- add_conversation --
INSERT INTO conversations (workspace, label, conversation, name)
SELECT :workspace, :label, coalesce(max(conversation), 0) + 1, :name
  FROM conversations WHERE workspace = :workspace AND label = :label
RETURNING conversation;

-- add_conversation_terms --
UPDATE conversations SET term_count = term_count + ?4 WHERE workspace = ?1 AND label = ?2 AND conversation = ?3;

-- drop_empty_conversation --
DELETE FROM conversations
 WHERE workspace = :workspace AND label = :label AND conversation = :thread
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = :workspace
                      AND memories.label = :label AND memories.conversation = :thread);

-- add_conversation_count --
UPDATE labels SET conversation_count = conversation_count + :more WHERE workspace = :workspace AND label = :label;

-- conversation_lengths --
SELECT conversation, term_count FROM conversations WHERE workspace = ? AND label = ?;

-- new_candidate_rows --
-- All rows of a label by the label index, not by the workspace; newer rows by number.
SELECT id, memory, conversation, at, speaker, role, length, is_question, is_instruction, kind
  FROM memories INDEXED BY memories_by_conversation
 WHERE workspace = ?1 AND label = ?2 AND ?3 = 0
 UNION ALL
SELECT id, memory, conversation, at, speaker, role, length, is_question, is_instruction, kind
  FROM memories
 WHERE workspace = ?1 AND label = ?2 AND memory > ?3 AND ?3 > 0
 ORDER BY conversation, at, id;

-- memory_contents --
SELECT memories.id, content
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels));

-- add_name --
INSERT INTO names (workspace, label, name, kind, at, id) VALUES (?, ?, ?, ?, ?, ?);

-- drop_name --
DELETE FROM names
 WHERE workspace = ? AND label = ? AND name = ? AND kind = ? AND at = ? AND id = ?;

-- add_name_count --
UPDATE labels SET name_count = name_count + ?3 WHERE workspace = ?1 AND label = ?2;

-- memory_ids_between --
-- One label, so that the index gives the order and the scan ends at the limit.
SELECT at, id FROM memories INDEXED BY memories_by_time
 WHERE workspace = ? AND label = ? AND at >= ? AND at < ?
 ORDER BY at DESC, id LIMIT ?;

-- memories_by_name --
-- Selects the newest rows before any content is read: per name, then overall. Most words of a query
-- are no names, which one index lookup shows. The longest list is innermost.
SELECT content, tier, is_archived
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

-- oldest_by_name --
-- As memories_by_name, from the other end of each list.
SELECT content, tier, is_archived
  FROM (SELECT DISTINCT names.at, names.id
          FROM json_each(:labels) AS readable
          CROSS JOIN json_each(:kinds) AS asked
          CROSS JOIN json_each(:names) AS wanted
          CROSS JOIN names ON names.workspace = :workspace AND names.label = readable.value
                          AND names.name = wanted.value AND names.kind = asked.value
                          AND names.at <= coalesce(
                              (SELECT oldest.at FROM names AS oldest
                                WHERE oldest.workspace = :workspace
                                  AND oldest.label = readable.value
                                  AND oldest.name = wanted.value AND oldest.kind = asked.value
                                ORDER BY oldest.at LIMIT 1 OFFSET :limit - 1), '~')
         ORDER BY names.at, names.id LIMIT :limit) AS chosen
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = chosen.id
 ORDER BY chosen.at, chosen.id;

-- memories_by_source --
-- Those derived directly from these events or memories.
SELECT content, tier, is_archived
  FROM (SELECT DISTINCT links.origin AS id
          FROM json_each(:sources) AS given
          CROSS JOIN links ON links.workspace = :workspace AND links.target = given.value
                          AND links.relation = 'derived_from') AS derived
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = derived.id
 WHERE +kind IN (SELECT value FROM json_each(:kinds))
   AND +label IN (SELECT value FROM json_each(:labels))
 ORDER BY at DESC, memories.id;

-- fact_outlines --
-- Only the fields of an outline, as JSON; rows are selected as in memories_by_name.
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

-- latest_facts --
-- Selects the newest row per subject and predicate before any content is read.
SELECT content, tier, is_archived
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
INSERT INTO postings (workspace, label, term, memory, frequency, length, conversation)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- add_label_totals --
UPDATE labels SET last_number = ?3, document_count = document_count + ?4, term_count = term_count + ?5
 WHERE workspace = ?1 AND label = ?2;

-- bump_label_epoch --
UPDATE labels SET epoch = epoch + 1 WHERE workspace = ? AND label = ?;

-- subtract_label_totals --
UPDATE labels SET generation = generation + 1, document_count = document_count - 1, term_count = term_count - ?3
 WHERE workspace = ?1 AND label = ?2;

-- bump_label_generation --
-- After other deletions than of memories: caches of the label are rebuilt.
UPDATE labels SET generation = generation + 1, epoch = epoch + 1
 WHERE workspace = ? AND label = ?;

-- bump_all_epochs --
-- All labels of a workspace, without new events.
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
SELECT content, tier, is_archived
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels))
 ORDER BY wanted.key;

-- memories_by_time --
SELECT content, tier, is_archived FROM memories
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
 ORDER BY at DESC, id;

-- memories_by_kind --
SELECT content, tier, is_archived FROM memories
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
   AND kind = :kind
 ORDER BY at DESC, id;

-- newest_of_kind --
-- One label, so that the index gives the order and the scan ends at the limit.
SELECT at, id, content, tier, is_archived FROM memories INDEXED BY memories_by_kind
 WHERE workspace = ? AND label = ? AND kind = ?
 ORDER BY at DESC, id LIMIT ?;

-- memories_by_fact --
SELECT content, tier, is_archived FROM memories
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
   AND subject = :subject AND (:predicate IS NULL OR predicate = :predicate)
 ORDER BY at DESC, id;

-- ids_by_number --
SELECT memory, memories.id
  FROM json_each(:numbers) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.memory = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels));

-- memories_by_number --
SELECT memory, content, tier, is_archived
  FROM json_each(:numbers) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.memory = wanted.value
 WHERE +label IN (SELECT value FROM json_each(:labels));

-- new_postings --
SELECT memory, frequency, length, conversation FROM postings
 WHERE workspace = ? AND label = ? AND term = ? AND memory > ?
 ORDER BY memory;

-- find_profile --
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

-- profile_dimensions --
SELECT profile, dimension FROM profiles ORDER BY profile;

-- active_profile --
SELECT provider, model, dimension, revision
  FROM workspaces JOIN profiles ON profiles.profile = workspaces.active_profile
 WHERE workspace = :workspace;

-- activate_profile --
UPDATE workspaces SET active_profile = :profile WHERE workspace = :workspace;

-- activate_first_profile --
UPDATE workspaces SET active_profile = :profile WHERE workspace = :workspace AND active_profile IS NULL;

-- some_vectors --
SELECT number, label, memory FROM vectors
 WHERE workspace = :workspace AND profile = :profile
   AND profile IS NOT (SELECT active_profile FROM workspaces
                        WHERE workspaces.workspace = :workspace)
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

-- memories_with_vectors --
-- Existing memories, with their vectors or NULL.
SELECT memories.id, memories.memory, memories.label, data
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
  LEFT JOIN vectors ON vectors.workspace = :workspace AND vectors.profile = :profile
                   AND vectors.memory = memories.memory
 ORDER BY wanted.key;

-- drop_vector --
DELETE FROM vectors WHERE workspace = ? AND profile = ? AND memory = ?;

-- update_label_vectors --
UPDATE labels SET last_number = ?3, generation = generation + ?4 WHERE workspace = ?1 AND label = ?2;

-- new_vectors --
SELECT number, memory, data FROM vectors
 WHERE workspace = :workspace AND label = :label AND profile = :profile AND number > :after
 ORDER BY number;

-- vectors_after --
SELECT number, memory, data FROM vectors
 WHERE workspace = ? AND label = ? AND profile = ? AND number > ?
 ORDER BY number LIMIT ?;

-- next_vectors --
-- For an external index, in batches.
SELECT number, memory, data FROM vectors
 WHERE workspace = :workspace AND label = :label AND profile = :profile AND number > :after
 ORDER BY number LIMIT :limit;

-- vector_numbers --
SELECT number FROM vectors
 WHERE workspace = :workspace AND label = :label AND profile = :profile AND number <= :upto
 ORDER BY number;

-- store_created_at --
SELECT min(applied_at) FROM schema_version;

-- workspace_counters --
SELECT name, last_number FROM workspaces;

-- next_named_memories --
SELECT memory, label, content, tier, is_archived FROM memories
 WHERE workspace = :workspace AND memory > :after
   AND +kind IN (SELECT value FROM json_each(:kinds))
 ORDER BY memory LIMIT :limit;

-- named_memories_since --
-- By number: few rows are new, and a label may have many.
SELECT content, tier, is_archived FROM memories
 WHERE workspace = :workspace AND memory > :after
   AND +label IN (SELECT value FROM json_each(:labels))
   AND +kind IN (SELECT value FROM json_each(:kinds));

-- read_ahead --
-- Reads pages and returns no content, label by label. One statement, because each statement of the
-- thread takes the GIL from the recall.
SELECT total(length(content)),
       (SELECT count(*) FROM json_each(:labels) AS wanted
         CROSS JOIN names ON names.workspace = :workspace AND names.label = wanted.value),
       (SELECT total(length(data)) FROM json_each(:labels) AS wanted
         CROSS JOIN vectors ON vectors.workspace = :workspace AND vectors.label = wanted.value)
  FROM json_each(:labels) AS wanted
 CROSS JOIN memories INDEXED BY memories_by_time
            ON memories.workspace = :workspace AND memories.label = wanted.value;

-- label_names --
SELECT DISTINCT kind, name FROM names WHERE workspace = ? AND label = ?;

-- ids_with_names --
SELECT DISTINCT id FROM names WHERE workspace = :workspace AND label = :label;

-- vectors_by_position --
-- Each position is [label, number]; the labels come from the grant.
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

-- memories_without_vector --
SELECT content, tier, is_archived FROM memories
 WHERE workspace = :workspace AND +label IN (SELECT value FROM json_each(:labels))
   AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.workspace = :workspace
                      AND vectors.profile = :profile AND vectors.memory = memories.memory)
   AND content ->> 'indexed_text' IS NOT '' AND id > :after
 ORDER BY id LIMIT :limit;

-- index_position --
SELECT indexed_to, generation FROM vector_indexes
 WHERE workspace = :workspace AND label = :label AND profile = :profile;

-- save_index_position --
INSERT OR REPLACE INTO vector_indexes (workspace, label, profile, indexed_to, generation)
VALUES (:workspace, :label, :profile, :reached, :generation);

-- index_chunk_tables --
SELECT name FROM sqlite_master
 WHERE type = 'table' AND substr(name, 1, 4) = 'vec_' AND instr(name, '_vector_chunks');

-- delete_index_position --
DELETE FROM vector_indexes
 WHERE workspace = :workspace AND label = :label AND profile = :profile;

-- delete_all_index_positions --
DELETE FROM vector_indexes;

-- derived_memories --
-- All memories derived from these, at any depth.
WITH RECURSIVE reached (id) AS (
    SELECT origin FROM json_each(:ids) AS given
      JOIN links ON links.workspace = :workspace AND links.target = given.value
               AND links.relation = 'derived_from'
     UNION
    SELECT origin FROM reached
      JOIN links ON links.workspace = :workspace AND links.target = reached.id
               AND links.relation = 'derived_from'
)
SELECT content, tier, is_archived FROM memories JOIN reached ON memories.id = reached.id
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

-- scope_tombstones --
SELECT kind, digest, at
  FROM json_each(:digests) AS wanted
  CROSS JOIN tombstones ON tombstones.workspace = :workspace AND kind IN ('scope', 'user')
                       AND digest = wanted.value;

-- existing_tombstones --
SELECT digest
  FROM json_each(:digests) AS wanted
  CROSS JOIN tombstones ON tombstones.workspace = :workspace AND kind = :kind
                       AND digest = wanted.value;

-- is_still_stored --
SELECT EXISTS (SELECT 1 FROM events WHERE instr(content, :text))
    OR EXISTS (SELECT 1 FROM memories WHERE instr(content, :text))
    OR EXISTS (SELECT 1 FROM window_items WHERE instr(content, :text))
    OR EXISTS (SELECT 1 FROM audit WHERE instr(content, :text))
    OR EXISTS (SELECT 1 FROM vectors WHERE instr(data, :bytes));

-- window_items --
-- An item with expires_at lives until then. Other items live until their scope has been idle: from
-- the last item on, the recursion follows messages that are less than the idle time apart.
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
       (workspace, label, slot, key, at, expires_at, linked_ids, content)
VALUES (:workspace, :label, :slot, :key, :at, :expires_at, :tied_to, :content);

-- drop_idle_window_items --
-- Deletes expired items of a scope before a new item is stored.
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
-- Keeps the newest items of a slot. An index counts them first: mostly nothing is deleted, and rows
-- are long.
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
-- Most workspaces have no tombstones: one check saves a hundred lookups.
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

-- window_items_by_link --
-- Also thoughts in scopes of these events: they may repeat the text.
SELECT content FROM window_items
 WHERE workspace = :workspace
   AND (EXISTS (SELECT 1 FROM json_each(linked_ids) AS tie
                 WHERE tie.value IN (SELECT value FROM json_each(:ids)))
        OR (slot = 'thought'
            AND label IN (SELECT events.label FROM json_each(:ids) AS given
                           CROSS JOIN events ON events.workspace = :workspace
                                            AND events.id = given.value)))
 ORDER BY at DESC, slot, key;

-- erase_from_window --
DELETE FROM window_items
 WHERE workspace = :workspace
   AND (EXISTS (SELECT 1 FROM json_each(linked_ids) AS tie
                 WHERE tie.value IN (SELECT value FROM json_each(:ids)))
        OR (slot = 'thought'
            AND label IN (SELECT events.label FROM json_each(:ids) AS given
                           CROSS JOIN events ON events.workspace = :workspace
                                            AND events.id = given.value)));

-- newest_events --
-- One label, so that the index gives the order and the scan ends at the limit.
SELECT at, id, content FROM events INDEXED BY events_by_time
 WHERE workspace = ?1 AND label = ?2
   AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR at < ?4)
   AND content IS NOT NULL
 ORDER BY at DESC, id LIMIT ?5;

-- add_model_cost --
INSERT INTO model_costs (workspace, day, purpose, model, calls, input_tokens, output_tokens, cost)
VALUES (:workspace, :day, :purpose, :model, :calls, :input_tokens, :output_tokens, :cost)
ON CONFLICT (workspace, day, purpose, model) DO UPDATE
   SET calls = calls + excluded.calls,
       input_tokens = input_tokens + excluded.input_tokens,
       output_tokens = output_tokens + excluded.output_tokens,
       cost = cost + excluded.cost;

-- model_costs --
SELECT day, purpose, model, calls, input_tokens, output_tokens, cost FROM model_costs
 WHERE workspace = :workspace AND (:since IS NULL OR day >= :since)
 ORDER BY day, purpose, model;

-- next_label --
SELECT min(label) FROM labels WHERE workspace = :workspace AND label >= :label;

-- memories_of_label --
-- Oldest first, in batches.
SELECT memory, at, id, kind, conversation, length, is_question, is_instruction, content, tier, is_archived
  FROM memories INDEXED BY memories_by_time
 WHERE workspace = :workspace AND label = :label AND at >= :at AND (at, id) > (:at, :id)
 ORDER BY at, id LIMIT :limit;

-- restore_conversation --
-- Restores a conversation with the number that its memories have.
INSERT OR IGNORE INTO conversations (workspace, label, conversation, name)
VALUES (:workspace, :label, :thread, :name);

-- repair_posting --
INSERT INTO postings (workspace, label, term, memory, frequency, length, conversation)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (workspace, label, term, memory) DO UPDATE
   SET frequency = excluded.frequency, length = excluded.length, conversation = excluded.conversation
 WHERE (postings.frequency, postings.length, postings.conversation)
       IS NOT (excluded.frequency, excluded.length, excluded.conversation);

-- count_postings --
SELECT count(*) FROM postings WHERE workspace = :workspace AND label = :label;

-- stray_postings --
-- Memories with wrong postings, and numbers without a memory in this label.
SELECT held.memory
  FROM (SELECT memory, sum(frequency) AS words FROM postings
         WHERE workspace = :workspace AND label = :label GROUP BY memory) AS held
  LEFT JOIN memories ON memories.workspace = :workspace AND memories.memory = held.memory
                    AND memories.label = :label
 WHERE memories.length IS NOT held.words;

-- drop_memory_postings --
DELETE FROM postings
 WHERE workspace = :workspace AND label = :label
   AND memory IN (SELECT value FROM json_each(:memories));

-- recount_conversations --
UPDATE conversations SET term_count = (SELECT coalesce(sum(length), 0) FROM memories
                             WHERE memories.workspace = conversations.workspace
                               AND memories.label = conversations.label
                               AND memories.conversation = conversations.conversation)
 WHERE workspace = :workspace AND label = :label
   AND term_count <> (SELECT coalesce(sum(length), 0) FROM memories
                  WHERE memories.workspace = conversations.workspace
                    AND memories.label = conversations.label AND memories.conversation = conversations.conversation);

-- drop_empty_conversations --
DELETE FROM conversations
 WHERE workspace = :workspace AND label = :label
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = conversations.workspace
                      AND memories.label = conversations.label AND memories.conversation = conversations.conversation);

-- label_totals --
-- The stored counters of a label, then the counted ones.
SELECT document_count, term_count, conversation_count, name_count,
       (SELECT count(*) FROM memories AS m
         WHERE m.workspace = labels.workspace AND m.label = labels.label),
       (SELECT coalesce(sum(length), 0) FROM memories AS m
         WHERE m.workspace = labels.workspace AND m.label = labels.label),
       (SELECT count(*) FROM conversations AS t
         WHERE t.workspace = labels.workspace AND t.label = labels.label),
       (SELECT count(*) FROM names AS n
         WHERE n.workspace = labels.workspace AND n.label = labels.label),
       (SELECT coalesce(sum(t.term_count), 0) FROM conversations AS t
         WHERE t.workspace = labels.workspace AND t.label = labels.label),
       (SELECT coalesce(sum(frequency), 0) FROM postings AS p
         WHERE p.workspace = labels.workspace AND p.label = labels.label)
  FROM labels
 WHERE workspace = :workspace AND label = :label;

-- set_label_totals --
UPDATE labels SET document_count = :documents, term_count = :terms, conversation_count = :threads, name_count = :names
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

-- count_broken_links --
-- Memories without source links, and links without a memory.
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

-- repair_name --
INSERT OR IGNORE INTO names (workspace, label, name, kind, at, id) VALUES (?, ?, ?, ?, ?, ?);

-- count_names --
SELECT count(*) FROM names WHERE workspace = :workspace AND label = :label;

-- drop_label_names --
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
-- Grouped by label first, in index order: only few rows remain to be sorted by kind.
SELECT kind, sum(memories)
  FROM (SELECT kind, count(*) AS memories FROM memories
         WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
         GROUP BY label, kind)
 GROUP BY kind ORDER BY kind;

-- count_tiers --
SELECT tier, count(*), min(at), max(at) FROM memories
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels))
 GROUP BY tier ORDER BY tier;

-- count_vectors --
SELECT count(*) FROM vectors
 WHERE workspace = :workspace AND label IN (SELECT value FROM json_each(:labels));

-- versions --
SELECT version FROM schema_version ORDER BY version;

-- add_version --
INSERT INTO schema_version (version, description, applied_at)
VALUES (:version, :description, :applied_at);

-- workspace_names --
SELECT name FROM workspaces ORDER BY name;

-- count_all_rows --
-- In the order of RecordType.
SELECT (SELECT count(*) FROM events WHERE workspace = :workspace),
       (SELECT count(*) FROM memories WHERE workspace = :workspace),
       (SELECT count(*) FROM vectors WHERE workspace = :workspace),
       (SELECT count(*) FROM usage_counts WHERE workspace = :workspace),
       (SELECT count(*) FROM tombstones WHERE workspace = :workspace),
       (SELECT count(*) FROM model_costs WHERE workspace = :workspace),
       (SELECT count(*) FROM window_items WHERE workspace = :workspace),
       (SELECT count(*) FROM outbox WHERE workspace = :workspace),
       (SELECT count(*) FROM jobs WHERE workspace = :workspace),
       (SELECT count(*) FROM audit WHERE workspace = :workspace);

-- page_events --
SELECT seq, id, content, salt, commitment, hash FROM events
 WHERE workspace = :workspace AND seq > :first ORDER BY seq LIMIT :limit;

-- page_memories --
SELECT memory, content, tier, is_archived FROM memories
 WHERE workspace = :workspace AND memory > :first ORDER BY memory LIMIT :limit;

-- page_vectors --
SELECT vectors.profile, vectors.memory, memories.id, provider, model, dimension, revision, data
  FROM vectors
  JOIN memories ON memories.workspace = vectors.workspace AND memories.memory = vectors.memory
  JOIN profiles ON profiles.profile = vectors.profile
 WHERE vectors.workspace = :workspace
   AND (vectors.profile, vectors.memory) > (:first, :second)
 ORDER BY vectors.profile, vectors.memory LIMIT :limit;

-- page_tombstones --
SELECT kind, digest, at FROM tombstones
 WHERE workspace = :workspace AND (kind, digest) > (:first, :second)
 ORDER BY kind, digest LIMIT :limit;

-- page_model_costs --
SELECT day, purpose, model, calls, input_tokens, output_tokens, cost FROM model_costs
 WHERE workspace = :workspace AND (day, purpose, model) > (:first, :second, :third)
 ORDER BY day, purpose, model LIMIT :limit;

-- page_window_items --
SELECT label, slot, key, content FROM window_items
 WHERE workspace = :workspace AND (label, slot, key) > (:first, :second, :third)
 ORDER BY label, slot, key LIMIT :limit;

-- page_work --
SELECT priority, outbox.seq, events.id, step, due_at, attempts, error
  FROM outbox JOIN events ON events.workspace = outbox.workspace AND events.seq = outbox.seq
 WHERE outbox.workspace = :workspace AND (priority, outbox.seq) > (:first, :second)
 ORDER BY priority, outbox.seq LIMIT :limit;

-- page_jobs --
SELECT name, key, every_seconds, on_news, priority, due_at, attempts, error, is_dead, cursor,
       last_run_at, seconds, counts
  FROM jobs WHERE workspace = :workspace AND (name, key) > (:first, :second)
 ORDER BY name, key LIMIT :limit;

-- import_job --
INSERT OR IGNORE INTO jobs (workspace, name, key, every_seconds, on_news, priority, due_at,
                            attempts, error, is_dead, cursor, last_run_at, seconds, counts)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- memory_states_by_id --
SELECT memories.id, content, tier, is_archived
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value;

-- count_known_vectors --
SELECT count(*)
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
  JOIN vectors ON vectors.workspace = :workspace AND vectors.profile = :profile
              AND vectors.memory = memories.memory;

-- event_positions --
SELECT events.id, seq, label
  FROM json_each(:ids) AS wanted
  CROSS JOIN events ON events.workspace = :workspace AND events.id = wanted.value;

-- import_model_cost --
INSERT OR IGNORE INTO model_costs
       (workspace, day, purpose, model, calls, input_tokens, output_tokens, cost)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- import_window_item --
INSERT OR IGNORE INTO window_items
       (workspace, label, slot, key, at, expires_at, linked_ids, content)
VALUES (:workspace, :label, :slot, :key, :at, :expires_at, :tied_to, :content);

-- import_work --
INSERT OR IGNORE INTO outbox (workspace, seq, label, step, due_at, attempts, error, priority)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- decay_candidates --
-- The conditions on the state match the partial index, which covers the query. A salient and recent
-- memory cannot have decayed yet.
SELECT memory, id, label, kind, at, length, salience, confidence, trust, 'short', 0, 0
  FROM memories INDEXED BY memories_decay_candidates
 WHERE workspace = ?1 AND memory > ?2
   AND tier = 'short' AND is_pinned = 0 AND is_archived = 0
   AND (salience < ?4
        OR at < CASE WHEN kind IN ('fact', 'entity', 'procedure') THEN ?6 ELSE ?5 END)
 ORDER BY memory LIMIT ?3;

-- idle_decay_candidates --
SELECT memory, id, label, kind, at, length, salience, confidence, trust, 'short', 0, 0
  FROM memories INDEXED BY memories_decay_candidates
 WHERE workspace = ?1 AND memory > ?2
   AND tier = 'short' AND is_pinned = 0 AND is_archived = 0 AND at < ?4
   AND NOT EXISTS (SELECT 1 FROM memories AS later INDEXED BY memories_by_conversation
                    WHERE later.workspace = ?1 AND later.label = memories.label
                      AND later.conversation = memories.conversation AND later.at >= ?4)
 ORDER BY memory LIMIT ?3;

-- oldest_active_conversation --
SELECT min(last)
  FROM (SELECT max(at) AS last FROM memories INDEXED BY memories_decay_candidates
         WHERE workspace = ?1 AND tier = 'short' AND is_pinned = 0 AND is_archived = 0 AND at >= ?2
         GROUP BY label, conversation);

-- recently_used_memories --
-- Ordered by id, as in the index of usage_counts.
SELECT memory, memories.id, label, kind, at, length, salience, confidence, trust, tier, is_archived,
       is_pinned
  FROM (SELECT DISTINCT id FROM usage_counts INDEXED BY usage_by_memory
         WHERE workspace = ?1 AND id > ?2 AND last_at >= ?4
           AND EXISTS (SELECT 1 FROM memories WHERE memories.workspace = ?1
                          AND memories.id = usage_counts.id AND (NOT ?5 OR is_archived))
         ORDER BY id LIMIT ?3) AS used
  CROSS JOIN memories ON memories.workspace = ?1 AND memories.id = used.id
 ORDER BY used.id;

-- some_uses --
SELECT id, label, count, conversations, last_at FROM usage_counts WHERE workspace = ? LIMIT ?;

-- label_scope_sets --
SELECT label, is_derived, scopes FROM labels WHERE workspace = ?;

-- uses_by_id --
SELECT id, label, count, conversations, last_at FROM usage_counts
 WHERE workspace = :workspace AND id IN (SELECT value FROM json_each(:ids));

-- readable_uses --
-- Only readable memories, and only usage in readable scopes.
SELECT usage_counts.id, usage_counts.label, count, conversations, last_at
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value
  CROSS JOIN usage_counts ON usage_counts.workspace = :workspace AND usage_counts.id = memories.id
 WHERE +memories.label IN (SELECT value FROM json_each(:labels))
   AND +usage_counts.label IN (SELECT value FROM json_each(:labels));

-- existing_memory_ids --
SELECT memories.id
  FROM json_each(:ids) AS wanted
  CROSS JOIN memories ON memories.workspace = :workspace AND memories.id = wanted.value;

-- put_use --
INSERT OR REPLACE INTO usage_counts (workspace, label, id, count, conversations, last_at, owner)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- import_use --
INSERT OR IGNORE INTO usage_counts (workspace, label, id, count, conversations, last_at, owner)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- erase_uses --
-- Usage of erased memories, in erased scopes, and in scopes of erased users.
DELETE FROM usage_counts
 WHERE workspace = :workspace
   AND (id IN (SELECT value FROM json_each(:ids))
        OR owner IN (SELECT value FROM json_each(:ids))
        OR label IN (SELECT labels.label FROM labels
                      WHERE labels.workspace = :workspace
                        AND scopes IN (SELECT '["' || value || '"]' FROM json_each(:ids))));

-- any_stray_uses --
SELECT 1 FROM usage_counts
 WHERE workspace = ?1 AND last_at < ?2
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = ?1 AND memories.id = usage_counts.id)
 LIMIT 1;

-- drop_stray_uses --
-- Usage of memories that were deleted by other means than erasure.
DELETE FROM usage_counts
 WHERE workspace = :workspace AND last_at < :before
   AND NOT EXISTS (SELECT 1 FROM memories WHERE memories.workspace = :workspace
                      AND memories.id = usage_counts.id);

-- set_memory_state --
-- Postings and vectors do not change.
UPDATE memories SET tier = coalesce(?3, tier), is_archived = coalesce(?4, is_archived)
 WHERE workspace = ?1 AND id IN (SELECT value FROM json_each(?2))
   AND (tier <> coalesce(?3, tier) OR is_archived <> coalesce(?4, is_archived))
RETURNING label;

-- page_uses --
SELECT usage_counts.label, usage_counts.id, scopes, count, conversations, last_at, owner
  FROM usage_counts JOIN labels ON labels.workspace = usage_counts.workspace AND labels.label = usage_counts.label
 WHERE usage_counts.workspace = :workspace AND (usage_counts.label, usage_counts.id) > (:first, :second)
 ORDER BY usage_counts.label, usage_counts.id LIMIT :limit;

-- user_tombstones --
SELECT kind, digest, at
  FROM json_each(:digests) AS wanted
  CROSS JOIN tombstones ON tombstones.workspace = :workspace AND kind = 'user'
                       AND digest = wanted.value;

-- audit_chain_end --
SELECT audit_count, audit_head FROM workspaces WHERE workspace = ?;

-- advance_audit_chain --
UPDATE workspaces SET audit_count = ?2, audit_head = ?3 WHERE workspace = ?1;

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

-- audit_chain --
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
-- Entries before the first entry of a retained day.
SELECT number, day, hash FROM audit
 WHERE workspace = :workspace
   AND number < coalesce((SELECT min(number) FROM audit
                           WHERE workspace = :workspace AND day >= :before), 9223372036854775807)
 ORDER BY number;

-- drop_audit --
DELETE FROM audit WHERE workspace = :workspace AND number <= :through;

-- page_audit --
SELECT number, at, action, content, salt, commitment, hash, seal FROM audit
 WHERE workspace = :workspace AND number > :first ORDER BY number LIMIT :limit;
