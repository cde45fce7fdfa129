import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { type Order, registerOrder } from './order.ts'
import { withinDrizzle } from './within-drizzle.ts'

const orders = pgTable('orders', { id: text().primaryKey(), teamId: text('team_id').notNull() })

/** Saves an order and registers its names, or does neither. */
export const placeOrder = (db: NodePgDatabase, order: Order) =>
  db.transaction(async tx => {
    await tx.insert(orders).values({ id: order.id, teamId: order.teamId })
    await registerOrder(order, withinDrizzle(tx))
  })
