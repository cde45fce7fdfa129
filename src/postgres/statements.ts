import { createChanges } from './changes.ts'
import { createLookUps } from './look-ups.ts'
import { createOutboxStatements } from './outbox-statements.ts'
import type { Tables } from './schema.ts'

/** All statements of the store. */
export const createStatements = (tables: Tables) => ({
  ...createLookUps(tables),
  ...createChanges(tables),
  ...createOutboxStatements(tables),
})

export type Statements = ReturnType<typeof createStatements>
