// One query under each heading. The texts are constant: all values are parameters.
//
// (NexusMemory)-[ABOUT]->(NexusName)           names of a memory, which a traversal follows
// (NexusMemory)-[PART_OF]->(NexusName)         part of an entity's name: looked up, not followed
// (NexusMemory)-[DERIVED_FROM]->(NexusRecord)  its sources: events and memories
// (NexusHome), (NexusLabel)                    replication progress of a workspace and its labels
//
// A name node belongs to one label, so that a lookup never touches other labels. `home` is the key
// of a mirrored workspace. Each NexusMemory is also a NexusRecord.

-- one_record --
CREATE CONSTRAINT nexus_record IF NOT EXISTS
FOR (record:NexusRecord) REQUIRE (record.home, record.id) IS UNIQUE

-- one_name --
CREATE CONSTRAINT nexus_name IF NOT EXISTS
FOR (name:NexusName) REQUIRE (name.home, name.label, name.name) IS UNIQUE

-- one_label --
CREATE CONSTRAINT nexus_label IF NOT EXISTS
FOR (label:NexusLabel) REQUIRE (label.home, label.label) IS UNIQUE

-- one_home --
CREATE CONSTRAINT nexus_home IF NOT EXISTS
FOR (home:NexusHome) REQUIRE home.home IS UNIQUE

-- memories_by_label --
CREATE INDEX nexus_memory IF NOT EXISTS
FOR (memory:NexusMemory) ON (memory.home, memory.label)

-- ping --
RETURN 1

-- find_by_names --
// The progress is read first: memories added meanwhile are found twice instead of lost.
OPTIONAL MATCH (home:NexusHome {home: $home})
OPTIONAL MATCH (label:NexusLabel {home: $home}) WHERE label.label IN $labels
WITH home.reached AS reached, collect([label.label, label.generation]) AS generations
UNWIND $labels AS wanted_label
UNWIND $names AS wanted
OPTIONAL MATCH (:NexusName {home: $home, label: wanted_label, name: wanted})
               <-[:ABOUT|PART_OF]-(memory:NexusMemory)
WHERE memory.kind IN $kinds
WITH DISTINCT reached, generations, memory
ORDER BY memory IS NULL, memory.at DESC, memory.id
LIMIT $limit
RETURN reached, generations, collect(memory.id) AS ids

-- load_progress --
OPTIONAL MATCH (home:NexusHome {home: $home})
OPTIONAL MATCH (label:NexusLabel {home: $home})
RETURN home.version AS version, home.reached AS reached,
       collect([label.label, label.cleaned]) AS cleaned

-- claim_version --
// Locks the node until the transaction ends; the version shows writes of other processes.
MERGE (home:NexusHome {home: $home})
ON CREATE SET home.reached = 0, home.version = 0
SET home.version = home.version + 1
RETURN home.version AS version

-- set_reached --
MATCH (home:NexusHome {home: $home}) SET home.reached = $reached

-- set_cleaned --
// `generation`: removals up to it may be missing; `cleaned`: removals up to it are done.
MERGE (label:NexusLabel {home: $home, label: $label})
ON CREATE SET label.cleaned = 0
SET label.generation = $generation,
    label.cleaned = CASE WHEN $done THEN $generation ELSE label.cleaned END

-- ids_in_label --
MATCH (memory:NexusMemory {home: $home, label: $label}) RETURN memory.id AS id

-- all_ids --
MATCH (memory:NexusMemory {home: $home}) RETURN memory.id AS id

-- count_memories --
MATCH (memory:NexusMemory {home: $home}) RETURN count(memory) AS number

-- remove_memories --
// A source of other memories stays as a NexusRecord. Orphaned names and sources are deleted.
MATCH (memory:NexusRecord {home: $home}) WHERE memory.id IN $ids AND memory:NexusMemory
OPTIONAL MATCH (memory)-[relation]->(target)
WITH collect(DISTINCT memory) AS gone, collect(relation) AS relations, collect(DISTINCT target) AS targets
FOREACH (relation IN relations | DELETE relation)
FOREACH (memory IN gone | REMOVE memory:NexusMemory SET memory = {home: memory.home, id: memory.id})
WITH gone + targets AS all
UNWIND all AS each
WITH DISTINCT each WHERE NOT each:NexusMemory AND NOT EXISTS { (each)--() }
DELETE each

-- add_memories --
UNWIND $rows AS row
MERGE (memory:NexusRecord {home: $home, id: row.id})
SET memory:NexusMemory, memory.label = row.label, memory.kind = row.kind,
    memory.at = row.at, memory.predicate = row.predicate
FOREACH (value IN row.names |
    MERGE (name:NexusName {home: $home, label: row.label, name: value})
    CREATE (memory)-[:ABOUT]->(name))
FOREACH (value IN row.parts |
    MERGE (name:NexusName {home: $home, label: row.label, name: value})
    CREATE (memory)-[:PART_OF]->(name))
FOREACH (id IN row.sources |
    MERGE (source:NexusRecord {home: $home, id: id})
    CREATE (memory)-[:DERIVED_FROM]->(source))

-- drop_graphs --
// Deletes one batch and returns its size.
MATCH (each:NexusRecord|NexusName|NexusLabel|NexusHome) WHERE each.home IN $homes
WITH each LIMIT $limit
DETACH DELETE each
RETURN count(*) AS gone

-- export_memories --
MATCH (memory:NexusMemory {home: $home})
RETURN memory.id AS id, memory.label AS label, memory.kind AS kind,
       memory.at AS at, memory.predicate AS predicate,
       COLLECT { MATCH (memory)-[:ABOUT]->(name) RETURN name.name ORDER BY name.name } AS names,
       COLLECT { MATCH (memory)-[:PART_OF]->(name) RETURN name.name ORDER BY name.name } AS parts,
       COLLECT { MATCH (memory)-[:DERIVED_FROM]->(it) RETURN it.id ORDER BY it.id } AS sources
ORDER BY id

-- count_orphans --
// Names and sources without relations; there should be none.
MATCH (each:NexusRecord|NexusName)
WHERE each.home = $home AND NOT each:NexusMemory AND NOT EXISTS { (each)--() }
RETURN count(each) AS number
