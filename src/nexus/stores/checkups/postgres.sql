-- Questions `nexus doctor` asks a server. Nothing is changed.

-- ping --
SELECT 1;

-- who --
SELECT current_user, current_database(),
       rolsuper, rolbypassrls,
       has_database_privilege(current_database(), 'CREATE'),
       rolcreaterole
  FROM pg_roles WHERE rolname = current_user;

-- extension --
SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'vector';

-- connections --
SELECT current_setting('max_connections')::integer,
       current_setting('superuser_reserved_connections')::integer,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend');

-- timeouts --
SELECT max(setting::integer) FILTER (WHERE name = 'statement_timeout'),
       max(setting::integer) FILTER (WHERE name = 'lock_timeout')
  FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout');

-- be_quick --
SELECT set_config('statement_timeout', %(limit)s, false);

-- schema --
SELECT to_regnamespace('nexus') IS NOT NULL;

-- tables --
SELECT EXISTS (SELECT 1 FROM pg_class
                WHERE relnamespace = to_regnamespace('nexus') AND relname = 'schema_version');

-- worker_role --
SELECT rolsuper, rolbypassrls, pg_has_role(current_user, oid, 'MEMBER')
  FROM pg_roles WHERE rolname = %(role)s;

-- version --
SELECT max(version) FROM nexus.schema_version;

-- vault --
SELECT EXISTS (SELECT 1 FROM nexus.vault);

-- usage --
SELECT has_schema_privilege(%(role)s, 'nexus', 'USAGE');

-- rights --
-- Every table: its owner, what the role needs and lacks, and (partitions are reached through their
-- parents) whether it could get around.
SELECT relname, pg_get_userbyid(relowner),
       CASE WHEN relispartition THEN '{}'
            ELSE ARRAY(SELECT needed FROM unnest(CASE relname
                               WHEN 'schema_version' THEN ARRAY['SELECT']
                               WHEN 'vault' THEN ARRAY['SELECT', 'INSERT']
                               WHEN 'profiles' THEN ARRAY['SELECT', 'INSERT', 'UPDATE']
                               ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] END) AS needed
                        WHERE NOT has_table_privilege(%(role)s, oid, needed)) END,
       relispartition
       AND has_table_privilege(%(role)s, oid, 'SELECT, INSERT, UPDATE, DELETE')
  FROM pg_class
 WHERE relnamespace = to_regnamespace('nexus') AND relkind IN ('r', 'p')
 ORDER BY relname;

-- walls --
-- Every table of tenants: whether its rows are behind a policy, the owner's eyes included.
SELECT relname, relrowsecurity, relforcerowsecurity,
       EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = pg_class.oid)
  FROM pg_class
 WHERE relnamespace = to_regnamespace('nexus') AND relkind IN ('r', 'p') AND NOT relispartition
   AND EXISTS (SELECT 1 FROM pg_attribute
                WHERE attrelid = pg_class.oid AND attname = 'workspace' AND NOT attisdropped)
 ORDER BY relname;

-- as_worker --
SET LOCAL ROLE nexus_app;

-- in_schema --
SET LOCAL search_path = nexus;

-- serve --
SELECT serve_everybody();

-- waiting --
SELECT workspaces.name, count(*), max(outbox.attempts), max(outbox.error)
  FROM nexus.outbox JOIN nexus.workspaces USING (workspace)
 GROUP BY workspaces.name
 ORDER BY workspaces.name;
