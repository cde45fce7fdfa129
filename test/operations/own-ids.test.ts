import { expect, test } from 'vitest'
import { createMemoryStore, listDomains, registerDomains } from '../../src/index.ts'

test.each(['V1StGXR8_Z5jdHi6B-myT', '7f1ae5a4-9f5e-4c55-8d4e-3c1f6f0a2b11'])(
  'a team with the ID %s can register and list names if the application authenticates the call',
  async teamId => {
    const store = createMemoryStore({ teams: [{ id: teamId, organizationId: 'acme', state: 'active' }] })
    const keyContext = { type: 'team', teamId, scopes: ['domains:create', 'domains:read'] } as const
    const { data } = await registerDomains(keyContext, { domains: ['www.example.com'] }, store)
    expect(data.totals).toEqual({ created: 1, existing: 0, invalid: 0 })
    expect((await listDomains(keyContext, {}, store)).data.domains).toMatchObject([{ domain: 'www.example.com' }])
  },
)
