-- Today's truth for a new file; migrations/ brings an older one here, and a test proves that
-- both roads lead to the same place. Every key starts with the workspace.

CREATE TABLE schema_version (
    version     INTEGER PRIMARY KEY,
    description TEXT NOT NULL,
    applied_at  TEXT NOT NULL
) STRICT;

CREATE TABLE workspaces (
    workspace INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL UNIQUE,
    length    INTEGER NOT NULL DEFAULT 0,   -- events in the chain
    head      BLOB    NOT NULL,             -- hash of the newest one
    counter   INTEGER NOT NULL DEFAULT 0,   -- last number given to a memory or a vector
    profile   INTEGER,                      -- which vectors questions are asked with
    audited   INTEGER NOT NULL DEFAULT 0,   -- entries in the trail of its audit
    trail     BLOB,                         -- hash of the newest one
    day       TEXT    NOT NULL DEFAULT '',  -- of the newest write: 2026-01-31
    day_began INTEGER NOT NULL DEFAULT 0,   -- events in the chain before that day
    text_bytes INTEGER NOT NULL DEFAULT 0   -- of all events that are kept
) STRICT;

-- A label is the set of scopes a record rests on; a grant that holds all of them may read it.
CREATE TABLE labels (
    workspace  INTEGER NOT NULL REFERENCES workspaces,
    label      INTEGER NOT NULL,
    scopes     TEXT    NOT NULL,             -- JSON array of digests, sorted: no names stay
    size       INTEGER NOT NULL,             -- how many scopes
    learned    INTEGER NOT NULL DEFAULT 0,   -- what was learned stands apart from what was told
    latest     INTEGER NOT NULL DEFAULT 0,   -- newest number in it: what a cache has yet to read
    generation INTEGER NOT NULL DEFAULT 0,   -- grows when something is removed: a cache starts over
    documents  INTEGER NOT NULL DEFAULT 0,   -- memories in it
    terms      INTEGER NOT NULL DEFAULT 0,   -- their lengths, added up
    threads    INTEGER NOT NULL DEFAULT 0,   -- conversations in it
    names      INTEGER NOT NULL DEFAULT 0,   -- names its memories are known by, added up
    epoch      INTEGER NOT NULL DEFAULT 0,   -- grows with every write: what was composed before is old
    PRIMARY KEY (workspace, label),
    UNIQUE (workspace, scopes, learned)
) STRICT, WITHOUT ROWID;

CREATE TABLE label_scopes (
    workspace INTEGER NOT NULL,
    scope     TEXT    NOT NULL,
    label     INTEGER NOT NULL,
    PRIMARY KEY (workspace, scope, label)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    workspace   INTEGER NOT NULL REFERENCES workspaces,
    seq         INTEGER NOT NULL,            -- place in the chain; never shown
    id          TEXT    NOT NULL,
    label       INTEGER,
    key         TEXT,
    at          TEXT,
    content     TEXT,                        -- canonical JSON; NULL once erased
    salt        BLOB,
    commitment  BLOB    NOT NULL,
    hash        BLOB    NOT NULL,
    bytes       INTEGER NOT NULL,            -- of the content; 0 once erased
    PRIMARY KEY (workspace, seq),
    UNIQUE (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX events_by_time ON events (workspace, label, at);

-- Work that events cause, in the order in which it is done.
CREATE TABLE outbox (
    workspace    INTEGER NOT NULL,
    priority     INTEGER NOT NULL,           -- 0: what is said now; 1: history that was brought along
    seq          INTEGER NOT NULL,
    label        INTEGER NOT NULL,
    step         TEXT    NOT NULL,
    due_at       TEXT    NOT NULL,           -- the latest there is: when somebody says so
    leased_until TEXT,
    fence        INTEGER NOT NULL DEFAULT 0, -- grows whenever somebody takes it
    attempts     INTEGER NOT NULL DEFAULT 0,
    error        TEXT,
    PRIMARY KEY (workspace, priority, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_leased ON outbox (workspace, label, step) WHERE leased_until IS NOT NULL;

-- Work of a workspace that comes again, or that was asked for. While somebody is at it, it is due when
-- the lease ends.
CREATE TABLE jobs (
    workspace     INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    key           TEXT    NOT NULL,
    every_seconds REAL,                      -- NULL: only when it is asked for
    on_news       INTEGER NOT NULL,          -- only after something new was learned
    priority      INTEGER NOT NULL,          -- small ones first
    due_at        TEXT,                      -- NULL: it waits for news, or to be asked for
    leased_until  TEXT,
    fence         INTEGER NOT NULL DEFAULT 0,   -- grows whenever somebody takes it
    woken         INTEGER NOT NULL DEFAULT 0,   -- something came since it was taken
    attempts      INTEGER NOT NULL DEFAULT 0,
    error         TEXT,
    dead          INTEGER NOT NULL DEFAULT 0,   -- not tried before somebody says so
    cursor        TEXT,                      -- JSON: where to go on
    last_run_at   TEXT,
    seconds       REAL    NOT NULL DEFAULT 0,   -- of the last run, or of this one so far
    counts        TEXT    NOT NULL DEFAULT '{}',
    PRIMARY KEY (workspace, name, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_by_due ON jobs (priority, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE memories (
    workspace INTEGER NOT NULL REFERENCES workspaces,
    memory    INTEGER NOT NULL,              -- grows; never shown
    id        TEXT    NOT NULL,
    label     INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    subject   TEXT,
    predicate TEXT,
    thread    INTEGER NOT NULL,
    speaker   TEXT,
    role      TEXT,
    length    INTEGER NOT NULL,              -- in terms
    asks      INTEGER NOT NULL,              -- whether it ends with a question
    directs   INTEGER NOT NULL,              -- whether it says how things shall be done
    tier      TEXT    NOT NULL DEFAULT 'short',  -- the state, laid over the content: this …
    archived  INTEGER NOT NULL DEFAULT 0,    -- … and whether it is still brought up unasked
    salience  REAL    NOT NULL DEFAULT 0.5,  -- from here as in the content, for sweeps
    confidence REAL   NOT NULL DEFAULT 1,
    trust     INTEGER NOT NULL DEFAULT 0,
    pinned    INTEGER NOT NULL DEFAULT 0,    -- never fades
    content   TEXT    NOT NULL,              -- canonical JSON
    PRIMARY KEY (workspace, memory),
    UNIQUE (workspace, id)
) STRICT;

CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_kind ON memories (workspace, label, kind, at DESC, id);
CREATE INDEX memories_by_thread ON memories (workspace, label, thread, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;

-- All that a sweep wants to know of what fades, so that it reads no content and nothing archived.
CREATE INDEX memories_fading ON memories
    (workspace, memory, id, label, thread, kind, at, length, salience, confidence, trust)
    WHERE tier = 'short' AND pinned = 0 AND archived = 0;

-- How often memories were shown, by the place they were shown in.
CREATE TABLE uses (
    workspace     INTEGER NOT NULL,
    label         INTEGER NOT NULL,          -- of the place's scope alone
    id            TEXT    NOT NULL,          -- of a memory
    count         INTEGER NOT NULL,
    conversations TEXT    NOT NULL,          -- digests, with a space between them
    last_at       TEXT    NOT NULL,
    owner         TEXT,                      -- digest of whose place it is; NULL: nobody's
    PRIMARY KEY (workspace, label, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX uses_by_memory ON uses (workspace, id, last_at);

-- A conversation inside a label: the thread a caller named, or else a day.
CREATE TABLE threads (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    thread    INTEGER NOT NULL,              -- grows; never shown
    name      TEXT    NOT NULL,
    terms     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, label, thread),
    UNIQUE (workspace, label, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
    workspace INTEGER NOT NULL,
    origin    TEXT    NOT NULL,              -- id of a memory
    relation  TEXT    NOT NULL,
    target    TEXT    NOT NULL,              -- id of an event or a memory
    PRIMARY KEY (workspace, origin, relation, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_by_target ON links (workspace, target, origin);

-- What facts, entities and others are about; with their times, so that the newest are chosen
-- before any is read.
CREATE TABLE names (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    name      TEXT    NOT NULL,              -- case-folded
    kind      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    id        TEXT    NOT NULL,              -- of a memory
    PRIMARY KEY (workspace, label, name, kind, at, id)
) STRICT, WITHOUT ROWID;

-- Keywords, clustered by label, so that a viewer's statistics come from the viewer's own rows.
CREATE TABLE postings (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    term      TEXT    NOT NULL,
    memory    INTEGER NOT NULL,
    frequency INTEGER NOT NULL,
    length    INTEGER NOT NULL,
    thread    INTEGER NOT NULL,
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
    number    INTEGER NOT NULL,              -- order of writing
    memory    INTEGER NOT NULL,
    data      BLOB    NOT NULL,              -- little-endian float32
    PRIMARY KEY (workspace, label, profile, number),
    UNIQUE (workspace, profile, memory)
) STRICT;

-- How far the optional sqlite-vec index has followed a label.
CREATE TABLE vector_indexes (
    workspace  INTEGER NOT NULL,
    label      INTEGER NOT NULL,
    profile    INTEGER NOT NULL,
    reached    INTEGER NOT NULL,
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

-- What models cost, added up.
CREATE TABLE spending (
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

-- What was done: a chain of its own. Old days are dropped from its beginning.
CREATE TABLE audit (
    workspace  INTEGER NOT NULL,
    number     INTEGER NOT NULL,             -- place in the chain
    day        TEXT    NOT NULL,
    at         TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    content    TEXT,                         -- canonical JSON; NULL once erased
    salt       BLOB,
    commitment BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    seal       BLOB,                         -- NULL: there was no key
    PRIMARY KEY (workspace, number)
) STRICT, WITHOUT ROWID;

-- What was lately on the table in a place: notes, thoughts, the goal, the summary, what a model
-- was given. Nothing here is the only copy of what somebody said. Rows are long: a key leads to them.
CREATE TABLE window_items (
    workspace  INTEGER NOT NULL,
    label      INTEGER NOT NULL,             -- of the place's scope alone
    slot       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    at         TEXT    NOT NULL,
    expires_at TEXT,                         -- NULL: when the place has been idle
    tied_to    TEXT    NOT NULL,             -- JSON array: ids and digests it is erased with
    content    TEXT    NOT NULL,             -- canonical JSON
    PRIMARY KEY (workspace, label, slot, key)
) STRICT;

CREATE INDEX window_by_time ON window_items (workspace, label, at);

-- Whatever is written into a label or taken out of it, its epoch grows in the same transaction;
-- events come in large numbers, and whoever appends them sees to it once.
-- The receipts of contexts and what is made of events at any time are no news to anybody.
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
