-- Schema version 1. Every key starts with the workspace.

CREATE TABLE schema_version (
    version     INTEGER PRIMARY KEY,
    description TEXT    NOT NULL,
    applied_at  TEXT    NOT NULL
) STRICT;

CREATE TABLE workspaces (
    workspace         INTEGER PRIMARY KEY,
    name              TEXT    NOT NULL UNIQUE,
    event_count       INTEGER NOT NULL DEFAULT 0,   -- events in the hash chain
    chain_head        BLOB    NOT NULL,             -- hash of the newest event
    last_number       INTEGER NOT NULL DEFAULT 0,   -- last number of a memory or a vector
    active_profile    INTEGER,                      -- embedding profile of queries
    audit_count       INTEGER NOT NULL DEFAULT 0,   -- entries in the audit chain
    audit_head        BLOB,                         -- hash of the newest entry
    last_write_day    TEXT    NOT NULL DEFAULT '',  -- day of the newest event, such as 2026-01-31
    events_before_day INTEGER NOT NULL DEFAULT 0,   -- events before that day
    text_bytes        INTEGER NOT NULL DEFAULT 0    -- bytes of all stored events
) STRICT;

-- A label is the set of scopes of a record's sources; a grant needs all of them to read it.
CREATE TABLE labels (
    workspace          INTEGER NOT NULL REFERENCES workspaces,
    label              INTEGER NOT NULL,
    scopes             TEXT    NOT NULL,            -- sorted JSON array of scope digests, without names
    scope_count        INTEGER NOT NULL,            -- number of scopes
    is_derived         INTEGER NOT NULL DEFAULT 0,  -- 1: derived memories; 0: events and source memories
    last_number        INTEGER NOT NULL DEFAULT 0,  -- newest number of a memory or vector
    generation         INTEGER NOT NULL DEFAULT 0,  -- grows with deletions: caches are rebuilt
    document_count     INTEGER NOT NULL DEFAULT 0,  -- memories in the label
    term_count         INTEGER NOT NULL DEFAULT 0,  -- total length of these memories, in terms
    conversation_count INTEGER NOT NULL DEFAULT 0,  -- conversations in the label
    name_count         INTEGER NOT NULL DEFAULT 0,  -- rows in `names` of the label
    epoch              INTEGER NOT NULL DEFAULT 0,  -- grows with every write: cached contexts expire
    PRIMARY KEY (workspace, label),
    UNIQUE (workspace, scopes, is_derived)
) STRICT, WITHOUT ROWID;

CREATE TABLE label_scopes (
    workspace INTEGER NOT NULL,
    scope     TEXT    NOT NULL,
    label     INTEGER NOT NULL,
    PRIMARY KEY (workspace, scope, label)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    workspace  INTEGER NOT NULL REFERENCES workspaces,
    seq        INTEGER NOT NULL,  -- position in the chain, internal
    id         TEXT    NOT NULL,
    label      INTEGER,
    key        TEXT,
    at         TEXT,
    content    TEXT,              -- canonical JSON; NULL after erasure
    salt       BLOB,
    commitment BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    bytes      INTEGER NOT NULL,  -- size of the content; 0 after erasure
    PRIMARY KEY (workspace, seq),
    UNIQUE (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX events_by_time ON events (workspace, label, at);

-- Tasks caused by events, in processing order.
CREATE TABLE outbox (
    workspace    INTEGER NOT NULL,
    priority     INTEGER NOT NULL,            -- 0: live event; 1: imported history
    seq          INTEGER NOT NULL,
    label        INTEGER NOT NULL,
    step         TEXT    NOT NULL,
    due_at       TEXT    NOT NULL,            -- the latest time: dead, until it is retried
    leased_until TEXT,
    fence        INTEGER NOT NULL DEFAULT 0,  -- fencing token, grows with each lease
    attempts     INTEGER NOT NULL DEFAULT 0,
    error        TEXT,
    PRIMARY KEY (workspace, priority, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_leased ON outbox (workspace, label, step) WHERE leased_until IS NOT NULL;

-- Recurring and scheduled jobs of a workspace. A running job is due again when its lease ends.
CREATE TABLE jobs (
    workspace     INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    key           TEXT    NOT NULL,
    every_seconds REAL,                        -- NULL: not recurring
    on_news       INTEGER NOT NULL,            -- run only after new memories
    priority      INTEGER NOT NULL,            -- lower values first
    due_at        TEXT,                        -- NULL: waits for new memories or for a request
    leased_until  TEXT,
    fence         INTEGER NOT NULL DEFAULT 0,  -- fencing token, grows with each lease
    has_news      INTEGER NOT NULL DEFAULT 0,  -- new memories since the job was claimed
    attempts      INTEGER NOT NULL DEFAULT 0,
    error         TEXT,
    is_dead       INTEGER NOT NULL DEFAULT 0,  -- not run until it is retried
    cursor        TEXT,                        -- JSON position of the next step
    last_run_at   TEXT,
    seconds       REAL    NOT NULL DEFAULT 0,  -- duration of the last run, or of this one so far
    counts        TEXT    NOT NULL DEFAULT '{}',
    PRIMARY KEY (workspace, name, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_by_due ON jobs (priority, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE memories (
    workspace      INTEGER NOT NULL REFERENCES workspaces,
    memory         INTEGER NOT NULL,                  -- ascending, internal
    id             TEXT    NOT NULL,
    label          INTEGER NOT NULL,
    kind           TEXT    NOT NULL,
    at             TEXT    NOT NULL,
    subject        TEXT,
    predicate      TEXT,
    conversation   INTEGER NOT NULL,
    speaker        TEXT,
    role           TEXT,
    length         INTEGER NOT NULL,                  -- in terms
    is_question    INTEGER NOT NULL,                  -- the text ends with a question
    is_instruction INTEGER NOT NULL,                  -- the text is an instruction
    tier           TEXT    NOT NULL DEFAULT 'short',  -- current state; overrides the content
    is_archived    INTEGER NOT NULL DEFAULT 0,        -- excluded from recall by default
    salience       REAL    NOT NULL DEFAULT 0.5,      -- from here copies of the content, for the decay job
    confidence     REAL    NOT NULL DEFAULT 1,
    trust          INTEGER NOT NULL DEFAULT 0,
    is_pinned      INTEGER NOT NULL DEFAULT 0,        -- does not decay
    content        TEXT    NOT NULL,                  -- canonical JSON
    PRIMARY KEY (workspace, memory),
    UNIQUE (workspace, id)
) STRICT;

CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_kind ON memories (workspace, label, kind, at DESC, id);
CREATE INDEX memories_by_conversation ON memories (workspace, label, conversation, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;

-- Covering index of the decay job, so that it reads no contents and no archived memories.
CREATE INDEX memories_decay_candidates ON memories
    (workspace, memory, id, label, conversation, kind, at, length, salience, confidence, trust)
    WHERE tier = 'short' AND is_pinned = 0 AND is_archived = 0;

-- How often each memory was returned, per scope.
CREATE TABLE usage_counts (
    workspace     INTEGER NOT NULL,
    label         INTEGER NOT NULL,  -- label of one scope
    id            TEXT    NOT NULL,  -- id of a memory
    count         INTEGER NOT NULL,
    conversations TEXT    NOT NULL,  -- digests, separated by spaces
    last_at       TEXT    NOT NULL,
    owner         TEXT,              -- digest of the user who owns the scope, or NULL
    PRIMARY KEY (workspace, label, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_memory ON usage_counts (workspace, id, last_at);

-- A conversation of a label: the thread that the caller named, or else a day.
CREATE TABLE conversations (
    workspace    INTEGER NOT NULL,
    label        INTEGER NOT NULL,
    conversation INTEGER NOT NULL,  -- ascending, internal
    name         TEXT    NOT NULL,
    term_count   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, label, conversation),
    UNIQUE (workspace, label, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
    workspace INTEGER NOT NULL,
    origin    TEXT    NOT NULL,  -- id of a memory
    relation  TEXT    NOT NULL,
    target    TEXT    NOT NULL,  -- id of an event or a memory
    PRIMARY KEY (workspace, origin, relation, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_by_target ON links (workspace, target, origin);

-- Names of facts, entities and other memories, with times, so that the newest are selected before
-- any content is read.
CREATE TABLE names (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    name      TEXT    NOT NULL,  -- case-folded
    kind      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    id        TEXT    NOT NULL,  -- id of a memory
    PRIMARY KEY (workspace, label, name, kind, at, id)
) STRICT, WITHOUT ROWID;

-- Keyword postings, clustered by label: BM25 statistics come from readable rows only.
CREATE TABLE postings (
    workspace    INTEGER NOT NULL,
    label        INTEGER NOT NULL,
    term         TEXT    NOT NULL,
    memory       INTEGER NOT NULL,
    frequency    INTEGER NOT NULL,
    length       INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    PRIMARY KEY (workspace, label, term, memory)
) STRICT, WITHOUT ROWID;

CREATE TABLE profiles (
    profile   INTEGER PRIMARY KEY,
    provider  TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    dimension INTEGER NOT NULL,
    revision  TEXT    NOT NULL,
    UNIQUE (provider, model, dimension, revision)
) STRICT;

CREATE TABLE vectors (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    profile   INTEGER NOT NULL,
    number    INTEGER NOT NULL,  -- order of insertion
    memory    INTEGER NOT NULL,
    data      BLOB    NOT NULL,  -- little-endian float32
    PRIMARY KEY (workspace, label, profile, number),
    UNIQUE (workspace, profile, memory)
) STRICT;

-- Position of the optional sqlite-vec index in each label.
CREATE TABLE vector_indexes (
    workspace  INTEGER NOT NULL,
    label      INTEGER NOT NULL,
    profile    INTEGER NOT NULL,
    indexed_to INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (workspace, label, profile)
) STRICT, WITHOUT ROWID;

CREATE TABLE tombstones (
    workspace INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    digest    TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    PRIMARY KEY (workspace, kind, digest)
) STRICT, WITHOUT ROWID;

-- Costs of model calls, summed per day, purpose and model.
CREATE TABLE model_costs (
    workspace     INTEGER NOT NULL,
    day           TEXT    NOT NULL,
    purpose       TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    calls         INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost          REAL    NOT NULL,
    PRIMARY KEY (workspace, day, purpose, model)
) STRICT, WITHOUT ROWID;

-- Audit log: a separate hash chain. Retention deletes old days from its beginning.
CREATE TABLE audit (
    workspace  INTEGER NOT NULL,
    number     INTEGER NOT NULL,  -- position in the chain
    day        TEXT    NOT NULL,
    at         TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    content    TEXT,              -- canonical JSON; NULL after erasure
    salt       BLOB,
    commitment BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    seal       BLOB,              -- NULL: no audit key was configured
    PRIMARY KEY (workspace, number)
) STRICT, WITHOUT ROWID;

-- Working memory of a scope: notes, thoughts, the goal, the summary, injected contexts. No row is the
-- only copy of an event. A rowid table, because rows are long.
CREATE TABLE window_items (
    workspace  INTEGER NOT NULL,
    label      INTEGER NOT NULL,  -- label of one scope
    slot       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    at         TEXT    NOT NULL,
    expires_at TEXT,              -- NULL: until the scope has been idle
    linked_ids TEXT    NOT NULL,  -- JSON array of ids and digests whose erasure deletes the item
    content    TEXT    NOT NULL,  -- canonical JSON
    PRIMARY KEY (workspace, label, slot, key)
) STRICT;

CREATE INDEX window_by_time ON window_items (workspace, label, at);

-- Writes and deletions bump the epoch of the label in the same transaction. Appending events bumps it
-- once per batch, in Python. Summaries and injected contexts do not bump it.
CREATE TRIGGER event_erased AFTER UPDATE OF content ON events BEGIN
    UPDATE labels SET epoch = epoch + 1 WHERE workspace = old.workspace AND label = old.label;
END;

CREATE TRIGGER memory_added AFTER INSERT ON memories BEGIN
    UPDATE labels SET epoch = epoch + 1 WHERE workspace = new.workspace AND label = new.label;
END;

CREATE TRIGGER memory_gone AFTER DELETE ON memories BEGIN
    UPDATE labels SET epoch = epoch + 1 WHERE workspace = old.workspace AND label = old.label;
END;

CREATE TRIGGER vector_added AFTER INSERT ON vectors BEGIN
    UPDATE labels SET epoch = epoch + 1 WHERE workspace = new.workspace AND label = new.label;
END;

CREATE TRIGGER window_item_put AFTER INSERT ON window_items
  WHEN new.slot IN ('note', 'thought', 'goal') BEGIN
    UPDATE labels SET epoch = epoch + 1 WHERE workspace = new.workspace AND label = new.label;
END;

CREATE TRIGGER window_item_gone AFTER DELETE ON window_items
  WHEN old.slot IN ('note', 'thought', 'goal') BEGIN
    UPDATE labels SET epoch = epoch + 1 WHERE workspace = old.workspace AND label = old.label;
END;
