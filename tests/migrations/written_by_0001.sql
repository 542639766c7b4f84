BEGIN TRANSACTION;
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
    PRIMARY KEY (workspace, seq),
    UNIQUE (workspace, id)
) STRICT, WITHOUT ROWID;
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000001Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'05DE0E9F07B0AB20EDA682CF07EBD21E',X'027C4A7094D4E7F194AC1080AE2E91725539B7E540386D66684994DA40F807DA',X'981C05A7B47992F19CBB6E1B0820F4156691ADD728E561625819185E3DF54C4A');
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'1F09B6EA31A58FB83E495DCF137D22C5DFCC04BABB946F6A4C51C2B8DBF7F5D5',X'DBB169C82CF99A849BE2B87E9997A220E3C8C91E62F0543B8076992C83578962');
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000004Z','{"at":"2026-03-02T12:00:00.000004Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'8A99F032A7DA9D367DDF407F0B9A3FC6',X'90B3D5172752239BC9E1F89BA5E582A1951206B1C0BC608E75EDD9A29E99AD33',X'AEBA1288CB1C3D35C69C94971A5E6FDCF9DD0065918CB565DFF3503C63532476');
INSERT INTO "events" VALUES(1,4,'41ac8dee3e18bef0a18fdbe6882e2c43',2,'auto-f755c5eaaa7e91a16c0482a1','2026-03-02T12:00:00.000006Z','{"at":"2026-03-02T12:00:00.000006Z","attachments":[],"id":"41ac8dee3e18bef0a18fdbe6882e2c43","key":"auto-f755c5eaaa7e91a16c0482a1","kind":"fact","metadata":{"confidence":1.0,"fact":{"exact":true,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'31D150A81AD84225B31464E5908FF6FB',X'5E585BD245B406CE18DA628B24C9D664563099C2B62284211A9D7D691BEED6F4',X'104F2FEA960B686A86F772539D0180C93BFB06491AAF909C7493644CCF38B73B');
INSERT INTO "events" VALUES(1,5,'9b75c21d5a7df55e43c4cb089e3bbc62',1,'auto-ba97381c0d2ac6a6d8aa2f3e','2026-03-02T12:00:00.000008Z','{"at":"2026-03-02T12:00:00.000008Z","attachments":[],"id":"9b75c21d5a7df55e43c4cb089e3bbc62","key":"auto-ba97381c0d2ac6a6d8aa2f3e","kind":"fact","metadata":{"confidence":0.9,"fact":{"exact":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","value":null}},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'D6E9AA4EEE1B69B8C63287950F44A846',X'53897EAEFEEE8EAE8145B5B9A038CF626E6261A310B2538725F7A6AAF183AE79',X'E58451B5F161A795985A29FBD8E2E79102D0C075FCB9DC99D5CE64C567E67CC7');
INSERT INTO "events" VALUES(1,6,'30ad14ab9002f42759dd00b15edd63de',3,'auto-3075947fa96af1a1f61df1db','2026-03-02T12:00:00.000010Z','{"at":"2026-03-02T12:00:00.000010Z","attachments":[],"id":"30ad14ab9002f42759dd00b15edd63de","key":"auto-3075947fa96af1a1f61df1db","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'381A8F6E4C59F550912F219DA694D7C4',X'E47B465314D11F9547B409A6084E008159915768677352EE5C39E799F2D44E86',X'5FA4EDB78CA91EA66EED6E71EDE98BFE24A580CEABDA74316E766038CE0CEE23');
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000012Z','{"at":"2026-03-02T12:00:00.000012Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000013Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'DD3A52D455D3B6F7231163A9BA506EF5',X'2B0339A21F64F4192DF24312686A4A1A74A47BEFEFCCB4C7606C90F9A291DD5F',X'88DBB6EA57439F82FAFAB295CE4C4732F47992B85835D69CA0D56FAC82CEFE24');
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000014Z','{"at":"2026-03-02T12:00:00.000014Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000015Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'8B4A2D0C448F197E2474513F711CFE56',X'6282B96E78E7CB7335BAE0DD5DA1203E2CB854EBA7C857427B7DF1835D9044EC',X'AC5EF38ED4916F740D967A9EBCF58112AA2E46132DE11D58167BF37432D079FD');
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000021Z','{"at":"2026-03-02T12:00:00.000021Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000022Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'533DD491F186E95DD94A1384DBD9F19D',X'DDF1CD981187CB8E9D0A27F43D42FE8B19BFA72295A2289ED1878BAC02636AFB',X'3603CFCF7D033D5042B9EF3FC01C3088B2A94730586F44994C76D94942D98861');
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000023Z','{"at":"2026-03-02T12:00:00.000023Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000024Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'5CA653452A803A56324E1E922018D500',X'234FE6A99212F7280B554A88B0397400B1F3D55D4236C55C2306925A5258C252',X'C402AD80C7ADE4C8FB53F25C6085FBCFCA1A7531E50A738FCE50FFC98122ECD8');
CREATE TABLE label_scopes (
    workspace INTEGER NOT NULL,
    scope     TEXT    NOT NULL,
    label     INTEGER NOT NULL,
    PRIMARY KEY (workspace, scope, label)
) STRICT, WITHOUT ROWID;
INSERT INTO "label_scopes" VALUES(1,'dm:alice:scribe',4);
INSERT INTO "label_scopes" VALUES(1,'project:apollo',3);
INSERT INTO "label_scopes" VALUES(1,'room:design',1);
INSERT INTO "label_scopes" VALUES(1,'user:alice',2);
INSERT INTO "label_scopes" VALUES(2,'dm:carol:assistant',1);
CREATE TABLE labels (
    workspace  INTEGER NOT NULL REFERENCES workspaces,
    label      INTEGER NOT NULL,
    scopes     TEXT    NOT NULL,             -- JSON array, sorted
    size       INTEGER NOT NULL,             -- how many scopes
    latest     INTEGER NOT NULL DEFAULT 0,   -- newest number in it: what a cache has yet to read
    generation INTEGER NOT NULL DEFAULT 0,   -- grows when something is removed: a cache starts over
    documents  INTEGER NOT NULL DEFAULT 0,   -- memories in it
    terms      INTEGER NOT NULL DEFAULT 0,   -- their lengths, added up
    PRIMARY KEY (workspace, label),
    UNIQUE (workspace, scopes)
) STRICT, WITHOUT ROWID;
INSERT INTO "labels" VALUES(1,1,'["room:design"]',1,14,1,3,15);
INSERT INTO "labels" VALUES(1,2,'["user:alice"]',1,13,0,1,5);
INSERT INTO "labels" VALUES(1,3,'["project:apollo"]',1,17,0,3,12);
INSERT INTO "labels" VALUES(1,4,'["dm:alice:scribe"]',1,18,0,1,7);
INSERT INTO "labels" VALUES(2,1,'["dm:carol:assistant"]',1,0,0,0,0);
CREATE TABLE links (
    workspace INTEGER NOT NULL,
    origin    TEXT    NOT NULL,              -- id of a memory
    relation  TEXT    NOT NULL,
    target    TEXT    NOT NULL,              -- id of an event or a memory
    PRIMARY KEY (workspace, origin, relation, target)
) STRICT, WITHOUT ROWID;
INSERT INTO "links" VALUES(1,'41a7da0c5422f9446f47865d1bd7164b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'cf42e6e8944941faae94e9282746981b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'f276c37971d0e7dc34613bb0e477c44a','derived_from','14ca35ccf49d7e9a155d90e61fa65c70');
INSERT INTO "links" VALUES(1,'c285160fdd0305d14ac05c780f447bd7','derived_from','30ad14ab9002f42759dd00b15edd63de');
INSERT INTO "links" VALUES(1,'9ec59633d56b5d26de779ec96f0a1dad','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'84b1c0d4ec095c10648c804249fffa1a','derived_from','41ac8dee3e18bef0a18fdbe6882e2c43');
INSERT INTO "links" VALUES(1,'25abda49b208c2abec0ed4ebe5cc24f5','derived_from','9b75c21d5a7df55e43c4cb089e3bbc62');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
CREATE TABLE memories (
    workspace INTEGER NOT NULL REFERENCES workspaces,
    memory    INTEGER NOT NULL,              -- grows; never shown
    id        TEXT    NOT NULL,
    label     INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    subject   TEXT,
    predicate TEXT,
    content   TEXT    NOT NULL,              -- canonical JSON
    PRIMARY KEY (workspace, memory),
    UNIQUE (workspace, id)
) STRICT, WITHOUT ROWID;
INSERT INTO "memories" VALUES(1,1,'9ec59633d56b5d26de779ec96f0a1dad',1,'passage','2026-03-02T12:00:00.000000Z',NULL,NULL,'{"at":"2026-03-02T12:00:00.000000Z","body":{},"confidence":1.0,"id":"9ec59633d56b5d26de779ec96f0a1dad","indexed_text":"alice: We chose PostgreSQL over MySQL.","kind":"passage","label":["room:design"],"metadata":{"tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000001Z","role":"user","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"We chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,3,'f276c37971d0e7dc34613bb0e477c44a',1,'passage','2026-03-02T12:00:00.000004Z',NULL,NULL,'{"at":"2026-03-02T12:00:00.000004Z","body":{},"confidence":1.0,"id":"f276c37971d0e7dc34613bb0e477c44a","indexed_text":"scribe: Noted, PostgreSQL it is.","kind":"passage","label":["room:design"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"assistant","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["14ca35ccf49d7e9a155d90e61fa65c70"],"speaker":"scribe","tags":[],"text":"Noted, PostgreSQL it is.","thread":"storage","tier":"short","trust":"inferred","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,4,'84b1c0d4ec095c10648c804249fffa1a',2,'fact','2026-03-02T12:00:00.000006Z','user:alice','expiry','{"at":"2026-03-02T12:00:00.000006Z","body":{"exact":true,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","value":{"minutes":30}},"confidence":1.0,"id":"84b1c0d4ec095c10648c804249fffa1a","indexed_text":null,"kind":"fact","label":["user:alice"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["41ac8dee3e18bef0a18fdbe6882e2c43"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,5,'25abda49b208c2abec0ed4ebe5cc24f5',1,'fact','2026-03-02T12:00:00.000008Z','Tyler','WORKS_AT','{"at":"2026-03-02T12:00:00.000008Z","body":{"exact":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","value":null},"confidence":0.9,"id":"25abda49b208c2abec0ed4ebe5cc24f5","indexed_text":null,"kind":"fact","label":["room:design"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["9b75c21d5a7df55e43c4cb089e3bbc62"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,6,'c285160fdd0305d14ac05c780f447bd7',3,'passage','2026-03-02T12:00:00.000010Z',NULL,NULL,'{"at":"2026-03-02T12:00:00.000010Z","body":{},"confidence":1.0,"id":"c285160fdd0305d14ac05c780f447bd7","indexed_text":null,"kind":"passage","label":["project:apollo"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["30ad14ab9002f42759dd00b15edd63de"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,7,'41a7da0c5422f9446f47865d1bd7164b',3,'passage','2026-03-02T12:00:00.000012Z',NULL,NULL,'{"at":"2026-03-02T12:00:00.000012Z","body":{},"confidence":1.0,"id":"41a7da0c5422f9446f47865d1bd7164b","indexed_text":"Guide\nStart heron.","kind":"passage","label":["project:apollo"],"metadata":{"heading":"Guide"},"recorded_at":"2026-03-02T12:00:00.000013Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000000","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Start heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,8,'cf42e6e8944941faae94e9282746981b',3,'passage','2026-03-02T12:00:00.000012Z',NULL,NULL,'{"at":"2026-03-02T12:00:00.000012Z","body":{},"confidence":1.0,"id":"cf42e6e8944941faae94e9282746981b","indexed_text":"End\nStop heron.","kind":"passage","label":["project:apollo"],"metadata":{"heading":"End"},"recorded_at":"2026-03-02T12:00:00.000013Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000001","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Stop heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,9,'49115015cec23f55476c4b4821709dd3',4,'passage','2026-03-02T12:00:00.000014Z',NULL,NULL,'{"at":"2026-03-02T12:00:00.000014Z","body":{},"confidence":1.0,"id":"49115015cec23f55476c4b4821709dd3","indexed_text":"alice: My raise is due on Friday.","kind":"passage","label":["dm:alice:scribe"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000015Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"My raise is due on Friday.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
CREATE TABLE outbox (
    workspace    INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    label        INTEGER NOT NULL,
    step         TEXT    NOT NULL,
    due_at       TEXT    NOT NULL,
    leased_until TEXT,
    attempts     INTEGER NOT NULL DEFAULT 0,
    error        TEXT,
    PRIMARY KEY (workspace, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO "outbox" VALUES(1,9,1,'indexed','2026-03-02T12:00:00.000022Z',NULL,0,NULL);
INSERT INTO "outbox" VALUES(2,1,1,'indexed','2026-03-02T12:00:00.000024Z',NULL,0,NULL);
CREATE TABLE postings (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    term      TEXT    NOT NULL,
    memory    INTEGER NOT NULL,
    frequency INTEGER NOT NULL,
    length    INTEGER NOT NULL,
    PRIMARY KEY (workspace, label, term, memory)
) STRICT, WITHOUT ROWID;
INSERT INTO "postings" VALUES(1,1,'alic',1,1,6);
INSERT INTO "postings" VALUES(1,1,'anthrop',5,1,4);
INSERT INTO "postings" VALUES(1,1,'at',5,1,4);
INSERT INTO "postings" VALUES(1,1,'chose',1,1,6);
INSERT INTO "postings" VALUES(1,1,'is',3,1,5);
INSERT INTO "postings" VALUES(1,1,'it',3,1,5);
INSERT INTO "postings" VALUES(1,1,'mysql',1,1,6);
INSERT INTO "postings" VALUES(1,1,'note',3,1,5);
INSERT INTO "postings" VALUES(1,1,'over',1,1,6);
INSERT INTO "postings" VALUES(1,1,'postgresql',1,1,6);
INSERT INTO "postings" VALUES(1,1,'postgresql',3,1,5);
INSERT INTO "postings" VALUES(1,1,'scribe',3,1,5);
INSERT INTO "postings" VALUES(1,1,'tyler',5,1,4);
INSERT INTO "postings" VALUES(1,1,'we',1,1,6);
INSERT INTO "postings" VALUES(1,1,'work',5,1,4);
INSERT INTO "postings" VALUES(1,2,'30',4,1,5);
INSERT INTO "postings" VALUES(1,2,'alic',4,1,5);
INSERT INTO "postings" VALUES(1,2,'expiri',4,1,5);
INSERT INTO "postings" VALUES(1,2,'minut',4,1,5);
INSERT INTO "postings" VALUES(1,2,'user',4,1,5);
INSERT INTO "postings" VALUES(1,3,'call',6,1,6);
INSERT INTO "postings" VALUES(1,3,'end',8,1,3);
INSERT INTO "postings" VALUES(1,3,'guid',7,1,3);
INSERT INTO "postings" VALUES(1,3,'heron',6,1,6);
INSERT INTO "postings" VALUES(1,3,'heron',7,1,3);
INSERT INTO "postings" VALUES(1,3,'heron',8,1,3);
INSERT INTO "postings" VALUES(1,3,'is',6,1,6);
INSERT INTO "postings" VALUES(1,3,'server',6,1,6);
INSERT INTO "postings" VALUES(1,3,'stage',6,1,6);
INSERT INTO "postings" VALUES(1,3,'start',7,1,3);
INSERT INTO "postings" VALUES(1,3,'stop',8,1,3);
INSERT INTO "postings" VALUES(1,3,'the',6,1,6);
INSERT INTO "postings" VALUES(1,4,'alic',9,1,7);
INSERT INTO "postings" VALUES(1,4,'due',9,1,7);
INSERT INTO "postings" VALUES(1,4,'friday',9,1,7);
INSERT INTO "postings" VALUES(1,4,'is',9,1,7);
INSERT INTO "postings" VALUES(1,4,'my',9,1,7);
INSERT INTO "postings" VALUES(1,4,'on',9,1,7);
INSERT INTO "postings" VALUES(1,4,'rais',9,1,7);
CREATE TABLE profiles (
    profile   INTEGER PRIMARY KEY,
    provider  TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    dimension INTEGER NOT NULL,
    revision  TEXT    NOT NULL,
    used      INTEGER NOT NULL DEFAULT 0,    -- the largest is the one in use
    UNIQUE (provider, model, dimension, revision)
) STRICT;
INSERT INTO "profiles" VALUES(1,'hashing','terms',8,'1',0);
CREATE TABLE schema_version (
    version     INTEGER PRIMARY KEY,
    description TEXT NOT NULL,
    applied_at  TEXT NOT NULL
) STRICT;
INSERT INTO "schema_version" VALUES(1,'foundation','2026-11-15T22:25:50.680085Z');
CREATE TABLE tombstones (
    workspace INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    digest    TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    PRIMARY KEY (workspace, kind, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO "tombstones" VALUES(1,'event','6f0acfbd46a7ed0ebd2a56f9b73c8109','2026-03-02T12:00:00.000019Z');
INSERT INTO "tombstones" VALUES(1,'user','4878fcde3004f70c593a66d9fa7c7d6a','2026-03-02T12:00:00.000019Z');
CREATE TABLE vector_indexes (
    workspace  INTEGER NOT NULL,
    label      INTEGER NOT NULL,
    profile    INTEGER NOT NULL,
    reached    INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (workspace, label, profile)
) STRICT, WITHOUT ROWID;
CREATE TABLE vectors (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    profile   INTEGER NOT NULL,
    number    INTEGER NOT NULL,              -- order of writing
    memory    INTEGER NOT NULL,
    data      BLOB    NOT NULL,              -- little-endian float32
    PRIMARY KEY (workspace, label, profile, number),
    UNIQUE (workspace, profile, memory)
) STRICT, WITHOUT ROWID;
INSERT INTO "vectors" VALUES(1,1,1,10,1,X'0000000000000000000000000000000000000000000000002EF9643F2EF9E4BE');
INSERT INTO "vectors" VALUES(1,1,1,12,3,X'00000000F30435BF0000000000000000000000000000000000000000F304353F');
INSERT INTO "vectors" VALUES(1,1,1,14,5,X'000000BF000000000000003F00000000000000000000003F000000BF00000000');
INSERT INTO "vectors" VALUES(1,2,1,13,4,X'8F84C1BE8F84C13E8F8441BF0000000000000000000000008F84C1BE00000000');
INSERT INTO "vectors" VALUES(1,3,1,15,6,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,16,7,X'000000000000000000000000F304353F0000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,17,8,X'00000000000000000000000000000000F304353F00000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,4,1,18,9,X'00000000EC05D1BE0000000000000000EC05513FEC05D13E0000000000000000');
CREATE TABLE workspaces (
    workspace INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL UNIQUE,
    length    INTEGER NOT NULL DEFAULT 0,   -- events in the chain
    head      BLOB    NOT NULL,             -- hash of the newest one
    counter   INTEGER NOT NULL DEFAULT 0    -- last number given to a memory or a vector
) STRICT;
INSERT INTO "workspaces" VALUES(1,'acme',9,X'3603CFCF7D033D5042B9EF3FC01C3088B2A94730586F44994C76D94942D98861',18);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'C402AD80C7ADE4C8FB53F25C6085FBCFCA1A7531E50A738FCE50FFC98122ECD8',0);
CREATE INDEX events_by_time ON events (workspace, label, at);
CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;
CREATE INDEX links_by_target ON links (workspace, target, origin);
COMMIT;
