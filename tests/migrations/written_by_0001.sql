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
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000001Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'581528E8AD7D92A7E6DEFC4ABC7C0FBD',X'1B4AF4467621A5A460F56BDA9A09DDFE7B2975E511360A77FBB5026E8FECB8F0',X'74E340EFC27860A318CAC50E6C68D2B93F1DF0CDAECFA575BF983E8A6D96527F');
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'0281FBC50290F99CB8B63F46A6BCEB663A6A51445460AAFF364E9EF1FD7128A7',X'CECF99095423BFC380FE030ACB15A4C9B12071FCB829236A0C47A496B2E885C1');
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000004Z','{"at":"2026-03-02T12:00:00.000004Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'C8012AAFE550F1D11603959B10DDAFBE',X'7842485099810CCEF463A8F9F8F603F61C880A35464EF9748B2E39ABA95E5C7B',X'BEBBCCCBE99A1432785CDCF6815DE0CDB6EEB808B745B2471EF691C9D0B53556');
INSERT INTO "events" VALUES(1,4,'579312f3d9d3abab07bcf0faafa4c46b',2,'auto-2ce9637cedae838a9177224a','2026-03-02T12:00:00.000006Z','{"at":"2026-03-02T12:00:00.000006Z","attachments":[],"id":"579312f3d9d3abab07bcf0faafa4c46b","key":"auto-2ce9637cedae838a9177224a","kind":"fact","metadata":{"confidence":1.0,"fact":{"exact":true,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'A12C741C6CE60D5AE5A014DC5156A89C',X'38154B74FC31EC4D5D9ACADCDFDC3DC0853C8D957942ABFA811B66F7E12464B3',X'002E2EDDDD9E7595523FCEA09DA7F088312C4C97603937416CB9F57729891A63');
INSERT INTO "events" VALUES(1,5,'8017bf5a340253ffc78ca4039579dae6',1,'auto-e5f604ce10d5125d705217c7','2026-03-02T12:00:00.000008Z','{"at":"2026-03-02T12:00:00.000008Z","attachments":[],"id":"8017bf5a340253ffc78ca4039579dae6","key":"auto-e5f604ce10d5125d705217c7","kind":"fact","metadata":{"confidence":0.9,"fact":{"exact":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","value":null}},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'9C9B369F3B8F306D997EEDE7E06DB8A8',X'7D2FA860A761793C7510443BD12B395C9EE8E20741DDF1189CEDF37364F39DB1',X'29EA5E11A7C4194C7E85393139A5D8ABC8BFC19C0C5FB10837D52D4B0429F918');
INSERT INTO "events" VALUES(1,6,'e25f9888cc42fe2da5aa55e12f4e4491',3,'auto-a0dd9ba30817abe94bfd44de','2026-03-02T12:00:00.000010Z','{"at":"2026-03-02T12:00:00.000010Z","attachments":[],"id":"e25f9888cc42fe2da5aa55e12f4e4491","key":"auto-a0dd9ba30817abe94bfd44de","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'BA629C148D6AF8BB0A05B737196D7389',X'854B0648029A4E38BCABC364C0ABC8233F38504466B44A2FFBB0FDEBD52D2BF5',X'EBD713E407230FB168FFD1972DCF4AA65FEE4160D97F4421E74667D59B0EAF27');
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000012Z','{"at":"2026-03-02T12:00:00.000012Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000013Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'C39AA50CF2AA48E3405D3FE6A5AF35E0',X'BDA49E25FE01BF9805F45054CF7E39A6CA5C6AC67AC78D7C091232B4E2726C2F',X'2703D1317DAF199D0CA08F79D060567C1AD891260754808104C83857C66AEDEF');
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000014Z','{"at":"2026-03-02T12:00:00.000014Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000015Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'AC224A2EF4A78D38136060410C7BBC66',X'2A0030FDAE8F89D9C197C4DEB13744BE43245A6D05506EB4D6B358255516EEBC',X'6D7D583EBEB1071ED49DB4F4B57285E2E349128ACACB69E462FC2CF03809BC13');
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000021Z','{"at":"2026-03-02T12:00:00.000021Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000022Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'D18F1CBBC374C32B86CF7D90B35D7471',X'D4C2428FFC3CD3E3DFA9EA1DF0E375534042C331276F6BB1A4744D42C19809EC',X'430D00F2FA9CA698F0B2949DCDCD524A5F8DF427A01A90D95386D740EB1BB2A2');
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000023Z','{"at":"2026-03-02T12:00:00.000023Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000024Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'61020D3C2F489C82A655D7281E8F3A16',X'FCEC4701FE910AECC62012C84977D1839EA9E56A9D7B0D616C56637B0FD8BC95',X'59FF53CE8748EB4D4D02294D20BB707476B47E432358E73FAE96FDC49F6F294C');
CREATE TABLE label_scopes (
    workspace INTEGER NOT NULL,
    scope     TEXT    NOT NULL,
    label     INTEGER NOT NULL,
    PRIMARY KEY (workspace, scope, label)
) STRICT, WITHOUT ROWID;
INSERT INTO "label_scopes" VALUES(1,'05d2cf9cea211ad80f1bf062ae7660cc',3);
INSERT INTO "label_scopes" VALUES(1,'07da37c921445c5d3ad6e5d844c90d13',4);
INSERT INTO "label_scopes" VALUES(1,'906e46f36c52aa7b6f9e00ad2b7b6dbd',1);
INSERT INTO "label_scopes" VALUES(1,'daf812b219f69d91a08ce23ddaa0c7f7',2);
INSERT INTO "label_scopes" VALUES(2,'56cfdfdc827150f21cb6c2386faff4f2',1);
CREATE TABLE labels (
    workspace  INTEGER NOT NULL REFERENCES workspaces,
    label      INTEGER NOT NULL,
    scopes     TEXT    NOT NULL,             -- JSON array of digests, sorted: no names stay
    size       INTEGER NOT NULL,             -- how many scopes
    latest     INTEGER NOT NULL DEFAULT 0,   -- newest number in it: what a cache has yet to read
    generation INTEGER NOT NULL DEFAULT 0,   -- grows when something is removed: a cache starts over
    documents  INTEGER NOT NULL DEFAULT 0,   -- memories in it
    terms      INTEGER NOT NULL DEFAULT 0,   -- their lengths, added up
    threads    INTEGER NOT NULL DEFAULT 0,   -- conversations in it
    PRIMARY KEY (workspace, label),
    UNIQUE (workspace, scopes)
) STRICT, WITHOUT ROWID;
INSERT INTO "labels" VALUES(1,1,'["906e46f36c52aa7b6f9e00ad2b7b6dbd"]',1,14,1,3,23,2);
INSERT INTO "labels" VALUES(1,2,'["daf812b219f69d91a08ce23ddaa0c7f7"]',1,13,0,1,5,1);
INSERT INTO "labels" VALUES(1,3,'["05d2cf9cea211ad80f1bf062ae7660cc"]',1,17,0,3,12,1);
INSERT INTO "labels" VALUES(1,4,'["07da37c921445c5d3ad6e5d844c90d13"]',1,18,0,1,11,1);
INSERT INTO "labels" VALUES(2,1,'["56cfdfdc827150f21cb6c2386faff4f2"]',1,0,0,0,0,0);
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
INSERT INTO "links" VALUES(1,'9ec59633d56b5d26de779ec96f0a1dad','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'4a77ef40c982c78628e60a2b18fb61d4','derived_from','579312f3d9d3abab07bcf0faafa4c46b');
INSERT INTO "links" VALUES(1,'e004cdca536b158676ad9eb90220df9a','derived_from','8017bf5a340253ffc78ca4039579dae6');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'2bc0e175b08264a4244f21e94487b683','derived_from','e25f9888cc42fe2da5aa55e12f4e4491');
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
    content   TEXT    NOT NULL,              -- canonical JSON
    PRIMARY KEY (workspace, memory),
    UNIQUE (workspace, id)
) STRICT, WITHOUT ROWID;
INSERT INTO "memories" VALUES(1,1,'9ec59633d56b5d26de779ec96f0a1dad',1,'passage','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',10,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{},"confidence":1.0,"id":"9ec59633d56b5d26de779ec96f0a1dad","indexed_text":"alice: We chose PostgreSQL over MySQL. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"metadata":{"tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000001Z","role":"user","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"We chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,3,'f276c37971d0e7dc34613bb0e477c44a',1,'passage','2026-03-02T12:00:00.000004Z',NULL,NULL,2,'scribe','assistant',9,0,'{"at":"2026-03-02T12:00:00.000004Z","body":{},"confidence":1.0,"id":"f276c37971d0e7dc34613bb0e477c44a","indexed_text":"scribe: Noted, PostgreSQL it is. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"assistant","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["14ca35ccf49d7e9a155d90e61fa65c70"],"speaker":"scribe","tags":[],"text":"Noted, PostgreSQL it is.","thread":"storage","tier":"short","trust":"inferred","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,4,'4a77ef40c982c78628e60a2b18fb61d4',2,'fact','2026-03-02T12:00:00.000006Z','user:alice','expiry',1,'scribe','system',5,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{"exact":true,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","value":{"minutes":30}},"confidence":1.0,"id":"4a77ef40c982c78628e60a2b18fb61d4","indexed_text":null,"kind":"fact","label":["user:alice"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["579312f3d9d3abab07bcf0faafa4c46b"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,5,'e004cdca536b158676ad9eb90220df9a',1,'fact','2026-03-02T12:00:00.000008Z','Tyler','WORKS_AT',1,'scribe','system',4,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{"exact":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","value":null},"confidence":0.9,"id":"e004cdca536b158676ad9eb90220df9a","indexed_text":null,"kind":"fact","label":["room:design"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["8017bf5a340253ffc78ca4039579dae6"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,6,'2bc0e175b08264a4244f21e94487b683',3,'passage','2026-03-02T12:00:00.000010Z',NULL,NULL,1,'scribe','system',6,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{},"confidence":1.0,"id":"2bc0e175b08264a4244f21e94487b683","indexed_text":null,"kind":"passage","label":["project:apollo"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["e25f9888cc42fe2da5aa55e12f4e4491"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,7,'41a7da0c5422f9446f47865d1bd7164b',3,'passage','2026-03-02T12:00:00.000012Z',NULL,NULL,1,'scribe','user',3,0,'{"at":"2026-03-02T12:00:00.000012Z","body":{},"confidence":1.0,"id":"41a7da0c5422f9446f47865d1bd7164b","indexed_text":"Guide\nStart heron.","kind":"passage","label":["project:apollo"],"metadata":{"heading":"Guide"},"recorded_at":"2026-03-02T12:00:00.000013Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000000","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Start heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,8,'cf42e6e8944941faae94e9282746981b',3,'passage','2026-03-02T12:00:00.000012Z',NULL,NULL,1,'scribe','user',3,0,'{"at":"2026-03-02T12:00:00.000012Z","body":{},"confidence":1.0,"id":"cf42e6e8944941faae94e9282746981b","indexed_text":"End\nStop heron.","kind":"passage","label":["project:apollo"],"metadata":{"heading":"End"},"recorded_at":"2026-03-02T12:00:00.000013Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000001","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Stop heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,9,'49115015cec23f55476c4b4821709dd3',4,'passage','2026-03-02T12:00:00.000014Z',NULL,NULL,1,'alice','user',11,0,'{"at":"2026-03-02T12:00:00.000014Z","body":{},"confidence":1.0,"id":"49115015cec23f55476c4b4821709dd3","indexed_text":"alice: My raise is due on Friday. (Monday 02 March 2026)","kind":"passage","label":["dm:alice:scribe"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000015Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"My raise is due on Friday.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
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
    thread    INTEGER NOT NULL,
    PRIMARY KEY (workspace, label, term, memory)
) STRICT, WITHOUT ROWID;
INSERT INTO "postings" VALUES(1,1,'02',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'02',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'2026',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'2026',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'alic',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'anthrop',5,1,4,1);
INSERT INTO "postings" VALUES(1,1,'at',5,1,4,1);
INSERT INTO "postings" VALUES(1,1,'chose',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'is',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'it',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'march',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'march',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'monday',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'monday',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'mysql',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'note',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'over',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'scribe',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'tyler',5,1,4,1);
INSERT INTO "postings" VALUES(1,1,'we',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'work',5,1,4,1);
INSERT INTO "postings" VALUES(1,2,'30',4,1,5,1);
INSERT INTO "postings" VALUES(1,2,'alic',4,1,5,1);
INSERT INTO "postings" VALUES(1,2,'expiri',4,1,5,1);
INSERT INTO "postings" VALUES(1,2,'minut',4,1,5,1);
INSERT INTO "postings" VALUES(1,2,'user',4,1,5,1);
INSERT INTO "postings" VALUES(1,3,'call',6,1,6,1);
INSERT INTO "postings" VALUES(1,3,'end',8,1,3,1);
INSERT INTO "postings" VALUES(1,3,'guid',7,1,3,1);
INSERT INTO "postings" VALUES(1,3,'heron',6,1,6,1);
INSERT INTO "postings" VALUES(1,3,'heron',7,1,3,1);
INSERT INTO "postings" VALUES(1,3,'heron',8,1,3,1);
INSERT INTO "postings" VALUES(1,3,'is',6,1,6,1);
INSERT INTO "postings" VALUES(1,3,'server',6,1,6,1);
INSERT INTO "postings" VALUES(1,3,'stage',6,1,6,1);
INSERT INTO "postings" VALUES(1,3,'start',7,1,3,1);
INSERT INTO "postings" VALUES(1,3,'stop',8,1,3,1);
INSERT INTO "postings" VALUES(1,3,'the',6,1,6,1);
INSERT INTO "postings" VALUES(1,4,'02',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'2026',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'alic',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'due',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'friday',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'is',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'march',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'monday',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'my',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'on',9,1,11,1);
INSERT INTO "postings" VALUES(1,4,'rais',9,1,11,1);
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
INSERT INTO "schema_version" VALUES(1,'foundation','2026-11-15T22:54:10.825138Z');
CREATE TABLE threads (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    thread    INTEGER NOT NULL,              -- grows; never shown
    name      TEXT    NOT NULL,
    terms     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, label, thread),
    UNIQUE (workspace, label, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "threads" VALUES(1,1,1,'~2026-03-02',14);
INSERT INTO "threads" VALUES(1,1,2,'=storage',9);
INSERT INTO "threads" VALUES(1,2,1,'~2026-03-02',5);
INSERT INTO "threads" VALUES(1,3,1,'~2026-03-02',12);
INSERT INTO "threads" VALUES(1,4,1,'~2026-03-02',11);
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
INSERT INTO "workspaces" VALUES(1,'acme',9,X'430D00F2FA9CA698F0B2949DCDCD524A5F8DF427A01A90D95386D740EB1BB2A2',18);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'59FF53CE8748EB4D4D02294D20BB707476B47E432358E73FAE96FDC49F6F294C',0);
CREATE INDEX events_by_time ON events (workspace, label, at);
CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_thread ON memories (workspace, label, thread, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;
CREATE INDEX links_by_target ON links (workspace, target, origin);
COMMIT;
