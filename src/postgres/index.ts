export type {
  DatabaseOptions,
  EmbeddedPostgres,
  EmbeddedTransaction,
  PostgresClient,
  PostgresPool,
} from './connection.ts'
export { createPostgresKeyStore, type PostgresKeyStore, type PostgresKeyStoreOptions } from './key-store.ts'
export { type MigrateOptions, migrate } from './migrate.ts'
export type { Reclassification } from './reclassify.ts'
export { type PostgresSchemaOptions, type PostgresTableOptions, postgresSchema } from './schema.ts'
export { createPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store.ts'
