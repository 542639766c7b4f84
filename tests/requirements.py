"""The manifest: every capability the specification names, and how far it has come.

`works` and `partial` rows have a test marked `@pytest.mark.requirement("A10")`; a row that is
`later` has none, and says what it waits for. `test_requirements.py` holds both to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["works", "partial", "later"]


@dataclass(frozen=True, slots=True)
class Requirement:
    text: str
    status: Status
    why: str = ""


def works(text: str) -> Requirement:
    return Requirement(text, "works")


def partial(text: str, why: str) -> Requirement:
    return Requirement(text, "partial", why)


def later(text: str, why: str) -> Requirement:
    return Requirement(text, "later", why)


SOURCES = "waits for sources outside the memory"
DOORS = "waits for the doors: REST, MCP and tools for agents"

REQUIREMENTS: dict[str, Requirement] = {
    # A: layers, scoping, composer
    "A1": works("A rolling window of a room's newest messages with attribution"),
    "A2": works("The window, and composed contexts, kept in Redis, or the same without Redis"),
    "A3": works("Episodes in tiers: thread, session, day, week"),
    "A4": works("Episodes are embedded and found beside facts"),
    "A5": partial(
        "Facts, decisions and action items extracted from messages",
        "by rules from English only: about a third of the facts and two thirds of the landmarks of"
        " a chat, nine in ten of them right; a model finds more",
    ),
    "A6": works("Decisions and action items are typed records of their own"),
    "A7": works("Exact typed JSON facts by key and scope, unchanged byte for byte"),
    "A8": works("Scopes room, dm, profile, project name who, with which agent, and where"),
    "A9": works("Visibility public, shared, private, told by the scope"),
    "A10": works("In a room: the room, its participants' profiles, its project; never a DM"),
    "A11": works("In a DM: that DM, that user's profile, the project; no one else's DM"),
    "A12": works("Enforced in code on every read path, whatever the prompt says"),
    "A13": works("The composer asks the layers in order and renders an attribution header"),
    "A14": works("Compaction inline at 70 % of the agent's context window"),
    "A15": partial(
        "Landmarks are never deleted and always pinned",
        "never deleted; pinned is what is alive, five of each (a setting): open tasks by due date,"
        " standing decisions by weight, preferences about the agent's behaviour",
    ),
    "A16": works("Many people in a room, each statement attributed"),
    # B: declarative, episodic, procedural
    "B1": works("Declarative, episodic and procedural memory, each asked in its way"),
    "B2": partial(
        "Entities of eight types and more by configuration",
        "a name without evidence has a guessed type: of those in a chat, seven of eight are right",
    ),
    "B3": works("Directed relations, entity to entity and entity to literal"),
    "B4": works("An append-only log of observations: nothing merged or overwritten"),
    "B5": partial(
        "What is true now and what was, interpreted when asked",
        "of what was learned: about half of the questions on chat conversations are answered, most"
        " others because the fact was not read",
    ),
    "B6": works("Validity in time beside the time of recording, asked by either"),
    "B7": works("Free relation names in SCREAMING_SNAKE_CASE"),
    "B8": works("Confidence, and stated or inferred, on every fact"),
    "B9": partial(
        "Aliases: names, parts of names, addresses, phones, handles and usernames, normalised",
        "stated ones; in a chat about half of the aliases are found",
    ),
    "B10": works("HAS_EMAIL and its like go straight to aliases"),
    "B11": works("An ambiguous match or a nickname becomes a merge candidate for a human"),
    "B12": works("Only proven identifiers merge by themselves, and merges can be undone"),
    "B13": works("Behavioural patterns as inferred facts"),
    "B14": works("Episodes with start, end, channel, participants, summary"),
    "B15": works("Provenance: which message taught us this, and the episodes of an entity"),
    "B16": partial(
        "Derived events: decision, action item, commitment, preference, correction",
        "with a status, from English: about two thirds are found, of corrections half",
    ),
    "B17": works("Episodes found by words and by meaning"),
    "B18": works("Procedures as readable documents in a workspace folder"),
    "B19": works("Dossiers of sure facts, promises and episodes: stale ones known, versions kept"),
    "B20": partial(
        "Reading and writing by themselves on every turn",
        "learning; an agent calls `before` and `after`, and hooks that do it follow",
    ),
    "B21": works("One combined extraction pass, which also checks the facts of the rules"),
    "B22": partial(
        "The same person across channels is one entity",
        "in all places that a viewer may read: sessions and DM of one agent are one graph, and"
        " profiles and projects cross rooms; two names with one proven address are joined in one"
        " place only",
    ),
    "B23": later("Import of other assistants' history", "waits for readers of their files"),
    "B24": partial(
        "Turn labels: label, summary, topics, entities", "for messages in English, or by a model"
    ),
    "B25": works("Routing to the session that knows the entities mentioned"),
    "B26": works("Skills for agents as files and commands"),
    "B27": works("One SQLite file holds all of it"),
    # C: vector memory
    "C1": works("sqlite-vec as a backend one can choose"),
    "C2": works("LanceDB as a backend"),
    "C3": works("pgvector as a backend"),
    "C4": works("A small store interface that third parties can implement and register"),
    "C5": works("Scopes session, channel, agent, global"),
    "C6": works("Entries carry source, role, tags and anything else"),
    "C7": works("Search with limit, threshold and metadata filters"),
    "C8": partial(
        "Answers carry score, highlights, total count and query time",
        "under a filter or threshold the total counts what was looked at",
    ),
    "C9": works("Embedder OpenAI"),
    "C10": works("Embedder Gemini"),
    "C11": works("Embedder Ollama, and the built-in default"),
    "C12": works("Embedding in batches within each provider's limits"),
    "C13": works("A cache of question embeddings"),
    "C14": works("nexus.yaml with ${ENV}; both seeds' files load unchanged"),
    "C15": works("Rules for what is indexed by itself: length, roles, batch size"),
    "C16": later("Agent tool vector_memory_search with its schema", DOORS),
    "C17": later("Agent tool vector_memory_write with its schema", DOORS),
    "C18": works("nexus memory search"),
    "C19": works("nexus memory index"),
    "C20": works("nexus memory stats"),
    "C21": works("nexus memory compact"),
    "C22": works("nexus memory export and import"),
    "C23": works("An approximate index where exact search no longer pays"),
    # D: unified memory and context router
    "D1": partial(
        "Layers L0 to L4 as views",
        "`layer` and `nexus layers` show each; L4 has the documents that were told to the memory,"
        " and waits for sources outside of it",
    ),
    "D2": works("Session cache with a day's life after the last activity"),
    "D3": works("A rolling session summary every five messages"),
    "D4": works("Resuming from the summary, not by replay"),
    "D5": works("Promotion of what matters after a session ends"),
    "D6": works("Forgetting curve boosted by importance and access"),
    "D7": partial(
        "Importance from content, frequency, recency and richness",
        "content is rated by English words; a text in another language has the default",
    ),
    "D8": works("Archiving or deleting what is no longer retained"),
    "D9": works("Promotion from short to long term"),
    "D10": works("The raw exchange is always kept beside what was derived"),
    "D11": works("Duplicates have one representative, and the latest truth wins"),
    "D12": partial("Categories, and custom ones", "the eight of the rules; custom ones by tags"),
    "D13": partial(
        "Organisational documents looked up on demand",
        "those that were told to the memory (`index`); those kept elsewhere wait for sources",
    ),
    "D14": later("Questions to the user's own databases, read-only and audited", SOURCES),
    "D15": later("External APIs behind the same interface", SOURCES),
    "D16": works("The context router as the single point of injection"),
    "D17": works("A token budget per source with priorities"),
    "D18": partial("A map of what can be looked up", "tools, documents and kinds of memories"),
    "D19": partial("Temporal signals by rules", "for questions in English"),
    "D20": partial(
        "One service for every consumer",
        "for programs, sync and async, and the command line; those behind the doors follow",
    ),
    "D21": works("Typed workspace ids everywhere: a forgotten scope is a type error"),
    "D22": works("One shared circuit breaker and connection pool"),
    "D23": works("A result cache, invalidated on write, in each process and shared by all"),
    "D24": works("Answers, degraded, while a part is down"),
    "D25": works("Slow writes through a queue that loses nothing"),
    "D26": partial(
        "Consolidation per workspace, for ten thousand of them",
        "per workspace, batched, resumable, by many workers; of ten thousand the daily sweep was"
        " measured, and consolidation of hundreds",
    ),
    "D27": later(
        "Context assembled within 30 ms at the median",
        "measured on SQLite alone (docs/benchmarks.md), not on Postgres, and no test holds it",
    ),
    "D28": works("Built-in evaluation of relevance and of finding across sessions"),
    "D29": later(
        "Controlled sharing across workspaces", "sharing ends at the wall of a workspace so far"
    ),
    "D30": works("Quotas"),
    "D31": later(
        "Copying an agent's memories to a new agent", "nothing copies an agent's drawer so far"
    ),
    "D32": works("Iterative retrieval for questions of several steps"),
    "D33": later("A dashboard", DOORS),
    # E, the fifth seed: AgentX
    "E1": works("Active channel and the user's own searched together, without repeats"),
    "E2": works("Hits from other channels noted in the audit"),
    "E3": works(
        "Promotion to user-wide by confidence, accesses and conversations, with a link back"
    ),
    "E4": works("Turns found inside a time window, and the recent ones"),
    "E5": works("Graph expansion with limited depth, in searches and as a neighbourhood"),
    "E6": works("Tool invocations recorded with success and latency"),
    "E7": works("Strategies learned from chats or recorded calls, found and reinforced"),
    "E8": works("Tool statistics"),
    "E9": works("Working keys with a time to live, thoughts, the active goal"),
    "E10": works("Goals with status, parents, blockers, priority, deadline and results"),
    "E11": partial(
        "Weighted retrieval by several strategies, and shares of the hits by kind",
        "shares for overviews, connections and lists; other questions rank messages",
    ),
    "E12": works("A cap per conversation for diversity: a soft one, and a hard one if asked for"),
    "E13": works("Words and meaning joined by reciprocal rank fusion, to its best"),
    "E14": partial(
        "Retrieval around entities",
        "entities by words and meaning, their neighbourhood, and questions about a name or a"
        " connection; names, aliases and types without a stated description are compared by words"
        " only",
    ),
    "E15": works("Query expansion, switchable"),
    "E16": works("HyDE, switchable"),
    "E17": works("Self-query, switchable"),
    "E18": works("Latency and result counts per technique"),
    "E19": partial(
        "Calibrated confidence: explicit, implied, inferred, uncertain",
        "the highest level alone was calibrated, on the development set: nine in ten sure facts are"
        " right there",
    ),
    "E20": works("Temporal tags and their boost in ranking"),
    "E21": works("Contradictions: prefer new, prefer old, or flag for review"),
    "E22": partial(
        "Corrections supersede",
        "values and names; a corrected weekday may become a past day, and a corrected clock time a"
        " date",
    ),
    "E23": works("Retrieval reinforces"),
    "E24": works("A worker with named jobs and intervals"),
    "E25": works("Jobs for consolidation, patterns and promotion"),
    "E26": works("Jobs for decay, cleanup and audit partitions"),
    "E27": works("An audit log in four levels"),
    "E28": works("Audit partitions, retention and thresholds kept with each entry"),
    "E29": works("Neo4j as a graph store"),
    "E30": partial(
        "A user profile: preferences, expertise, style",
        "of sure facts that the rules read in English, or that were stated",
    ),
    "E31": works("Schema versions and migrations"),
    "E32": works("Job locks and job tracking"),
    "E33": works("Sensitive data encrypted at rest"),
    "E34": partial(
        "Retrieval limited in rate",
        "whatever is read is counted, but in each process by itself",
    ),
    "E35": works("Metrics of size, latency, lag, cache and decay"),
    # X: beyond the seeds
    "X1": works("Readers and trust of what is derived follow from its sources"),
    "X2": partial(
        "What one person writes privately changes nothing another can observe",
        "in every store; but a quota is shared by a workspace, and time is not compared",
    ),
    "X3": works("Receipts by stage, idempotency keys, a chained ledger, all rebuilt from it"),
    "X4": partial(
        "Everything works without a model and without a key",
        "in English; in other languages nothing is learned but names, and messages are found by"
        " keywords",
    ),
    "X5": partial(
        "Published, repeatable retrieval results",
        "LoCoMo and BEAM on the embedded stores; LongMemEval can be run but was not yet",
    ),
    "X6": partial(
        "Forgetting that follows provenance, proves itself and stops re-import",
        "SQLite's and LanceDB's files are searched; of a server its rows, but not what it keeps of"
        " its past on its own disk (docs/reference/postgres.md)",
    ),
    "X7": partial(
        "Time travel, and a receipt of why each item is in a context",
        "by what had been told by then; what was archived or undone since is not as it was, and"
        " how people write and how much there is are left out",
    ),
    "X8": works("Immune to its own echo; junk, secrets and instructions set apart"),
    "X9": works("Re-embedding in the background, switched atomically"),
    "X10": works("Same data, same questions, same answers from every store"),
    "X11": partial(
        "The composer as optimiser",
        "less than half of the questions about things never mentioned get nothing; a former value"
        " may stand above the current one if the rules did not read the change",
    ),
    "X12": later("MCP, REST, Mem0's client, LangGraph and the others", DOORS),
}
