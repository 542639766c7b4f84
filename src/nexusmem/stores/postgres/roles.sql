-- The role that all work is done as: it owns nothing, so that row-level security binds it. It is
-- made, or granted to whoever asks, as far as that one's rights go.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'nexus_app') THEN
        CREATE ROLE nexus_app NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- another one was faster
END $$;

DO $$
BEGIN
    SET LOCAL ROLE nexus_app;
    RESET ROLE;
EXCEPTION WHEN insufficient_privilege THEN
    EXECUTE format('GRANT nexus_app TO %I', current_user);
END $$;
