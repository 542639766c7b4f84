-- Read-only queries of `nexus doctor`.

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

-- set_timeout --
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

-- is_encrypted --
SELECT EXISTS (SELECT 1 FROM nexus.key_vault);

-- usage --
SELECT has_schema_privilege(%(role)s, 'nexus', 'USAGE');

-- privileges --
-- For each table: its owner, the missing privileges of the role, and whether the role can read or
-- write a partition directly, which bypasses the policies of its parent.
SELECT relname, pg_get_userbyid(relowner),
       CASE WHEN relispartition THEN '{}'
            ELSE ARRAY(SELECT needed FROM unnest(CASE relname
                               WHEN 'schema_version' THEN ARRAY['SELECT']
                               WHEN 'key_vault' THEN ARRAY['SELECT', 'INSERT']
                               WHEN 'profiles' THEN ARRAY['SELECT', 'INSERT', 'UPDATE']
                               ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] END) AS needed
                        WHERE NOT has_table_privilege(%(role)s, oid, needed)) END,
       relispartition
       AND has_table_privilege(%(role)s, oid, 'SELECT, INSERT, UPDATE, DELETE')
  FROM pg_class
 WHERE relnamespace = to_regnamespace('nexus') AND relkind IN ('r', 'p')
 ORDER BY relname;

-- row_security --
-- For each table with workspaces: whether row-level security is on, forced, and has a policy.
SELECT relname, relrowsecurity, relforcerowsecurity,
       EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = pg_class.oid)
  FROM pg_class
 WHERE relnamespace = to_regnamespace('nexus') AND relkind IN ('r', 'p') AND NOT relispartition
   AND EXISTS (SELECT 1 FROM pg_attribute
                WHERE attrelid = pg_class.oid AND attname = 'workspace' AND NOT attisdropped)
 ORDER BY relname;

-- set_role --
SET LOCAL ROLE nexus_app;

-- set_schema --
SET LOCAL search_path = nexus;

-- bind_all_workspaces --
SELECT bind_worker();

-- pending_work --
SELECT workspaces.name, count(*), max(outbox.attempts), max(outbox.error)
  FROM nexus.outbox JOIN nexus.workspaces USING (workspace)
 GROUP BY workspaces.name
 ORDER BY workspaces.name;
