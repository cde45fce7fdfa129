import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { counts } from '../counts.ts'
import { engine, throughFirst } from '../postgres/engine.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { findTeam } from './race.ts'
import { startRacers } from './racers.ts'

let server: TestServer
let racers: Awaited<ReturnType<typeof startRacers>> | undefined
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '100ms' })
})
afterAll(async () => {
  await racers?.stop()
  await server.stop()
})

test('simultaneous calls from three processes to one PostgreSQL database are linearizable', async () => {
  const pool = server.createPool({ pipeline: true })
  await migrate({ database: throughFirst(pool) })
  const configs = [true, true, false].map(pipeline => ({ ...server.config, pipeline }))
  racers = await startRacers(new URL('../postgres/open-store.ts', import.meta.url), configs)
  await racers.expectOrder(createPostgresStore({ database: pool, findTeam }), counts.races, engine)
  expect(server.readLog()).not.toContain('deadlock')
})
