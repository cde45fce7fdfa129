import { describe, expect, test, vi } from 'vitest'
import {
  type ApiError,
  type DomainStore,
  deleteDomains,
  exportDomains,
  type KeyContext,
  listDomains,
  previewDomains,
} from '../../src/index.ts'
import { createStore, organization, rejection } from '../fixtures.ts'

interface Operation {
  call(keyContext: KeyContext, input: object, store: DomainStore, options?: { timeLimit: number }): Promise<unknown>
  readonly scope: string
  /** The optional method of the store that the operation needs. */
  readonly method: 'find' | 'release' | 'list'
  /** The smallest input with which a team key can call the operation. */
  readonly input: object
  readonly ofSuspendedTeam: 'refused' | 'answered'
}

/** All operations except registering, which test/operations/register-domains.test.ts covers. */
const operations: Readonly<Record<string, Operation>> = {
  previewDomains: {
    ...{ call: previewDomains, scope: 'domains:create', method: 'find' },
    ...{ input: { domains: ['a.com'] }, ofSuspendedTeam: 'refused' },
  },
  deleteDomains: {
    ...{ call: deleteDomains, scope: 'domains:delete', method: 'release' },
    ...{ input: { domains: ['a.com'] }, ofSuspendedTeam: 'refused' },
  },
  listDomains: {
    ...{ call: listDomains, scope: 'domains:read', method: 'list' },
    ...{ input: {}, ofSuspendedTeam: 'answered' },
  },
  exportDomains: {
    ...{ call: exportDomains, scope: 'domains:read', method: 'list' },
    ...{ input: {}, ofSuspendedTeam: 'answered' },
  },
}

describe.each(Object.entries(operations))('%s', (_, { call, scope, method, input, ofSuspendedTeam }) => {
  const team = { type: 'team', teamId: '1', scopes: [scope] } as const
  const anyTeam = { ...organization, scopes: [scope] }

  test('rejects a call without the scope or without a valid team before it reaches the store', async () => {
    const store = createStore()
    const asked = vi.spyOn(store, method)
    const refused: [KeyContext, object, code: string][] = [
      [{ ...team, scopes: ['domains:other'] }, input, 'insufficient_scope'],
      [anyTeam, input, 'invalid_request'],
      [anyTeam, { ...input, team_id: '3' }, 'team_not_found'],
      [anyTeam, { ...input, team_id: '77' }, 'team_not_found'],
      [{ ...team, teamId: '77' }, input, 'team_not_found'],
    ]
    for (const [keyContext, sent, code] of refused)
      expect(await rejection(call(keyContext, sent, store))).toMatchObject({ code })
    const unscoped = await rejection(call({ ...team, scopes: [] }, input, store))
    expect(unscoped).toMatchObject({ message: `The caller lacks the scope ${scope}.` })
    const suspended = call(anyTeam, { ...input, team_id: '9' }, store)
    if (ofSuspendedTeam === 'answered') await suspended
    else expect(await rejection(suspended)).toMatchObject({ code: 'team_suspended' })
    expect(asked).toHaveBeenCalledTimes(ofSuspendedTeam === 'answered' ? 1 : 0)
    await call(anyTeam, { ...input, team_id: '1' }, store)
    expect(asked).toHaveBeenCalledTimes(ofSuspendedTeam === 'answered' ? 2 : 1)
  })

  test.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['does not return in time', () => new Promise<never>(() => {})],
  ])('fails with 500 and says when to retry, if the store %s', async (_, asked) => {
    const error = await rejection(call(team, input, { ...createStore(), [method]: asked }, { timeLimit: 20 }))
    expect(error).toMatchObject({ status: 500, code: 'internal_error', headers: { 'Retry-After': '5' } })
    expect((error as ApiError).cause).toBeInstanceOf(Error)
  })

  test('rejects a store that lacks the method for this operation', async () => {
    const store = { ...createStore(), [method]: undefined }
    await expect(call(team, input, store)).rejects.toThrow(`no method "${method}"`)
  })
})
