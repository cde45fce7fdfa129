/** What this package is to reach: each row of the table once, for the benches that measure and for the table. */
export interface Goal {
  readonly work: string
  readonly yardstick: string
  /** The figure is to be at most this. */
  readonly most: number
  readonly unit: '×' | 'ms' | 'bytes' | 'kB'
  /** Which part of `npm run bench` measures it. */
  readonly section: string
}

const bareFramework = 'the bare framework + `registerDomains` alone'

export const goals = {
  ascii: goal('hostnames', '`classifyHostname`, real ASCII hostnames', '`tldts.parse`, default options', 1.1, '×'),
  international: goal('hostnames', 'the same, international hostnames', "`new URL('http://' + host)`", 2.5, '×'),
  hold: goal('hold', 'any call of 256 KiB, CPU of the longest', 'the event loop', 50, 'ms'),
  memory: goal('memory', '`registerDomains`, 100 new names, memory store', '`tldts.parse`, the same names', 3.5, '×'),
  memoryHeld: goal('memory', 'the same with 10 million registrations held', '1,000 held', 2, '×'),
  memoryWildcard: goal('memory', 'a wildcard over a base with a million names below', 'over an empty base', 2, '×'),
  memoryBytes: goal('memory', 'memory store, 10 million registrations', 'each registration', 300, 'bytes'),
  postgres: goal('postgres', 'PostgreSQL, 100 new names', 'one bare `INSERT` of the same rows', 1.6, '×'),
  postgresHeld: goal('postgres-scale', 'the same with 10 million rows', 'an empty table', 1.3, '×'),
  postgresCheckpoint: goal(
    'postgres-scale',
    'the same right after a checkpoint, against an empty table',
    'the bare `INSERT` right after one, against an empty table',
    1.3,
    '×',
  ),
  sqlite: goal('sqlite', 'SQLite, 100 new names, synchronous = FULL', 'a prepared `INSERT` of the same rows', 1.6, '×'),
  sqliteWildcard: goal(
    'sqlite',
    'SQLite, a wildcard over a base with a million names below',
    'over an empty base',
    2,
    '×',
  ),
  express: goal('http', 'Express under load, CPU of the server', bareFramework, 1.15, '×'),
  fastify: goal('http', 'Fastify under load, CPU of the server', bareFramework, 1.15, '×'),
  fetch: goal('http', 'fetch under Hono under load, CPU of the server', bareFramework, 1.15, '×'),
  importCore: goal('import', 'importing `domain-registration`, CPU', 'importing its dependencies', 2, '×'),
  sizeClassify: goal('size', '`classifyHostname` alone, minified', 'without the tables of its dependencies', 12, 'kB'),
  sizeWorker: goal('size', '`domain-registration` for a Worker, compressed', 'with all dependencies', 140, 'kB'),
  sizeTotals: goal('size', '`countTotals` alone, minified', '', 2, 'kB'),
} as const satisfies Readonly<Record<string, Goal>>

export type GoalName = keyof typeof goals

function goal(section: string, work: string, yardstick: string, most: number, unit: Goal['unit']): Goal {
  return { section, work, yardstick, most, unit }
}
