import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSqliteStore, type SqliteStore } from '../../src/sqlite/index.ts'
import { counts, seed } from '../counts.ts'
import { createRandom } from '../simulation/random.ts'
import { openDatabase, type TestDatabase } from '../sqlite/open-database.ts'
import { findFault } from './history.ts'
import { type Client, createMonitor, type Monitor, race } from './race.ts'

const CALLS = 40
const tables = ['names', 'releases'].map(name => `domain_registration_${name}`)

let folder = ''
const databases: TestDatabase[] = []
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'linearizability-'))
})
afterAll(() => {
  for (const database of databases) database.close()
  rmSync(folder, { recursive: true })
})

/** Connections to one file, as of several processes, and who is calling, whose monitor it is then that is pushed to. */
function openStores(count: number) {
  const calling = new AsyncLocalStorage<Monitor>()
  const stores = Array.from({ length: count }, () => {
    const database = openDatabase(join(folder, 'registrations.db'))
    databases.push(database)
    return createSqliteStore({
      database,
      findTeam: () => null,
      synchronous: 'normal',
      synchronize: async changes => calling.getStore()?.push(changes),
    })
  })
  return { calling, stores }
}

test(`${counts.races} races in SQLite, each explained by an order of its calls (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const random = createRandom(seed)
  let time = 0
  const now = () => ++time
  const { calling, stores } = openStores(3)
  const happened = new Map<string, number>()
  for (let round = 1; round <= counts.races; round += 1) {
    for (const table of tables) databases[0]?.exec(`DELETE FROM ${table}`)
    const clients = ['A', 'B', 'C', 'D', 'E', 'F'].map((name, index): Client => {
      const monitor = createMonitor(random, now)
      const store = stores[index % stores.length] as SqliteStore
      return {
        name,
        monitor,
        store: {
          register: store.register,
          release: store.release,
          synchronize: registrations => calling.run(monitor, async () => store.synchronize?.(registrations)),
          synchronizePending: options => calling.run(monitor, () => store.synchronizePending(options)),
        },
      }
    })
    const registrableDomains = ['a.com', 'b.github.io']
    const { deeds, failures } = await race({ clients, random, now, registrableDomains, misplaced: [], calls: CALLS })
    expect(failures).toEqual([])
    expect(findFault({ initial: [], deeds }, registrableDomains), `round ${round}`).toBeNull()
    for (const { operation } of deeds) happened.set(operation.kind, (happened.get(operation.kind) ?? 0) + 1)
  }
  for (const kind of ['register', 'release', 'look', 'mark']) {
    expect(happened.get(kind), kind).toBeGreaterThan(counts.races)
  }
})
