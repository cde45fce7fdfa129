import { isApiError, registerDomains } from 'domain-registration'
import { pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { getRegistry } from '../../registry'
import { withinDrizzle } from '../../within-drizzle'

const orders = pgTable('orders', { id: uuid().primaryKey(), teamId: text('team_id').notNull() })

/** Why an order is not placed. Thrown in the transaction, which is then rolled back. */
class OrderRejected extends Error {}

/** Saves an order and registers its names, or does neither. */
export async function POST(request: Request): Promise<Response> {
  const { authenticate, createStore, db } = getRegistry()
  try {
    const keyContext = await authenticate(request.headers)
    if (keyContext.type !== 'team') return Response.json({ error: 'no_team' }, { status: 403 })
    const { domains } = await request.json()
    const id = crypto.randomUUID()
    await db.transaction(async tx => {
      await tx.insert(orders).values({ id, teamId: keyContext.teamId })
      const { data } = await registerDomains(keyContext, { domains }, createStore(withinDrizzle(tx)))
      const invalid = data.results.find(result => result.status === 'invalid')
      if (invalid) throw new OrderRejected(`${invalid.input}: ${invalid.message}`)
    })
    return Response.json({ id }, { status: 201 })
  } catch (error) {
    if (error instanceof OrderRejected) return Response.json({ error: error.message }, { status: 422 })
    if (!isApiError(error)) throw error
    const { code, message, status, headers } = error
    return Response.json({ error: code, message }, { status, headers })
  }
}
