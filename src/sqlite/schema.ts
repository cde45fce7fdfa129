import { LINE } from '../store/rows.ts'
import type { Driver } from './driver.ts'

/** The version of the tables. If you increase it, write a migration too, because existing tables are not recreated. */
export const SCHEMA_VERSION = 1

/**
 * Returns the SQL that creates the tables of {@link createSqliteStore} and {@link createSqliteKeyStore}. The stores run
 * it themselves, so you need it only for your own migration tool. Running it again changes nothing.
 *
 * A query that shows the registrations of a team:
 *
 * ```sql
 * SELECT domain, domain_id, created_at FROM domain_registration_names WHERE team_id = '1' ORDER BY domain_id;
 * ```
 *
 * @example
 * import { writeFile } from 'node:fs/promises'
 *
 * await writeFile('migrations/001-domain-registration.sql', sqliteSchema())
 */
export const sqliteSchema = (): string => `\
-- One row for each registered name.
CREATE TABLE IF NOT EXISTS domain_registration_names (
  domain_id TEXT NOT NULL PRIMARY KEY, -- UUID of version 7: in the order of registration
  domain TEXT NOT NULL,
  registrable_domain TEXT NOT NULL, -- according to the suffix list when it was registered
  second_level_domain TEXT NOT NULL, -- the last two labels; for an IP address, the address
  path TEXT NOT NULL, -- the other labels from right to left: '.b.a' for a.b.example.com
  team_id TEXT NOT NULL,
  created_at INTEGER NOT NULL -- milliseconds since 1970
) STRICT;

CREATE UNIQUE INDEX IF NOT EXISTS domain_registration_names_by_domain ON domain_registration_names (domain);

-- For the names below a base, which are neighbors in this index.
CREATE INDEX IF NOT EXISTS domain_registration_names_by_path
  ON domain_registration_names (second_level_domain, path);

-- For the names of one team below a base, even if other teams have many there.
CREATE INDEX IF NOT EXISTS domain_registration_names_of_team_below
  ON domain_registration_names (second_level_domain, team_id, path) WHERE path > '';

-- For the names within a base, even if many others below it are behind public suffixes.
CREATE INDEX IF NOT EXISTS domain_registration_names_within
  ON domain_registration_names (registrable_domain, path) WHERE domain <> registrable_domain;

-- For the names of one team within a base.
CREATE INDEX IF NOT EXISTS domain_registration_names_of_team_within
  ON domain_registration_names (registrable_domain, team_id, path) WHERE domain <> registrable_domain;

-- For the names of one team, in the order of registration.
CREATE INDEX IF NOT EXISTS domain_registration_names_by_team
  ON domain_registration_names (team_id, domain_id);

-- The pending changes. A registration without a row is synchronized.
CREATE TABLE IF NOT EXISTS domain_registration_changes (
  domain_id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('registered', 'released')),
  domain TEXT NOT NULL,
  registrable_domain TEXT NOT NULL,
  team_id TEXT NOT NULL,
  due INTEGER NOT NULL, -- when a sweep may push it, in milliseconds since 1970
  sweeps INTEGER NOT NULL DEFAULT 0, -- how many sweeps have taken it
  refusals INTEGER NOT NULL DEFAULT 0, -- how often the monitor refused it
  line TEXT NOT NULL GENERATED ALWAYS AS (${LINE}), -- what sweeps do with it
  since INTEGER NOT NULL, -- milliseconds since 1970
  last_failure TEXT, -- why the last push failed
  follows TEXT -- for a release after a transfer: the ID whose registration must be pushed first
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS domain_registration_changes_following
  ON domain_registration_changes (follows) WHERE follows IS NOT NULL;

-- For sweeps.
CREATE INDEX IF NOT EXISTS domain_registration_changes_due
  ON domain_registration_changes (line, due, since);

-- For sweeps, in which teams take turns.
CREATE INDEX IF NOT EXISTS domain_registration_changes_of_team
  ON domain_registration_changes (line, team_id, due, since);

-- Has a row once any process pushes. Without a row there is no monitor, and a store without a push records no
-- release.
CREATE TABLE IF NOT EXISTS domain_registration_monitor (
  since INTEGER NOT NULL -- milliseconds since 1970
) STRICT;

CREATE TABLE IF NOT EXISTS domain_registration_keys (
  hash TEXT NOT NULL PRIMARY KEY, -- SHA-256 in lower-case hex
  type TEXT NOT NULL CHECK (type IN ('organization', 'team')),
  owner_id TEXT NOT NULL,
  scopes TEXT NOT NULL, -- a JSON array
  label TEXT,
  hint TEXT, -- the prefix and the last four characters of the key, so that people recognize it
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  expires_at INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS domain_registration_keys_of_owners
  ON domain_registration_keys (type, owner_id, created_at);

CREATE TABLE IF NOT EXISTS domain_registration_version (
  version INTEGER NOT NULL PRIMARY KEY
) STRICT;
-- Older tables keep their version, because they need a migration to this one.
INSERT INTO domain_registration_version (version)
  SELECT ${SCHEMA_VERSION} WHERE NOT EXISTS (SELECT 1 FROM domain_registration_version);
`

/**
 * Creates the tables if they are missing. Only reads if the tables are up to date.
 *
 * @throws {Error} if a later version of this package created the tables.
 */
export function prepareTables(driver: Driver): void {
  const version = findVersion(driver)
  if (version > SCHEMA_VERSION) {
    throw new Error(`The tables have version ${version}; this package supports up to version ${SCHEMA_VERSION}`)
  }
  if (version < SCHEMA_VERSION) driver.transact(() => driver.execute(sqliteSchema()))
}

/** Returns the version of the tables; 0 if they are missing. */
export function findVersion(driver: Driver): number {
  const tables = driver.prepare("SELECT 1 FROM sqlite_master WHERE name = 'domain_registration_version'")
  if (tables().length === 0) return 0
  const [row] = driver.prepare<{ version: number | null }>(
    'SELECT max(version) AS version FROM domain_registration_version',
  )()
  return row?.version ?? 0
}
