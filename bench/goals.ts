/**
 * The performance goals of this package. Each line here is a row of the table, and is measured by the program of its
 * section, `bench/<section>.ts`, which reports figures by the names of their goals.
 */
export interface Goal<Name extends string = string> {
  readonly work: string
  readonly yardstick: string
  /** The highest acceptable median of the starts. */
  readonly most: number
  readonly unit: '×' | 'ms' | 's' | 'kB' | 'MB' | 'pushes'
  /** The section that measures it: `npm run bench -- <section>`. */
  readonly section: Name
}

const byHand = 'a route by hand that calls `registerDomains`'
const insert = 'one pipelined `INSERT … SELECT unnest …` of 100 rows into `names`'

export const goals = {
  clock: goal('clock', '`npm test`, two idle cores', 'the clock', 180, 's'),
  hold: goal('hold', 'any call of 256 KiB, deletes too, into any store', 'the event loop is held', 50, 'ms'),
  holdMillion: goal(
    'hold-million',
    'export and `reconcile` of a million names',
    'one turn of the event loop',
    50,
    'ms',
  ),
  express: goal('http', 'Express, 100 names, CPU of the server', byHand, 1.2, '×'),
  fastify: goal('http', 'Fastify, the same', byHand, 1.2, '×'),
  fetch: goal('http', 'fetch under Hono, the same', byHand, 1.2, '×'),
  postgres: goal('postgres', 'PostgreSQL, 100 new names', insert, 2, '×'),
  postgresExisting: goal('postgres', 'PostgreSQL, 100 existing names', insert, 1, '×'),
  postgresLimit: goal(
    'postgres',
    'PostgreSQL, 100 new names of a team that holds 10,000, with a limit',
    'without a limit',
    2,
    '×',
  ),
  versionsSweep: goal('postgres-versions', 'PostgreSQL 15, a sweep of 1,000', 'PostgreSQL 18', 2, '×'),
  versionsRelease: goal('postgres-versions', 'the same, a release of 1,000 that wait', 'PostgreSQL 18', 2, '×'),
  versionsCall: goal('postgres-versions', 'the same, 100 new names with a monitor', 'PostgreSQL 18', 2, '×'),
  crowd: goal('postgres-crowd', 'p99 of others while 1,000 callers want one domain', 'alone', 3, '×'),
  postgresWildcards: goal(
    'postgres-wildcards',
    'PostgreSQL, wildcards over a million names behind public suffixes',
    'over bases with nothing below',
    5,
    '×',
  ),
  churnLocks: goal(
    'postgres-churn',
    'a million names through 100,000 held, rows of `locks`',
    'registrable domains held',
    2,
    '×',
  ),
  churnCall: goal(
    'postgres-churn',
    'the same, a call that replaces 100 names then',
    'among 100,000 fresh ones',
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
  postgresMillions: goal('millions', 'the same 100 new names among 10 million rows', 'an empty table', 1.3, '×'),
  findOwners: goal('millions', '`findOwners`, 1,000 hostnames among 10 million', '1,000 look-ups by key', 3, '×'),
  export: goal('millions', 'export of a million names, memory at most', 'during the first tenth', 1.2, '×'),
  client: goal('client', '`registerAll` of 100,000 names', 'a loop by hand of eight calls of 100 at once', 1.2, '×'),
  sqlite: goal('sqlite', 'SQLite, 100 new names, synchronous = FULL', 'a prepared `INSERT`, 100 times', 1.6, '×'),
  sqliteWildcards: goal('sqlite-wildcards', 'SQLite, a wildcard', 'a million names behind public suffixes', 1, 'ms'),
  gateway: goal('push', '3,000 changes through a gateway that answers 429', 'the fewest requests', 1.5, '×'),
  refusedOnce: goal('push', 'one refused change among 1,000', 'the first sweep', 25, 'pushes'),
  refusedThen: goal('push', 'the same change, when it is due again', 'a sweep', 1, 'pushes'),
  ascii: goal('hostnames', '`classifyHostname`, real ASCII hostnames', '`tldts.parse`, default options', 1.5, '×'),
  international: goal('hostnames', 'the same, international hostnames', "`new URL('http://' + host)`", 2.5, '×'),
  memory: goal('memory', '`registerDomains`, 100 new names, in memory', '`tldts.parse`, the same names', 8, '×'),
  import: goal('import', 'importing `domain-registration`, CPU', 'importing its dependencies', 1.2, '×'),
  worker: goal('size', '`domain-registration` for a Worker, with all dependencies', 'compressed', 90, 'kB'),
  totals: goal('size', '`countTotals` alone', 'bundled and minified', 1, 'kB'),
} as const satisfies Readonly<Record<string, Goal>>

export type GoalName = keyof typeof goals
export type Section = (typeof goals)[GoalName]['section']

/** Sections that take minutes: they run only if they are named, and start once. */
export const longSections: readonly Section[] = [
  'clock',
  'hold-million',
  'millions',
  'postgres-churn',
  'postgres-import',
  'postgres-wildcards',
]

/** Sections that need the SQLite of Node 22.13 or later. */
export const sectionsWithSqlite: readonly Section[] = ['hold', 'hold-million', 'sqlite', 'sqlite-wildcards']

function goal<Name extends string>(section: Name, work: string, yardstick: string, most: number, unit: Goal['unit']) {
  return { section, work, yardstick, most, unit } satisfies Goal<Name>
}
