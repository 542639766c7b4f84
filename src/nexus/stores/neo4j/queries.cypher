// One query under each heading. Their text never varies: whatever was said travels as a parameter.
//
// (NexusMemory)-[ABOUT]->(NexusName)           what a memory is about, and is reached from
// (NexusMemory)-[PART_OF]->(NexusName)         a part of an entity's name: looked up, not followed
// (NexusMemory)-[DERIVED_FROM]->(NexusRecord)  its sources: events, and memories
// (NexusHome), (NexusLabel)                    how far a workspace and its labels were followed
//
// A name belongs to one label: what others keep is not even passed by. `home` is the workspace of
// the records this is a mirror of. A memory is a NexusRecord, too.

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

-- greeting --
RETURN 1

-- about --
// How far it was followed is read first: what comes in meanwhile is found twice, and not lost.
OPTIONAL MATCH (home:NexusHome {home: $home})
OPTIONAL MATCH (label:NexusLabel {home: $home}) WHERE label.label IN $labels
WITH home.reached AS reached, collect([label.label, label.generation]) AS generations
UNWIND $labels AS place
UNWIND $names AS wanted
OPTIONAL MATCH (:NexusName {home: $home, label: place, name: wanted})
               <-[:ABOUT|PART_OF]-(memory:NexusMemory)
WHERE memory.kind IN $kinds
WITH DISTINCT reached, generations, memory
ORDER BY memory IS NULL, memory.at DESC, memory.id
LIMIT $limit
RETURN reached, generations, collect(memory.id) AS ids

-- followed --
OPTIONAL MATCH (home:NexusHome {home: $home})
OPTIONAL MATCH (label:NexusLabel {home: $home})
RETURN home.version AS version, home.reached AS reached,
       collect([label.label, label.cleaned]) AS cleaned

-- take --
// Locks the home until the transaction ends, and tells whether somebody else was here before.
MERGE (home:NexusHome {home: $home})
ON CREATE SET home.reached = 0, home.version = 0
SET home.version = home.version + 1
RETURN home.version AS version

-- come_to --
MATCH (home:NexusHome {home: $home}) SET home.reached = $reached

-- clean_to --
// `generation` says what may be missing, `cleaned` what is surely gone.
MERGE (label:NexusLabel {home: $home, label: $label})
ON CREATE SET label.cleaned = 0
SET label.generation = $generation,
    label.cleaned = CASE WHEN $done THEN $generation ELSE label.cleaned END

-- ids_in_label --
MATCH (memory:NexusMemory {home: $home, label: $label}) RETURN memory.id AS id

-- ids --
MATCH (memory:NexusMemory {home: $home}) RETURN memory.id AS id

-- size --
MATCH (memory:NexusMemory {home: $home}) RETURN count(memory) AS number

-- remove --
// What others rest on stays as a mere source; a name or a source that nothing leads to goes, too.
MATCH (memory:NexusRecord {home: $home}) WHERE memory.id IN $ids AND memory:NexusMemory
OPTIONAL MATCH (memory)-[leading]->(beside)
WITH collect(DISTINCT memory) AS gone, collect(leading) AS paths, collect(DISTINCT beside) AS ends
FOREACH (path IN paths | DELETE path)
FOREACH (memory IN gone | REMOVE memory:NexusMemory SET memory = {home: memory.home, id: memory.id})
WITH gone + ends AS all
UNWIND all AS each
WITH DISTINCT each WHERE NOT each:NexusMemory AND NOT EXISTS { (each)--() }
DELETE each

-- add --
UNWIND $rows AS row
MERGE (memory:NexusRecord {home: $home, id: row.id})
SET memory:NexusMemory, memory.label = row.label, memory.kind = row.kind,
    memory.at = row.at, memory.predicate = row.predicate
FOREACH (told IN row.names |
    MERGE (name:NexusName {home: $home, label: row.label, name: told})
    CREATE (memory)-[:ABOUT]->(name))
FOREACH (told IN row.parts |
    MERGE (name:NexusName {home: $home, label: row.label, name: told})
    CREATE (memory)-[:PART_OF]->(name))
FOREACH (id IN row.sources |
    MERGE (source:NexusRecord {home: $home, id: id})
    CREATE (memory)-[:DERIVED_FROM]->(source))

-- drop_all --
// A part at a time; how much that was.
MATCH (each:NexusRecord|NexusName|NexusLabel|NexusHome) WHERE each.home IN $homes
WITH each LIMIT $limit
DETACH DELETE each
RETURN count(*) AS gone

-- exported --
MATCH (memory:NexusMemory {home: $home})
RETURN memory.id AS id, memory.label AS label, memory.kind AS kind,
       memory.at AS at, memory.predicate AS predicate,
       COLLECT { MATCH (memory)-[:ABOUT]->(name) RETURN name.name ORDER BY name.name } AS names,
       COLLECT { MATCH (memory)-[:PART_OF]->(name) RETURN name.name ORDER BY name.name } AS parts,
       COLLECT { MATCH (memory)-[:DERIVED_FROM]->(it) RETURN it.id ORDER BY it.id } AS sources
ORDER BY id

-- loose_ends --
// Names and sources that nothing leads to: there are none.
MATCH (each:NexusRecord|NexusName)
WHERE each.home = $home AND NOT each:NexusMemory AND NOT EXISTS { (each)--() }
RETURN count(each) AS number
