/**
 * Runs the tests near changed files: those that mirror a file, then the others of its folder. By default, the files
 * that differ from the last commit:
 *
 *     npm run test:near
 *     npm run test:near src/outbox/policy.ts
 *     npm run test:near src/outbox
 *
 * Tests that open PostgreSQL are left out, except for `src/postgres` and `src/cli`. `npm test` runs them.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Tests in other folders that know a folder of `src` best: the suite for stores, on the store in memory. */
const SUITE = 'test/testing/memory-store.test.ts'
const ELSEWHERE = { memory: [SUITE], rules: [SUITE], store: [SUITE], sql: ['test/sqlite/sqlite-store.test.ts'] }
/** Folders whose tests open PostgreSQL. */
const ON_POSTGRES = ['postgres', 'cli']
/** Tests that take long, and run only if they mirror a file, or are named. */
const LONG = ['test/cli/doctor.test.ts', 'test/cli/faults.test.ts']

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const git = (...parameters) => execFileSync('git', parameters, { encoding: 'utf8' }).split('\n').filter(Boolean)
const isTest = file => file.endsWith('.test.ts') && existsSync(file)

/** Whether a file of the tests imports PostgreSQL's server, perhaps through another file. */
function opensPostgres(file, seen = new Set()) {
  if (file === 'test/postgres/server.ts') return true
  if (seen.has(file) || !file.startsWith('test/') || !existsSync(file)) return false
  seen.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(/ from '(\.[^']+)'/g)
  return [...imports].some(([, path]) => opensPostgres(join(dirname(file), path), seen))
}

const given = process.argv.slice(2).map(file => relative('.', file))
const changed =
  given.length > 0 ? given : [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '-o', '--exclude-standard')]
const mirrors = new Set()
const others = new Set()
for (const file of changed) {
  const own = file.replace(/^src\//, 'test/').replace(/\.ts$/, '')
  for (const mirror of [file, `${own}.test.ts`, `${own}.alone.test.ts`]) if (isTest(mirror)) mirrors.add(mirror)
  const [, folder] = /^(?:src|test)\/([^/]+)(?:\/|$)/.exec(file) ?? []
  if (!folder || !existsSync(`test/${folder}`)) continue
  const files = readdirSync(`test/${folder}`, { recursive: true }).map(name => join('test', folder, name))
  for (const other of [...files, ...(ELSEWHERE[folder] ?? [])])
    if (isTest(other) && !LONG.includes(other) && (ON_POSTGRES.includes(folder) || !opensPostgres(other)))
      others.add(other)
}
for (const mirror of mirrors) others.delete(mirror)

if (mirrors.size + others.size === 0) {
  console.error(`No tests are near ${changed.join(', ') || 'the last commit: name a file'}`)
  process.exit(1)
}
for (const tests of [mirrors, others]) {
  if (tests.size === 0) continue
  const { status } = spawnSync('npx', ['vitest', 'run', ...tests], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
