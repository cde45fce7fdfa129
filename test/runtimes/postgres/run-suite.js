/**
 * Runs the suite with Bun's own driver on the PostgreSQL at the address in the arguments, and prints for each case its
 * ID, and why it failed, or `null`.
 */
import { SQL } from 'bun'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'

const database = new SQL(process.argv.at(-1))
// The first call creates the tables, and the second finds them.
for (let time = 0; time < 2; time += 1) await migrate({ database })

const cases = domainStoreSuite({
  async createStore({ teams, ...options }) {
    for (const table of ['names', 'changes', 'monitor'])
      await database.unsafe(`DELETE FROM domain_registration.${table}`)
    return createPostgresStore({ ...options, database, findTeam: id => teams.find(team => team.id === id) ?? null })
  },
  features: [...managedStoreFeatures, 'import', 'transfer'],
  timeLimit: 20_000,
})
const outcomes = []
for (const { id, run } of cases) {
  const failure = await run().then(
    () => null,
    error => String(error.message),
  )
  outcomes.push({ id, failure })
}

const keys = createPostgresKeyStore({ database })
const record = { hash: 'a'.repeat(64), type: 'team', ownerId: '1', scopes: ['domains:create'], expiresAt: new Date(0) }
const isAdded = [await keys.addKey(record), await keys.addKey(record)]
console.log(JSON.stringify({ outcomes, isAdded, found: await keys.findKey(record.hash) }))
await database.end()
