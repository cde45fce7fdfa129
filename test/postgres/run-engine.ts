/**
 * Runs the conformance suite, the model test, races of several processes and the crash checks against any server that
 * speaks PostgreSQL's protocol, in an empty database of it:
 *
 *     npm run test:engine -- <connection string>... [--partitions <n>] [--shards <n>] [--kill <command>]
 *
 * Several connection strings are nodes of one database: tables are made through the first, and calls go through all.
 * `--partitions` and `--shards` are options of `migrate`. `--kill` is a shell command that kills a node of the
 * database, starts it again, and ends when it has recovered. Without a connection string, the tests start PostgreSQL
 * themselves, and `--as-on-citus` makes them set what is set on Citus.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    partitions: { type: 'string' },
    shards: { type: 'string' },
    kill: { type: 'string' },
    'as-on-citus': { type: 'boolean' },
  },
})

const engine = {
  urls: positionals,
  partitions: values.partitions && Number(values.partitions),
  shards: values.shards && Number(values.shards),
  kill: values.kill,
  asOnCitus: values['as-on-citus'],
}

const suites = [
  'postgres/postgres',
  'postgres/model',
  'postgres/processes',
  'postgres/crash',
  'linearizability/postgres',
].map(name => `test/${name}.test.ts`)
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
// One file after the other, since all use one database.
const parameters = [vitest, 'run', '--mode', 'long', '--no-file-parallelism', '--testTimeout=120000', ...suites]
const { status } = spawnSync(process.execPath, parameters, {
  env: { ...process.env, ENGINE: JSON.stringify(engine) },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
