import { createChanges } from './changes.ts'
import { createLookUps } from './look-ups.ts'
import type { Tables } from './schema.ts'

/** All statements of the store. */
export const createStatements = (tables: Tables) => ({ ...createLookUps(tables), ...createChanges(tables) })

export type Statements = ReturnType<typeof createStatements>
