import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { KeyOwner } from '../keys/key-record.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import type { ManagedStore } from '../registry/managed-store.ts'

/** An open database. */
export interface OpenDatabase {
  /**
   * Creates a store without a monitor. A release by this store stays pending until the application's next sweep pushes
   * it.
   *
   * @param options `timeLimit`: milliseconds for each call; if absent, the store's default.
   */
  createStore(options?: { readonly timeLimit?: number }): ManagedStore
  createKeyStore(): ManagedKeyStore
  /** Lists the owners of keys: organizations, then teams, both sorted by ID. */
  listOwners(): Promise<readonly KeyOwner[]>
  /** Creates the tables if they are missing. */
  migrate(): Promise<void>
  close(): Promise<void>
}

/** SQL for {@link OpenDatabase.listOwners}. IDs are digits, so a longer ID is a larger number, and sorts later. */
export const selectOwners = (table: string): string =>
  `SELECT type, owner_id AS "ownerId" FROM ${table}
   GROUP BY type, owner_id ORDER BY type, length(owner_id), owner_id`

/** A store requires this function, but no command calls it, because only the application knows the teams. */
export const findTeam = () => null

/**
 * Loads a package that the application has installed, searching from the current directory. Returns `undefined` if the
 * package is not installed.
 */
export function loadDriver<Driver>(name: string): Driver | undefined {
  const load = createRequire(join(process.cwd(), 'package.json'))
  try {
    load.resolve(name)
  } catch {
    return undefined
  }
  return load(name) as Driver
}
