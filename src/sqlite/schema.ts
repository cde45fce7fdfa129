import { LINE } from '../sql/rows.ts'
import { readColumns, requireTables } from '../sql/tables.ts'
import type { Driver } from './driver.ts'

/**
 * The version of the tables. Each change of the tables raises it. Existing tables are not recreated, so a changed one
 * needs an `ALTER TABLE` in {@link prepareTables}, and a new one its version in {@link cameWith}.
 */
export const SCHEMA_VERSION = 2

/** The version with which each table came that did not come with version 1. */
const cameWith: Readonly<Record<string, number>> = { domain_registration_waiting: 2 }

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
  follows TEXT -- for a release after a transfer: the ID whose pending registration must be pushed first
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS domain_registration_changes_following
  ON domain_registration_changes (follows) WHERE follows IS NOT NULL;

-- For sweeps, in which teams take turns. A change that follows another is in neither index.
CREATE INDEX IF NOT EXISTS domain_registration_changes_next
  ON domain_registration_changes (line, due, since) WHERE follows IS NULL;
CREATE INDEX IF NOT EXISTS domain_registration_changes_next_of_team
  ON domain_registration_changes (line, team_id, due, since) WHERE follows IS NULL;

-- In version 1, the indexes had all changes, and a change went on following a registration that was pushed.
DROP INDEX IF EXISTS domain_registration_changes_due;
DROP INDEX IF EXISTS domain_registration_changes_of_team;
UPDATE domain_registration_changes AS change SET follows = NULL WHERE follows IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM domain_registration_changes AS followed
  WHERE followed.domain_id = change.follows AND followed.kind = 'registered'
);

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

-- The names that wait to be registered. They reserve nothing. Times are milliseconds since 1970.
CREATE TABLE IF NOT EXISTS domain_registration_waiting (
  team_id TEXT NOT NULL,
  domain TEXT NOT NULL,
  registrable_domain TEXT NOT NULL,
  since INTEGER NOT NULL, -- when the team first asked for it
  until INTEGER NOT NULL, -- how long it is tried
  last_tried INTEGER NOT NULL,
  due INTEGER NOT NULL, -- when it is tried next
  tries INTEGER NOT NULL, -- how often it was taken since the team last asked for it
  refusal TEXT NOT NULL, -- what is missing, as JSON
  PRIMARY KEY (team_id, domain)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS domain_registration_waiting_due
  ON domain_registration_waiting (due, team_id);

CREATE TABLE IF NOT EXISTS domain_registration_version (
  version INTEGER NOT NULL PRIMARY KEY
) STRICT;
INSERT INTO domain_registration_version (version) VALUES (${SCHEMA_VERSION}) ON CONFLICT DO NOTHING;
`

/**
 * Creates the tables if they are missing. Only reads if the tables are up to date.
 *
 * @throws {Error} if a later version of this package created the tables, or if some of them have been dropped or lack
 *   columns.
 */
export function prepareTables(driver: Driver): void {
  if (checkTables(driver) === SCHEMA_VERSION) return
  driver.transact(() => {
    driver.execute(sqliteSchema())
    checkTables(driver)
  })
}

/** Returns the version of the tables; 0 if they are missing. */
function checkTables(driver: Driver): number {
  const version = findVersion(driver)
  const needed = readColumns(sqliteSchema(), cameWith)
  const tables = new Set(needed.map(({ table }) => table))
  const columns = new Map(
    [...tables].map(table => [table, driver.prepare<{ name: string }>(`PRAGMA table_xinfo(${table})`)()]),
  )
  const missing = needed.filter(({ table, column }) => !columns.get(table)?.some(({ name }) => name === column))
  requireTables({ version, current: SCHEMA_VERSION }, needed, missing)
  return version
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
