import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { counts, seed } from '../counts.ts'
import { engine, throughFirst } from '../postgres/engine.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { findTeam, listAll, now } from './race.ts'
import type { RacerTask, Round } from './racer.ts'
import { type Deed, findFault } from './registry.ts'

/** In processes, with a pool each, so that their statements come between each other. */
const CLIENTS = [
  ['A', 'B', 'C'],
  ['D', 'E', 'F'],
  ['G', 'H', 'I'],
]

let server: TestServer
const racers: ChildProcess[] = []
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '100ms' })
})
afterAll(async () => {
  const exits = racers.map(racer => once(racer, 'exit'))
  for (const racer of racers) racer.kill()
  await Promise.all(exits)
  await server.stop()
})

test('some order explains the answers of calls that race for one PostgreSQL from three processes', async () => {
  const pool = server.createPool({ pipeline: true })
  await migrate({ database: throughFirst(pool) })
  const store = createPostgresStore({ database: pool, findTeam })
  await Promise.all(CLIENTS.map((names, index) => startRacer({ config: server.config, seed: seed + index, names })))
  for (let round = 1; round <= counts.races; round += 1) {
    // Every other round is the first on its registrable domains.
    const registrableDomains = ['a.com', 'b.com', 'c.github.io'].map(name => `r${Math.ceil(round / 2)}-${name}`)
    const outcomes = await Promise.all(racers.map(racer => ask(racer, { registrableDomains, calls: 13 })))
    const listed = await listAll(store)
    const end = { client: 'in the end', operation: { kind: 'list' as const, listed }, startedAt: now(), endedAt: now() }
    const deeds = [...outcomes.flat(), end]
    for (const each of registrableDomains) expect(findFault(deeds, [each]), `round ${round}`).toBeNull()
    const together = engine.hasTornReads ? deeds.filter(deed => deed === end || isLocking(deed)) : deeds
    expect(findFault(together, registrableDomains.slice(0, 2)), `round ${round}`).toBeNull()
    for (const { teamId, domain } of listed) await store.release(teamId, [domain])
  }
  expect(server.readLog()).not.toContain('deadlock')
}, 600_000)

const isLocking = ({ operation: { kind } }: Deed) => kind === 'register' || kind === 'release'

async function startRacer(task: RacerTask): Promise<void> {
  const racer = fork(fileURLToPath(new URL('racer.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] })
  racers.push(racer)
  racer.send(task)
  await once(racer, 'message')
}

async function ask(racer: ChildProcess, round: Round): Promise<readonly Deed[]> {
  const answer = once(racer, 'message')
  racer.send(round)
  const [deeds] = (await answer) as [readonly Deed[] | string]
  if (typeof deeds === 'string') throw new Error(deeds)
  return deeds
}
