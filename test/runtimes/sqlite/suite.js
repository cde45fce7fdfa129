import { createSqliteStore } from 'domain-registration/sqlite'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'

/**
 * Runs every case of the published suite on stores in SQLite.
 *
 * @param open Opens an empty database.
 * @param close Closes it.
 * @returns For each case: its ID, and why it failed, or `null`.
 */
export async function runSuite(open, close) {
  const databases = new Map()
  const cases = domainStoreSuite({
    createStore({ teams, ...options }) {
      const database = open()
      const findTeam = id => teams.find(team => team.id === id) ?? null
      const store = createSqliteStore({ ...options, database, findTeam })
      databases.set(store, database)
      return store
    },
    closeStore: store => close(databases.get(store)),
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
  return outcomes
}
