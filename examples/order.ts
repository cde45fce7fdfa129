import { registerDomains, type Team } from 'domain-registration'
import { createPostgresStore, type PostgresDriver, type PostgresTransaction } from 'domain-registration/postgres'

export interface Order {
  readonly id: string
  readonly teamId: string
  readonly domains: readonly string[]
}

/**
 * Creates a store on your pool, or in a transaction. `findTeam` queries the same `database`. If `findTeam` queried the
 * pool, each transaction would hold one connection and wait for a second, and simultaneous transactions would deadlock.
 */
export const createStore = (database: PostgresDriver & Pick<PostgresTransaction, 'query'>) =>
  createPostgresStore({
    database,
    async findTeam(id) {
      if (!/^[0-9]{1,9}$/.test(id)) return null // an integer column has no longer IDs
      const text = 'SELECT id, organization_id AS "organizationId", state FROM teams WHERE id = $1'
      const { rows } = await database.query(text, [id])
      return (rows[0] as Team | undefined) ?? null
    },
    // Replace this with your monitor. After a transaction commits, a sweep of the pool's store calls this function.
    synchronize: changes => console.log(changes.map(({ kind, domain }) => `${kind} ${domain}`).join('\n')),
  })

/** Registers an order's names in the order's transaction. Throws if a name is invalid, so the order is rolled back. */
export async function registerOrder({ teamId, domains }: Order, transaction: PostgresTransaction): Promise<void> {
  const keyContext = { type: 'team', teamId, scopes: ['domains:create'] } as const
  const { data } = await registerDomains(keyContext, { domains }, createStore(transaction))
  const invalid = data.results.find(result => result.status === 'invalid')
  if (invalid) throw new Error(`${invalid.input}: ${invalid.message}`)
}
