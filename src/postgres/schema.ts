/** The place of the tables. */
export interface PostgresSchemaOptions {
  /** The schema that holds the tables. Any name. Default `domain_registration`. */
  schema?: string | undefined
}

/** Options for creating the tables. */
export interface PostgresTableOptions extends PostgresSchemaOptions {
  /**
   * The number of partitions of the table of names, at least 2, by hash of the registrable domain. A call touches only
   * those of its own registrable domains, and each can be indexed, vacuumed and moved by itself. An existing table does
   * not change. Default: no partitions.
   */
  partitions?: number | undefined
}

const DEFAULT_SCHEMA = 'domain_registration'

/** The version of the tables. Increase it with each change. */
export const SCHEMA_VERSION = 1

/** The tables of a schema, quoted. */
export function toTables({ schema = DEFAULT_SCHEMA }: PostgresSchemaOptions) {
  const quoted = quoteIdentifier(schema)
  return {
    schema: quoted,
    names: `${quoted}.names`,
    releases: `${quoted}.releases`,
    registrations: `${quoted}.registrations`,
    keys: `${quoted}.keys`,
    version: `${quoted}.version`,
  }
}

export type Tables = ReturnType<typeof toTables>

/** PostgreSQL documentation, section 4.1.1: any characters but the one with code zero, with quotes doubled. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0'))
    throw new TypeError('The name of a schema must be text without \\0, and not empty')
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * Returns the SQL that creates the tables of {@link createPostgresStore} and {@link createPostgresKeyStore}, for a
 * migration tool of your own; {@link migrate} runs it for you. Running it again changes nothing.
 *
 * To look at registrations, query the view `registrations`, which has one row for each:
 *
 * ```sql
 * SELECT domain, domain_id, created_at FROM domain_registration.registrations WHERE team_id = '1';
 * ```
 *
 * See docs/postgres.md for more data than one table or one machine can hold.
 *
 * @throws {TypeError} if the name of the schema is empty or has a character with code zero in it.
 * @throws {RangeError} if the number of partitions is no integer from 2.
 *
 * @example
 * import { writeFile } from 'node:fs/promises'
 *
 * await writeFile('migrations/001-domain-registration.sql', postgresSchema({ schema: 'monitoring' }))
 */
export const postgresSchema = (options: PostgresTableOptions = {}): string =>
  createSchema(options)
    .map(statement => `${statement};\n`)
    .join('\n')

/** Returns the statements one by one, for engines that take only one in a command. */
export function createSchema(options: PostgresTableOptions): string[] {
  const { schema, names, releases, registrations, keys, version } = toTables(options)
  const { partitions } = options
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    ...createNames(schema, names, partitions),
    `-- Names that were released, until the monitor knows of it. No "domain_id" waits both here and in "names".
CREATE TABLE IF NOT EXISTS ${releases} (
  due timestamptz NOT NULL,
  domain_id uuid NOT NULL,
  registrable_domain text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL,
  refusals integer,
  PRIMARY KEY (registrable_domain, domain_id)
)`,
    `CREATE INDEX IF NOT EXISTS releases_due ON ${releases} (due, domain_id)`,
    `-- The registrations, for you to read.
CREATE OR REPLACE VIEW ${registrations} AS
  SELECT
    coalesce((
      SELECT string_agg(label, '.' ORDER BY position DESC) || '.'
      FROM unnest(string_to_array(substr(coalesce(inlined_path, path), 2), '.'))
        WITH ORDINALITY AS labels (label, position)
    ), '') || registrable_domain AS domain,
    registrable_domain, domain_id, team_id, created_at, due IS NULL AS synchronized
  FROM ${names}
  WHERE domain_id IS NOT NULL`,
    `CREATE TABLE IF NOT EXISTS ${keys} (
  hash text COLLATE "C" PRIMARY KEY, -- SHA-256 in lower-case hex
  type text NOT NULL CHECK (type IN ('organization', 'team')),
  owner_id text NOT NULL,
  scopes text[] NOT NULL,
  label text,
  hint text, -- its prefix and last four characters, for people
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  expires_at timestamptz
)`,
    `-- For tables from before keys could expire, and had labels and hints.
ALTER TABLE ${keys}
  ADD COLUMN IF NOT EXISTS expires_at timestamptz,
  ADD COLUMN IF NOT EXISTS label text,
  ADD COLUMN IF NOT EXISTS hint text`,
    `CREATE INDEX IF NOT EXISTS keys_of_owners ON ${keys} (owner_id)`,
    `CREATE TABLE IF NOT EXISTS ${version} (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`,
    `INSERT INTO ${version} (version) VALUES (${SCHEMA_VERSION}) ON CONFLICT DO NOTHING`,
  ]
}

function createNames(schema: string, names: string, partitions: number | undefined): string[] {
  return [
    `-- One row for each registered name. Each registrable domain with a name has a head row, whose path is empty. Calls
-- claim it: they insert it or lock it. It holds the registrable domain itself if that is registered. Otherwise another
-- name may be inlined in it, so that most registrable domains have one row; once that name is released, it holds none.
-- "registrable_domain" is the key to partition and distribute by.
CREATE TABLE IF NOT EXISTS ${names} (
  created_at timestamptz,
  due timestamptz, -- when a sweep may push the registration; null once the monitor knows of it
  domain_id uuid, -- version 7; null in a head row without a name
  registrable_domain text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL, -- the labels below it from right to left: '.b.a' for a.b.example.com
  inlined_path text COLLATE "C", -- in a head row, the path of the inlined name
  team_id text COLLATE "C",
  refusals integer, -- how often the monitor refused it alone; null for never, which takes no space
  PRIMARY KEY (registrable_domain, path),
  CHECK (path = '' OR domain_id IS NOT NULL),
  CHECK (inlined_path IS NULL OR path = '' AND domain_id IS NOT NULL)
)${partitions === undefined ? '' : ' PARTITION BY HASH (registrable_domain)'}`,
    ...(partitions === undefined ? [] : createPartitions(schema, names, partitions)),
    `-- For the names of one team below the base of a wildcard, however many other teams hold there.
CREATE INDEX IF NOT EXISTS names_of_team ON ${names} (registrable_domain, team_id, path) WHERE path <> ''`,
    `-- For lists, of all teams and of one.
CREATE INDEX IF NOT EXISTS names_in_order ON ${names} (domain_id) WHERE domain_id IS NOT NULL`,
    `CREATE INDEX IF NOT EXISTS names_of_team_in_order ON ${names} (team_id, domain_id) WHERE domain_id IS NOT NULL`,
    `-- For sweeps: registrations that wait to be pushed, the oldest first.
CREATE INDEX IF NOT EXISTS names_due ON ${names} (due, domain_id) WHERE due IS NOT NULL`,
  ]
}

/** One partition for each remainder (PostgreSQL documentation, section 5.12.2). */
function createPartitions(schema: string, names: string, count: number): string[] {
  if (!Number.isSafeInteger(count) || count < 2) throw new RangeError(`There are no ${count} partitions`)
  const toPartition = (_: unknown, remainder: number) =>
    `CREATE TABLE IF NOT EXISTS ${schema}.names_${remainder} PARTITION OF ${names}
  FOR VALUES WITH (MODULUS ${count}, REMAINDER ${remainder})`
  return Array.from({ length: count }, toPartition)
}
