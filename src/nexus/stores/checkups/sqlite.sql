-- Questions `nexus doctor` asks a file, read-only.

-- schema_version --
SELECT max(version) FROM schema_version;

-- waiting --
SELECT workspaces.name, count(*), max(outbox.attempts), max(outbox.error)
  FROM outbox JOIN workspaces USING (workspace)
 GROUP BY workspaces.name
 ORDER BY workspaces.name;
