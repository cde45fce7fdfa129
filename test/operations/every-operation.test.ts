import { describe, expect, test, vi } from 'vitest'
import {
  createMemoryStore,
  type DomainStore,
  deleteDomains,
  exportDomains,
  type KeyContext,
  listDomains,
  previewDomains,
  registerDomains,
} from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, organization, rejection } from '../fixtures.ts'

interface Operation {
  call(keyContext: KeyContext, input: object, store: DomainStore, options?: { timeLimit: number }): Promise<unknown>
  readonly scope: string
  /** The method of the store that does the work. */
  readonly method: 'register' | 'find' | 'release' | 'list'
  /** The smallest input with which a team key can call the operation. */
  readonly input: object
  readonly ofSuspendedTeam: 'refused' | 'answered'
}

const body = { domains: ['a.com'] }
const creating = { scope: 'domains:create', input: body, ofSuspendedTeam: 'refused' } as const
const reading = { scope: 'domains:read', method: 'list', input: {}, ofSuspendedTeam: 'answered' } as const
const operations: Readonly<Record<string, Operation>> = {
  registerDomains: { ...creating, call: registerDomains, method: 'register' },
  previewDomains: { ...creating, call: previewDomains, method: 'find' },
  deleteDomains: { ...creating, call: deleteDomains, scope: 'domains:delete', method: 'release' },
  listDomains: { ...reading, call: listDomains },
  exportDomains: { ...reading, call: exportDomains },
}

describe.each(Object.entries(operations))('%s', (_, { call, scope, method, input, ofSuspendedTeam }) => {
  const team = { type: 'team', teamId: '1', scopes: [scope] } as const
  const anyTeam = { ...organization, scopes: [scope] }

  test('rejects a call without the scope or without a valid team before it reaches the store', async () => {
    const store = createStore()
    const asked = vi.spyOn(store, method)
    const unscoped = {
      ...{ status: 403, code: 'insufficient_scope', message: `The caller lacks the scope ${scope}.` },
      headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    }
    const invalid = { status: 400, code: 'invalid_request', message: expect.stringMatching(/^team_id must be/) }
    const message = 'The team does not exist, or it does not belong to the caller.'
    const unknown = { status: 404, code: 'team_not_found', message }
    const refused: [KeyContext, object, expected: object][] = [
      [{ ...team, scopes: ['domains:other', `${scope}:all`] }, input, unscoped],
      [anyTeam, input, invalid],
      [anyTeam, { ...input, team_id: '1'.repeat(65) }, invalid],
      [anyTeam, { ...input, team_id: '3' }, unknown],
      [anyTeam, { ...input, team_id: '77' }, unknown],
      [anyTeam, { ...input, team_id: '9'.repeat(64) }, unknown],
      [{ ...team, teamId: '77' }, input, unknown],
    ]
    for (const [keyContext, sent, expected] of refused)
      expect(await rejection(call(keyContext, sent, store))).toMatchObject(expected)
    expect(asked).not.toHaveBeenCalled()
  })

  test(`of a suspended team is ${ofSuspendedTeam}`, async () => {
    const store = createStore()
    const calls = [
      () => call(anyTeam, { ...input, team_id: '9' }, store),
      () => call({ ...team, teamId: '9' }, input, store),
    ]
    const suspended = {
      ...{ status: 403, code: 'team_suspended' },
      message: 'The team is suspended: it can neither register nor delete domains.',
    }
    for (const called of calls)
      if (ofSuspendedTeam === 'answered') await called()
      else expect(await rejection(called())).toMatchObject(suspended)
  })

  test('uses the team ID that findTeam returns, even if the caller spells it differently', async () => {
    const store = createStore()
    await save(store, '1', body.domains)
    const asked = vi.spyOn(store, method)
    const numbering = { ...store, findTeam: (teamId: string) => store.findTeam(String(Number(teamId))) }
    for (const called of [
      await call(anyTeam, { ...input, team_id: '01' }, numbering),
      await call({ ...team, teamId: '001' }, input, numbering),
    ])
      if (scope === 'domains:create') expect(called).toMatchObject({ data: { totals: { existing: 1 } } })
    for (const [given] of asked.mock.calls) expect(typeof given === 'string' ? given : given?.teamId).toBe('1')
    expect(asked.mock.calls.length).toBeGreaterThan(1)
  })

  test.each(['V1StGXR8_Z5jdHi6B-myT', '7f1ae5a4-9f5e-4c55-8d4e-3c1f6f0a2b11'])(
    'accepts a team with the ID %s if the application authenticates the call',
    async teamId => {
      const store = createMemoryStore({ teams: [{ id: teamId, organizationId: 'acme', state: 'active' }] })
      await call({ ...team, teamId }, input, store)
    },
  )

  test.each([
    ['findTeam', 'fails'],
    ['findTeam', 'does not return in time'],
    [method, 'fails'],
    [method, 'does not return in time'],
  ])('fails with 500 and says when to retry, if `%s` of the store %s', async (broken, how) => {
    const cause = new Error('down')
    const asked = () => (how === 'fails' ? Promise.reject(cause) : new Promise<never>(() => {}))
    const error = await rejection(call(team, input, { ...createStore(), [broken]: asked }, { timeLimit: 20 }))
    expect(error).toMatchObject({ status: 500, code: 'internal_error', headers: { 'Retry-After': '5' } })
    expect(error).toMatchObject({ cause: how === 'fails' ? cause : { name: 'TimeLimitError' } })
    const sorry = 'The team could not be looked up; nothing was done. Send the same call again: that is safe.'
    if (broken === 'findTeam') expect(error).toMatchObject({ message: sorry })
  })

  test.runIf(method !== 'register')('rejects a store that lacks the method for this operation', async () => {
    const store = { ...createStore(), [method]: undefined }
    await expect(call(team, input, store)).rejects.toThrow(`no method "${method}"`)
  })
})
