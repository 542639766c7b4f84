-- Questions `nexus doctor` asks a server. Nothing is changed.

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

-- usage --
SELECT has_schema_privilege(%(role)s, 'nexus', 'USAGE');

-- rights --
-- Every table with what the role may do to it; partitions are reached through their parents.
SELECT relname, relispartition, pg_get_userbyid(relowner),
       has_table_privilege(%(role)s, oid, 'SELECT'), has_table_privilege(%(role)s, oid, 'INSERT'),
       has_table_privilege(%(role)s, oid, 'UPDATE'), has_table_privilege(%(role)s, oid, 'DELETE')
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

-- waiting --
SELECT workspaces.name, count(*), max(outbox.attempts), max(outbox.error)
  FROM nexus.outbox JOIN nexus.workspaces USING (workspace)
 GROUP BY workspaces.name
 ORDER BY workspaces.name;
