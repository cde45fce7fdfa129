import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/postgres/index.ts'
import { createRequest } from '../../src/testing/calls.ts'
import { counts, seed } from '../counts.ts'
import { tableOptions, throughFirst } from '../postgres/engine.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { createRandom, type Random } from '../simulation/random.ts'
import { findFault, type History } from './history.ts'
import { createPostgresClients } from './postgres-clients.ts'
import { type Client, misplace, type Outcome, race } from './race.ts'
import type { RacerTask } from './racer.ts'
import type { Seen } from './registry.ts'

const CALLS = 40
/** Rounds in which an altered store has to be noticed. */
const ROUNDS_TO_NOTICE = 400

/** In microseconds, the same for all processes. */
const now = () => Number(process.hrtime.bigint() / 1000n)

let server: TestServer
let pool: Pool
const racers: ChildProcess[] = []
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '100ms' })
  pool = server.createPool()
  await migrate({ pool: throughFirst(pool), ...tableOptions })
})
afterAll(async () => {
  const exits = racers.map(racer => once(racer, 'exit'))
  for (const racer of racers) racer.kill()
  await Promise.all(exits)
  await server.stop()
})

async function startRacer(task: Omit<RacerTask, 'config'>): Promise<ChildProcess> {
  const racer = fork(fileURLToPath(new URL('racer.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  })
  racers.push(racer)
  racer.send({ ...task, config: server.config } satisfies RacerTask)
  await once(racer, 'message')
  return racer
}

const REGISTRABLE_DOMAINS = ['a.com', 'b.com', 'c.github.io']

/**
 * One race on an empty registry, and what is there in the end.
 *
 * @param isOld Whether something was registered in each registrable domain once.
 */
async function runRound(
  clients: readonly Client[],
  random: Random,
  { others = [], isOld = false }: { others?: readonly ChildProcess[]; isOld?: boolean } = {},
): Promise<History & { failures: readonly unknown[] }> {
  await empty()
  const { store } = clients[0] as Client
  if (isOld) {
    const names = REGISTRABLE_DOMAINS.map(domain => ({ domain, registrableDomain: domain }))
    await store.register(createRequest('1', names, [], () => names))
    await store.release('1', REGISTRABLE_DOMAINS)
  }
  const registrableDomains = REGISTRABLE_DOMAINS
  const misplaced = await misplace(store, random, registrableDomains)
  const calls = Math.ceil(CALLS / (1 + others.length))
  const rounds = { registrableDomains, misplaced, calls }
  const outcomes = await Promise.all([
    race({ clients, random, now, ...rounds }),
    ...others.map(async racer => {
      const answer = once(racer, 'message')
      racer.send(rounds)
      return ((await answer) as [Outcome])[0]
    }),
  ])
  const startedAt = now() + 1
  const look = { kind: 'look', names: null, found: await readAll() } as const
  const deeds = [
    ...outcomes.flatMap(outcome => outcome.deeds),
    { client: 'in the end', operation: look, startedAt, endedAt: startedAt },
  ]
  return { initial: misplaced, deeds, failures: outcomes.flatMap(({ failures }) => failures) }
}

/** Whatever tables the schema has. */
async function empty(): Promise<void> {
  const { rows } = await pool.query(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = 'domain_registration' AND tablename <> 'version'`,
  )
  for (const { name } of rows) await pool.query(`DELETE FROM ${name}`)
}

async function readAll(): Promise<Seen[]> {
  const { rows } = await pool.query(
    'SELECT domain, registrable_domain, domain_id, team_id, synchronized FROM domain_registration.registrations',
  )
  return rows.map(row => ({
    domain: row.domain,
    registrableDomain: row.registrable_domain,
    domainId: row.domain_id,
    teamId: row.team_id,
    synchronized: row.synchronized,
  }))
}

test(`${counts.races} races in PostgreSQL, each explained by an order of its calls (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const random = createRandom(seed)
  const [pipelined, waiting] = [true, false].map(isPipelined =>
    createPostgresClients({
      config: server.config,
      random,
      now,
      names: isPipelined ? ['A', 'B'] : ['C', 'D'],
      isPipelined,
    }),
  )
  const others = await Promise.all([
    startRacer({ seed: seed + 1, names: ['E', 'F'], isPipelined: true }),
    startRacer({ seed: seed + 2, names: ['G', 'H'], isPipelined: false }),
  ])
  const clients = [...(pipelined?.clients ?? []), ...(waiting?.clients ?? [])]
  const happened = new Map<string, number>()
  for (let round = 1; round <= counts.races; round += 1) {
    const isOld = round % 2 === 0
    const { failures, ...history } = await runRound(clients, random, { others, isOld })
    expect(failures).toEqual([])
    for (const registrableDomain of REGISTRABLE_DOMAINS) {
      expect(findFault(history, [registrableDomain]), `round ${round}`).toBeNull()
    }
    // A call over two of them is one step, unless one has no row to lock yet.
    if (isOld) expect(findFault(history, REGISTRABLE_DOMAINS.slice(0, 2)), `round ${round}`).toBeNull()
    for (const { operation } of history.deeds) happened.set(operation.kind, (happened.get(operation.kind) ?? 0) + 1)
  }
  await Promise.all([pipelined?.end(), waiting?.end()])
  for (const kind of ['register', 'release', 'look', 'mark', 'put right']) {
    expect(happened.get(kind), kind).toBeGreaterThan(counts.races)
  }
  expect(server.readLog()).not.toContain('deadlock')
})

/** What is altered, found by what a statement does: text that stays the same is no alteration, and fails the test. */
const alterations: Record<string, (text: string) => string> = {
  'takes no row locks': takeNoLocks,
  'looks up as of before it had the locks': text => text.replace('READ COMMITTED', 'REPEATABLE READ'),
  'looks up without locks, and deletes without an ID': text =>
    takeNoLocks(text).replace(/^(DELETE|UPDATE)(.*)\S+\.domain_id IS NOT DISTINCT FROM gone\.domain_id/s, '$1$2true'),
  'upserts without locks in reclassify': text =>
    /^INSERT INTO .*SELECT \$4::text.*domain_id = \$3$/s.test(text)
      ? `${text} ON CONFLICT (registrable_domain, path) DO UPDATE
         SET (inlined_path, domain_id, team_id, created_at, due) =
           (NULL, excluded.domain_id, excluded.team_id, excluded.created_at, excluded.due)`
      : takeNoLocks(text),
}

/** A claim makes the rows that are not there all the same. */
function takeNoLocks(text: string): string {
  return text.replace(/DO UPDATE SET due = name\.due WHERE false/, 'DO NOTHING')
}

test.each(Object.keys(alterations))('the checker notices when PostgreSQL %s', { timeout: 120_000 }, async name => {
  const random = createRandom(1)
  let altered = 0
  function alter(text: string): string {
    const result = (alterations[name] as (text: string) => string)(text)
    if (result !== text) altered += 1
    return result
  }
  const names = ['A', 'B', 'C', 'D', 'E', 'F']
  const { clients, end } = createPostgresClients({
    config: server.config,
    random,
    now,
    names,
    isPipelined: false,
    alter,
  })
  let noticed = 0
  for (let round = 1; noticed === 0 && round <= ROUNDS_TO_NOTICE; round += 1) {
    const history = await runRound(clients, random)
    if (REGISTRABLE_DOMAINS.some(registrableDomain => findFault(history, [registrableDomain]))) noticed = round
  }
  await end()
  expect(altered, 'statements that were altered').toBeGreaterThan(0)
  expect(noticed, 'the round in which it was noticed').toBeGreaterThan(0)
})
