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
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"project":"apollo","tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'8D15A16ABE4DA1CA93FE40F0D628B565',X'BDF9A900A33C8B8F00ACC753A118F394E5E7483EE199536DBFC6BC482A2EAB87',X'5EEF1402C1CA96A028506757392E621251CD9C525312FFF5FE320961336AD5BC',347);
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'04133189F4E829303D18B0C740768E381EA7AACD8634C2CAFD2D0FA70C76944A',X'ADE53C92E686E244CB17407C6B1A379211CE3432F89866F503ADA7230936B66F',0);
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000002Z','{"at":"2026-03-02T12:00:00.000002Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'8C3F00DE55BE09D15F58D81996BF3EBF',X'476FA8F4523353224D2B16E03E25D18F3CFF8A49A936B6AE40598EEB30C787F8',X'610F97C4F93AD583DBE82DDCE7B6E4B587225BC332139CFC0D3D0F87BD2C400C',332);
INSERT INTO "events" VALUES(1,4,'01ff4149346ea35cbd6988104bd2f79b',2,'auto-daccaa36b72edf01045b7293','2026-03-02T12:00:00.000003Z','{"at":"2026-03-02T12:00:00.000003Z","attachments":[],"id":"01ff4149346ea35cbd6988104bd2f79b","key":"auto-daccaa36b72edf01045b7293","kind":"fact","metadata":{"confidence":1.0,"fact":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'6AD339F1FA54BB02C9361C4C0BE60A34',X'E94F8FA5E7D72039ACCC9E577900161C04CCAD3C3C9A556CCFEEEB0194638603',X'699566762F7589ECF4EB9C41D27CB62A3D9ED67501E445EBB12EC3772CEE7FA3',533);
INSERT INTO "events" VALUES(1,5,'3a78353cccf4a5fa2fdccef1520ff403',1,'auto-1f4e5ee1dec83d2133cd698f','2026-03-02T12:00:00.000005Z','{"at":"2026-03-02T12:00:00.000005Z","attachments":[],"id":"3a78353cccf4a5fa2fdccef1520ff403","key":"auto-1f4e5ee1dec83d2133cd698f","kind":"fact","metadata":{"confidence":0.9,"fact":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null}},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'4E9CBBFE4F0510FF1706CEA862CA9983',X'4E0E90B424EE9323FFE77725C513324064CE34F486A01C269483058A96DAFB9B',X'E237220FA9AEDA1C9E52AC71E80FF38B01B40A1991138D8BAC046E91FA6D1047',519);
INSERT INTO "events" VALUES(1,6,'ff43da55af11453587fb92e19cdabd76',3,'auto-29a5895ab823e03563319b58','2026-03-02T12:00:00.000006Z','{"at":"2026-03-02T12:00:00.000006Z","attachments":[],"id":"ff43da55af11453587fb92e19cdabd76","key":"auto-29a5895ab823e03563319b58","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'08C49089EFF233FF7C53FB8070819F90',X'AA44DA3C7196D0543CB4A8C7AAD287B04043D9FCE1242ED9ACA91E3A12A77BA6',X'374248DEE0C7F0DECA75EE695F69EEE694E9BDBA60F8DDA24FFA00D6354B8BF1',341);
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000008Z','{"at":"2026-03-02T12:00:00.000008Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000009Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'F478BD4AEC2C70591D8C4731E4AE1E98',X'FCEACD9585D4E38228D9CEDBFC429157EDEB8AD1E600BC9145AEBB4E3069825A',X'649B2BE6644438794C0C1989D40B6A6E4627C9620041E79A4130BC6DFA3BE80D',325);
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000010Z','{"at":"2026-03-02T12:00:00.000010Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'6483552D8AC0C71989CBEC49616D62DA',X'71732818D3598BA18C2092EF50BE8E756CB91CF0ECDEFF74085294754AD9D50A',X'A845812E8E81B4C565425545952DAA4DCB608969E848D65E26DD46A599340107',307);
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000020Z','{"at":"2026-03-02T12:00:00.000020Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000020Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'88E4BF54AB5AC347667CFD0ED941E836',X'2DA82272FC9D0E8F6FB10F8F2610726CD22F6AD6DC5B22DBD75313B3114F4B9D',X'082A67E472D27EEC0251B34CE601F74A66FB7AE9431FDC547470BB76684B0F11',325);
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000021Z','{"at":"2026-03-02T12:00:00.000021Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000021Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'FFA0437B0A004DBF97F3182B73B5D6C4',X'5D2B24E51BD471902E0EC413CC11F7994A7A5CFB3D350405DDB1239E8A81415A',X'B30B21E531A27565D6D7563EB96188BE21C6F503E27616EE3A05A5BFF7BBD0AD',300);
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
INSERT INTO "links" VALUES(1,'00e3fab0a7616e2badd06b8f527cd9d4','derived_from','01ff4149346ea35cbd6988104bd2f79b');
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
INSERT INTO "links" VALUES(1,'108f36ab631a0e92bab1a9efa0cd7080','derived_from','3a78353cccf4a5fa2fdccef1520ff403');
INSERT INTO "links" VALUES(1,'3ac7d88723e9e34125d0e11093005229','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'e7b9595f78012271ad090a773a23fadb','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'ffd1192d893a631c225ecfdf3f15ccf1','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'3d502201ea1e6b887a9320fb34781045','derived_from','ff43da55af11453587fb92e19cdabd76');
INSERT INTO "links" VALUES(1,'7720d85f4baa54c9e17391e3896d1e7e','derived_from','ff43da55af11453587fb92e19cdabd76');
INSERT INTO "links" VALUES(1,'9ebcedd91c04a3d1d90ae41294a19954','derived_from','ff43da55af11453587fb92e19cdabd76');
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
INSERT INTO "memories" VALUES(1,10,'108f36ab631a0e92bab1a9efa0cd7080',1,'fact','2026-03-02T12:00:00.000005Z','Tyler','WORKS_AT',1,'scribe','system',4,0,0,'long',0,0.5,0.9,3,0,'{"at":"2026-03-02T12:00:00.000005Z","body":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null},"confidence":0.9,"id":"108f36ab631a0e92bab1a9efa0cd7080","indexed_text":null,"kind":"fact","label":["room:design"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000005Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["3a78353cccf4a5fa2fdccef1520ff403"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,11,'00e3fab0a7616e2badd06b8f527cd9d4',2,'fact','2026-03-02T12:00:00.000003Z','user:alice','expiry',1,'scribe','system',5,0,0,'long',0,0.5,1.0,3,1,'{"at":"2026-03-02T12:00:00.000003Z","body":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}},"confidence":1.0,"id":"00e3fab0a7616e2badd06b8f527cd9d4","indexed_text":null,"kind":"fact","label":["user:alice"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["01ff4149346ea35cbd6988104bd2f79b"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,12,'9ebcedd91c04a3d1d90ae41294a19954',3,'passage','2026-03-02T12:00:00.000006Z',NULL,NULL,1,'scribe','system',6,0,0,'long',0,0.5,1.0,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{},"confidence":1.0,"id":"9ebcedd91c04a3d1d90ae41294a19954","indexed_text":null,"kind":"passage","label":["project:apollo"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["ff43da55af11453587fb92e19cdabd76"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,13,'7720d85f4baa54c9e17391e3896d1e7e',6,'entity','2026-03-02T12:00:00.000006Z',NULL,NULL,1,'scribe','system',0,0,0,'short',0,0.5,1.0,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{"aliases":[],"name":"scribe","type":"person"},"confidence":1.0,"id":"7720d85f4baa54c9e17391e3896d1e7e","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"3824dcddb6d91139a3a2590170288466","source":"rules","sources":["ff43da55af11453587fb92e19cdabd76"],"speaker":"scribe","tags":[],"text":"scribe is a person.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,14,'3d502201ea1e6b887a9320fb34781045',6,'fact','2026-03-02T12:00:00.000006Z','staging server','NAMED',1,'scribe','system',6,0,0,'short',0,0.5,0.95,3,0,'{"at":"2026-03-02T12:00:00.000006Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"NAMED","stated":true,"subject":"staging server","tense":"current","value":"heron"},"confidence":0.95,"id":"3d502201ea1e6b887a9320fb34781045","indexed_text":null,"kind":"fact","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000007Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"308f81983283fa03eeb6c68f7412a711","source":"rules","sources":["ff43da55af11453587fb92e19cdabd76"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"trust":"internal","valid_from":null,"valid_to":null}');
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
INSERT INTO "names" VALUES(1,1,'anthropic','fact','2026-03-02T12:00:00.000005Z','108f36ab631a0e92bab1a9efa0cd7080');
INSERT INTO "names" VALUES(1,1,'tyler','fact','2026-03-02T12:00:00.000005Z','108f36ab631a0e92bab1a9efa0cd7080');
INSERT INTO "names" VALUES(1,2,'alice','fact','2026-03-02T12:00:00.000003Z','00e3fab0a7616e2badd06b8f527cd9d4');
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
INSERT INTO "names" VALUES(1,6,'scribe','entity','2026-03-02T12:00:00.000006Z','7720d85f4baa54c9e17391e3896d1e7e');
INSERT INTO "names" VALUES(1,6,'staging server','fact','2026-03-02T12:00:00.000006Z','3d502201ea1e6b887a9320fb34781045');
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
INSERT INTO "schema_version" VALUES(1,'foundation','2026-11-16T10:48:54.726422Z');
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
) STRICT, WITHOUT ROWID;
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
INSERT INTO "workspaces" VALUES(1,'acme',9,X'082A67E472D27EEC0251B34CE601F74A66FB7AE9431FDC547470BB76684B0F11',35,1,0,NULL,'2026-03-02',0,3029);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'B30B21E531A27565D6D7563EB96188BE21C6F503E27616EE3A05A5BFF7BBD0AD',0,NULL,0,NULL,'2026-03-02',0,300);
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
