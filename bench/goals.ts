/**
 * The performance goals of this package. Each entry is a row of the table of goals. The program of a section,
 * `bench/<section>.ts`, measures the goals of this section, and reports each figure under the goal's name.
 */
export interface Goal<Name extends string = string> {
  readonly work: string
  readonly yardstick: string
  /** The goal is met if the median of all starts is at most this. */
  readonly most: number
  readonly unit: '×' | 'ms' | 's' | 'pushes' | 'queries' | 'calls'
  /** The section that measures the goal: `npm run bench -- <section>`. */
  readonly section: Name
}

const byHand = 'a handwritten route that calls `registerDomains`'
const insert = 'one pipelined `INSERT … SELECT unnest …` of 100 rows into `names`'

const loadByHand =
  'a handwritten server: key lookup, zod, tldts, one `INSERT … ON CONFLICT` with three indexes, no rules'

export const goals = {
  clock: goal('clock', '`npm test`, two idle cores', 'the clock', 120, 's'),
  hold: goal(
    'hold',
    'any call of 256 KiB that registers or deletes, with any bundled store',
    'time for which the event loop is blocked',
    50,
    'ms',
  ),
  holdMillion: goal(
    'hold-million',
    'an export and `reconcile` of a million names',
    'the longest turn of the event loop',
    50,
    'ms',
  ),
  express: goal('http', 'Express, 100 names, server CPU time', byHand, 1.2, '×'),
  fastify: goal('http', 'Fastify, 100 names, server CPU time', byHand, 1.2, '×'),
  fetch: goal('http', 'fetch under Hono, 100 names, server CPU time', byHand, 1.2, '×'),
  postgres: goal('postgres', 'PostgreSQL, 100 new names', insert, 2, '×'),
  postgresCpu: goal('postgres', "PostgreSQL, 100 new names: PostgreSQL's CPU time", insert, 1.4, '×'),
  postgresExisting: goal('postgres', 'PostgreSQL, 100 existing names', insert, 1.1, '×'),
  postgresLimit: goal(
    'postgres',
    'PostgreSQL, 100 new names of a team with a limit and 10,000 names',
    'the same call by a team without a limit',
    2,
    '×',
  ),
  postgresAsked: goal(
    'postgres',
    'PostgreSQL, 100 new names, `checkNames` that accepts them',
    'the same call without `checkNames`',
    1.5,
    '×',
  ),
  dnsQueries: goal(
    'dns-verification',
    'verification by DNS of 100 names in 100 domains, four levels each, none proven',
    'queries to the resolver',
    500,
    'queries',
  ),
  sweepBuffers: goal(
    'postgres-sweep',
    'PostgreSQL, buffers of a sweep beside 100,000 releases that must wait, and 150 teams with nothing due',
    'the same sweep without them',
    1.2,
    '×',
  ),
  dnsNeighbour: goal(
    'dns-verification',
    "another team's proven name, 40 times beside ten calls of 100 silent zones, one dnsmasq as Debian installs it",
    'calls that are not answered',
    0,
    'calls',
  ),
  versionsSweep: goal('postgres-versions', 'PostgreSQL 15, a sweep of 1,000 changes', 'PostgreSQL 18', 2, '×'),
  versionsRelease: goal(
    'postgres-versions',
    'PostgreSQL 15, a release of 1,000 pending names',
    'PostgreSQL 18',
    2,
    '×',
  ),
  versionsCall: goal('postgres-versions', 'PostgreSQL 15, 100 new names with a monitor', 'PostgreSQL 18', 2, '×'),
  crowd: goal(
    'postgres-crowd',
    '99th percentile of other calls while 1,000 callers make 200 calls a second below one domain',
    'the same calls without the 1,000 callers',
    3,
    '×',
  ),
  loadPostgres: goal(
    'postgres-load',
    "100 callers of one name, Express and PostgreSQL: PostgreSQL's CPU time for a call",
    loadByHand,
    0.9,
    '×',
  ),
  loadTime: goal(
    'postgres-load',
    '100 callers of one name, Express and PostgreSQL: time for a call',
    loadByHand,
    1.11,
    '×',
  ),
  flood: goal(
    'postgres-teams',
    'a team registers and deletes below its domain while another team has 200 calls in flight for this domain',
    'the same calls alone',
    4,
    '×',
  ),
  locks: goal(
    'postgres-teams',
    '99th percentile of other calls while another process holds the locks of six domains for 5 s',
    'the same calls alone',
    3,
    '×',
  ),
  locksWorst: goal('postgres-teams', 'the slowest of these calls', 'the clock', 1000, 'ms'),
  queueCost: goal(
    'postgres-queue',
    'CPU time of this process for a call of 100 names into PostgreSQL while 400 calls wait',
    'while 10 calls wait',
    1.3,
    '×',
  ),
  queueServers: goal(
    'postgres-queue',
    'calls of 48 callers of one domain through one server, a COMMIT of 10 ms, in virtual time',
    'through eight servers; six callers of each can make one for 2.56',
    2.6,
    '×',
  ),
  queueLocks: goal(
    'postgres-queue',
    'the slowest call for a domain that three or eight servers use, beside eight locks of somebody else',
    'virtual time',
    200,
    'ms',
  ),
  postgresWildcards: goal(
    'postgres-wildcards',
    'PostgreSQL, wildcards over a base with a million names behind public suffixes',
    'wildcards over bases without names below them',
    5,
    '×',
  ),
  churnLocks: goal(
    'postgres-churn',
    'rows of `locks` after a million names were registered and released, while 100,000 stayed registered',
    'registrable domains that still have a name',
    2,
    '×',
  ),
  churnCall: goal(
    'postgres-churn',
    'a call that then replaces 100 of the 100,000 names',
    'the same call if none of the names was ever replaced',
    1.2,
    '×',
  ),
  postgresImport: goal(
    'postgres-import',
    '`importDomains`, a million names into PostgreSQL',
    '`COPY` of the same rows into the same indexes',
    3,
    '×',
  ),
  postgresMillions: goal(
    'millions',
    'PostgreSQL, 100 new names among 10 million rows',
    'the same names in an empty table',
    1.3,
    '×',
  ),
  findOwners: goal(
    'millions',
    '`findOwners`, 1,000 hostnames among 10 million',
    '1,000 lookups by primary key',
    3,
    '×',
  ),
  export: goal(
    'millions',
    'peak memory of an export of a million names',
    'peak memory during the first tenth of the export',
    1.2,
    '×',
  ),
  client: goal(
    'client',
    '`registerAll` of 100,000 names',
    'a handwritten loop with eight concurrent calls of 100 names',
    1.2,
    '×',
  ),
  sqlite: goal('sqlite', 'SQLite, 100 new names, synchronous = FULL', 'a prepared `INSERT`, 100 times', 1.6, '×'),
  sqliteWildcards: goal(
    'sqlite-wildcards',
    'SQLite, a wildcard over a base with a million names behind public suffixes',
    'the clock',
    1,
    'ms',
  ),
  gateway: goal(
    'push',
    'requests for 3,000 changes through a gateway that responds with 429',
    'the fewest possible requests',
    1.5,
    '×',
  ),
  refusedOnce: goal('push', 'one refused change among 1,000: the first sweep', 'number of pushes', 25, 'pushes'),
  refusedThen: goal(
    'push',
    'the same refused change: the sweep that retries the change',
    'number of pushes',
    1,
    'pushes',
  ),
  elementScript: goal('element', 'the element: 10,000 names are pasted and checked', 'all tasks of the page', 1, 's'),
  elementTask: goal('element', 'the same: the longest task', 'the clock', 50, 'ms'),
  elementLarge: goal('element', 'the same with 100,000 names: all tasks', 'with 10,000 names', 10, '×'),
  elementLargeTask: goal('element', '100,000 names: the longest task', 'the clock', 500, 'ms'),
  elementScroll: goal('element', 'scrolling through 10,000 names: tasks of a frame', 'the clock', 16, 'ms'),
  ascii: goal('hostnames', '`classifyHostname`, real ASCII hostnames', '`tldts.parse`, default options', 2, '×'),
  international: goal(
    'hostnames',
    '`classifyHostname`, real international hostnames',
    "`new URL('http://' + host)`",
    2.5,
    '×',
  ),
} as const satisfies Readonly<Record<string, Goal>>

export type GoalName = keyof typeof goals
export type Section = (typeof goals)[GoalName]['section']

/** Sections that take minutes. A long section runs only if it is named, and then only once. */
export const longSections: readonly Section[] = [
  'clock',
  'hold-million',
  'millions',
  'postgres-churn',
  'postgres-crowd',
  'postgres-import',
  'postgres-load',
  'postgres-queue',
  'postgres-teams',
  'postgres-versions',
  'postgres-wildcards',
]

const statements = ['schema', 'statements/locks', 'statements/names', 'engines/plain'].map(
  name => `postgres/${name}.ts`,
)
const changes = [...statements, 'postgres/statements/changes.ts']
const queue = ['postgres/queue.ts', 'postgres/lines.ts']
const sqlite = ['sqlite/statements.ts', 'sqlite/schema.ts']

/**
 * The files in `src` whose change makes a section's figures old: the statements and tables of a store, and what decides
 * which calls wait. `RESULTS.md` says so in the section's rows.
 */
export const measuredCode: Readonly<Partial<Record<Section, readonly string[]>>> = {
  hold: [...statements, ...sqlite],
  'hold-million': [...statements, ...sqlite],
  millions: statements,
  postgres: statements,
  'postgres-churn': statements,
  'postgres-crowd': [...statements, ...queue],
  'postgres-import': statements,
  'postgres-load': [...statements, ...queue],
  'postgres-queue': queue,
  'postgres-sweep': changes,
  'postgres-teams': [...statements, ...queue],
  'postgres-versions': changes,
  'postgres-wildcards': statements,
  sqlite,
  'sqlite-wildcards': sqlite,
}

/** Sections that need `node:sqlite`, which Node has from version 22.13. */
export const sectionsWithSqlite: readonly Section[] = ['hold', 'hold-million', 'sqlite', 'sqlite-wildcards']

function goal<Name extends string>(section: Name, work: string, yardstick: string, most: number, unit: Goal['unit']) {
  return { section, work, yardstick, most, unit } satisfies Goal<Name>
}
