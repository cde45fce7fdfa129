import { withinPrisma } from './bridge-prisma.ts'
import { type Order, registerOrder } from './order.ts'

/** The part of your client that is used here. Your schema needs a model `Order` with the fields `id` and `teamId`. */
interface Client {
  $transaction(work: (tx: Transaction) => Promise<void>, options: object): Promise<void>
}
type Transaction = Parameters<typeof withinPrisma>[0] & {
  order: { create(row: { data: { id: string; teamId: string } }): PromiseLike<unknown> }
}

/** Saves an order and registers its names, or does neither. */
export const placeOrder = (prisma: Client, order: Order) =>
  prisma.$transaction(
    async tx => {
      await tx.order.create({ data: { id: order.id, teamId: order.teamId } })
      await registerOrder(order, withinPrisma(tx))
    },
    { maxWait: 30_000, timeout: 30_000, isolationLevel: 'ReadCommitted' },
  )
