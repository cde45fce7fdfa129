/** Where the tables are. */
export interface PostgresSchemaOptions {
  /** The schema that holds the tables; any name. Default `domain_registration`. */
  schema?: string | undefined
}

/** Where and how the tables are made. */
export interface PostgresTableOptions extends PostgresSchemaOptions {
  /**
   * How many partitions the table of names is made of, by hash of the registrable domain; from 2. Every call touches
   * only those of its own registrable domains, so that each is a table to be indexed, vacuumed and moved by itself.
   * Counts when the table is made, and not for one that is there. Default: one table.
   */
  partitions?: number | undefined
}

const DEFAULT_SCHEMA = 'domain_registration'

/** Counts up with each change of the tables. */
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

/** PostgreSQL documentation, section 4.1.1: anything but the character with code zero, quotes doubled. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0'))
    throw new TypeError('The name of a schema must be text without \\0, and not empty')
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * The SQL that makes the tables of {@link createPostgresStore} and {@link createPostgresKeyStore}: for a migration
 * tool of yours. It may be run again, and changes nothing then; {@link migrate} runs it for you.
 *
 * To look into it, ask the view `registrations`, which has one row for each registered hostname:
 *
 * ```sql
 * SELECT domain, domain_id, created_at FROM domain_registration.registrations WHERE team_id = '1';
 * ```
 *
 * Make an index for such questions if you ask them often: `CREATE INDEX ON domain_registration.names (team_id)`.
 *
 * docs/postgres.md tells of what outgrows one table or one machine.
 *
 * @throws {TypeError} if the name of the schema is empty or has a character with code zero in it.
 * @throws {RangeError} if the number of partitions is no integer from 2.
 *
 * @example
 * await writeFile('migrations/001-domain-registration.sql', postgresSchema({ schema: 'monitoring' }))
 */
export const postgresSchema = (options: PostgresTableOptions = {}): string =>
  createSchema(options)
    .map(statement => `${statement};\n`)
    .join('\n')

/** One by one, for engines that take no two in one command. */
export function createSchema(options: PostgresTableOptions): string[] {
  const { schema, names, releases, registrations, keys, version } = toTables(options)
  const { partitions } = options
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    ...createNames(schema, names, partitions),
    `-- Names that were released, until what does the monitoring knows of it. No "domain_id" waits here and in "names".
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
    `-- What is registered, for you to read.
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
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  expires_at timestamptz
)`,
    `-- Of tables that were made before keys could expire.
ALTER TABLE ${keys} ADD COLUMN IF NOT EXISTS expires_at timestamptz`,
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
    `-- One row for each registered name. Each registrable domain with a name has a head row, with an empty path,
-- which calls claim: they insert it or lock it. It is the row of the registrable domain itself where that is
-- registered; else another name may be inlined in it, so that most registrable domains have one row; or it holds none,
-- once that name is released. "registrable_domain" is the key to partition and distribute by.
CREATE TABLE IF NOT EXISTS ${names} (
  created_at timestamptz,
  due timestamptz, -- when a sweep may push it; none once what does the monitoring knows of it
  domain_id uuid, -- version 7; none in the head row that holds no name
  registrable_domain text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL, -- the labels below it from right to left: '.b.a' for a.b.example.com
  inlined_path text COLLATE "C", -- in a head row: of the name that is inlined
  team_id text COLLATE "C",
  refusals integer, -- how often a sweep had it refused alone; none for never, which takes no space
  PRIMARY KEY (registrable_domain, path),
  CHECK (path = '' OR domain_id IS NOT NULL),
  CHECK (inlined_path IS NULL OR path = '' AND domain_id IS NOT NULL)
)${partitions === undefined ? '' : ' PARTITION BY HASH (registrable_domain)'}`,
    ...(partitions === undefined ? [] : createPartitions(schema, names, partitions)),
    `-- The names of one team below the base of a wildcard, however many others have there.
CREATE INDEX IF NOT EXISTS names_of_team ON ${names} (registrable_domain, team_id, path) WHERE path <> ''`,
    `-- What is listed, of all teams and of one.
CREATE INDEX IF NOT EXISTS names_in_order ON ${names} (domain_id) WHERE domain_id IS NOT NULL`,
    `CREATE INDEX IF NOT EXISTS names_of_team_in_order ON ${names} (team_id, domain_id) WHERE domain_id IS NOT NULL`,
    `-- What waits to be pushed, oldest first.
CREATE INDEX IF NOT EXISTS names_due ON ${names} (due, domain_id) WHERE due IS NOT NULL`,
  ]
}

/** PostgreSQL documentation, section 5.12.2: one for each remainder. */
function createPartitions(schema: string, names: string, count: number): string[] {
  if (!Number.isSafeInteger(count) || count < 2) throw new RangeError(`There are no ${count} partitions`)
  const toPartition = (_: unknown, remainder: number) =>
    `CREATE TABLE IF NOT EXISTS ${schema}.names_${remainder} PARTITION OF ${names}
  FOR VALUES WITH (MODULUS ${count}, REMAINDER ${remainder})`
  return Array.from({ length: count }, toPartition)
}
