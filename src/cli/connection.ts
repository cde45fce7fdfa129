import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { KeyOwner } from '../keys/key-record.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import type { ManagedStore } from '../registry/managed-store.ts'

/** An open database. */
export interface OpenDatabase {
  /**
   * A store without a monitor: what it releases is pending until a sweep of the application.
   *
   * @param options `timeLimit`: milliseconds for each call; default that of the stores.
   */
  createStore(options?: { readonly timeLimit?: number }): ManagedStore
  createKeyStore(): ManagedKeyStore
  /** Lists the owners of keys: organizations first, each group by ID. */
  listOwners(): Promise<readonly KeyOwner[]>
  /** Creates the tables if they are missing. */
  migrate(): Promise<void>
  close(): Promise<void>
}

/** SQL for {@link OpenDatabase.listOwners}. IDs are digits, so a longer one is a larger number. */
export const selectOwners = (table: string): string =>
  `SELECT type, owner_id AS "ownerId" FROM ${table}
   GROUP BY type, owner_id ORDER BY type, length(owner_id), owner_id`

/** Only the application knows its teams; no command looks one up. */
export const findTeam = () => null

/** Loads a package of the application, found from the current directory; `undefined` if it is not installed. */
export function loadDriver<Driver>(name: string): Driver | undefined {
  const load = createRequire(join(process.cwd(), 'package.json'))
  try {
    load.resolve(name)
  } catch {
    return undefined
  }
  return load(name) as Driver
}
