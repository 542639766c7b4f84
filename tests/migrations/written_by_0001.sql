BEGIN TRANSACTION;
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
INSERT INTO "audit" VALUES(1,1,'2026-03-02','2026-03-02T12:00:00.000016Z','forget','{"action":"forget","actor":"administrator","at":"2026-03-02T12:00:00.000016Z","detail":{"audit":0,"events":1,"ids":["4878fcde3004f70c593a66d9fa7c7d6a"],"memories":1,"what":"user"},"people":[],"place":""}',X'1B37F5788E568CBC47E69FC6E77BA3CD',X'F450FD97F0DB74D77D2F0736CFA270C9C81F596CEDA83AA64AC8C2DF65D55FB9',X'370F5306EB090AD4AAFA0799468F1097B0A211C13DFD1256B6BE58857DE86436',NULL);
CREATE TABLE conversations (
    workspace    INTEGER NOT NULL,
    label        INTEGER NOT NULL,
    conversation INTEGER NOT NULL,  -- ascending, internal
    name         TEXT    NOT NULL,
    term_count   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, label, conversation),
    UNIQUE (workspace, label, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "conversations" VALUES(1,1,1,'~2026-03-02',14);
INSERT INTO "conversations" VALUES(1,1,2,'=storage',9);
INSERT INTO "conversations" VALUES(1,2,1,'~2026-03-02',5);
INSERT INTO "conversations" VALUES(1,3,1,'~2026-03-02',12);
INSERT INTO "conversations" VALUES(1,4,1,'~2026-03-02',11);
INSERT INTO "conversations" VALUES(1,5,1,'~2026-03-02',10);
INSERT INTO "conversations" VALUES(1,6,1,'~2026-03-02',6);
INSERT INTO "conversations" VALUES(1,7,1,'~2026-03-02',8);
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
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"project":"apollo","tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'D809B1EE51715A4FC1785ABBD6789752',X'96364CFAF886DE4C4D0919B4E076766A147E4385CA7B2CE24A7061F8177C8D66',X'3EEAC2AB11A6CD076286ECF11AEFAFBFA6A388ED21AA20E593487AABA96C86EE',347);
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'B638E1DBFBDB06020ED85D240A9A72B16BEB64297ADF54A561CBAFC37D3A4440',X'0F463D2B5852556B485343A6328289A9567A1B30774A09DB58C9E41B17D97997',0);
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000002Z','{"at":"2026-03-02T12:00:00.000002Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'5F6C7FD6E9C94EE089BD3FF7D7FFEA6C',X'39DB74476D3BE6B6F58952B4112CCEBABA7C7D5D9DFBEA29740B85E8B06F36F0',X'CF50D6E5C667DB850F7BE6C9ED6A08A4228EE6A6DB0B87234E6961218B7D50C3',332);
INSERT INTO "events" VALUES(1,4,'a2e4f9580beb18b4a88003ccece219a5',2,'auto-7d0455ef3d369af26516a7bf','2026-03-02T12:00:00.000003Z','{"at":"2026-03-02T12:00:00.000003Z","attachments":[],"id":"a2e4f9580beb18b4a88003ccece219a5","key":"auto-7d0455ef3d369af26516a7bf","kind":"fact","metadata":{"confidence":1.0,"fact":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'4181D09807E9DC8E61AF8EDDFA03089A',X'2C8200FA7AB84252632F021562F92F6A676167FDB4740F02D015C2B19BA1056A',X'18AF4D88129617ECE93C4D6C8C40E2E48D894AEDC3E11B8BCF558F7B234CCCD5',533);
INSERT INTO "events" VALUES(1,5,'6f86681652e9513ee806373b47842887',1,'auto-ddee873490ec72882b2852b7','2026-03-02T12:00:00.000005Z','{"at":"2026-03-02T12:00:00.000005Z","attachments":[],"id":"6f86681652e9513ee806373b47842887","key":"auto-ddee873490ec72882b2852b7","kind":"fact","metadata":{"confidence":0.9,"fact":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null}},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'3ABD0DE5063C656B3E3C73FF290B7EC6',X'44F76F817FA895322EB0DC8C40CEC848064B0C7017278B94EE4B521AB5097128',X'658FE9B06AFE59BE03138AFBD2B83C7470D79CD37C9FD1B16F26533BD8B9C92B',519);
INSERT INTO "events" VALUES(1,6,'058b855f9070b34d6bb861479c694045',3,'auto-2953d01678ac52a95b2ff3bb','2026-03-02T12:00:00.000006Z','{"at":"2026-03-02T12:00:00.000006Z","attachments":[],"id":"058b855f9070b34d6bb861479c694045","key":"auto-2953d01678ac52a95b2ff3bb","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'F5DD8E0458C5AA276AC89092C5562FE5',X'61EFA3E62E934011ADCF768F760141EC7BBD836624DB9B3E2B81C9B3ADC8DCC7',X'0B8005908EB965B9044ED80563451450B98CD1DC0067394C6674429949C9AC21',341);
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000008Z','{"at":"2026-03-02T12:00:00.000008Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'85F58DB90466E9B0C42088AB5AD26B6B',X'73471431784265906F6F32C5EC4F4B1B863E9D4494672B393DBF0FFF978872C8',X'BB02CD4C6AA905036F85360379AAB46C8E38BA7271B4E9F7B3E9F5E110EBEE4E',325);
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000010Z','{"at":"2026-03-02T12:00:00.000010Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'EB7850F0AC4C553D8AED97F208AAA147',X'44181AFE1D3A51BA0A5ECB23127DD2DED8DA10D72177ACFF2EA7D990DBCD50BA',X'DFAAFC1C4E80D589B0CA8AF7BC2507E404B7F0B9437FA2DF54EB209136C35EE4',307);
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000019Z','{"at":"2026-03-02T12:00:00.000019Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000019Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'A4C6FBA596CBE709F1F88EE856851B52',X'27B0A507FBCFADEDE0196D2D9B873493DB28AD1E0637A3422EA85A40E85D22F4',X'FC4ADFBBFE703F5D6CBDC74F06B4FD44CF66DEDA4D2899DB335AF1165044FAAC',325);
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000020Z','{"at":"2026-03-02T12:00:00.000020Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000020Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'7EF7402293F2A9A67F32A663B6943912',X'88643AAB39C55143DEA6F8AFEC8014F4926AD00A6D8D94B97DC2CA45D49725D7',X'26BCABE7CB842208625608598B7FDEB0B76B3B497DDDF5815F4239B432C9D54D',300);
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
CREATE TABLE label_scopes (
    workspace INTEGER NOT NULL,
    scope     TEXT    NOT NULL,
    label     INTEGER NOT NULL,
    PRIMARY KEY (workspace, scope, label)
) STRICT, WITHOUT ROWID;
INSERT INTO "label_scopes" VALUES(1,'05d2cf9cea211ad80f1bf062ae7660cc',3);
INSERT INTO "label_scopes" VALUES(1,'05d2cf9cea211ad80f1bf062ae7660cc',6);
INSERT INTO "label_scopes" VALUES(1,'07da37c921445c5d3ad6e5d844c90d13',4);
INSERT INTO "label_scopes" VALUES(1,'07da37c921445c5d3ad6e5d844c90d13',7);
INSERT INTO "label_scopes" VALUES(1,'906e46f36c52aa7b6f9e00ad2b7b6dbd',1);
INSERT INTO "label_scopes" VALUES(1,'906e46f36c52aa7b6f9e00ad2b7b6dbd',5);
INSERT INTO "label_scopes" VALUES(1,'daf812b219f69d91a08ce23ddaa0c7f7',2);
INSERT INTO "label_scopes" VALUES(2,'56cfdfdc827150f21cb6c2386faff4f2',1);
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
INSERT INTO "labels" VALUES(1,1,'["906e46f36c52aa7b6f9e00ad2b7b6dbd"]',1,0,26,1,3,23,2,2,15);
INSERT INTO "labels" VALUES(1,2,'["daf812b219f69d91a08ce23ddaa0c7f7"]',1,0,27,0,1,5,1,1,3);
INSERT INTO "labels" VALUES(1,3,'["05d2cf9cea211ad80f1bf062ae7660cc"]',1,0,30,0,3,12,1,0,8);
INSERT INTO "labels" VALUES(1,4,'["07da37c921445c5d3ad6e5d844c90d13"]',1,0,31,0,1,11,1,0,3);
INSERT INTO "labels" VALUES(1,5,'["906e46f36c52aa7b6f9e00ad2b7b6dbd"]',1,1,33,0,6,10,1,9,8);
INSERT INTO "labels" VALUES(1,6,'["05d2cf9cea211ad80f1bf062ae7660cc"]',1,1,34,0,4,6,1,4,5);
INSERT INTO "labels" VALUES(1,7,'["07da37c921445c5d3ad6e5d844c90d13"]',1,1,35,0,3,8,1,3,4);
INSERT INTO "labels" VALUES(2,1,'["56cfdfdc827150f21cb6c2386faff4f2"]',1,0,0,0,0,0,0,0,1);
CREATE TABLE links (
    workspace INTEGER NOT NULL,
    origin    TEXT    NOT NULL,  -- id of a memory
    relation  TEXT    NOT NULL,
    target    TEXT    NOT NULL,  -- id of an event or a memory
    PRIMARY KEY (workspace, origin, relation, target)
) STRICT, WITHOUT ROWID;
INSERT INTO "links" VALUES(1,'0eaa1531b02930036ecabf6fcee5da7a','derived_from','058b855f9070b34d6bb861479c694045');
INSERT INTO "links" VALUES(1,'60d354bfa28517f34e6f049d71ab4e36','derived_from','058b855f9070b34d6bb861479c694045');
INSERT INTO "links" VALUES(1,'6879d534576db98265201e8864444047','derived_from','058b855f9070b34d6bb861479c694045');
INSERT INTO "links" VALUES(1,'12d9ceea6ec3b662676015c9c0716e7e','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'41a7da0c5422f9446f47865d1bd7164b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'82fbc18bcb7d5f5f53a93933aaec44c2','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'cf42e6e8944941faae94e9282746981b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'f276c37971d0e7dc34613bb0e477c44a','derived_from','14ca35ccf49d7e9a155d90e61fa65c70');
INSERT INTO "links" VALUES(1,'138618f3f23fef886cfe693ce28c97d6','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'5a1555516a49d8ef2f7e71d074180004','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'6169c9a73a41dc2600c5d69c0beb0699','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'9ec59633d56b5d26de779ec96f0a1dad','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'b3a874517aa7952245e28c3802abcc13','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'b6bdbd480274e2f1a746440eec04196e','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'faac10a12d877930eee94c3899297261','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'3235de74d6695d5a866bc879c40c127f','derived_from','6f86681652e9513ee806373b47842887');
INSERT INTO "links" VALUES(1,'8ee4df2870b8192faaa517c893387271','derived_from','a2e4f9580beb18b4a88003ccece219a5');
INSERT INTO "links" VALUES(1,'3ac7d88723e9e34125d0e11093005229','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'e7b9595f78012271ad090a773a23fadb','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'ffd1192d893a631c225ecfdf3f15ccf1','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
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
INSERT INTO "memories" VALUES(1,1,'9ec59633d56b5d26de779ec96f0a1dad',1,'passage','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',10,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{},"confidence":1.0,"id":"9ec59633d56b5d26de779ec96f0a1dad","indexed_text":"alice: We chose PostgreSQL over MySQL. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{"project":"apollo","tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,3,'f276c37971d0e7dc34613bb0e477c44a',1,'passage','2026-03-02T12:00:00.000002Z',NULL,NULL,2,'scribe','assistant',9,0,0,'short',0,0.5,1.0,2,0,'{"at":"2026-03-02T12:00:00.000002Z","body":{},"confidence":1.0,"id":"f276c37971d0e7dc34613bb0e477c44a","indexed_text":"scribe: Noted, PostgreSQL it is. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["14ca35ccf49d7e9a155d90e61fa65c70"],"speaker":"scribe","tags":[],"text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,4,'3235de74d6695d5a866bc879c40c127f',1,'fact','2026-03-02T12:00:00.000005Z','Tyler','WORKS_AT',1,'scribe','system',4,0,0,'long',0,0.5,0.9,3,0,'{"at":"2026-03-02T12:00:00.000005Z","body":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null},"confidence":0.9,"id":"3235de74d6695d5a866bc879c40c127f","indexed_text":null,"kind":"fact","label":["room:design"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["6f86681652e9513ee806373b47842887"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,5,'8ee4df2870b8192faaa517c893387271',2,'fact','2026-03-02T12:00:00.000003Z','user:alice','expiry',1,'scribe','system',5,0,0,'long',0,0.5,1.0,3,1,'{"at":"2026-03-02T12:00:00.000003Z","body":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}},"confidence":1.0,"id":"8ee4df2870b8192faaa517c893387271","indexed_text":null,"kind":"fact","label":["user:alice"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["a2e4f9580beb18b4a88003ccece219a5"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,6,'6879d534576db98265201e8864444047',3,'passage','2026-03-02T12:00:00.000006Z',NULL,NULL,1,'scribe','system',6,0,0,'long',0,0.5,1.0,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{},"confidence":1.0,"id":"6879d534576db98265201e8864444047","indexed_text":null,"kind":"passage","label":["project:apollo"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["058b855f9070b34d6bb861479c694045"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,7,'41a7da0c5422f9446f47865d1bd7164b',3,'passage','2026-03-02T12:00:00.000008Z',NULL,NULL,1,'scribe','user',3,0,0,'short',0,0.5,1.0,1,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{},"confidence":1.0,"id":"41a7da0c5422f9446f47865d1bd7164b","indexed_text":"Guide\nStart heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"Guide"},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000000","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Start heron.","thread":null,"trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,8,'cf42e6e8944941faae94e9282746981b',3,'passage','2026-03-02T12:00:00.000008Z',NULL,NULL,1,'scribe','user',3,0,0,'short',0,0.5,1.0,1,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{},"confidence":1.0,"id":"cf42e6e8944941faae94e9282746981b","indexed_text":"End\nStop heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"End"},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000001","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Stop heron.","thread":null,"trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,9,'49115015cec23f55476c4b4821709dd3',4,'passage','2026-03-02T12:00:00.000010Z',NULL,NULL,1,'alice','user',11,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{},"confidence":1.0,"id":"49115015cec23f55476c4b4821709dd3","indexed_text":"alice: My raise is due on Friday. (Monday 02 March 2026)","kind":"passage","label":["dm:alice:scribe"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"My raise is due on Friday.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,10,'5a1555516a49d8ef2f7e71d074180004',5,'landmark','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',5,0,0,'short',0,0.9,1.0,4,1,'{"at":"2026-03-02T12:00:00.000000Z","body":{"due":null,"due_from":null,"kind":"decision","owner":"apollo","right":null,"wrong":null},"confidence":1.0,"id":"5a1555516a49d8ef2f7e71d074180004","indexed_text":null,"kind":"landmark","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.9,"scope":"room:design","slot":"fbed29508bc424281aee64a91abadd1d","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,11,'faac10a12d877930eee94c3899297261',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"PostgreSQL","type":"product"},"confidence":1.0,"id":"faac10a12d877930eee94c3899297261","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"9397baaf7b4e8f6e2b526ea6d6f1b081","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"PostgreSQL is a product.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,12,'138618f3f23fef886cfe693ce28c97d6',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"MySQL","type":"thing"},"confidence":1.0,"id":"138618f3f23fef886cfe693ce28c97d6","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"82ac91976f7eabef66795ec89179cb48","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"MySQL is a thing.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,13,'b3a874517aa7952245e28c3802abcc13',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"alice","type":"person"},"confidence":1.0,"id":"b3a874517aa7952245e28c3802abcc13","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"0e0c968e94dd06dc166d94442e17e937","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"alice is a person.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,14,'6169c9a73a41dc2600c5d69c0beb0699',5,'fact','2026-03-02T12:00:00.000000Z','apollo','CHOSE',1,'alice','user',5,0,0,'short',0,0.5,0.95,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aspect":null,"category":"projects","exact":false,"negated":false,"object":"PostgreSQL","predicate":"CHOSE","stated":true,"subject":"apollo","tense":"past","value":null},"confidence":0.95,"id":"6169c9a73a41dc2600c5d69c0beb0699","indexed_text":null,"kind":"fact","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"db5da615c60d7d8d5d0b73578d069d82","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,15,'b6bdbd480274e2f1a746440eec04196e',5,'episode','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"entities":["PostgreSQL","MySQL","alice"],"label":"Decision: Apollo chose PostgreSQL MySQL","span":"turn","topics":[]},"confidence":1.0,"id":"b6bdbd480274e2f1a746440eec04196e","indexed_text":"","kind":"episode","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"turn","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,16,'60d354bfa28517f34e6f049d71ab4e36',6,'entity','2026-03-02T12:00:00.000006Z',NULL,NULL,1,'scribe','system',0,0,0,'short',0,0.5,1.0,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{"aliases":[],"name":"scribe","type":"person"},"confidence":1.0,"id":"60d354bfa28517f34e6f049d71ab4e36","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"3824dcddb6d91139a3a2590170288466","source":"rules","sources":["058b855f9070b34d6bb861479c694045"],"speaker":"scribe","tags":[],"text":"scribe is a person.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,17,'0eaa1531b02930036ecabf6fcee5da7a',6,'fact','2026-03-02T12:00:00.000006Z','staging server','NAMED',1,'scribe','system',6,0,0,'short',0,0.5,0.95,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"NAMED","stated":true,"subject":"staging server","tense":"current","value":"heron"},"confidence":0.95,"id":"0eaa1531b02930036ecabf6fcee5da7a","indexed_text":null,"kind":"fact","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"308f81983283fa03eeb6c68f7412a711","source":"rules","sources":["058b855f9070b34d6bb861479c694045"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,18,'82fbc18bcb7d5f5f53a93933aaec44c2',6,'entity','2026-03-02T12:00:00.000008Z',NULL,NULL,1,'scribe','user',0,0,0,'short',0,0.5,1.0,1,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{"aliases":[],"name":"Guide","type":"thing"},"confidence":1.0,"id":"82fbc18bcb7d5f5f53a93933aaec44c2","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"2e3d8d0f2c8939815416a07268aeac10","source":"rules","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Guide is a thing.","thread":null,"trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,19,'12d9ceea6ec3b662676015c9c0716e7e',6,'entity','2026-03-02T12:00:00.000008Z',NULL,NULL,1,'scribe','user',0,0,0,'short',0,0.5,1.0,1,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{"aliases":[],"name":"End","type":"thing"},"confidence":1.0,"id":"12d9ceea6ec3b662676015c9c0716e7e","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"5c037e73b39fd90ded4534513eec4cae","source":"rules","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"End is a thing.","thread":null,"trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,20,'ffd1192d893a631c225ecfdf3f15ccf1',7,'entity','2026-03-02T12:00:00.000010Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{"aliases":[],"name":"alice","type":"person"},"confidence":1.0,"id":"ffd1192d893a631c225ecfdf3f15ccf1","indexed_text":"","kind":"entity","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"0e0c968e94dd06dc166d94442e17e937","source":"rules","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"alice is a person.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,21,'3ac7d88723e9e34125d0e11093005229',7,'fact','2026-03-02T12:00:00.000010Z','alice''s raise','IS',1,'alice','user',8,0,0,'short',0,0.5,0.95,4,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"IS","stated":true,"subject":"alice''s raise","tense":"current","value":"due"},"confidence":0.95,"id":"3ac7d88723e9e34125d0e11093005229","indexed_text":null,"kind":"fact","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"82c6aba7a6e4109041eba4ab9c6f3793","source":"rules","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"Alice''s raise is due on 6 March 2026.","thread":null,"trust":"direct","valid_from":"2026-03-06T00:00:00.000000Z","valid_to":"2026-03-07T00:00:00.000000Z"}');
INSERT INTO "memories" VALUES(1,22,'e7b9595f78012271ad090a773a23fadb',7,'episode','2026-03-02T12:00:00.000010Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{"entities":["alice"],"label":"alice: raise, due","span":"turn","topics":["raise","due"]},"confidence":1.0,"id":"e7b9595f78012271ad090a773a23fadb","indexed_text":"","kind":"episode","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"turn","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"Alice''s raise is due on 6 March 2026.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
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
CREATE TABLE names (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    name      TEXT    NOT NULL,  -- case-folded
    kind      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    id        TEXT    NOT NULL,  -- id of a memory
    PRIMARY KEY (workspace, label, name, kind, at, id)
) STRICT, WITHOUT ROWID;
INSERT INTO "names" VALUES(1,1,'anthropic','fact','2026-03-02T12:00:00.000005Z','3235de74d6695d5a866bc879c40c127f');
INSERT INTO "names" VALUES(1,1,'tyler','fact','2026-03-02T12:00:00.000005Z','3235de74d6695d5a866bc879c40c127f');
INSERT INTO "names" VALUES(1,2,'alice','fact','2026-03-02T12:00:00.000003Z','8ee4df2870b8192faaa517c893387271');
INSERT INTO "names" VALUES(1,5,'alice','entity','2026-03-02T12:00:00.000000Z','b3a874517aa7952245e28c3802abcc13');
INSERT INTO "names" VALUES(1,5,'alice','episode','2026-03-02T12:00:00.000000Z','b6bdbd480274e2f1a746440eec04196e');
INSERT INTO "names" VALUES(1,5,'apollo','fact','2026-03-02T12:00:00.000000Z','6169c9a73a41dc2600c5d69c0beb0699');
INSERT INTO "names" VALUES(1,5,'apollo','landmark','2026-03-02T12:00:00.000000Z','5a1555516a49d8ef2f7e71d074180004');
INSERT INTO "names" VALUES(1,5,'mysql','entity','2026-03-02T12:00:00.000000Z','138618f3f23fef886cfe693ce28c97d6');
INSERT INTO "names" VALUES(1,5,'mysql','episode','2026-03-02T12:00:00.000000Z','b6bdbd480274e2f1a746440eec04196e');
INSERT INTO "names" VALUES(1,5,'postgresql','entity','2026-03-02T12:00:00.000000Z','faac10a12d877930eee94c3899297261');
INSERT INTO "names" VALUES(1,5,'postgresql','episode','2026-03-02T12:00:00.000000Z','b6bdbd480274e2f1a746440eec04196e');
INSERT INTO "names" VALUES(1,5,'postgresql','fact','2026-03-02T12:00:00.000000Z','6169c9a73a41dc2600c5d69c0beb0699');
INSERT INTO "names" VALUES(1,6,'end','entity','2026-03-02T12:00:00.000008Z','12d9ceea6ec3b662676015c9c0716e7e');
INSERT INTO "names" VALUES(1,6,'guide','entity','2026-03-02T12:00:00.000008Z','82fbc18bcb7d5f5f53a93933aaec44c2');
INSERT INTO "names" VALUES(1,6,'scribe','entity','2026-03-02T12:00:00.000006Z','60d354bfa28517f34e6f049d71ab4e36');
INSERT INTO "names" VALUES(1,6,'staging server','fact','2026-03-02T12:00:00.000006Z','0eaa1531b02930036ecabf6fcee5da7a');
INSERT INTO "names" VALUES(1,7,'alice','entity','2026-03-02T12:00:00.000010Z','ffd1192d893a631c225ecfdf3f15ccf1');
INSERT INTO "names" VALUES(1,7,'alice','episode','2026-03-02T12:00:00.000010Z','e7b9595f78012271ad090a773a23fadb');
INSERT INTO "names" VALUES(1,7,'alice''s raise','fact','2026-03-02T12:00:00.000010Z','3ac7d88723e9e34125d0e11093005229');
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
INSERT INTO "outbox" VALUES(1,0,9,1,'indexed','2026-03-02T12:00:00.000019Z',NULL,0,0,NULL);
INSERT INTO "outbox" VALUES(2,0,1,1,'indexed','2026-03-02T12:00:00.000020Z',NULL,0,0,NULL);
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
INSERT INTO "postings" VALUES(1,1,'02',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'02',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'2026',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'2026',3,1,9,2);
INSERT INTO "postings" VALUES(1,1,'alic',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'anthrop',4,1,4,1);
INSERT INTO "postings" VALUES(1,1,'at',4,1,4,1);
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
INSERT INTO "postings" VALUES(1,1,'tyler',4,1,4,1);
INSERT INTO "postings" VALUES(1,1,'we',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'work',4,1,4,1);
INSERT INTO "postings" VALUES(1,2,'30',5,1,5,1);
INSERT INTO "postings" VALUES(1,2,'alic',5,1,5,1);
INSERT INTO "postings" VALUES(1,2,'expiri',5,1,5,1);
INSERT INTO "postings" VALUES(1,2,'minut',5,1,5,1);
INSERT INTO "postings" VALUES(1,2,'user',5,1,5,1);
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
INSERT INTO "postings" VALUES(1,5,'apollo',10,1,5,1);
INSERT INTO "postings" VALUES(1,5,'apollo',14,1,5,1);
INSERT INTO "postings" VALUES(1,5,'chose',10,1,5,1);
INSERT INTO "postings" VALUES(1,5,'chose',14,1,5,1);
INSERT INTO "postings" VALUES(1,5,'mysql',10,1,5,1);
INSERT INTO "postings" VALUES(1,5,'mysql',14,1,5,1);
INSERT INTO "postings" VALUES(1,5,'over',10,1,5,1);
INSERT INTO "postings" VALUES(1,5,'over',14,1,5,1);
INSERT INTO "postings" VALUES(1,5,'postgresql',10,1,5,1);
INSERT INTO "postings" VALUES(1,5,'postgresql',14,1,5,1);
INSERT INTO "postings" VALUES(1,6,'call',17,1,6,1);
INSERT INTO "postings" VALUES(1,6,'heron',17,1,6,1);
INSERT INTO "postings" VALUES(1,6,'is',17,1,6,1);
INSERT INTO "postings" VALUES(1,6,'server',17,1,6,1);
INSERT INTO "postings" VALUES(1,6,'stage',17,1,6,1);
INSERT INTO "postings" VALUES(1,6,'the',17,1,6,1);
INSERT INTO "postings" VALUES(1,7,'2026',21,1,8,1);
INSERT INTO "postings" VALUES(1,7,'6',21,1,8,1);
INSERT INTO "postings" VALUES(1,7,'alic',21,1,8,1);
INSERT INTO "postings" VALUES(1,7,'due',21,1,8,1);
INSERT INTO "postings" VALUES(1,7,'is',21,1,8,1);
INSERT INTO "postings" VALUES(1,7,'march',21,1,8,1);
INSERT INTO "postings" VALUES(1,7,'on',21,1,8,1);
INSERT INTO "postings" VALUES(1,7,'rais',21,1,8,1);
CREATE TABLE profiles (
    profile   INTEGER PRIMARY KEY,
    provider  TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    dimension INTEGER NOT NULL,
    revision  TEXT    NOT NULL,
    UNIQUE (provider, model, dimension, revision)
) STRICT;
INSERT INTO "profiles" VALUES(1,'hashing','terms',8,'1');
CREATE TABLE schema_version (
    version     INTEGER PRIMARY KEY,
    description TEXT    NOT NULL,
    applied_at  TEXT    NOT NULL
) STRICT;
INSERT INTO "schema_version" VALUES(1,'initial_schema','2026-11-18T02:58:54.096627Z');
CREATE TABLE tombstones (
    workspace INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    digest    TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    PRIMARY KEY (workspace, kind, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO "tombstones" VALUES(1,'event','6f0acfbd46a7ed0ebd2a56f9b73c8109','2026-03-02T12:00:00.000016Z');
INSERT INTO "tombstones" VALUES(1,'user','4878fcde3004f70c593a66d9fa7c7d6a','2026-03-02T12:00:00.000016Z');
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
CREATE TABLE vector_indexes (
    workspace  INTEGER NOT NULL,
    label      INTEGER NOT NULL,
    profile    INTEGER NOT NULL,
    indexed_to INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (workspace, label, profile)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "vectors" VALUES(1,1,1,23,1,X'0000000000000000000000000000000000000000000000002EF9643F2EF9E4BE');
INSERT INTO "vectors" VALUES(1,1,1,25,3,X'00000000F30435BF0000000000000000000000000000000000000000F304353F');
INSERT INTO "vectors" VALUES(1,1,1,26,4,X'000000BF000000000000003F00000000000000000000003F000000BF00000000');
INSERT INTO "vectors" VALUES(1,2,1,27,5,X'8F84C1BE8F84C13E8F8441BF0000000000000000000000008F84C1BE00000000');
INSERT INTO "vectors" VALUES(1,3,1,28,6,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,29,7,X'000000000000000000000000F304353F0000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,30,8,X'00000000000000000000000000000000F304353F00000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,4,1,31,9,X'00000000EC05D1BE0000000000000000EC05513FEC05D13E0000000000000000');
INSERT INTO "vectors" VALUES(1,5,1,32,10,X'0000000000000000000000000000000000000000000000002EF9E43E2EF964BF');
INSERT INTO "vectors" VALUES(1,5,1,33,14,X'0000000000000000000000000000000000000000000000002EF9E43E2EF964BF');
INSERT INTO "vectors" VALUES(1,6,1,34,17,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,7,1,35,21,X'000000003ACD13BF00000000000000003ACD133F000000003ACD13BF00000000');
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
INSERT INTO "workspaces" VALUES(1,'acme',9,X'FC4ADFBBFE703F5D6CBDC74F06B4FD44CF66DEDA4D2899DB335AF1165044FAAC',35,1,1,X'370F5306EB090AD4AAFA0799468F1097B0A211C13DFD1256B6BE58857DE86436','2026-03-02',0,3029);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'26BCABE7CB842208625608598B7FDEB0B76B3B497DDDF5815F4239B432C9D54D',0,NULL,0,NULL,'2026-03-02',0,300);
CREATE INDEX events_by_time ON events (workspace, label, at);
CREATE INDEX outbox_leased ON outbox (workspace, label, step) WHERE leased_until IS NOT NULL;
CREATE INDEX jobs_by_due ON jobs (priority, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_kind ON memories (workspace, label, kind, at DESC, id);
CREATE INDEX memories_by_conversation ON memories (workspace, label, conversation, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;
CREATE INDEX memories_decay_candidates ON memories
    (workspace, memory, id, label, conversation, kind, at, length, salience, confidence, trust)
    WHERE tier = 'short' AND is_pinned = 0 AND is_archived = 0;
CREATE INDEX usage_by_memory ON usage_counts (workspace, id, last_at);
CREATE INDEX links_by_target ON links (workspace, target, origin);
CREATE INDEX window_by_time ON window_items (workspace, label, at);
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
COMMIT;
