import express from 'express'
import { isApiError } from '../../src/errors/api-error.ts'
import { importDomains, type RegistrationToImport } from '../../src/operations/import-domains.ts'
import { releaseAll, type TransferOptions, transfer } from '../../src/operations/transfer.ts'
import type { LookUpResult, Registration } from '../../src/rules/registration.ts'
import type { DomainStore, ListOptions, LookUp } from '../../src/store/contract.ts'
import type { ManagedStore } from '../../src/store/managed-store.ts'

/** Functions that an application calls itself, because the HTTP API has no operation for them. */
const calls = {
  transfer: (store: ManagedStore, options: TransferOptions) => transfer(store, options),
  importDomains: (store: ManagedStore, rows: readonly RegistrationToImport[]) => importDomains(store, rows),
  releaseAll: (store: ManagedStore, teamId: string) => releaseAll(store, teamId),
  retryPending: (store: ManagedStore) => store.retryPending(),
  countPending: (store: ManagedStore) => store.countPending(),
  list: (store: ManagedStore, options: ListOptions) => store.list(options),
  find: (store: ManagedStore, question: LookUp) => store.find(question),
} as const

export type OperatorCall = keyof typeof calls

/**
 * Accepts `{ call, parameter }` at `/operator`. Responds with `{ data }`, or with an error in the format of the API.
 */
export const operatorRouter = (store: ManagedStore) =>
  express.Router().post('/operator', express.json({ limit: '1mb' }), async ({ body }, response) => {
    const call = calls[body.call as OperatorCall] as (store: ManagedStore, parameter: unknown) => unknown
    try {
      response.json({ data: await call(store, body.parameter) })
    } catch (error) {
      const { status, code } = isApiError(error) ? error : { status: 500, code: String(error) }
      response.status(status).json({ error: code })
    }
  })

/** Reads all registrations through a node. */
export function createReader(origin: () => string): DomainStore & Pick<ManagedStore, 'countPending'> {
  async function ask<Data>(call: OperatorCall, parameter?: unknown): Promise<Data> {
    const response = await fetch(`${origin()}/operator`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ call, parameter }),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
    return JSON.parse(text, (key, value) => (key === 'createdAt' ? new Date(value) : value)).data
  }
  const unused = () => Promise.reject(new Error('Only reads'))
  return {
    findTeam: unused,
    register: unused,
    list: (options?: ListOptions) => ask<readonly Registration[]>('list', options ?? {}),
    find: (question: LookUp) => ask<LookUpResult>('find', question),
    countPending: () => ask<number>('countPending'),
  }
}
