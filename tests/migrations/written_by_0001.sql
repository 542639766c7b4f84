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
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'ABD93F6FB2781B5BAB8023C0A3FB42E0',X'6E0738EF5B845D38DAD22D614A1176254A90FC99AE5ADB58B30AF3CEA35087AA',X'6CABE64FEFD4F69C1114C124058DA1042507AA86CCD3DE1A2EB19613B84113F4');
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'A83E3B62079C6B8CD8695FBDC3B3475652036156112C5BDC6B94A859AD8D061A',X'49C7CF8F20D2EB7C95E8C123CF400D4433224079DC0A446F7A2448E665FE0098');
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000002Z','{"at":"2026-03-02T12:00:00.000002Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'03885F08A73907C1D7A1E3D7C34217C9',X'907C71306B8A4B2E79A651FF9B006EF4775854E63D5F7E401F42C7C5B02AF4B2',X'630EADA4CA6729E70E650980A91E1932F39F11AEF9AE43D89B9C2AFD37A0FDF2');
INSERT INTO "events" VALUES(1,4,'05419a89888704a72cc9270ddcabd567',2,'auto-05ab3888ad188c1000741c26','2026-03-02T12:00:00.000003Z','{"at":"2026-03-02T12:00:00.000003Z","attachments":[],"id":"05419a89888704a72cc9270ddcabd567","key":"auto-05ab3888ad188c1000741c26","kind":"fact","metadata":{"confidence":1.0,"fact":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'533833E897166684FD72AB8419AC53B8',X'61D32ACB72EEBA99DA8CC3F7268F34CD1F1B6DD32C1D4144C444AFC1D7B04DA9',X'99AE6B444103C2939C622E732C51406BDD182C490DF0A203234C28E273884717');
INSERT INTO "events" VALUES(1,5,'8152803a3e80780cb70c425f8083c3a0',1,'auto-b70462c92c13f131157db52e','2026-03-02T12:00:00.000005Z','{"at":"2026-03-02T12:00:00.000005Z","attachments":[],"id":"8152803a3e80780cb70c425f8083c3a0","key":"auto-b70462c92c13f131157db52e","kind":"fact","metadata":{"confidence":0.9,"fact":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null}},"recorded_at":"2026-03-02T12:00:00.000006Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'32EBFA0AB29C168894B3B3780C7278E8',X'E7A07C6DA1E7409171FD6DA888B0F17F9B99D5B711200BBB5BEBC94933146D1E',X'0DC83D120F54DC08E519AD4FC52BD2603C504B472EFBFBD287890F64ABA52B4A');
INSERT INTO "events" VALUES(1,6,'fd196b9b9e26a70e681619dd031970dd',3,'auto-1ffd35b744aaa7fa9bfa5d61','2026-03-02T12:00:00.000007Z','{"at":"2026-03-02T12:00:00.000007Z","attachments":[],"id":"fd196b9b9e26a70e681619dd031970dd","key":"auto-1ffd35b744aaa7fa9bfa5d61","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'3410997978B4656D056045F3591A341E',X'D807818ED550770AD1960325F24889906215459FE12DD39BA7C117E2F1C0ACF2',X'6F6A1E398C0F6DC9B913BAE75E2E79C2F95FC3ED970D3CB7523F99AF01B345EA');
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000009Z','{"at":"2026-03-02T12:00:00.000009Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'52F683CEC13129B37560E660879A58A7',X'D69C5A47CA907BAE150E6DB156F4E1A49E7C2578F46B816D3337E81762890ECC',X'08FAA02F1A3335126F37888696670252D156D9338CC40F8626C5E1F72FC8F104');
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000011Z','{"at":"2026-03-02T12:00:00.000011Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'8E0B4F39657E7573237181838C60D1FC',X'B2371F6A97D54450E333AB5FE8820311B4E39D5CF2B53B56B622BAB09939E98B',X'7C0AAA9EC10848B42D37B6F219724D1414CB73F6B2E9CA41C143E5B16C4216CE');
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000017Z','{"at":"2026-03-02T12:00:00.000017Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000017Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'2FD6B6E2820C9E34BB16DED681DA3C35',X'24132535FC9A398C4F8F4926AD36D1C2B7EBF0BE952917C54BA9BAA23AFDEBF4',X'21320B056059B9899308EEDD4899AD79BFED9A4A9A2E1AA92D336A9F5396EEA3');
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000018Z','{"at":"2026-03-02T12:00:00.000018Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000018Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'5C7093DAE807B9F619FAEC7416914938',X'2D56B5811D99D08642BF1163D485C39F037C2AF778C60021939B9FA0C1205D89',X'F4CE5F24CD6C9A966A24DB2F87C0067E2D36E41818D3E4F3CB2A91524A95645D');
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
INSERT INTO "links" VALUES(1,'73f6daaeb77fba9eda10a2d6e3df3a5a','derived_from','05419a89888704a72cc9270ddcabd567');
INSERT INTO "links" VALUES(1,'41a7da0c5422f9446f47865d1bd7164b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'cf42e6e8944941faae94e9282746981b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'f276c37971d0e7dc34613bb0e477c44a','derived_from','14ca35ccf49d7e9a155d90e61fa65c70');
INSERT INTO "links" VALUES(1,'9ec59633d56b5d26de779ec96f0a1dad','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'0d1265dd1ba0807a62a841c62ef98938','derived_from','8152803a3e80780cb70c425f8083c3a0');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'ca6b3fe2626b41561ae44548fbbc9a03','derived_from','fd196b9b9e26a70e681619dd031970dd');
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
INSERT INTO "memories" VALUES(1,1,'9ec59633d56b5d26de779ec96f0a1dad',1,'passage','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',10,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{},"confidence":1.0,"id":"9ec59633d56b5d26de779ec96f0a1dad","indexed_text":"alice: We chose PostgreSQL over MySQL. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{"tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"We chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,3,'f276c37971d0e7dc34613bb0e477c44a',1,'passage','2026-03-02T12:00:00.000002Z',NULL,NULL,2,'scribe','assistant',9,0,0,'{"at":"2026-03-02T12:00:00.000002Z","body":{},"confidence":1.0,"id":"f276c37971d0e7dc34613bb0e477c44a","indexed_text":"scribe: Noted, PostgreSQL it is. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["14ca35ccf49d7e9a155d90e61fa65c70"],"speaker":"scribe","tags":[],"text":"Noted, PostgreSQL it is.","thread":"storage","tier":"short","trust":"inferred","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,4,'73f6daaeb77fba9eda10a2d6e3df3a5a',2,'fact','2026-03-02T12:00:00.000003Z','user:alice','expiry',1,'scribe','system',5,0,0,'{"at":"2026-03-02T12:00:00.000003Z","body":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}},"confidence":1.0,"id":"73f6daaeb77fba9eda10a2d6e3df3a5a","indexed_text":null,"kind":"fact","label":["user:alice"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["05419a89888704a72cc9270ddcabd567"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,5,'0d1265dd1ba0807a62a841c62ef98938',1,'fact','2026-03-02T12:00:00.000005Z','Tyler','WORKS_AT',1,'scribe','system',4,0,0,'{"at":"2026-03-02T12:00:00.000005Z","body":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null},"confidence":0.9,"id":"0d1265dd1ba0807a62a841c62ef98938","indexed_text":null,"kind":"fact","label":["room:design"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000006Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["8152803a3e80780cb70c425f8083c3a0"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,6,'ca6b3fe2626b41561ae44548fbbc9a03',3,'passage','2026-03-02T12:00:00.000007Z',NULL,NULL,1,'scribe','system',6,0,0,'{"at":"2026-03-02T12:00:00.000007Z","body":{},"confidence":1.0,"id":"ca6b3fe2626b41561ae44548fbbc9a03","indexed_text":null,"kind":"passage","label":["project:apollo"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["fd196b9b9e26a70e681619dd031970dd"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,7,'41a7da0c5422f9446f47865d1bd7164b',3,'passage','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',3,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{},"confidence":1.0,"id":"41a7da0c5422f9446f47865d1bd7164b","indexed_text":"Guide\nStart heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"Guide"},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000000","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Start heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,8,'cf42e6e8944941faae94e9282746981b',3,'passage','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',3,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{},"confidence":1.0,"id":"cf42e6e8944941faae94e9282746981b","indexed_text":"End\nStop heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"End"},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000001","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Stop heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,9,'49115015cec23f55476c4b4821709dd3',4,'passage','2026-03-02T12:00:00.000011Z',NULL,NULL,1,'alice','user',11,0,0,'{"at":"2026-03-02T12:00:00.000011Z","body":{},"confidence":1.0,"id":"49115015cec23f55476c4b4821709dd3","indexed_text":"alice: My raise is due on Friday. (Monday 02 March 2026)","kind":"passage","label":["dm:alice:scribe"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"My raise is due on Friday.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
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
INSERT INTO "schema_version" VALUES(1,'foundation','2026-11-16T03:13:33.404277Z');
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
INSERT INTO "workspaces" VALUES(1,'acme',9,X'21320B056059B9899308EEDD4899AD79BFED9A4A9A2E1AA92D336A9F5396EEA3',18);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'F4CE5F24CD6C9A966A24DB2F87C0067E2D36E41818D3E4F3CB2A91524A95645D',0);
CREATE INDEX events_by_time ON events (workspace, label, at);
CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_thread ON memories (workspace, label, thread, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;
CREATE INDEX links_by_target ON links (workspace, target, origin);
COMMIT;
