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
INSERT INTO "events" VALUES(1,1,'32227bb23732ba9b4586149d81cbba21',1,'choice','2026-03-02T12:00:00.000000Z','{"at":"2026-03-02T12:00:00.000000Z","attachments":[],"id":"32227bb23732ba9b4586149d81cbba21","key":"choice","kind":"message","metadata":{"project":"apollo","tags":["decision"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","scope":"room:design","speaker":"alice","text":"We chose PostgreSQL over MySQL.","thread":null,"trust":"direct"}',X'828B1A250154C30185E68DF247D08C92',X'2097D94F4EE3A2ABC75E6B1B5C5FFF85C827821FD5ED684C85A9520AB2FC2256',X'A29337A76352F2D5A0F9CC5C0D2A9A6A66EBC6D41B2AD27A294C32F8D0CC153F');
INSERT INTO "events" VALUES(1,2,'6f0acfbd46a7ed0ebd2a56f9b73c8109',NULL,NULL,NULL,NULL,NULL,X'2D29EAF002A0197485C02BC95E9B5763B834F30AA21AFFDD6C6F675A7A9F938C',X'0CF5E59D2943D2D5EE2817B2FD8B3423084D6F14756B16B84A47A56781FCB497');
INSERT INTO "events" VALUES(1,3,'14ca35ccf49d7e9a155d90e61fa65c70',1,'noted','2026-03-02T12:00:00.000002Z','{"at":"2026-03-02T12:00:00.000002Z","attachments":[],"id":"14ca35ccf49d7e9a155d90e61fa65c70","key":"noted","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","scope":"room:design","speaker":"scribe","text":"Noted, PostgreSQL it is.","thread":"storage","trust":"inferred"}',X'1A5962FC0C3DA8BFEBFC1672266D72B8',X'2A3C051A7A38116CFBE2864B457A178B759B4FFB1BEDA64544E2ADA58BDA9E34',X'92AE216EF6E8073914C969348FCEB8A1FB22C4885D4096C8A989A10D1A716453');
INSERT INTO "events" VALUES(1,4,'b9d7465e58bb67e3ee34d81906a687e0',2,'auto-6b222e4cf93f00c185dfc36a','2026-03-02T12:00:00.000003Z','{"at":"2026-03-02T12:00:00.000003Z","attachments":[],"id":"b9d7465e58bb67e3ee34d81906a687e0","key":"auto-6b222e4cf93f00c185dfc36a","kind":"fact","metadata":{"confidence":1.0,"fact":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}}},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","scope":"user:alice","speaker":"scribe","text":"user:alice expiry {\"minutes\":30}","thread":null,"trust":"internal"}',X'037C6480062F9797343AEED44877B8A1',X'DAC22918988CC4C79D937FF8D20800089991D1B14B11B8981C399EED33193BC3',X'53DFFDBE3029CD82CF3AEF25E28A2A5299EBE0D6103EDEB8971814F166CFFEE7');
INSERT INTO "events" VALUES(1,5,'03305c50b9aa45fc1343cd4d9a76d3a1',1,'auto-1e5994f74a69eeee5b785c91','2026-03-02T12:00:00.000005Z','{"at":"2026-03-02T12:00:00.000005Z","attachments":[],"id":"03305c50b9aa45fc1343cd4d9a76d3a1","key":"auto-1e5994f74a69eeee5b785c91","kind":"fact","metadata":{"confidence":0.9,"fact":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null}},"recorded_at":"2026-03-02T12:00:00.000006Z","role":"system","scope":"room:design","speaker":"scribe","text":"Tyler works at Anthropic","thread":null,"trust":"internal"}',X'DD696D919DD5A0E861059F4FDBB5BB97',X'B8C618C596B791E2F22CB611BDCFE064379EA21950265E424A0C244D30F7F05F',X'FC232ECB306F31745737DC3440BBAEA2240FA8AEA3CDE0949F83FCDF3FA457A6');
INSERT INTO "events" VALUES(1,6,'1f8989a94ea7e97cbd0bd9d3c42be5ca',3,'auto-19a1d908e7fd6b3e5a6ba6e8','2026-03-02T12:00:00.000007Z','{"at":"2026-03-02T12:00:00.000007Z","attachments":[],"id":"1f8989a94ea7e97cbd0bd9d3c42be5ca","key":"auto-19a1d908e7fd6b3e5a6ba6e8","kind":"note","metadata":{},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","scope":"project:apollo","speaker":"scribe","text":"The staging server is called heron.","thread":null,"trust":"internal"}',X'AD644E8475385A658565ACD6FA7E8AAC',X'0585E7F11650786ADB24C8750BB269FA5086141C36D1D4902AB346DD0415FF5D',X'0EA08D226D5E5B9A8F5DB1B9CDE09A08A4728B19BA18DA81FC6D1DDF307C29C8');
INSERT INTO "events" VALUES(1,7,'0cc4402b488b4a3d92c7ec65b839ed80',3,'guide','2026-03-02T12:00:00.000009Z','{"at":"2026-03-02T12:00:00.000009Z","attachments":[],"id":"0cc4402b488b4a3d92c7ec65b839ed80","key":"guide","kind":"document","metadata":{},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","scope":"project:apollo","speaker":"scribe","text":"# Guide\nStart heron.\n# End\nStop heron.","thread":null,"trust":"external"}',X'8145D1D0922C4AE083264F1A02B2658C',X'F100F04A655938E7BB0C4F5237167C4002A4C24B25E0B8664253670DFCE5B92A',X'597181D5C7F5708534ED63D913D0CAB419EDAC475040BD71FEE0F9A4A11E5D3C');
INSERT INTO "events" VALUES(1,8,'a5ff0cc9eac2ba36412d5d623bbdd79d',4,'raise','2026-03-02T12:00:00.000011Z','{"at":"2026-03-02T12:00:00.000011Z","attachments":[],"id":"a5ff0cc9eac2ba36412d5d623bbdd79d","key":"raise","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","scope":"dm:alice:scribe","speaker":"alice","text":"My raise is due on Friday.","thread":null,"trust":"direct"}',X'E04F9568CD8C0C1178AC05C9640090B7',X'291F4DB9F99919043B3F395E6B974226270CF3A2566CA26377FA5DF1CD14D462',X'40DFE835FFC3F94B44DDC714D271C33D4F7E38270D36D7529175B1658AF7E0D4');
INSERT INTO "events" VALUES(1,9,'235f7a34b9678e65ae55817885ca4e6f',1,'waiting','2026-03-02T12:00:00.000017Z','{"at":"2026-03-02T12:00:00.000017Z","attachments":[],"id":"235f7a34b9678e65ae55817885ca4e6f","key":"waiting","kind":"message","metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000017Z","role":"user","scope":"room:design","speaker":"alice","text":"Nobody has learned this yet.","thread":null,"trust":"direct"}',X'B4AEB0D75096ECD526CFA4023122DB12',X'4C9FFA24D53231DAF37325A7181E150AB791DD2A6A52428A211ACED02BF5CB8A',X'0FC0D12A1A11C0762031BA29F2807FE1201228675BC4B689AC34C857061E160C');
INSERT INTO "events" VALUES(2,1,'385f3ab5444e07bb150a35c438d64bee',1,'other','2026-03-02T12:00:00.000018Z','{"at":"2026-03-02T12:00:00.000018Z","attachments":[],"id":"385f3ab5444e07bb150a35c438d64bee","key":"other","kind":"message","metadata":{},"recorded_at":"2026-03-02T12:00:00.000018Z","role":"user","scope":"dm:carol:assistant","speaker":"carol","text":"Another company.","thread":null,"trust":"direct"}',X'96F67304AAF61B06DA2483A6078CD2FE',X'734EDF868E03BAAA51F866F5E7AEA7D6D04DFDFAECD4A816384BB39A69B4C7DD',X'D598741E1106E9751B5B685D0065EB807A5B12931C2559230A285C64C8D2D5D3');
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
    learned    INTEGER NOT NULL DEFAULT 0,   -- what was learned stands apart from what was told
    latest     INTEGER NOT NULL DEFAULT 0,   -- newest number in it: what a cache has yet to read
    generation INTEGER NOT NULL DEFAULT 0,   -- grows when something is removed: a cache starts over
    documents  INTEGER NOT NULL DEFAULT 0,   -- memories in it
    terms      INTEGER NOT NULL DEFAULT 0,   -- their lengths, added up
    threads    INTEGER NOT NULL DEFAULT 0,   -- conversations in it
    PRIMARY KEY (workspace, label),
    UNIQUE (workspace, scopes, learned)
) STRICT, WITHOUT ROWID;
INSERT INTO "labels" VALUES(1,1,'["906e46f36c52aa7b6f9e00ad2b7b6dbd"]',1,0,19,1,5,33,2);
INSERT INTO "labels" VALUES(1,2,'["daf812b219f69d91a08ce23ddaa0c7f7"]',1,0,20,0,1,5,1);
INSERT INTO "labels" VALUES(1,3,'["05d2cf9cea211ad80f1bf062ae7660cc"]',1,0,24,0,4,18,1);
INSERT INTO "labels" VALUES(1,4,'["07da37c921445c5d3ad6e5d844c90d13"]',1,0,26,0,2,19,1);
INSERT INTO "labels" VALUES(2,1,'["56cfdfdc827150f21cb6c2386faff4f2"]',1,0,0,0,0,0,0);
CREATE TABLE links (
    workspace INTEGER NOT NULL,
    origin    TEXT    NOT NULL,              -- id of a memory
    relation  TEXT    NOT NULL,
    target    TEXT    NOT NULL,              -- id of an event or a memory
    PRIMARY KEY (workspace, origin, relation, target)
) STRICT, WITHOUT ROWID;
INSERT INTO "links" VALUES(1,'50534f848f9fb33bbce6ac05afbb99aa','derived_from','03305c50b9aa45fc1343cd4d9a76d3a1');
INSERT INTO "links" VALUES(1,'41a7da0c5422f9446f47865d1bd7164b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'cf42e6e8944941faae94e9282746981b','derived_from','0cc4402b488b4a3d92c7ec65b839ed80');
INSERT INTO "links" VALUES(1,'f276c37971d0e7dc34613bb0e477c44a','derived_from','14ca35ccf49d7e9a155d90e61fa65c70');
INSERT INTO "links" VALUES(1,'978a2e9e2ff3273fbdaff353b288f8dd','derived_from','1f8989a94ea7e97cbd0bd9d3c42be5ca');
INSERT INTO "links" VALUES(1,'ffb2fe34e9c4b1810ddbbdd1eaf7c6b8','derived_from','1f8989a94ea7e97cbd0bd9d3c42be5ca');
INSERT INTO "links" VALUES(1,'5a1555516a49d8ef2f7e71d074180004','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'6169c9a73a41dc2600c5d69c0beb0699','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'9ec59633d56b5d26de779ec96f0a1dad','derived_from','32227bb23732ba9b4586149d81cbba21');
INSERT INTO "links" VALUES(1,'3ac7d88723e9e34125d0e11093005229','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'49115015cec23f55476c4b4821709dd3','derived_from','a5ff0cc9eac2ba36412d5d623bbdd79d');
INSERT INTO "links" VALUES(1,'2f891b573463f3bd82b630c482c17cc4','derived_from','b9d7465e58bb67e3ee34d81906a687e0');
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
INSERT INTO "memories" VALUES(1,2,'6169c9a73a41dc2600c5d69c0beb0699',1,'fact','2026-03-02T12:00:00.000000Z','apollo','CHOSE',1,'alice','user',5,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"aspect":null,"category":"projects","exact":false,"negated":false,"object":"PostgreSQL","predicate":"CHOSE","stated":true,"subject":"apollo","tense":"past","value":null},"confidence":0.95,"id":"6169c9a73a41dc2600c5d69c0beb0699","indexed_text":null,"kind":"fact","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.5,"scope":"room:design","slot":"db5da615c60d7d8d5d0b73578d069d82","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,3,'5a1555516a49d8ef2f7e71d074180004',1,'landmark','2026-03-02T12:00:00.000000Z',NULL,NULL,1,'alice','user',5,0,0,'{"at":"2026-03-02T12:00:00.000000Z","body":{"due":null,"due_from":null,"kind":"decision","owner":"apollo","right":null,"wrong":null},"confidence":1.0,"id":"5a1555516a49d8ef2f7e71d074180004","indexed_text":null,"kind":"landmark","label":["room:design"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000000Z","role":"user","salience":0.9,"scope":"room:design","slot":"fbed29508bc424281aee64a91abadd1d","source":"rules","sources":["32227bb23732ba9b4586149d81cbba21"],"speaker":"alice","tags":["decision"],"text":"Apollo chose PostgreSQL over MySQL.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,5,'50534f848f9fb33bbce6ac05afbb99aa',1,'fact','2026-03-02T12:00:00.000005Z','Tyler','WORKS_AT',1,'scribe','system',4,0,0,'{"at":"2026-03-02T12:00:00.000005Z","body":{"aspect":null,"category":null,"exact":false,"negated":false,"object":"Anthropic","predicate":"WORKS_AT","stated":true,"subject":"Tyler","tense":"current","value":null},"confidence":0.9,"id":"50534f848f9fb33bbce6ac05afbb99aa","indexed_text":null,"kind":"fact","label":["room:design"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000006Z","role":"system","salience":0.5,"scope":"room:design","slot":"","source":"fact","sources":["03305c50b9aa45fc1343cd4d9a76d3a1"],"speaker":"scribe","tags":[],"text":"Tyler works at Anthropic","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,6,'f276c37971d0e7dc34613bb0e477c44a',1,'passage','2026-03-02T12:00:00.000002Z',NULL,NULL,2,'scribe','assistant',9,0,0,'{"at":"2026-03-02T12:00:00.000002Z","body":{},"confidence":1.0,"id":"f276c37971d0e7dc34613bb0e477c44a","indexed_text":"scribe: Noted, PostgreSQL it is. (Monday 02 March 2026)","kind":"passage","label":["room:design"],"learned":false,"metadata":{"project":"apollo"},"recorded_at":"2026-03-02T12:00:00.000002Z","role":"assistant","salience":0.5,"scope":"room:design","slot":"","source":"message","sources":["14ca35ccf49d7e9a155d90e61fa65c70"],"speaker":"scribe","tags":[],"text":"Noted, PostgreSQL it is.","thread":"storage","tier":"short","trust":"inferred","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,7,'2f891b573463f3bd82b630c482c17cc4',2,'fact','2026-03-02T12:00:00.000003Z','user:alice','expiry',1,'scribe','system',5,0,0,'{"at":"2026-03-02T12:00:00.000003Z","body":{"aspect":null,"category":null,"exact":true,"negated":false,"object":null,"predicate":"expiry","stated":true,"subject":"user:alice","tense":"current","value":{"minutes":30}},"confidence":1.0,"id":"2f891b573463f3bd82b630c482c17cc4","indexed_text":null,"kind":"fact","label":["user:alice"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000004Z","role":"system","salience":0.5,"scope":"user:alice","slot":"","source":"fact","sources":["b9d7465e58bb67e3ee34d81906a687e0"],"speaker":"scribe","tags":[],"text":"user:alice expiry {\"minutes\":30}","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,8,'ffb2fe34e9c4b1810ddbbdd1eaf7c6b8',3,'passage','2026-03-02T12:00:00.000007Z',NULL,NULL,1,'scribe','system',6,0,0,'{"at":"2026-03-02T12:00:00.000007Z","body":{},"confidence":1.0,"id":"ffb2fe34e9c4b1810ddbbdd1eaf7c6b8","indexed_text":null,"kind":"passage","label":["project:apollo"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"","source":"note","sources":["1f8989a94ea7e97cbd0bd9d3c42be5ca"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"tier":"long","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,9,'978a2e9e2ff3273fbdaff353b288f8dd',3,'fact','2026-03-02T12:00:00.000007Z','staging server','CALL',1,'scribe','system',6,0,0,'{"at":"2026-03-02T12:00:00.000007Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"CALL","stated":true,"subject":"staging server","tense":"current","value":"heron"},"confidence":0.95,"id":"978a2e9e2ff3273fbdaff353b288f8dd","indexed_text":null,"kind":"fact","label":["project:apollo"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000008Z","role":"system","salience":0.5,"scope":"project:apollo","slot":"82b4e6b104bd270b65bb91584e095099","source":"rules","sources":["1f8989a94ea7e97cbd0bd9d3c42be5ca"],"speaker":"scribe","tags":[],"text":"The staging server is called heron.","thread":null,"tier":"short","trust":"internal","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,10,'41a7da0c5422f9446f47865d1bd7164b',3,'passage','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',3,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{},"confidence":1.0,"id":"41a7da0c5422f9446f47865d1bd7164b","indexed_text":"Guide\nStart heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"Guide"},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000000","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Start heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,11,'cf42e6e8944941faae94e9282746981b',3,'passage','2026-03-02T12:00:00.000009Z',NULL,NULL,1,'scribe','user',3,0,0,'{"at":"2026-03-02T12:00:00.000009Z","body":{},"confidence":1.0,"id":"cf42e6e8944941faae94e9282746981b","indexed_text":"End\nStop heron.","kind":"passage","label":["project:apollo"],"learned":false,"metadata":{"heading":"End"},"recorded_at":"2026-03-02T12:00:00.000010Z","role":"user","salience":0.5,"scope":"project:apollo","slot":"000001","source":"document","sources":["0cc4402b488b4a3d92c7ec65b839ed80"],"speaker":"scribe","tags":[],"text":"Stop heron.","thread":null,"tier":"short","trust":"external","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,12,'49115015cec23f55476c4b4821709dd3',4,'passage','2026-03-02T12:00:00.000011Z',NULL,NULL,1,'alice','user',11,0,0,'{"at":"2026-03-02T12:00:00.000011Z","body":{},"confidence":1.0,"id":"49115015cec23f55476c4b4821709dd3","indexed_text":"alice: My raise is due on Friday. (Monday 02 March 2026)","kind":"passage","label":["dm:alice:scribe"],"learned":false,"metadata":{},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"","source":"message","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"My raise is due on Friday.","thread":null,"tier":"short","trust":"direct","valid_from":null,"valid_to":null}');
INSERT INTO "memories" VALUES(1,13,'3ac7d88723e9e34125d0e11093005229',4,'fact','2026-03-02T12:00:00.000011Z','alice''s raise','IS',1,'alice','user',8,0,0,'{"at":"2026-03-02T12:00:00.000011Z","body":{"aspect":null,"category":"personal","exact":false,"negated":false,"object":null,"predicate":"IS","stated":true,"subject":"alice''s raise","tense":"current","value":"due"},"confidence":0.95,"id":"3ac7d88723e9e34125d0e11093005229","indexed_text":null,"kind":"fact","label":["dm:alice:scribe"],"learned":true,"metadata":{"made_by":["rules"]},"recorded_at":"2026-03-02T12:00:00.000011Z","role":"user","salience":0.5,"scope":"dm:alice:scribe","slot":"82c6aba7a6e4109041eba4ab9c6f3793","source":"rules","sources":["a5ff0cc9eac2ba36412d5d623bbdd79d"],"speaker":"alice","tags":[],"text":"Alice''s raise is due on 6 March 2026.","thread":null,"tier":"short","trust":"direct","valid_from":"2026-03-06T00:00:00.000000Z","valid_to":"2026-03-07T00:00:00.000000Z"}');
CREATE TABLE names (
    workspace INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    name      TEXT    NOT NULL,              -- case-folded
    memory    INTEGER NOT NULL,
    PRIMARY KEY (workspace, label, name, memory)
) STRICT, WITHOUT ROWID;
INSERT INTO "names" VALUES(1,1,'anthropic',5);
INSERT INTO "names" VALUES(1,1,'apollo',2);
INSERT INTO "names" VALUES(1,1,'postgresql',2);
INSERT INTO "names" VALUES(1,1,'tyler',5);
INSERT INTO "names" VALUES(1,2,'alice',7);
INSERT INTO "names" VALUES(1,3,'staging server',9);
INSERT INTO "names" VALUES(1,4,'alice''s raise',13);
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
INSERT INTO "postings" VALUES(1,1,'02',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'2026',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'2026',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'alic',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'anthrop',5,1,4,1);
INSERT INTO "postings" VALUES(1,1,'apollo',2,1,5,1);
INSERT INTO "postings" VALUES(1,1,'apollo',3,1,5,1);
INSERT INTO "postings" VALUES(1,1,'at',5,1,4,1);
INSERT INTO "postings" VALUES(1,1,'chose',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'chose',2,1,5,1);
INSERT INTO "postings" VALUES(1,1,'chose',3,1,5,1);
INSERT INTO "postings" VALUES(1,1,'is',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'it',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'march',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'march',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'monday',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'monday',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'mysql',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'mysql',2,1,5,1);
INSERT INTO "postings" VALUES(1,1,'mysql',3,1,5,1);
INSERT INTO "postings" VALUES(1,1,'note',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'over',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'over',2,1,5,1);
INSERT INTO "postings" VALUES(1,1,'over',3,1,5,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',2,1,5,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',3,1,5,1);
INSERT INTO "postings" VALUES(1,1,'postgresql',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'scribe',6,1,9,2);
INSERT INTO "postings" VALUES(1,1,'tyler',5,1,4,1);
INSERT INTO "postings" VALUES(1,1,'we',1,1,10,1);
INSERT INTO "postings" VALUES(1,1,'work',5,1,4,1);
INSERT INTO "postings" VALUES(1,2,'30',7,1,5,1);
INSERT INTO "postings" VALUES(1,2,'alic',7,1,5,1);
INSERT INTO "postings" VALUES(1,2,'expiri',7,1,5,1);
INSERT INTO "postings" VALUES(1,2,'minut',7,1,5,1);
INSERT INTO "postings" VALUES(1,2,'user',7,1,5,1);
INSERT INTO "postings" VALUES(1,3,'call',8,1,6,1);
INSERT INTO "postings" VALUES(1,3,'call',9,1,6,1);
INSERT INTO "postings" VALUES(1,3,'end',11,1,3,1);
INSERT INTO "postings" VALUES(1,3,'guid',10,1,3,1);
INSERT INTO "postings" VALUES(1,3,'heron',8,1,6,1);
INSERT INTO "postings" VALUES(1,3,'heron',9,1,6,1);
INSERT INTO "postings" VALUES(1,3,'heron',10,1,3,1);
INSERT INTO "postings" VALUES(1,3,'heron',11,1,3,1);
INSERT INTO "postings" VALUES(1,3,'is',8,1,6,1);
INSERT INTO "postings" VALUES(1,3,'is',9,1,6,1);
INSERT INTO "postings" VALUES(1,3,'server',8,1,6,1);
INSERT INTO "postings" VALUES(1,3,'server',9,1,6,1);
INSERT INTO "postings" VALUES(1,3,'stage',8,1,6,1);
INSERT INTO "postings" VALUES(1,3,'stage',9,1,6,1);
INSERT INTO "postings" VALUES(1,3,'start',10,1,3,1);
INSERT INTO "postings" VALUES(1,3,'stop',11,1,3,1);
INSERT INTO "postings" VALUES(1,3,'the',8,1,6,1);
INSERT INTO "postings" VALUES(1,3,'the',9,1,6,1);
INSERT INTO "postings" VALUES(1,4,'02',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'2026',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'2026',13,1,8,1);
INSERT INTO "postings" VALUES(1,4,'6',13,1,8,1);
INSERT INTO "postings" VALUES(1,4,'alic',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'alic',13,1,8,1);
INSERT INTO "postings" VALUES(1,4,'due',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'due',13,1,8,1);
INSERT INTO "postings" VALUES(1,4,'friday',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'is',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'is',13,1,8,1);
INSERT INTO "postings" VALUES(1,4,'march',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'march',13,1,8,1);
INSERT INTO "postings" VALUES(1,4,'monday',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'my',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'on',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'on',13,1,8,1);
INSERT INTO "postings" VALUES(1,4,'rais',12,1,11,1);
INSERT INTO "postings" VALUES(1,4,'rais',13,1,8,1);
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
INSERT INTO "schema_version" VALUES(1,'foundation','2026-11-16T03:26:58.178959Z');
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
INSERT INTO "threads" VALUES(1,1,1,'~2026-03-02',24);
INSERT INTO "threads" VALUES(1,1,2,'=storage',9);
INSERT INTO "threads" VALUES(1,2,1,'~2026-03-02',5);
INSERT INTO "threads" VALUES(1,3,1,'~2026-03-02',18);
INSERT INTO "threads" VALUES(1,4,1,'~2026-03-02',19);
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
INSERT INTO "vectors" VALUES(1,1,1,14,1,X'0000000000000000000000000000000000000000000000002EF9643F2EF9E4BE');
INSERT INTO "vectors" VALUES(1,1,1,15,2,X'0000000000000000000000000000000000000000000000002EF9E43E2EF964BF');
INSERT INTO "vectors" VALUES(1,1,1,16,3,X'0000000000000000000000000000000000000000000000002EF9E43E2EF964BF');
INSERT INTO "vectors" VALUES(1,1,1,18,5,X'000000BF000000000000003F00000000000000000000003F000000BF00000000');
INSERT INTO "vectors" VALUES(1,1,1,19,6,X'00000000F30435BF0000000000000000000000000000000000000000F304353F');
INSERT INTO "vectors" VALUES(1,2,1,20,7,X'8F84C1BE8F84C13E8F8441BF0000000000000000000000008F84C1BE00000000');
INSERT INTO "vectors" VALUES(1,3,1,21,8,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,22,9,X'00000000F30435BF00000000000000000000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,23,10,X'000000000000000000000000F304353F0000000000000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,3,1,24,11,X'00000000000000000000000000000000F304353F00000000F304353F00000000');
INSERT INTO "vectors" VALUES(1,4,1,25,12,X'00000000EC05D1BE0000000000000000EC05513FEC05D13E0000000000000000');
INSERT INTO "vectors" VALUES(1,4,1,26,13,X'000000003ACD13BF00000000000000003ACD133F000000003ACD13BF00000000');
CREATE TABLE workspaces (
    workspace INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL UNIQUE,
    length    INTEGER NOT NULL DEFAULT 0,   -- events in the chain
    head      BLOB    NOT NULL,             -- hash of the newest one
    counter   INTEGER NOT NULL DEFAULT 0    -- last number given to a memory or a vector
) STRICT;
INSERT INTO "workspaces" VALUES(1,'acme',9,X'0FC0D12A1A11C0762031BA29F2807FE1201228675BC4B689AC34C857061E160C',26);
INSERT INTO "workspaces" VALUES(2,'globex',1,X'D598741E1106E9751B5B685D0065EB807A5B12931C2559230A285C64C8D2D5D3',0);
CREATE INDEX events_by_time ON events (workspace, label, at);
CREATE INDEX memories_by_time ON memories (workspace, label, at);
CREATE INDEX memories_by_thread ON memories (workspace, label, thread, at, id);
CREATE INDEX memories_by_fact ON memories (workspace, label, subject, predicate)
    WHERE subject IS NOT NULL;
CREATE INDEX links_by_target ON links (workspace, target, origin);
COMMIT;
