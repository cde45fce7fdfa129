import type { ManagedKeyStore } from '../keys/key-store.ts'
import type { ManagedStore } from '../registry/managed-store.ts'

/** An open database. */
export interface Connection {
  /** @param hasMonitor Whether releases are recorded, for a sweep of the application to push. */
  createStore(options?: { readonly hasMonitor?: boolean }): ManagedStore
  createKeyStore(): ManagedKeyStore
  /** Creates the tables if they are missing. */
  migrate(): Promise<void>
  close(): Promise<void>
}

/**
 * The application pushes what it registers and releases. A store that is never swept only has to know that somebody
 * does: without a monitor, a release would leave nothing to push.
 */
export const pushedByTheApplication = {
  synchronize: () => Promise.reject(new Error('The command line pushes nothing')),
}

/** Teams are the application's; nothing that the command line does asks for one. */
export const findTeam = () => null
