import { createNameStatements } from './name-statements.ts'
import { createOutboxStatements } from './outbox-statements.ts'
import type { Tables } from './schema.ts'
import type { Engine } from './settings.ts'

/** All statements of the store, as an engine needs them. */
export const createStatements = (tables: Tables, engine: Engine) => ({
  ...createNameStatements(tables, engine),
  ...createOutboxStatements(tables, engine),
})

export type Statements = ReturnType<typeof createStatements>
