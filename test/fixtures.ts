import { createMemoryKeyStore, generateApiKey, type KeyRecord } from '../src/index.ts'
import { createMemoryStore, type MemoryStoreOptions } from '../src/memory/memory-store.ts'

/** Organization 10 has the teams 1, 2 and 9, of which 9 is suspended. Organization 20 has the team 3. */
export const teams = [
  { id: '1', organizationId: '10', state: 'active' },
  { id: '2', organizationId: '10', state: 'active' },
  { id: '9', organizationId: '10', state: 'suspended' },
  { id: '3', organizationId: '20', state: 'active' },
] as const

export const scopes = ['domains:create']
export const organization = { type: 'organization', organizationId: '10', scopes } as const
export const team1 = { type: 'team', teamId: '1', scopes } as const
export const team2 = { type: 'team', teamId: '2', scopes } as const

export const createStore = (options: MemoryStoreOptions = {}) => createMemoryStore({ teams, ...options })

/** A key store, and a function that adds a new key to it. */
export function createKeys() {
  const keys = createMemoryKeyStore()
  async function issue(type: 'organization' | 'team', id: string, changes: Partial<KeyRecord> = {}) {
    const { key, hash } = await generateApiKey({ type, id })
    keys.addKey({ hash, type, ownerId: id, scopes, ...changes })
    return key
  }
  return { keys, issue }
}

/** The error with which a call rejects. */
export async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('The call was not rejected')
    },
    error => error,
  )
}
