import type { ManagedKeyStore } from '../keys/key-store.ts'
import type { ManagedStore } from '../registry/managed-store.ts'

/** An open database. */
export interface Connection {
  /** A store without a monitor: what it releases waits for a sweep of the application. */
  createStore(): ManagedStore
  createKeyStore(): ManagedKeyStore
  /** Creates the tables if they are missing. */
  migrate(): Promise<void>
  close(): Promise<void>
}

/** Teams are the application's; nothing that the command line does asks for one. */
export const findTeam = () => null
