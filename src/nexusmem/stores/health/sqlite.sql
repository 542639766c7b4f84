-- Read-only queries of `nexus doctor`.

-- schema_version --
SELECT max(version) FROM schema_version;

-- pending_work --
SELECT workspaces.name, count(*), max(outbox.attempts), max(outbox.error)
  FROM outbox JOIN workspaces USING (workspace)
 GROUP BY workspaces.name
 ORDER BY workspaces.name;
