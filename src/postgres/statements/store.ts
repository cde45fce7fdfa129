import type { Engine } from '../engines/engine.ts'
import type { Tables } from '../schema.ts'
import { createOutboxStatements } from './changes.ts'
import { createLockStatements } from './locks.ts'
import { createNameStatements } from './names.ts'

/** All statements of the store, in the form that the given engine needs. */
export const createStatements = (tables: Tables, engine: Engine) => ({
  ...createLockStatements(tables, engine),
  ...createNameStatements(tables, engine),
  ...createOutboxStatements(tables, engine),
})

export type Statements = ReturnType<typeof createStatements>
