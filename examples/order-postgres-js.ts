import type { Sql } from 'postgres'
import { type Order, registerOrder } from './order.ts'

/** Saves an order and registers its names, or does neither. */
export const placeOrder = (sql: Sql, order: Order) =>
  sql.begin(async tx => {
    await tx`INSERT INTO orders (id, team_id) VALUES (${order.id}, ${order.teamId})`
    await registerOrder(order, {
      query: async (text, values) => ({ rows: await tx.unsafe(text, values as never[]) }),
    })
  })
