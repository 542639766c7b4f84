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
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"project":"apollo","tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'7CDFB7F7078FE3BCDB8C03EA9667A80F',X'D27FB4AC1C4C89FD55FF7792926E34D18E2F0540285B16F64F8C1050CECB6B1B',X'A4228EF623A228258AC0FE4357977E142D305860B85E1EDA6A58C95FDF62D09B');
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'E93DDC8EE1F750A9AC15870D7E0ED0B6A4C09777EBCDC0753E6CD77BB80C7807',X'0435D181A561426E5632DAB3EE182EE42CAB732A02B297DC643BC5A6A80B3E58');
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000002Z','{"at":"2026-03-02T12:00:00.000002Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'67B18420D2ECDD475D4C242F1F06E398',X'8C8D4A6659EFD290A36686ACE15303975361C9B0F7D314D7AC1B60102D802D15',X'68AF6DA3A27168D06DC9525DA50810A06AA3DC57C7B6FCC6029749435FE65F71');
INSERT INTO "events" VALUES(1,4,'3a87babac2760c528de5ddd32ca66c5b',2,'auto-4cc18394abcefe9dbe2986d6','2026-03-02T12:00:00.000003Z','{"at":"2026-03-02T12:00:00.000003Z","attachments":[],"id":"3a87babac2760c528de5ddd32ca66c5b","key":"auto-4cc18394abcefe9dbe2986d6","kind":"fact","metadata":{"confidence":1.0,"fact":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'FBEF0655107ABC34CE7230781D839A25',X'0E3F683227E4252A908B1B93E30E19F50C56113AB9AB502F0AF34AD7C49BB68E',X'6E849048FB22D1F13125E19F8A9CE01632B66695968E5B09AAD93B0F50809387');
INSERT INTO "events" VALUES(1,5,'a64e9b3f1ab57ba8be0e154ea5e7428c',1,'auto-6c366620b61e61d8a50f1f2e','2026-03-02T12:00:00.000005Z','{"at":"2026-03-02T12:00:00.000005Z","attachments":[],"id":"a64e9b3f1ab57ba8be0e154ea5e7428c","key":"auto-6c366620b61e61d8a50f1f2e","kind":"fact","metadata":{"confidence":0.9,"fact":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null}},"recorded_at":"2026-03-02T12:00:00.000006Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'233A6517016F01673869506E93320781',X'A434CF31A220A81705068D7C1CBF578BB1CFFDEB0B180067DB4C3ECFEB8067BD',X'1F091E03D2A85664DCECAB91D58C25C1EFC7B24706BC735A93B94B48D07253A5');
INSERT INTO "events" VALUES(1,6,'3eb76e17bcd7d063906a7f88b97b5922',3,'auto-14e0cb0431a2f3622dea66b1','2026-03-02T12:00:00.000007Z','{"at":"2026-03-02T12:00:00.000007Z","attachments":[],"id":"3eb76e17bcd7d063906a7f88b97b5922","key":"auto-14e0cb0431a2f3622dea66b1","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'DD24B47D84EF8E419C70D890D5518E75',X'3792170E5365AD51FDE1638E4FC24247FD94DDBE66A9C62F60054080F41A8918',X'0BEEB9761E1483AD1077272466ECCA90C9DF196435D5BB9D6C789B100F4BC146');
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000009Z','{"at":"2026-03-02T12:00:00.000009Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'0399BBC50BE60B68DC932CF6BE924222',X'DCAA972171BFDEB5E9BBD4B24820CF092FAB52F42B75CA700D316CF08C577BAD',X'CB2095E926B4202622B504671CCD9383070405888566F4EE0008FD9A54726BAF');
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000011Z','{"at":"2026-03-02T12:00:00.000011Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'0EB36FA4FB6826F6AA1714B51B0ECE66',X'93C667567F53B1AF960C2A0979DF18FCF21AFCB017E87712AE3B6B444FE77810',X'3E16B858ADDBF9BCBAC34D4F5B0308BEE37842677D811D9CB23DF8B9758DD1DF');
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000017Z','{"at":"2026-03-02T12:00:00.000017Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000017Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'FF60290207AB68894AD37FB17B74BA3C',X'6A1F42D798163CF5A085B660820FFFD8E44FFC55B3940BB7243C676265D73646',X'F9061E68F85641D54851568A8F2257485B26C8847FC0C5E975C3A0F907C52CC4');
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000018Z','{"at":"2026-03-02T12:00:00.000018Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000018Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'3A5FE61D8454EFB2EC91CC6820A18130',X'0CB702C0C453ECD87BCCBA2D4979ECC15EED56620017A8A7401EBFE4EB5B108F',X'52CCFC97C0FBB36E24F3875BA8E1EE3D5503D1A92D5277A450519AC3808707E4');
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
    PRIMARY KEY (workspace, label),
    UNIQUE (workspace, scopes, learned)
) STRICT, WITHOUT ROWID;
INSERT INTO "labels" VALUES(1,1,'["906e46f36c52aa7b6f9e00ad2b7b6dbd"]',1,0,29,1,3,23,2,2);
INSERT INTO "labels" VALUES(1,2,'["daf812b219f69d91a08ce23ddaa0c7f7"]',1,0,30,0,1,5,1,1);
INSERT INTO "labels" VALUES(1,3,'["05d2cf9cea211ad80f1bf062ae7660cc"]',1,0,34,0,3,12,1,0);
INSERT INTO "labels" VALUES(1,4,'["07da37c921445c5d3ad6e5d844c90d13"]',1,0,35,0,1,11,1,0);
INSERT INTO "labels" VALUES(1,5,'["906e46f36c52aa7b6f9e00ad2b7b6dbd"]',1,1,26,0,7,10,1,10);
INSERT INTO "labels" VALUES(1,6,'["05d2cf9cea211ad80f1bf062ae7660cc"]',1,1,32,0,4,6,1,4);
INSERT INTO "labels" VALUES(1,7,'["07da37c921445c5d3ad6e5d844c90d13"]',1,1,36,0,3,8,1,3);
INSERT INTO "labels" VALUES(2,1,'["56cfdfdc827150f21cb6c2386faff4f2"]',1,0,0,0,0,0,0,0);
CREATE TABLE links (
    workspace INTEGER NOT NULL,
    origin    TEXT    NOT NULL,              -- id of a memory
    relation  TEXT    NOT NULL,
    target    TEXT    NOT NULL,              -- id of an event or a memory
    PRIMARY KEY (workspace, origin, relation, target)
) STRICT, WITHOUT ROWID;
INSERT INTO "links" VALUES(1,'12d9ceea6ec3b662676015c9c0716e7e','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'41a7da0c5422f9446f47865d1bd7164b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'82fbc18bcb7d5f5f53a93933aaec44c2','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'cf42e6e8944941faae94e9282746981b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'f276c37971d0e7dc34613bb0e477c44a','derived_from','14ca35ccf49d7e9a155d90e61fa65c70');
INSERT INTO "links" VALUES(1,'138618f3f23fef886cfe693ce28c97d6','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'2dc4f6d04eec2e446a35e3b03e0c5e7f','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'5a1555516a49d8ef2f7e71d074180004','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'6169c9a73a41dc2600c5d69c0beb0699','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'9ec59633d56b5d26de779ec96f0a1dad','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'b3a874517aa7952245e28c3802abcc13','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'b6bdbd480274e2f1a746440eec04196e','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'faac10a12d877930eee94c3899297261','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'e9cb2f644332ce38245c04863c421701','derived_from','3a87babac2760c528de5ddd32ca66c5b');
INSERT INTO "links" VALUES(1,'63335c74fa3e6692c3447e323bb4a67d','derived_from','3eb76e17bcd7d063906a7f88b97b5922');
INSERT INTO "links" VALUES(1,'849a0ef3d16750f75afde7e7e228a575','derived_from','3eb76e17bcd7d063906a7f88b97b5922');
INSERT INTO "links" VALUES(1,'c3f02ab38989e81d6e84444bf7ddecda','derived_from','3eb76e17bcd7d063906a7f88b97b5922');
INSERT INTO "links" VALUES(1,'3ac7d88723e9e34125d0e11093005229','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'e7b9595f78012271ad090a773a23fadb','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'ffd1192d893a631c225ecfdf3f15ccf1','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'eec1545229f13c93b5374f746aeb7b96','derived_from','a64e9b3f1ab57ba8be0e154ea5e7428c');
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
INSERT INTO "memories" VALUES(1,1,'9ec59633d56b5d26de779ec96f0a1dad',1,'passage','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',10,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{},"confidence":1.0,"id":"9ec59633d56b5d26de779ec96f0a1dad","indexed_text":"alice: We chose PostgreSQL over MySQL. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{"project":"apollo","tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"We chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,2,'5a1555516a49d8ef2f7e71d074180004',5,'landmark','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',5,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"due":null,"due_from":null,"kind":"decision","owner":"apollo","right":null,"wrong":null},"confidence":1.0,"id":"5a1555516a49d8ef2f7e71d074180004","indexed_text":null,"kind":"landmark","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.9,"scope":"room:design","slot":"fbed29508bc424281aee64a91abadd1d","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,3,'faac10a12d877930eee94c3899297261',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"PostgreSQL","type":"product"},"confidence":1.0,"id":"faac10a12d877930eee94c3899297261","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"9397baaf7b4e8f6e2b526ea6d6f1b081","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"PostgreSQL is a product.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,4,'138618f3f23fef886cfe693ce28c97d6',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"MySQL","type":"thing"},"confidence":1.0,"id":"138618f3f23fef886cfe693ce28c97d6","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"82ac91976f7eabef66795ec89179cb48","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"MySQL is a thing.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,5,'b3a874517aa7952245e28c3802abcc13',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"alice","type":"person"},"confidence":1.0,"id":"b3a874517aa7952245e28c3802abcc13","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"0e0c968e94dd06dc166d94442e17e937","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"alice is a person.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,6,'2dc4f6d04eec2e446a35e3b03e0c5e7f',5,'entity','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aliases":[],"name":"apollo","type":"project"},"confidence":1.0,"id":"2dc4f6d04eec2e446a35e3b03e0c5e7f","indexed_text":"","kind":"entity","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"6e2d3d0896cedb00f231e23638f16db7","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"apollo is a project.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,7,'6169c9a73a41dc2600c5d69c0beb0699',5,'fact','2026-03-02T12:00:00.000000Z','apollo','CHOSE',1,'alice','user',5,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aspect":null,"category":"projects","exact":false,"negated":false,"object":"PostgreSQL","predicate":"CHOSE","stated":true,"subject":"apollo","tense":"past","value":null},"confidence":0.95,"id":"6169c9a73a41dc2600c5d69c0beb0699","indexed_text":null,"kind":"fact","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"db5da615c60d7d8d5d0b73578d069d82","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,8,'b6bdbd480274e2f1a746440eec04196e',5,'episode','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',0,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"entities":["PostgreSQL","MySQL","alice"],"label":"Decision: Apollo chose PostgreSQL MySQL","span":"turn","topics":[]},"confidence":1.0,"id":"b6bdbd480274e2f1a746440eec04196e","indexed_text":"","kind":"episode","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"turn","source":"message","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":[],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,10,'f276c37971d0e7dc34613bb0e477c44a',1,'passage','2026-03-02T12:00:00.000002Z',NULL,NULL,2,'scribe','assistant',9,0,0,'{"at":"2026-03-02T12:00:00.000002Z","body":{},"confidence":1.0,"id":"f276c37971d0e7dc34613bb0e477c44a","indexed_text":"scribe: Noted, PostgreSQL it is. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["14ca35ccf49d7e9a155d90e61fa65c70"],"speaker":"scribe","tags":[],"text":"Noted, PostgreSQL it is.","thread":"storage","tier":"short","trust":"inferred","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,11,'eec1545229f13c93b5374f746aeb7b96',1,'fact','2026-03-02T12:00:00.000005Z','Tyler','WORKS_AT',1,'scribe','system',4,0,0,'{"at":"2026-03-02T12:00:00.000005Z","body":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null},"confidence":0.9,"id":"eec1545229f13c93b5374f746aeb7b96","indexed_text":null,"kind":"fact","label":["room:design"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000006Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["a64e9b3f1ab57ba8be0e154ea5e7428c"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,12,'e9cb2f644332ce38245c04863c421701',2,'fact','2026-03-02T12:00:00.000003Z','user:alice','expiry',1,'scribe','system',5,0,0,'{"at":"2026-03-02T12:00:00.000003Z","body":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}},"confidence":1.0,"id":"e9cb2f644332ce38245c04863c421701","indexed_text":null,"kind":"fact","label":["user:alice"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["3a87babac2760c528de5ddd32ca66c5b"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,13,'63335c74fa3e6692c3447e323bb4a67d',3,'passage','2026-03-02T12:00:00.000007Z',NULL,NULL,1,'scribe','system',6,0,0,'{"at":"2026-03-02T12:00:00.000007Z","body":{},"confidence":1.0,"id":"63335c74fa3e6692c3447e323bb4a67d","indexed_text":null,"kind":"passage","label":["project:apollo"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["3eb76e17bcd7d063906a7f88b97b5922"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,14,'c3f02ab38989e81d6e84444bf7ddecda',6,'entity','2026-03-02T12:00:00.000007Z',NULL,NULL,1,'scribe','system',0,0,0,'{"at":"2026-03-02T12:00:00.000007Z","body":{"aliases":[],"name":"scribe","type":"person"},"confidence":1.0,"id":"c3f02ab38989e81d6e84444bf7ddecda","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"3824dcddb6d91139a3a2590170288466","source":"rules","sources":["3eb76e17bcd7d063906a7f88b97b5922"],"speaker":"scribe","tags":[],"text":"scribe is a person.","thread":null,"tier":"short","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,15,'849a0ef3d16750f75afde7e7e228a575',6,'fact','2026-03-02T12:00:00.000007Z','staging server','CALL',1,'scribe','system',6,0,0,'{"at":"2026-03-02T12:00:00.000007Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"CALL","stated":true,"subject":"staging server","tense":"current","value":"heron"},"confidence":0.95,"id":"849a0ef3d16750f75afde7e7e228a575","indexed_text":null,"kind":"fact","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"82b4e6b104bd270b65bb91584e095099","source":"rules","sources":["3eb76e17bcd7d063906a7f88b97b5922"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"tier":"short","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,16,'41a7da0c5422f9446f47865d1bd7164b',3,'passage','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',3,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{},"confidence":1.0,"id":"41a7da0c5422f9446f47865d1bd7164b","indexed_text":"Guide\nStart heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"Guide"},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000000","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Start heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,17,'cf42e6e8944941faae94e9282746981b',3,'passage','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',3,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{},"confidence":1.0,"id":"cf42e6e8944941faae94e9282746981b","indexed_text":"End\nStop heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"End"},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000001","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Stop heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,18,'82fbc18bcb7d5f5f53a93933aaec44c2',6,'entity','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',0,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{"aliases":[],"name":"Guide","type":"thing"},"confidence":1.0,"id":"82fbc18bcb7d5f5f53a93933aaec44c2","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"2e3d8d0f2c8939815416a07268aeac10","source":"rules","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Guide is a thing.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,19,'12d9ceea6ec3b662676015c9c0716e7e',6,'entity','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',0,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{"aliases":[],"name":"End","type":"thing"},"confidence":1.0,"id":"12d9ceea6ec3b662676015c9c0716e7e","indexed_text":"","kind":"entity","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"5c037e73b39fd90ded4534513eec4cae","source":"rules","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"End is a thing.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,20,'49115015cec23f55476c4b4821709dd3',4,'passage','2026-03-02T12:00:00.000011Z',NULL,NULL,1,'alice','user',11,0,0,'{"at":"2026-03-02T12:00:00.000011Z","body":{},"confidence":1.0,"id":"49115015cec23f55476c4b4821709dd3","indexed_text":"alice: My raise is due on Friday. (Monday 02 March 2026)","kind":"passage","label":["dm:alice:scribe"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"My raise is due on Friday.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,21,'ffd1192d893a631c225ecfdf3f15ccf1',7,'entity','2026-03-02T12:00:00.000011Z',NULL,NULL,1,'alice','user',0,0,0,'{"at":"2026-03-02T12:00:00.000011Z","body":{"aliases":[],"name":"alice","type":"person"},"confidence":1.0,"id":"ffd1192d893a631c225ecfdf3f15ccf1","indexed_text":"","kind":"entity","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"0e0c968e94dd06dc166d94442e17e937","source":"rules","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"alice is a person.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,22,'3ac7d88723e9e34125d0e11093005229',7,'fact','2026-03-02T12:00:00.000011Z','alice''s raise','IS',1,'alice','user',8,0,0,'{"at":"2026-03-02T12:00:00.000011Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"IS","stated":true,"subject":"alice''s raise","tense":"current","value":"due"},"confidence":0.95,"id":"3ac7d88723e9e34125d0e11093005229","indexed_text":null,"kind":"fact","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"82c6aba7a6e4109041eba4ab9c6f3793","source":"rules","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"Alice''s raise is due on 6 March 2026.","thread":null,"tier":"short","trust":"direct","valid_from":"2026-03-06T00:00:00.000000Z","valid_to":"2026-03-07T00:00:00.000000Z"}');
INSERT INTO "memories" VALUES(1,23,'e7b9595f78012271ad090a773a23fadb',7,'episode','2026-03-02T12:00:00.000011Z',NULL,NULL,1,'alice','user',0,0,0,'{"at":"2026-03-02T12:00:00.000011Z","body":{"entities":["alice"],"label":"alice: raise, due","span":"turn","topics":["raise","due"]},"confidence":1.0,"id":"e7b9595f78012271ad090a773a23fadb","indexed_text":"","kind":"episode","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"turn","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"Alice''s raise is due on 6 March 2026.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
CREATE TABLE names (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    name      TEXT    NOT NULL,              -- case-folded
    kind      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    id        TEXT    NOT NULL,              -- of a memory
    PRIMARY KEY (workspace, label, name, kind, at, id)
) STRICT, WITHOUT ROWID;
INSERT INTO "names" VALUES(1,1,'anthropic','fact','2026-03-02T12:00:00.000005Z','eec1545229f13c93b5374f746aeb7b96');
INSERT INTO "names" VALUES(1,1,'tyler','fact','2026-03-02T12:00:00.000005Z','eec1545229f13c93b5374f746aeb7b96');
INSERT INTO "names" VALUES(1,2,'alice','fact','2026-03-02T12:00:00.000003Z','e9cb2f644332ce38245c04863c421701');
INSERT INTO "names" VALUES(1,5,'alice','entity','2026-03-02T12:00:00.000000Z','b3a874517aa7952245e28c3802abcc13');
INSERT INTO "names" VALUES(1,5,'alice','episode','2026-03-02T12:00:00.000000Z','b6bdbd480274e2f1a746440eec04196e');
INSERT INTO "names" VALUES(1,5,'apollo','entity','2026-03-02T12:00:00.000000Z','2dc4f6d04eec2e446a35e3b03e0c5e7f');
INSERT INTO "names" VALUES(1,5,'apollo','fact','2026-03-02T12:00:00.000000Z','6169c9a73a41dc2600c5d69c0beb0699');
INSERT INTO "names" VALUES(1,5,'apollo','landmark','2026-03-02T12:00:00.000000Z','5a1555516a49d8ef2f7e71d074180004');
INSERT INTO "names" VALUES(1,5,'mysql','entity','2026-03-02T12:00:00.000000Z','138618f3f23fef886cfe693ce28c97d6');
INSERT INTO "names" VALUES(1,5,'mysql','episode','2026-03-02T12:00:00.000000Z','b6bdbd480274e2f1a746440eec04196e');
INSERT INTO "names" VALUES(1,5,'postgresql','entity','2026-03-02T12:00:00.000000Z','faac10a12d877930eee94c3899297261');
INSERT INTO "names" VALUES(1,5,'postgresql','episode','2026-03-02T12:00:00.000000Z','b6bdbd480274e2f1a746440eec04196e');
INSERT INTO "names" VALUES(1,5,'postgresql','fact','2026-03-02T12:00:00.000000Z','6169c9a73a41dc2600c5d69c0beb0699');
INSERT INTO "names" VALUES(1,6,'end','entity','2026-03-02T12:00:00.000009Z','12d9ceea6ec3b662676015c9c0716e7e');
INSERT INTO "names" VALUES(1,6,'guide','entity','2026-03-02T12:00:00.000009Z','82fbc18bcb7d5f5f53a93933aaec44c2');
INSERT INTO "names" VALUES(1,6,'scribe','entity','2026-03-02T12:00:00.000007Z','c3f02ab38989e81d6e84444bf7ddecda');
INSERT INTO "names" VALUES(1,6,'staging server','fact','2026-03-02T12:00:00.000007Z','849a0ef3d16750f75afde7e7e228a575');
INSERT INTO "names" VALUES(1,7,'alice','entity','2026-03-02T12:00:00.000011Z','ffd1192d893a631c225ecfdf3f15ccf1');
INSERT INTO "names" VALUES(1,7,'alice','episode','2026-03-02T12:00:00.000011Z','e7b9595f78012271ad090a773a23fadb');
INSERT INTO "names" VALUES(1,7,'alice''s raise','fact','2026-03-02T12:00:00.000011Z','3ac7d88723e9e34125d0e11093005229');
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
INSERT INTO "postings" VALUES(1,1,'02',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'2026',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'2026',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'alic',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'anthrop',11,1,4,1);
INSERT INTO "postings" VALUES(1,1,'at',11,1,4,1);
INSERT INTO "postings" VALUES(1,1,'chose',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'is',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'it',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'march',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'march',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'monday',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'monday',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'mysql',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'note',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'over',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'scribe',10,1,9,2);
INSERT INTO "postings" VALUES(1,1,'tyler',11,1,4,1);
INSERT INTO "postings" VALUES(1,1,'we',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'work',11,1,4,1);
INSERT INTO "postings" VALUES(1,2,'30',12,1,5,1);
INSERT INTO "postings" VALUES(1,2,'alic',12,1,5,1);
INSERT INTO "postings" VALUES(1,2,'expiri',12,1,5,1);
INSERT INTO "postings" VALUES(1,2,'minut',12,1,5,1);
INSERT INTO "postings" VALUES(1,2,'user',12,1,5,1);
INSERT INTO "postings" VALUES(1,3,'call',13,1,6,1);
INSERT INTO "postings" VALUES(1,3,'end',17,1,3,1);
INSERT INTO "postings" VALUES(1,3,'guid',16,1,3,1);
INSERT INTO "postings" VALUES(1,3,'heron',13,1,6,1);
INSERT INTO "postings" VALUES(1,3,'heron',16,1,3,1);
INSERT INTO "postings" VALUES(1,3,'heron',17,1,3,1);
INSERT INTO "postings" VALUES(1,3,'is',13,1,6,1);
INSERT INTO "postings" VALUES(1,3,'server',13,1,6,1);
INSERT INTO "postings" VALUES(1,3,'stage',13,1,6,1);
INSERT INTO "postings" VALUES(1,3,'start',16,1,3,1);
INSERT INTO "postings" VALUES(1,3,'stop',17,1,3,1);
INSERT INTO "postings" VALUES(1,3,'the',13,1,6,1);
INSERT INTO "postings" VALUES(1,4,'02',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'2026',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'alic',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'due',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'friday',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'is',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'march',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'monday',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'my',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'on',20,1,11,1);
INSERT INTO "postings" VALUES(1,4,'rais',20,1,11,1);
INSERT INTO "postings" VALUES(1,5,'apollo',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'apollo',7,1,5,1);
INSERT INTO "postings" VALUES(1,5,'chose',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'chose',7,1,5,1);
INSERT INTO "postings" VALUES(1,5,'mysql',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'mysql',7,1,5,1);
INSERT INTO "postings" VALUES(1,5,'over',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'over',7,1,5,1);
INSERT INTO "postings" VALUES(1,5,'postgresql',2,1,5,1);
INSERT INTO "postings" VALUES(1,5,'postgresql',7,1,5,1);
INSERT INTO "postings" VALUES(1,6,'call',15,1,6,1);
INSERT INTO "postings" VALUES(1,6,'heron',15,1,6,1);
INSERT INTO "postings" VALUES(1,6,'is',15,1,6,1);
INSERT INTO "postings" VALUES(1,6,'server',15,1,6,1);
INSERT INTO "postings" VALUES(1,6,'stage',15,1,6,1);
INSERT INTO "postings" VALUES(1,6,'the',15,1,6,1);
INSERT INTO "postings" VALUES(1,7,'2026',22,1,8,1);
INSERT INTO "postings" VALUES(1,7,'6',22,1,8,1);
INSERT INTO "postings" VALUES(1,7,'alic',22,1,8,1);
INSERT INTO "postings" VALUES(1,7,'due',22,1,8,1);
INSERT INTO "postings" VALUES(1,7,'is',22,1,8,1);
INSERT INTO "postings" VALUES(1,7,'march',22,1,8,1);
INSERT INTO "postings" VALUES(1,7,'on',22,1,8,1);
INSERT INTO "postings" VALUES(1,7,'rais',22,1,8,1);
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
INSERT INTO "schema_version" VALUES(1,'foundation','2026-11-16T03:44:18.139314Z');
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
INSERT INTO "vectors" VALUES(1,1,1,24,1,X'0000000000000000000000000000000000000000000000002EF9643F2EF9E4BE');
INSERT INTO "vectors" VALUES(1,5,1,25,2,X'0000000000000000000000000000000000000000000000002EF9E43E2EF964BF');
INSERT INTO "vectors" VALUES(1,5,1,26,7,X'0000000000000000000000000000000000000000000000002EF9E43E2EF964BF');
INSERT INTO "vectors" VALUES(1,1,1,28,10,X'00000000F30435BF0000000000000000000000000000000000000000F304353F');
INSERT INTO "vectors" VALUES(1,1,1,29,11,X'000000BF000000000000003F00000000000000000000003F000000BF00000000');
INSERT INTO "vectors" VALUES(1,2,1,30,12,X'8F84C1BE8F84C13E8F8441BF0000000000000000000000008F84C1BE00000000');
INSERT INTO "vectors" VALUES(1,3,1,31,13,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,6,1,32,15,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,33,16,X'000000000000000000000000F304353F0000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,34,17,X'00000000000000000000000000000000F304353F00000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,4,1,35,20,X'00000000EC05D1BE0000000000000000EC05513FEC05D13E0000000000000000');
INSERT INTO "vectors" VALUES(1,7,1,36,22,X'000000003ACD13BF00000000000000003ACD133F000000003ACD13BF00000000');
CREATE TABLE workspaces (
    workspace INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL UNIQUE,
    length    INTEGER NOT NULL DEFAULT 0,   -- events in the chain
    head      BLOB    NOT NULL,             -- hash of the newest one
    counter   INTEGER NOT NULL DEFAULT 0    -- last number given to a memory or a vector
) STRICT;
INSERT INTO "workspaces" VALUES(1,'acme',9,X'F9061E68F85641D54851568A8F2257485B26C8847FC0C5E975C3A0F907C52CC4',36);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'52CCFC97C0FBB36E24F3875BA8E1EE3D5503D1A92D5277A450519AC3808707E4',0);
CREATE INDEX events_by_time ON events (workspace, label, at);
CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_thread ON memories (workspace, label, thread, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;
CREATE INDEX links_by_target ON links (workspace, target, origin);
COMMIT;
