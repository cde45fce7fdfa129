import { expect, test } from 'vitest'
import {
  createMemoryStore,
  deleteDomains,
  exportDomains,
  listDomains,
  previewDomains,
  registerDomains,
} from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, organization } from '../fixtures.ts'

test('each operation uses the team ID that findTeam returns, not the one that the caller sent', async () => {
  const store = createStore()
  await save(store, '1', ['a.com', 'x.b.com'])
  const spelled = { ...store, findTeam: (teamId: string) => store.findTeam(String(Number(teamId))) }
  const keyContext = { ...organization, scopes: ['domains:create', 'domains:delete', 'domains:read'] }
  const team_id = '01'
  const body = { domains: ['a.com', '*.b.com'], team_id }
  for (const operation of [previewDomains, registerDomains]) {
    const { data } = await operation(keyContext, body, spelled)
    expect(data.results).toMatchObject([{ status: 'existing' }, { code: 'subdomain_conflict' }])
  }
  expect((await listDomains(keyContext, { team_id }, spelled)).data.domains).toHaveLength(2)
  expect((await (await exportDomains(keyContext, { team_id }, spelled)).next()).value).toHaveLength(2)
  expect((await deleteDomains(keyContext, body, spelled)).data.totals.deleted).toBe(1)
})

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
