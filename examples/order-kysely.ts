import type { Kysely } from 'kysely'
import { withinKysely } from './bridge-kysely.ts'
import { type Order, registerOrder } from './order.ts'

interface Tables {
  orders: { id: string; team_id: string }
}

/** Saves an order and registers its names, or does neither. */
export const placeOrder = (db: Kysely<Tables>, order: Order) =>
  db.transaction().execute(async trx => {
    await trx.insertInto('orders').values({ id: order.id, team_id: order.teamId }).execute()
    await registerOrder(order, withinKysely(trx))
  })
