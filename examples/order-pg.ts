import type { Pool } from 'pg'
import { type Order, registerOrder } from './order.ts'

/** Saves an order and registers its names, or does neither. */
export async function placeOrder(pool: Pool, order: Order): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('INSERT INTO orders (id, team_id) VALUES ($1, $2)', [order.id, order.teamId])
    await registerOrder(order, { query: (text, values) => client.query(text, values) })
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}
