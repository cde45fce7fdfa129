CREATE TABLE IF NOT EXISTS domain_registration_names (
  domain_id TEXT NOT NULL PRIMARY KEY,
  domain TEXT NOT NULL,
  registrable_domain TEXT NOT NULL,
  second_level_domain TEXT NOT NULL,
  path TEXT NOT NULL,
  team_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS domain_registration_names_by_domain ON domain_registration_names (domain);
CREATE INDEX IF NOT EXISTS domain_registration_names_by_path
  ON domain_registration_names (second_level_domain, path);
CREATE INDEX IF NOT EXISTS domain_registration_names_of_team_below
  ON domain_registration_names (second_level_domain, team_id, path) WHERE path > '';
CREATE INDEX IF NOT EXISTS domain_registration_names_within
  ON domain_registration_names (registrable_domain, path) WHERE domain <> registrable_domain;
CREATE INDEX IF NOT EXISTS domain_registration_names_of_team_within
  ON domain_registration_names (registrable_domain, team_id, path) WHERE domain <> registrable_domain;
CREATE INDEX IF NOT EXISTS domain_registration_names_by_team
  ON domain_registration_names (team_id, domain_id);
CREATE TABLE IF NOT EXISTS domain_registration_changes (
  domain_id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('registered', 'released')),
  domain TEXT NOT NULL,
  registrable_domain TEXT NOT NULL,
  team_id TEXT NOT NULL,
  due INTEGER NOT NULL,
  sweeps INTEGER NOT NULL DEFAULT 0,
  refusals INTEGER NOT NULL DEFAULT 0,
  line TEXT NOT NULL GENERATED ALWAYS AS (CASE WHEN refusals > 0 THEN 'refused'
    WHEN sweeps < 3 THEN 'new' ELSE 'failed' END),
  since INTEGER NOT NULL,
  last_failure TEXT,
  follows TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS domain_registration_changes_following
  ON domain_registration_changes (follows) WHERE follows IS NOT NULL;
CREATE INDEX IF NOT EXISTS domain_registration_changes_due
  ON domain_registration_changes (line, due, since);
CREATE INDEX IF NOT EXISTS domain_registration_changes_of_team
  ON domain_registration_changes (line, team_id, due, since);
CREATE TABLE IF NOT EXISTS domain_registration_monitor (
  since INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS domain_registration_keys (
  hash TEXT NOT NULL PRIMARY KEY,
  type TEXT NOT NULL CHECK (type IN ('organization', 'team')),
  owner_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  label TEXT,
  hint TEXT,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  expires_at INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS domain_registration_keys_of_owners
  ON domain_registration_keys (type, owner_id, created_at);
CREATE TABLE IF NOT EXISTS domain_registration_version (
  version INTEGER NOT NULL PRIMARY KEY
) STRICT;
INSERT INTO domain_registration_version (version) VALUES (1) ON CONFLICT DO NOTHING;
