import { isText, optional, type Rule, requireOptions } from '../options.ts'
import { LINE } from '../sql/rows.ts'
import type { Engine } from './engines/engine.ts'
import { postgres } from './engines/plain.ts'

/** The location of the tables. */
export interface PostgresSchemaOptions {
  /** The schema that contains the tables: any name of at most 63 bytes in UTF-8. Default `domain_registration`. */
  schema?: string | undefined
}

export const DEFAULT_SCHEMA = 'domain_registration'

/** PostgreSQL cuts longer identifiers, so two longer names could mean one schema. */
const LONGEST_IDENTIFIER = 63

export const schemaRule: Rule = {
  holds: optional(name => isText(name) && new TextEncoder().encode(name).length <= LONGEST_IDENTIFIER),
  expected: `the name of a schema, at most ${LONGEST_IDENTIFIER} bytes in UTF-8`,
}

/**
 * The version of the tables. Each change of the tables raises it. Existing tables are not recreated, so a changed one
 * needs an `ALTER TABLE` in {@link createSchema}, and a new one its version in {@link toCameWith}.
 */
export const SCHEMA_VERSION = 2

/** Returns the quoted names of the tables of a schema. */
export function toTables({ schema = DEFAULT_SCHEMA }: PostgresSchemaOptions) {
  const quoted = quoteIdentifier(schema)
  return {
    schema: quoted,
    names: `${quoted}.names`,
    changes: `${quoted}.changes`,
    locks: `${quoted}.locks`,
    monitor: `${quoted}.monitor`,
    keys: `${quoted}.keys`,
    waiting: `${quoted}.waiting`,
    version: `${quoted}.version`,
  }
}

export type Tables = ReturnType<typeof toTables>

/** Returns the version with which each table came that did not come with version 1. */
export const toCameWith = (options: PostgresSchemaOptions): Readonly<Record<string, number>> => ({
  [toTables(options).waiting]: 2,
})

/** Quotes an identifier (PostgreSQL documentation, section 4.1.1), and doubles the quotes in it. Rejects NUL. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0'))
    throw new TypeError('The name of a schema must be a non-empty string without \\0')
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * Returns the SQL that creates the tables of {@link createPostgresStore} and {@link createPostgresKeyStore}, for your
 * own migration tool. {@link migrate} runs this SQL for you. Running it again changes nothing.
 *
 * The table `names` has one row for each registration. Your queries may read and join this table, and your foreign keys
 * may refer to it:
 *
 * ```sql
 * SELECT team_id, domain_id, created_at FROM domain_registration.names
 * WHERE second_level_domain = 'example.com' AND path = '.www';
 * ```
 *
 * @throws {TypeError} if an option is unknown, or if the name of the schema is empty or contains NUL.
 *
 * @example
 * import { writeFile } from 'node:fs/promises'
 *
 * await writeFile('migrations/001-domain-registration.sql', postgresSchema({ schema: 'monitoring' }))
 */
export function postgresSchema(options: PostgresSchemaOptions = {}): string {
  requireOptions(options, { schema: schemaRule })
  return createSchema(options)
    .map(statement => `${statement};\n`)
    .join('\n')
}

/** Returns the statements separately, for engines that accept only one statement in a command. */
export function createSchema(options: PostgresSchemaOptions, engine: Engine = postgres): string[] {
  const tables = toTables(options)
  return [
    `CREATE SCHEMA IF NOT EXISTS ${tables.schema}`,
    ...createNames(tables, engine.uniqueId),
    ...createChanges(tables),
    `-- The rows that calls lock: one for each registrable domain, and one for each team with a limit ('#' and the ID).
-- A release deletes the rows that it has locked; the next call inserts them again.
CREATE TABLE IF NOT EXISTS ${tables.locks} (
  second_level_domain text COLLATE "C" NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL,
  PRIMARY KEY (second_level_domain, registrable_domain)
)`,
    `-- Has a row once any process pushes. Without a row there is no monitor, and a store without a push records no
-- release.
CREATE TABLE IF NOT EXISTS ${tables.monitor} (
  id integer PRIMARY KEY CHECK (id = 1),
  since timestamptz NOT NULL DEFAULT now()
)`,
    ...createKeys(tables),
    ...createWaiting(tables),
    `CREATE TABLE IF NOT EXISTS ${tables.version} (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`,
    ...engine.distribute(tables),
    `INSERT INTO ${tables.version} (version) VALUES (${SCHEMA_VERSION}) ON CONFLICT DO NOTHING`,
  ]
}

const createNames = ({ names }: Tables, id: string) => [
  `-- One row for each registered name. Its key depends only on the name: the last two labels (for an IP address, the
-- address), and the path of the other labels from right to left, such as '.b.a' for a.b.example.com.
CREATE TABLE IF NOT EXISTS ${names} (
  domain_id uuid NOT NULL, -- version 7: in the order of registration
  created_at timestamptz NOT NULL,
  second_level_domain text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL, -- according to the suffix list when it was registered
  team_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (second_level_domain, path)
)`,
  `-- For lists, and for references to a registration.
CREATE UNIQUE INDEX IF NOT EXISTS names_by_id ON ${names} (${id})`,
  `-- For the lists of one team.
CREATE INDEX IF NOT EXISTS names_of_team ON ${names} (team_id, domain_id)`,
  `-- For wildcards: the names within a base, of all teams and of one team. The conditions differ, so each query matches
-- only one index. A name that is its own registrable domain is not within any base.
CREATE INDEX IF NOT EXISTS names_within ON ${names} (registrable_domain, path) WHERE domain <> registrable_domain`,
  `CREATE INDEX IF NOT EXISTS names_of_team_within ON ${names} (registrable_domain, team_id, path) WHERE path > ''`,
  `-- For the lists of one team's names below a base: those whose registrable domain has more than two labels; the index
-- before has the others.
CREATE INDEX IF NOT EXISTS names_of_team_below ON ${names} (second_level_domain, team_id, path)
  WHERE registrable_domain <> second_level_domain`,
]

const createChanges = ({ changes, schema }: Tables) => [
  `-- The pending changes. A registration without a row is synchronized.
CREATE TABLE IF NOT EXISTS ${changes} (
  domain_id uuid NOT NULL,
  due timestamptz NOT NULL, -- when a sweep may push it
  since timestamptz NOT NULL,
  sweeps integer NOT NULL DEFAULT 0, -- how many sweeps have taken it
  refusals integer NOT NULL DEFAULT 0, -- how often the monitor refused it
  line text COLLATE "C" NOT NULL GENERATED ALWAYS AS (${LINE}) STORED, -- what sweeps do with it
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('registered', 'released')),
  second_level_domain text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL,
  last_failure text, -- why the last push failed
  follows uuid, -- for a release after a transfer: the ID whose pending registration must be pushed first
  PRIMARY KEY (domain_id, second_level_domain)
)`,
  `CREATE INDEX IF NOT EXISTS changes_following ON ${changes} (follows) WHERE follows IS NOT NULL`,
  `-- For sweeps, in which teams take turns. A change that follows another is in neither index. The other conditions
-- always hold. They differ, so each query matches only one of these indexes.
CREATE INDEX IF NOT EXISTS changes_next ON ${changes} (line, due) WHERE follows IS NULL AND line > ''`,
  `CREATE INDEX IF NOT EXISTS changes_next_of_team ON ${changes} (line, team_id, due)
  WHERE follows IS NULL AND team_id > ''`,
  `-- In version 1, the indexes had all changes, and a change went on following a registration that was pushed.
DROP INDEX IF EXISTS ${schema}.changes_due`,
  `DROP INDEX IF EXISTS ${schema}.changes_of_team`,
  `UPDATE ${changes} AS change SET follows = NULL WHERE follows IS NOT NULL AND NOT EXISTS (
  SELECT FROM ${changes} AS followed
  WHERE followed.domain_id = change.follows AND followed.second_level_domain = change.second_level_domain
    AND followed.kind = 'registered'
)`,
]

const createWaiting = ({ waiting }: Tables) => [
  `-- The names that wait to be registered. They reserve nothing.
CREATE TABLE IF NOT EXISTS ${waiting} (
  team_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL, -- when the team first asked for it
  until timestamptz NOT NULL, -- how long it is tried
  last_tried timestamptz NOT NULL,
  due timestamptz NOT NULL, -- when it is tried next
  tries integer NOT NULL DEFAULT 0, -- how often it was taken since the team last asked for it
  refusal text NOT NULL, -- what is missing, as JSON
  PRIMARY KEY (team_id, domain)
)`,
  `CREATE INDEX IF NOT EXISTS waiting_due ON ${waiting} (due, team_id)`,
]

const createKeys = ({ keys }: Tables) => [
  `CREATE TABLE IF NOT EXISTS ${keys} (
  hash text COLLATE "C" PRIMARY KEY, -- SHA-256 in lower-case hex
  type text NOT NULL CHECK (type IN ('organization', 'team')),
  owner_id text NOT NULL,
  scopes text[] NOT NULL,
  label text,
  hint text, -- the prefix and the last four characters of the key, so that people recognize it
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  expires_at timestamptz
)`,
  `CREATE INDEX IF NOT EXISTS keys_of_owners ON ${keys} (owner_id)`,
]
