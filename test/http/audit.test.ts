import { expect, test } from 'vitest'
import { createHandler, type ResultContext } from '../../src/http/index.ts'
import { type Transferred, transfer } from '../../src/operations/transfer.ts'
import type { DomainStore } from '../../src/store/contract.ts'
import { manyDomains } from '../../src/testing/calls.ts'
import { counts, seed } from '../counts.ts'
import { createStore } from '../fixtures.ts'
import { createRandom } from '../random.ts'

const random = createRandom(seed)
const scopes = ['domains:create', 'domains:delete']
const names = [...manyDomains(12), '*.n1.com', 'x.n1.com', 'localhost']

/** Makes random calls and repeats some of them, as clients do if a response is lost or asks for a retry. */
async function makeCalls(wrap: (store: DomainStore) => DomainStore) {
  const store = createStore({
    teams: [
      { id: '1', organizationId: '10', state: 'active', maxDomains: 8 },
      { id: '2', organizationId: '10', state: 'active' },
    ],
    synchronize() {
      if (random.chance(0.3)) throw new Error('The monitor is unavailable')
    },
    onError() {},
  })
  const told: ResultContext[] = []
  const handle = createHandler({
    store: { ...store, ...wrap(store) },
    authenticate: () => ({ type: 'team', teamId: '1', scopes }) as const,
    operations: ['create', 'delete'],
    onError() {},
    onResult: result => void told.push(result),
  })
  const transferred: Transferred[] = []
  const answers = new Map<string, number>()
  for (let call = 0; call < 60; call += 1) {
    const operation = random.chance(0.3) ? 'delete' : 'create'
    const domains = Array.from({ length: random.integer(1, 5) }, () => random.pick(names))
    const fields: Record<string, string> = { 'content-type': 'application/json' }
    do {
      const request = { header: (name: string) => fields[name], readBody: () => ({ json: { domains } }), operation }
      const { status } = await handle(request as Parameters<typeof handle>[0])
      answers.set(`${operation} ${status}`, (answers.get(`${operation} ${status}`) ?? 0) + 1)
    } while (random.chance(0.4))
    // The application calls `transfer` itself, so it gets the result directly and not through `onResult`.
    const [from = '', to = ''] = random.shuffle(['1', '2'])
    if (random.chance(0.2)) transferred.push(...(await transfer(store, { from, to, domains }).catch(() => [])))
  }
  type Result = { readonly status: string; readonly domainId?: string }
  const results = told.flatMap(({ data }): readonly Result[] => (data && 'results' in data ? data.results : []))
  const idsOf = (...statuses: string[]) =>
    results.flatMap(({ status, domainId }) => (domainId !== undefined && statuses.includes(status) ? [domainId] : []))
  const held = (await store.list()).map(({ domainId }) => domainId)
  return { idsOf, transferred, held, answers }
}

test('onResult and `transfer` report each registration exactly once, despite repeated and rejected calls', async () => {
  const answered = new Set<string>()
  let transfers = 0
  for (let run = 0; run < counts.races; run += 1) {
    const { idsOf, transferred, held, answers } = await makeCalls(store => ({
      ...store,
      register(request) {
        if (random.chance(0.1)) throw new Error('The store is down')
        return store.register(request)
      },
    }))
    const [created, deleted] = [idsOf('created'), idsOf('deleted')]
    expect(new Set(created).size).toBe(created.length)
    const came = [...created, ...transferred.map(({ domainId }) => domainId)]
    const left = new Set([...deleted, ...transferred.map(({ formerId }) => formerId)])
    expect(came.filter(domainId => !left.has(domainId)).sort()).toEqual(held.sort())
    transfers += transferred.length
    for (const answer of answers.keys()) answered.add(answer)
  }
  expect(transfers).toBeGreaterThan(0)
  for (const answer of ['create 200', 'create 403', 'create 503', 'delete 200']) expect([...answered]).toContain(answer)
})

test('if a store fails after saving a name, its call reports it as created, or a later call as existing', async () => {
  const lost: string[] = []
  let reportedLater = 0
  for (let run = 0; run < counts.races; run += 1) {
    const { idsOf, transferred, held } = await makeCalls(store => ({
      ...store,
      async register(request) {
        const registered = await store.register(request)
        if (!random.chance(0.2)) return registered
        lost.push(...registered.saved.map(({ domainId }) => domainId))
        throw new Error('The connection was lost')
      },
    }))
    const told = [...idsOf('created', 'existing'), ...transferred.map(({ domainId }) => domainId)]
    expect(new Set(idsOf('created')).size).toBe(idsOf('created').length)
    expect(held.filter(domainId => !told.includes(domainId) && !lost.includes(domainId))).toEqual([])
    reportedLater += lost.filter(domainId => told.includes(domainId)).length
  }
  expect(lost.length).toBeGreaterThan(0)
  expect(reportedLater).toBeGreaterThan(0)
})
