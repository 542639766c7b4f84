BEGIN TRANSACTION;
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
INSERT INTO "audit" VALUES(1,1,'2026-03-02','2026-03-02T12:00:00.000017Z','forget','{"action":"forget","actor":"administrator","at":"2026-03-02T12:00:00.000017Z","detail":{"audit":0,"events":1,"ids":["4878fcde3004f70c593a66d9fa7c7d6a"],"memories":1,"what":"user"},"people":[],"place":""}',X'EF41E46146221652E369894A715A7094',X'DA1DF9EA8AD1AFF2A92D8D90C248F7007554BADF53EE5F99797589A71C795B64',X'7BAC4C1EC813115DB5FB0FE279DF81FD6782AB33D5C83BEA40BDF52E6002FA4B',NULL);
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
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"project":"apollo","tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'7232E838C700BBDC2B33284B9C44D6C2',X'4167C451C5F70B6945901A9BC6B4353C0F014BBCD76CC535B77208F91D53C794',X'E31BAD942461B9BFE373DEDEC95FEF1194B5CC6A893F385D3357E3878D939AB0',347);
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'EA50BE6D92805A45601A7DE8BF4D81F704B88B0A80A0FE4B02E6F6A5E4798F9D',X'E28D606BD17129E2352A8BAA08C75895984125507233EA2B42D24ADF7EB01D3F',0);
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000002Z','{"at":"2026-03-02T12:00:00.000002Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'7056471879B7B3441135738CD233DB38',X'573685BFF74965882860CD9B5E8DD4F01FE2349BABC3E0AAF6B85B58ABA2FB75',X'C16EFE359D45445F4343E9A001E9AF5D78BF66C1394C20B228C548518B2C1CF0',332);
INSERT INTO "events" VALUES(1,4,'04413f2ad42382c817c20b3e43c5ac43',2,'auto-095ba3aa5cc118b78dd6c3c6','2026-03-02T12:00:00.000003Z','{"at":"2026-03-02T12:00:00.000003Z","attachments":[],"id":"04413f2ad42382c817c20b3e43c5ac43","key":"auto-095ba3aa5cc118b78dd6c3c6","kind":"fact","metadata":{"confidence":1.0,"fact":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'E0AE238A69B86D493014F18D797E1DB6',X'50606D3E1AF40A701A63863E9D840B2B7FB9FE6089FC30A149629B76235137DA',X'8A99BBB40DF0381F3952855C6244B3DF8AAAC277A1A23207D91AE4CB371EEA3F',533);
INSERT INTO "events" VALUES(1,5,'db92e7fa3e866e156d01e871d207fcfc',1,'auto-aff86571b1bd14484d7a88d8','2026-03-02T12:00:00.000005Z','{"at":"2026-03-02T12:00:00.000005Z","attachments":[],"id":"db92e7fa3e866e156d01e871d207fcfc","key":"auto-aff86571b1bd14484d7a88d8","kind":"fact","metadata":{"confidence":0.9,"fact":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null}},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'371AF2A6020E17A9C716C1DF47DD844E',X'74E6D64771CA4903FFEC1E674E54244E53835E47DC5102A8B4203D99CB95A700',X'CBF7E9AD4BDD4701BF7D4865AE4B9F4E44754A42E80350D80AE548724990586E',519);
INSERT INTO "events" VALUES(1,6,'241c8f0e5cc3eeecac1b9d77d4c99d61',3,'auto-02f419c3c5151526d2ba0891','2026-03-02T12:00:00.000006Z','{"at":"2026-03-02T12:00:00.000006Z","attachments":[],"id":"241c8f0e5cc3eeecac1b9d77d4c99d61","key":"auto-02f419c3c5151526d2ba0891","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'470EF4A02EA3E0EC47EC6716C28AE01C',X'FB8A02CE5362056518A1992AF18FC24A972DE6D58BBDA904AC49C0459FD5561C',X'CDFD1A9E355C93D0BD4E561EDF9F0A2485948300879F906CDFFDEF0DA48BE265',341);
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000008Z','{"at":"2026-03-02T12:00:00.000008Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'62630F3D745713ED3991987EEAAE4AD6',X'D879F1BB731BA61D150D6BF969741640864405A0DFF4F800F81DC498C34DD31B',X'5A411559FFF3CF7EA93513298165C26E03F794E31BBA43CA273536FB38BCB638',325);
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000010Z','{"at":"2026-03-02T12:00:00.000010Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'B275C143C3339EFDD86D447D1739BA82',X'9DF57E2B91EA65D5C1384CC392D74D4028B2AE4915B461277D1A8AE0682FFD01',X'0C7C7EC3F05E015B52E8F1AFF3A9BF86208CC19502CCEAFF5CDAFAF50AE81C8E',307);
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000020Z','{"at":"2026-03-02T12:00:00.000020Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000020Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'A55B9514AB749DBE24E353B9D4C60627',X'4B6A962AA5054A980BEFF8F5A9744197FC678437E14330F4ACBC197D010A0339',X'479999DC6E81CB5F2B4FD9B56D58D97BC29D1AAFD8A086456451C95136C8CC97',325);
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000021Z','{"at":"2026-03-02T12:00:00.000021Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000021Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'C167FFDD6B166A1ED26B0574CEA3FDD5',X'60E3CED9CFAD48CF7FD15DA50F4CC3DBEA2F695C73E2CFABDB5E861CD2EAA020',X'4DBB29954F967BE3BE253A7D7B8ECD1080B411FDAE71BFE4550E5613C84F63EA',300);
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
INSERT INTO "labels" VALUES(1,1,'["906e46f36c52aa7b6f9e00ad2b7b6dbd"]',1,0,28,1,3,23,2,2,15);
INSERT INTO "labels" VALUES(1,2,'["daf812b219f69d91a08ce23ddaa0c7f7"]',1,0,29,0,1,5,1,1,3);
INSERT INTO "labels" VALUES(1,3,'["05d2cf9cea211ad80f1bf062ae7660cc"]',1,0,33,0,3,12,1,0,8);
INSERT INTO "labels" VALUES(1,4,'["07da37c921445c5d3ad6e5d844c90d13"]',1,0,34,0,1,11,1,0,3);
INSERT INTO "labels" VALUES(1,5,'["906e46f36c52aa7b6f9e00ad2b7b6dbd"]',1,1,25,0,6,10,1,9,8);
INSERT INTO "labels" VALUES(1,6,'["05d2cf9cea211ad80f1bf062ae7660cc"]',1,1,31,0,4,6,1,4,5);
INSERT INTO "labels" VALUES(1,7,'["07da37c921445c5d3ad6e5d844c90d13"]',1,1,35,0,3,8,1,3,4);
INSERT INTO "labels" VALUES(2,1,'["56cfdfdc827150f21cb6c2386faff4f2"]',1,0,0,0,0,0,0,0,1);
CREATE TABLE links (
    workspace INTEGER NOT NULL,
    origin    TEXT    NOT NULL,              -- id of a memory
    relation  TEXT    NOT NULL,
    target    TEXT    NOT NULL,              -- id of an event or a memory
    PRIMARY KEY (workspace, origin, relation, target)
) STRICT, WITHOUT ROWID;
INSERT INTO "links" VALUES(1,'401f694937a496e7f86d5d27ca7a5618','derived_from','04413f2ad42382c817c20b3e43c5ac43');
INSERT INTO "links" VALUES(1,'12d9ceea6ec3b662676015c9c0716e7e','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'41a7da0c5422f9446f47865d1bd7164b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'82fbc18bcb7d5f5f53a93933aaec44c2','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'cf42e6e8944941faae94e9282746981b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'f276c37971d0e7dc34613bb0e477c44a','derived_from','14ca35ccf49d7e9a155d90e61fa65c70');
INSERT INTO "links" VALUES(1,'0e065decb191f7d15c3f17e8498fd9ad','derived_from','241c8f0e5cc3eeecac1b9d77d4c99d61');
INSERT INTO "links" VALUES(1,'cbfacd8ae778f322c8063cedfc95c6b4','derived_from','241c8f0e5cc3eeecac1b9d77d4c99d61');
INSERT INTO "links" VALUES(1,'d3e4ee1aa735d1ad3389660503782d6c','derived_from','241c8f0e5cc3eeecac1b9d77d4c99d61');
INSERT INTO "links" VALUES(1,'138618f3f23fef886cfe693ce28c97d6','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'5a1555516a49d8ef2f7e71d074180004','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'6169c9a73a41dc2600c5d69c0beb0699','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'9ec59633d56b5d26de779ec96f0a1dad','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'b3a874517aa7952245e28c3802abcc13','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'b6bdbd480274e2f1a746440eec04196e','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'faac10a12d877930eee94c3899297261','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'3ac7d88723e9e34125d0e11093005229','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'e7b9595f78012271ad090a773a23fadb','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'ffd1192d893a631c225ecfdf3f15ccf1','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'7ce97fbaa5166db196ce13269f4d02b5','derived_from','db92e7fa3e866e156d01e871d207fcfc');
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
INSERT INTO "memories" VALUES(1,1,'9ec59633d56b5d26de779ec96f0a1dad',1,'passage','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',10,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{},"confidence":1.0,"id":"9ec59633d56b5d26de779ec96f0a1dad","indexed_text":"alice: We chose PostgreSQL over MySQL. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{"project":"apollo","tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,2,'5a1555516a49d8ef2f7e71d074180004',5,'landmark','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',5,0,0,'short',0,0.9,1.0,4,1,'{"at":"2026-03-02T12:00:00.000000Z","body":{"due":null,"due_from":null,"kind":"decision","owner":"apollo","right":null,"wrong":null},"confidence":1.0,"id":"5a1555516a49d8ef2f7e71d074180004","indexed_text":null,"kind":"landmark","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.9,"scope":"room:design","slot":"fbed29508bc424281aee64a91abadd1d","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,3,'faac10a12d877930eee94c3899297261',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"PostgreSQL","type":"product"},"confidence":1.0,"id":"faac10a12d877930eee94c3899297261","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"9397baaf7b4e8f6e2b526ea6d6f1b081","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"PostgreSQL is a product.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,4,'138618f3f23fef886cfe693ce28c97d6',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"MySQL","type":"thing"},"confidence":1.0,"id":"138618f3f23fef886cfe693ce28c97d6","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"82ac91976f7eabef66795ec89179cb48","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"MySQL is a thing.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,5,'b3a874517aa7952245e28c3802abcc13',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"alice","type":"person"},"confidence":1.0,"id":"b3a874517aa7952245e28c3802abcc13","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"0e0c968e94dd06dc166d94442e17e937","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"alice is a person.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,6,'6169c9a73a41dc2600c5d69c0beb0699',5,'fact','2026-03-02T12:00:00.000000Z','apollo','CHOSE',1,'alice','user',5,0,0,'short',0,0.5,0.95,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aspect":null,"category":"projects","exact":false,"negated":false,"object":"PostgreSQL","predicate":"CHOSE","stated":true,"subject":"apollo","tense":"past","value":null},"confidence":0.95,"id":"6169c9a73a41dc2600c5d69c0beb0699","indexed_text":null,"kind":"fact","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"db5da615c60d7d8d5d0b73578d069d82","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,7,'b6bdbd480274e2f1a746440eec04196e',5,'episode','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"entities":["PostgreSQL","MySQL","alice"],"label":"Decision: Apollo chose PostgreSQL MySQL","span":"turn","topics":[]},"confidence":1.0,"id":"b6bdbd480274e2f1a746440eec04196e","indexed_text":"","kind":"episode","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"turn","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,9,'f276c37971d0e7dc34613bb0e477c44a',1,'passage','2026-03-02T12:00:00.000002Z',NULL,NULL,2,'scribe','assistant',9,0,0,'short',0,0.5,1.0,2,0,'{"at":"2026-03-02T12:00:00.000002Z","body":{},"confidence":1.0,"id":"f276c37971d0e7dc34613bb0e477c44a","indexed_text":"scribe: Noted, PostgreSQL it is. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["14ca35ccf49d7e9a155d90e61fa65c70"],"speaker":"scribe","tags":[],"text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,10,'7ce97fbaa5166db196ce13269f4d02b5',1,'fact','2026-03-02T12:00:00.000005Z','Tyler','WORKS_AT',1,'scribe','system',4,0,0,'long',0,0.5,0.9,3,0,'{"at":"2026-03-02T12:00:00.000005Z","body":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null},"confidence":0.9,"id":"7ce97fbaa5166db196ce13269f4d02b5","indexed_text":null,"kind":"fact","label":["room:design"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["db92e7fa3e866e156d01e871d207fcfc"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,11,'401f694937a496e7f86d5d27ca7a5618',2,'fact','2026-03-02T12:00:00.000003Z','user:alice','expiry',1,'scribe','system',5,0,0,'long',0,0.5,1.0,3,1,'{"at":"2026-03-02T12:00:00.000003Z","body":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}},"confidence":1.0,"id":"401f694937a496e7f86d5d27ca7a5618","indexed_text":null,"kind":"fact","label":["user:alice"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["04413f2ad42382c817c20b3e43c5ac43"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,12,'0e065decb191f7d15c3f17e8498fd9ad',3,'passage','2026-03-02T12:00:00.000006Z',NULL,NULL,1,'scribe','system',6,0,0,'long',0,0.5,1.0,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{},"confidence":1.0,"id":"0e065decb191f7d15c3f17e8498fd9ad","indexed_text":null,"kind":"passage","label":["project:apollo"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["241c8f0e5cc3eeecac1b9d77d4c99d61"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,13,'d3e4ee1aa735d1ad3389660503782d6c',6,'entity','2026-03-02T12:00:00.000006Z',NULL,NULL,1,'scribe','system',0,0,0,'short',0,0.5,1.0,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{"aliases":[],"name":"scribe","type":"person"},"confidence":1.0,"id":"d3e4ee1aa735d1ad3389660503782d6c","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"3824dcddb6d91139a3a2590170288466","source":"rules","sources":["241c8f0e5cc3eeecac1b9d77d4c99d61"],"speaker":"scribe","tags":[],"text":"scribe is a person.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,14,'cbfacd8ae778f322c8063cedfc95c6b4',6,'fact','2026-03-02T12:00:00.000006Z','staging server','NAMED',1,'scribe','system',6,0,0,'short',0,0.5,0.95,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"NAMED","stated":true,"subject":"staging server","tense":"current","value":"heron"},"confidence":0.95,"id":"cbfacd8ae778f322c8063cedfc95c6b4","indexed_text":null,"kind":"fact","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"308f81983283fa03eeb6c68f7412a711","source":"rules","sources":["241c8f0e5cc3eeecac1b9d77d4c99d61"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,15,'41a7da0c5422f9446f47865d1bd7164b',3,'passage','2026-03-02T12:00:00.000008Z',NULL,NULL,1,'scribe','user',3,0,0,'short',0,0.5,1.0,1,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{},"confidence":1.0,"id":"41a7da0c5422f9446f47865d1bd7164b","indexed_text":"Guide\nStart heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"Guide"},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000000","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Start heron.","thread":null,"trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,16,'cf42e6e8944941faae94e9282746981b',3,'passage','2026-03-02T12:00:00.000008Z',NULL,NULL,1,'scribe','user',3,0,0,'short',0,0.5,1.0,1,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{},"confidence":1.0,"id":"cf42e6e8944941faae94e9282746981b","indexed_text":"End\nStop heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"End"},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000001","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Stop heron.","thread":null,"trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,17,'82fbc18bcb7d5f5f53a93933aaec44c2',6,'entity','2026-03-02T12:00:00.000008Z',NULL,NULL,1,'scribe','user',0,0,0,'short',0,0.5,1.0,1,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{"aliases":[],"name":"Guide","type":"thing"},"confidence":1.0,"id":"82fbc18bcb7d5f5f53a93933aaec44c2","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"2e3d8d0f2c8939815416a07268aeac10","source":"rules","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Guide is a thing.","thread":null,"trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,18,'12d9ceea6ec3b662676015c9c0716e7e',6,'entity','2026-03-02T12:00:00.000008Z',NULL,NULL,1,'scribe','user',0,0,0,'short',0,0.5,1.0,1,0,'{"at":"2026-03-02T12:00:00.000008Z","body":{"aliases":[],"name":"End","type":"thing"},"confidence":1.0,"id":"12d9ceea6ec3b662676015c9c0716e7e","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"5c037e73b39fd90ded4534513eec4cae","source":"rules","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"End is a thing.","thread":null,"trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,19,'49115015cec23f55476c4b4821709dd3',4,'passage','2026-03-02T12:00:00.000010Z',NULL,NULL,1,'alice','user',11,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{},"confidence":1.0,"id":"49115015cec23f55476c4b4821709dd3","indexed_text":"alice: My raise is due on Friday. (Monday 02 March 2026)","kind":"passage","label":["dm:alice:scribe"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"My raise is due on Friday.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,20,'ffd1192d893a631c225ecfdf3f15ccf1',7,'entity','2026-03-02T12:00:00.000010Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{"aliases":[],"name":"alice","type":"person"},"confidence":1.0,"id":"ffd1192d893a631c225ecfdf3f15ccf1","indexed_text":"","kind":"entity","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"0e0c968e94dd06dc166d94442e17e937","source":"rules","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"alice is a person.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,21,'3ac7d88723e9e34125d0e11093005229',7,'fact','2026-03-02T12:00:00.000010Z','alice''s raise','IS',1,'alice','user',8,0,0,'short',0,0.5,0.95,4,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"IS","stated":true,"subject":"alice''s raise","tense":"current","value":"due"},"confidence":0.95,"id":"3ac7d88723e9e34125d0e11093005229","indexed_text":null,"kind":"fact","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"82c6aba7a6e4109041eba4ab9c6f3793","source":"rules","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"Alice''s raise is due on 6 March 2026.","thread":null,"trust":"direct","valid_from":"2026-03-06T00:00:00.000000Z","valid_to":"2026-03-07T00:00:00.000000Z"}');
INSERT INTO "memories" VALUES(1,22,'e7b9595f78012271ad090a773a23fadb',7,'episode','2026-03-02T12:00:00.000010Z',NULL,NULL,1,'alice','user',0,0,0,'short',0,0.5,1.0,4,0,'{"at":"2026-03-02T12:00:00.000010Z","body":{"entities":["alice"],"label":"alice: raise, due","span":"turn","topics":["raise","due"]},"confidence":1.0,"id":"e7b9595f78012271ad090a773a23fadb","indexed_text":"","kind":"episode","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"turn","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"Alice''s raise is due on 6 March 2026.","thread":null,"trust":"direct","valid_from":null,"valid_to":null}');
CREATE TABLE names (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    name      TEXT    NOT NULL,              -- case-folded
    kind      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    id        TEXT    NOT NULL,              -- of a memory
    PRIMARY KEY (workspace, label, name, kind, at, id)
) STRICT, WITHOUT ROWID;
INSERT INTO "names" VALUES(1,1,'anthropic','fact','2026-03-02T12:00:00.000005Z','7ce97fbaa5166db196ce13269f4d02b5');
INSERT INTO "names" VALUES(1,1,'tyler','fact','2026-03-02T12:00:00.000005Z','7ce97fbaa5166db196ce13269f4d02b5');
INSERT INTO "names" VALUES(1,2,'alice','fact','2026-03-02T12:00:00.000003Z','401f694937a496e7f86d5d27ca7a5618');
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
INSERT INTO "names" VALUES(1,6,'scribe','entity','2026-03-02T12:00:00.000006Z','d3e4ee1aa735d1ad3389660503782d6c');
INSERT INTO "names" VALUES(1,6,'staging server','fact','2026-03-02T12:00:00.000006Z','cbfacd8ae778f322c8063cedfc95c6b4');
INSERT INTO "names" VALUES(1,7,'alice','entity','2026-03-02T12:00:00.000010Z','ffd1192d893a631c225ecfdf3f15ccf1');
INSERT INTO "names" VALUES(1,7,'alice','episode','2026-03-02T12:00:00.000010Z','e7b9595f78012271ad090a773a23fadb');
INSERT INTO "names" VALUES(1,7,'alice''s raise','fact','2026-03-02T12:00:00.000010Z','3ac7d88723e9e34125d0e11093005229');
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
INSERT INTO "outbox" VALUES(1,0,9,1,'indexed','2026-03-02T12:00:00.000020Z',NULL,0,0,NULL);
INSERT INTO "outbox" VALUES(2,0,1,1,'indexed','2026-03-02T12:00:00.000021Z',NULL,0,0,NULL);
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
INSERT INTO "postings" VALUES(1,1,'02',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'2026',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'2026',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'alic',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'anthrop',10,1,4,1);
INSERT INTO "postings" VALUES(1,1,'at',10,1,4,1);
INSERT INTO "postings" VALUES(1,1,'chose',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'is',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'it',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'march',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'march',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'monday',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'monday',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'mysql',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'note',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'over',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'scribe',9,1,9,2);
INSERT INTO "postings" VALUES(1,1,'tyler',10,1,4,1);
INSERT INTO "postings" VALUES(1,1,'we',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'work',10,1,4,1);
INSERT INTO "postings" VALUES(1,2,'30',11,1,5,1);
INSERT INTO "postings" VALUES(1,2,'alic',11,1,5,1);
INSERT INTO "postings" VALUES(1,2,'expiri',11,1,5,1);
INSERT INTO "postings" VALUES(1,2,'minut',11,1,5,1);
INSERT INTO "postings" VALUES(1,2,'user',11,1,5,1);
INSERT INTO "postings" VALUES(1,3,'call',12,1,6,1);
INSERT INTO "postings" VALUES(1,3,'end',16,1,3,1);
INSERT INTO "postings" VALUES(1,3,'guid',15,1,3,1);
INSERT INTO "postings" VALUES(1,3,'heron',12,1,6,1);
INSERT INTO "postings" VALUES(1,3,'heron',15,1,3,1);
INSERT INTO "postings" VALUES(1,3,'heron',16,1,3,1);
INSERT INTO "postings" VALUES(1,3,'is',12,1,6,1);
INSERT INTO "postings" VALUES(1,3,'server',12,1,6,1);
INSERT INTO "postings" VALUES(1,3,'stage',12,1,6,1);
INSERT INTO "postings" VALUES(1,3,'start',15,1,3,1);
INSERT INTO "postings" VALUES(1,3,'stop',16,1,3,1);
INSERT INTO "postings" VALUES(1,3,'the',12,1,6,1);
INSERT INTO "postings" VALUES(1,4,'02',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'2026',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'alic',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'due',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'friday',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'is',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'march',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'monday',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'my',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'on',19,1,11,1);
INSERT INTO "postings" VALUES(1,4,'rais',19,1,11,1);
INSERT INTO "postings" VALUES(1,5,'apollo',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'apollo',6,1,5,1);
INSERT INTO "postings" VALUES(1,5,'chose',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'chose',6,1,5,1);
INSERT INTO "postings" VALUES(1,5,'mysql',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'mysql',6,1,5,1);
INSERT INTO "postings" VALUES(1,5,'over',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'over',6,1,5,1);
INSERT INTO "postings" VALUES(1,5,'postgresql',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'postgresql',6,1,5,1);
INSERT INTO "postings" VALUES(1,6,'call',14,1,6,1);
INSERT INTO "postings" VALUES(1,6,'heron',14,1,6,1);
INSERT INTO "postings" VALUES(1,6,'is',14,1,6,1);
INSERT INTO "postings" VALUES(1,6,'server',14,1,6,1);
INSERT INTO "postings" VALUES(1,6,'stage',14,1,6,1);
INSERT INTO "postings" VALUES(1,6,'the',14,1,6,1);
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
    description TEXT NOT NULL,
    applied_at  TEXT NOT NULL
) STRICT;
INSERT INTO "schema_version" VALUES(1,'foundation','2026-11-16T13:40:27.683669Z');
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
INSERT INTO "threads" VALUES(1,5,1,'~2026-03-02',10);
INSERT INTO "threads" VALUES(1,6,1,'~2026-03-02',6);
INSERT INTO "threads" VALUES(1,7,1,'~2026-03-02',8);
CREATE TABLE tombstones (
    workspace INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    digest    TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    PRIMARY KEY (workspace, kind, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO "tombstones" VALUES(1,'event','6f0acfbd46a7ed0ebd2a56f9b73c8109','2026-03-02T12:00:00.000017Z');
INSERT INTO "tombstones" VALUES(1,'user','4878fcde3004f70c593a66d9fa7c7d6a','2026-03-02T12:00:00.000017Z');
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
INSERT INTO "vectors" VALUES(1,1,1,23,1,X'0000000000000000000000000000000000000000000000002EF9643F2EF9E4BE');
INSERT INTO "vectors" VALUES(1,5,1,24,2,X'0000000000000000000000000000000000000000000000002EF9E43E2EF964BF');
INSERT INTO "vectors" VALUES(1,5,1,25,6,X'0000000000000000000000000000000000000000000000002EF9E43E2EF964BF');
INSERT INTO "vectors" VALUES(1,1,1,27,9,X'00000000F30435BF0000000000000000000000000000000000000000F304353F');
INSERT INTO "vectors" VALUES(1,1,1,28,10,X'000000BF000000000000003F00000000000000000000003F000000BF00000000');
INSERT INTO "vectors" VALUES(1,2,1,29,11,X'8F84C1BE8F84C13E8F8441BF0000000000000000000000008F84C1BE00000000');
INSERT INTO "vectors" VALUES(1,3,1,30,12,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,6,1,31,14,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,32,15,X'000000000000000000000000F304353F0000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,33,16,X'00000000000000000000000000000000F304353F00000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,4,1,34,19,X'00000000EC05D1BE0000000000000000EC05513FEC05D13E0000000000000000');
INSERT INTO "vectors" VALUES(1,7,1,35,21,X'000000003ACD13BF00000000000000003ACD133F000000003ACD13BF00000000');
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
INSERT INTO "workspaces" VALUES(1,'acme',9,X'479999DC6E81CB5F2B4FD9B56D58D97BC29D1AAFD8A086456451C95136C8CC97',35,1,1,X'7BAC4C1EC813115DB5FB0FE279DF81FD6782AB33D5C83BEA40BDF52E6002FA4B','2026-03-02',0,3029);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'4DBB29954F967BE3BE253A7D7B8ECD1080B411FDAE71BFE4550E5613C84F63EA',0,NULL,0,NULL,'2026-03-02',0,300);
CREATE INDEX events_by_time ON events (workspace, label, at);
CREATE INDEX outbox_leased ON outbox (workspace, label, step) WHERE leased_until IS NOT NULL;
CREATE INDEX jobs_by_due ON jobs (priority, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_kind ON memories (workspace, label, kind, at DESC, id);
CREATE INDEX memories_by_thread ON memories (workspace, label, thread, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;
CREATE INDEX memories_fading ON memories
    (workspace, memory, id, label, thread, kind, at, length, salience, confidence, trust)
    WHERE tier = 'short' AND pinned = 0 AND archived = 0;
CREATE INDEX uses_by_memory ON uses (workspace, id, last_at);
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
