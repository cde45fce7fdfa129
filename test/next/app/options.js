import { createMemoryKeyStore, createMemoryStore, hashApiKey } from 'domain-registration'

const keys = createMemoryKeyStore()
keys.addKey({ hash: await hashApiKey(process.env.API_KEY), type: 'team', ownerId: '1', scopes: ['domains:create'] })

export const options = {
  store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] }),
  keys,
}
