import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import type { ManagedStore } from '../registry/managed-store.ts'

/** An open database. */
export interface OpenDatabase {
  /** A store without a monitor: what it releases waits for a sweep of the application. */
  createStore(): ManagedStore
  createKeyStore(): ManagedKeyStore
  /** Creates the tables if they are missing. */
  migrate(): Promise<void>
  close(): Promise<void>
}

/** Teams are the application's; nothing that the command line does asks for one. */
export const findTeam = () => null

/** Loads a package of the application: one that is found from the current directory. Nothing if it is not installed. */
export function loadDriver<Driver>(name: string): Driver | undefined {
  const load = createRequire(join(process.cwd(), 'package.json'))
  try {
    load.resolve(name)
  } catch {
    return undefined
  }
  return load(name) as Driver
}
