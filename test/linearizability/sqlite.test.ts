import { expect, test } from 'vitest'
import { createSqliteStore, type SqliteStore } from '../../src/sqlite/index.ts'
import { counts, seed } from '../counts.ts'
import { PATIENCE } from '../patience.ts'
import { createRandom } from '../random.ts'
import { createFolder } from '../sqlite/create-folder.ts'
import { findTeam, limits, race } from './race.ts'
import { findFault } from './registry.ts'

const { open } = createFolder()
const REGISTRABLE_DOMAINS = ['a.com', 'b.github.io']

test('simultaneous calls over three connections to one SQLite file are linearizable', async () => {
  const random = createRandom(seed)
  const stores = Array.from({ length: 3 }, () =>
    createSqliteStore({ database: open('registrations.db'), findTeam, timeLimit: PATIENCE, synchronous: 'normal' }),
  )
  const clients = ['A', 'B', 'C', 'D', 'E', 'F'].map((name, index) => ({
    name,
    store: stores[index % stores.length] as SqliteStore,
  }))
  for (let round = 1; round <= counts.races; round += 1) {
    const deeds = await race({ clients, random, registrableDomains: REGISTRABLE_DOMAINS, calls: 40 })
    expect(findFault(deeds, REGISTRABLE_DOMAINS, limits), `round ${round}`).toBeNull()
    for (const { teamId, domain } of (await stores[0]?.list()) ?? []) await stores[0]?.release(teamId, [domain])
  }
})
