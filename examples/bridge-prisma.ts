import type { PostgresBridge, PostgresTransaction } from 'domain-registration/postgres'

interface Executor {
  $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): PromiseLike<Rows>
}
interface Prisma extends Executor {
  $transaction<T>(work: (tx: Executor) => Promise<T>, options: { maxWait: number; timeout: number }): Promise<T>
}

/** Takes your client: `createPostgresStore({ database: bridgePrisma(new PrismaClient({ adapter })), findTeam })`. */
export const bridgePrisma = (prisma: Prisma): PostgresBridge => ({
  ...withinPrisma(prisma),
  transaction: work => prisma.$transaction(tx => work(withinPrisma(tx)), { maxWait: 10_000, timeout: 10_000 }),
})

/** To register within your own transaction: `createPostgresStore({ database: withinPrisma(tx), findTeam })`. */
export const withinPrisma = (tx: Executor): PostgresTransaction => ({
  query: async (text, values) => ({ rows: await tx.$queryRawUnsafe<object[]>(text, ...values) }),
})
