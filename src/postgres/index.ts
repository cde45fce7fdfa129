export type { PostgresTransaction } from './application-transaction.ts'
export type {
  DriverOptions,
  PostgresBridge,
  PostgresClient,
  PostgresDriver,
  PostgresJs,
  PostgresJsTransaction,
  PostgresPool,
} from './drivers.ts'
export { createPostgresKeyStore, type PostgresKeyStore, type PostgresKeyStoreOptions } from './keys.ts'
export { type MigrateOptions, migrate } from './migrate.ts'
export { type PostgresSchemaOptions, postgresSchema } from './schema.ts'
export { createPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store.ts'
