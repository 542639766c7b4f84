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
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'F04ABE35321C0AEC45EF1CC9E3A18C28',X'6C5AAA324E7B985D29944DB41DFBC872C3F31EB5D16936327634A26374B42A16',X'F7A43F03331D481DD2D551B013518FC9F0A6EB30FDC0ED59800AEE82049A7EB2');
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'EC1D9DF736B9B352539ABF2130BBB7A10E666C68359D36C45DD92832B192B2EB',X'A830463AF10CCFB91E64D14C9B90BBEA6F52E866B5F8B401D2ECBB562BD4270B');
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000002Z','{"at":"2026-03-02T12:00:00.000002Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'36802A305DF6A6923BF9777972DF5E13',X'2E8F2DFE3627C1FDAEE3A94C0079FA1FB272E0E365E39CF606B135F5EE0BB1C7',X'AEFDFEE5A8C993671993704151D6572DBE319730E801408D7A4C6458783CA292');
INSERT INTO "events" VALUES(1,4,'c372b9e3a6a38f76f7e2977b628e91b2',2,'auto-e56e356c89582512dec26c00','2026-03-02T12:00:00.000003Z','{"at":"2026-03-02T12:00:00.000003Z","attachments":[],"id":"c372b9e3a6a38f76f7e2977b628e91b2","key":"auto-e56e356c89582512dec26c00","kind":"fact","metadata":{"confidence":1.0,"fact":{"exact":true,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'FA9B40280A27BCD084267F457EE716D5',X'07FDAE0D76BEFC83BAC8C02B583EBC47B1171365D90FE7F89FC50DC6F17E951B',X'3BE272E0EE27D0A036578A0165172CC71C55FC7907D0D56DD411729AED79DF26');
INSERT INTO "events" VALUES(1,5,'14685e328cee281e1e3478764f8b1af1',1,'auto-f71d9fe4583d2accbe27c97b','2026-03-02T12:00:00.000005Z','{"at":"2026-03-02T12:00:00.000005Z","attachments":[],"id":"14685e328cee281e1e3478764f8b1af1","key":"auto-f71d9fe4583d2accbe27c97b","kind":"fact","metadata":{"confidence":0.9,"fact":{"exact":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","value":null}},"recorded_at":"2026-03-02T12:00:00.000006Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'12E480AA746AE22F1A431C0724E2B49F',X'354C9EBDFDFC33BC545D614F56BBD0046202C00178F139E72A982081EE7C5188',X'C08558CDA195D90E3ECD55116C680079671973F5E456754C6660341B14F8D6DE');
INSERT INTO "events" VALUES(1,6,'ab92cf93f7779902ea733fb382cc359a',3,'auto-a39a5e79365b0b6568cd66b3','2026-03-02T12:00:00.000007Z','{"at":"2026-03-02T12:00:00.000007Z","attachments":[],"id":"ab92cf93f7779902ea733fb382cc359a","key":"auto-a39a5e79365b0b6568cd66b3","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'A368D9C1DE791A22D54F17DCFC66DE25',X'2964F1E69A13C4B9E8F6A013D7F53B93E6BC24BB4E683F99C193A31D6D3BAD3C',X'77D014F025233BF2EB3722EE98FD0EF4600491F8773CEBC14B57959CBBC3D1C4');
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000009Z','{"at":"2026-03-02T12:00:00.000009Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'B859C189E60E599C6E8649656F24432D',X'FE7A933AF37C279A8134C3561F9DA7AEB0F460CA2B5BEF8F2C596A38A9F17539',X'19A1D8E1F5CA7C66C4F98E063B353EA5E54133CE7CDD136CE810A5F433E528B5');
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000011Z','{"at":"2026-03-02T12:00:00.000011Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'D50F51CF6672145CD61F6FE94533013C',X'1A70025F729B7E2E9DFE3A47D33F5377F48114E59F41CF8C9B376015E111B9D1',X'0E0662F5783929CBD1FC8C7CF17EBA1D1846A04BD853A0ABAEC50255CD06C91E');
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000017Z','{"at":"2026-03-02T12:00:00.000017Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000017Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'50049BC2C371A29029EA3743D3BC58E6',X'C816CE2B5CEAC46B70962B038AB1F88671AF05F6E16EF6B6A75EAEA71471AF6D',X'F3AF52045FDEA344D56279B4D6E6BE7B393A5C808DDBE1002F507A83EBC4DCB2');
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000018Z','{"at":"2026-03-02T12:00:00.000018Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000018Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'2C908E112B1523A7B0CCC3E62C536659',X'410F0F1D46F5FA57C726210CBC407C29E033801B729A420C76FE90982435FBBC',X'7AB2FFF2FCF0D202C65F0D68E0FBF319A3372AB848B9DF9F8E21F8B26BB2376C');
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
INSERT INTO "links" VALUES(1,'ded7969c21431d972095193fa1742aa1','derived_from','14685e328cee281e1e3478764f8b1af1');
INSERT INTO "links" VALUES(1,'f276c37971d0e7dc34613bb0e477c44a','derived_from','14ca35ccf49d7e9a155d90e61fa65c70');
INSERT INTO "links" VALUES(1,'9ec59633d56b5d26de779ec96f0a1dad','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'3852669b86b1064cbca0629f1f656eea','derived_from','ab92cf93f7779902ea733fb382cc359a');
INSERT INTO "links" VALUES(1,'6d1e6161cc353ac2d8a47ef772661690','derived_from','c372b9e3a6a38f76f7e2977b628e91b2');
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
    content   TEXT    NOT NULL,              -- canonical JSON
    PRIMARY KEY (workspace, memory),
    UNIQUE (workspace, id)
) STRICT;
INSERT INTO "memories" VALUES(1,1,'9ec59633d56b5d26de779ec96f0a1dad',1,'passage','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',10,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{},"confidence":1.0,"id":"9ec59633d56b5d26de779ec96f0a1dad","indexed_text":"alice: We chose PostgreSQL over MySQL. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"metadata":{"tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"We chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,3,'f276c37971d0e7dc34613bb0e477c44a',1,'passage','2026-03-02T12:00:00.000002Z',NULL,NULL,2,'scribe','assistant',9,0,0,'{"at":"2026-03-02T12:00:00.000002Z","body":{},"confidence":1.0,"id":"f276c37971d0e7dc34613bb0e477c44a","indexed_text":"scribe: Noted, PostgreSQL it is. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["14ca35ccf49d7e9a155d90e61fa65c70"],"speaker":"scribe","tags":[],"text":"Noted, PostgreSQL it is.","thread":"storage","tier":"short","trust":"inferred","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,4,'6d1e6161cc353ac2d8a47ef772661690',2,'fact','2026-03-02T12:00:00.000003Z','user:alice','expiry',1,'scribe','system',5,0,0,'{"at":"2026-03-02T12:00:00.000003Z","body":{"exact":true,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","value":{"minutes":30}},"confidence":1.0,"id":"6d1e6161cc353ac2d8a47ef772661690","indexed_text":null,"kind":"fact","label":["user:alice"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["c372b9e3a6a38f76f7e2977b628e91b2"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,5,'ded7969c21431d972095193fa1742aa1',1,'fact','2026-03-02T12:00:00.000005Z','Tyler','WORKS_AT',1,'scribe','system',4,0,0,'{"at":"2026-03-02T12:00:00.000005Z","body":{"exact":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","value":null},"confidence":0.9,"id":"ded7969c21431d972095193fa1742aa1","indexed_text":null,"kind":"fact","label":["room:design"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000006Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["14685e328cee281e1e3478764f8b1af1"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,6,'3852669b86b1064cbca0629f1f656eea',3,'passage','2026-03-02T12:00:00.000007Z',NULL,NULL,1,'scribe','system',6,0,0,'{"at":"2026-03-02T12:00:00.000007Z","body":{},"confidence":1.0,"id":"3852669b86b1064cbca0629f1f656eea","indexed_text":null,"kind":"passage","label":["project:apollo"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["ab92cf93f7779902ea733fb382cc359a"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,7,'41a7da0c5422f9446f47865d1bd7164b',3,'passage','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',3,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{},"confidence":1.0,"id":"41a7da0c5422f9446f47865d1bd7164b","indexed_text":"Guide\nStart heron.","kind":"passage","label":["project:apollo"],"metadata":{"heading":"Guide"},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000000","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Start heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,8,'cf42e6e8944941faae94e9282746981b',3,'passage','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',3,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{},"confidence":1.0,"id":"cf42e6e8944941faae94e9282746981b","indexed_text":"End\nStop heron.","kind":"passage","label":["project:apollo"],"metadata":{"heading":"End"},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000001","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Stop heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,9,'49115015cec23f55476c4b4821709dd3',4,'passage','2026-03-02T12:00:00.000011Z',NULL,NULL,1,'alice','user',11,0,0,'{"at":"2026-03-02T12:00:00.000011Z","body":{},"confidence":1.0,"id":"49115015cec23f55476c4b4821709dd3","indexed_text":"alice: My raise is due on Friday. (Monday 02 March 2026)","kind":"passage","label":["dm:alice:scribe"],"metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"My raise is due on Friday.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
CREATE TABLE names (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    name      TEXT    NOT NULL,              -- case-folded
    memory    INTEGER NOT NULL,
    PRIMARY KEY (workspace, label, name, memory)
) STRICT, WITHOUT ROWID;
INSERT INTO "names" VALUES(1,1,'anthropic',5);
INSERT INTO "names" VALUES(1,1,'tyler',5);
INSERT INTO "names" VALUES(1,2,'alice',4);
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
INSERT INTO "outbox" VALUES(1,9,1,'indexed','2026-03-02T12:00:00.000017Z',NULL,0,NULL);
INSERT INTO "outbox" VALUES(2,1,1,'indexed','2026-03-02T12:00:00.000018Z',NULL,0,NULL);
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
INSERT INTO "schema_version" VALUES(1,'foundation','2026-11-16T01:39:44.201758Z');
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
INSERT INTO "tombstones" VALUES(1,'event','6f0acfbd46a7ed0ebd2a56f9b73c8109','2026-03-02T12:00:00.000015Z');
INSERT INTO "tombstones" VALUES(1,'user','4878fcde3004f70c593a66d9fa7c7d6a','2026-03-02T12:00:00.000015Z');
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
) STRICT;
INSERT INTO "vectors" VALUES(1,1,1,10,1,X'0000000000000000000000000000000000000000000000002EF9643F2EF9E4BE');
INSERT INTO "vectors" VALUES(1,1,1,12,3,X'00000000F30435BF0000000000000000000000000000000000000000F304353F');
INSERT INTO "vectors" VALUES(1,2,1,13,4,X'8F84C1BE8F84C13E8F8441BF0000000000000000000000008F84C1BE00000000');
INSERT INTO "vectors" VALUES(1,1,1,14,5,X'000000BF000000000000003F00000000000000000000003F000000BF00000000');
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
INSERT INTO "workspaces" VALUES(1,'acme',9,X'F3AF52045FDEA344D56279B4D6E6BE7B393A5C808DDBE1002F507A83EBC4DCB2',18);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'7AB2FFF2FCF0D202C65F0D68E0FBF319A3372AB848B9DF9F8E21F8B26BB2376C',0);
CREATE INDEX events_by_time ON events (workspace, label, at);
CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_thread ON memories (workspace, label, thread, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;
CREATE INDEX links_by_target ON links (workspace, target, origin);
COMMIT;
