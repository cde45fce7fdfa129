import { isApiError } from '../../src/errors/api-error.ts'
import { deleteDomains } from '../../src/operations/delete-domains.ts'
import { listDomains } from '../../src/operations/list-domains.ts'
import { previewDomains } from '../../src/operations/preview-domains.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import type { DomainStore } from '../../src/registry/store.ts'
import type { Random } from '../simulation/random.ts'
import type { Known } from '../simulation/rules.ts'
import type { Deed, Operation } from './registry.ts'

export type RacedStore = DomainStore & Required<Pick<DomainStore, 'find' | 'release' | 'list'>>

/** Makes one call of its store after another. */
export interface Client {
  readonly name: string
  readonly store: RacedStore
}

export interface Race {
  readonly clients: readonly Client[]
  readonly random: Random
  readonly registrableDomains: readonly string[]
  /** Of all clients together. */
  readonly calls: number
}

/** How many names a team may hold. Others have no limit. */
export const limits: Readonly<Record<string, number>> = { 2: 3 }

/** Of a store that is raced: teams are the same for all. */
export const findTeam = (id: string) => ({
  id,
  organizationId: '1',
  state: 'active' as const,
  maxDomains: limits[id] ?? null,
})

/** In microseconds, the same for all processes. */
export const now = () => Number(process.hrtime.bigint() / 1000n)

const teamIds = ['1', '2']

/** Few names, which overlap in every way. */
const namesOf = (registrableDomain: string): Known[] =>
  ['', '*.', 'x.', '*.x.', 'y.x.', 'w.'].map(labels => ({ domain: labels + registrableDomain, registrableDomain }))

/** Lets clients call their stores at the same time, without any agreement. */
export async function race({ clients, random, calls, registrableDomains }: Race): Promise<Deed[]> {
  const deeds: Deed[] = []
  const names = registrableDomains.flatMap(namesOf)
  let left = calls
  async function work({ name: client, store }: Client): Promise<void> {
    while (left > 0) {
      left -= 1
      const startedAt = now()
      const operation = await call(store, random, names)
      deeds.push({ client, operation, startedAt, endedAt: now() })
    }
  }
  await Promise.all(clients.map(work))
  return deeds
}

async function call(store: RacedStore, random: Random, names: readonly Known[]): Promise<Operation> {
  const teamId = random.pick(teamIds)
  const some = Array.from({ length: random.integer(1, 4) }, () => random.pick(names))
  const domains = some.map(({ domain }) => domain)
  const keyContext = { type: 'team', teamId, scopes: ['domains:create', 'domains:delete', 'domains:read'] } as const
  if (random.chance(0.1)) {
    const { data } = await listDomains(keyContext, { limit: '1000' }, store)
    const toName = (domain: string) => names.find(name => name.domain === domain) ?? { domain, registrableDomain: '' }
    return { kind: 'list', teamId, listed: data.domains.map(held => ({ ...toName(held.domain), ...held, teamId })) }
  }
  if (random.chance(0.35)) {
    const { data } = await deleteDomains(keyContext, { domains }, store)
    const released = data.results.flatMap((result, index) =>
      result.status === 'deleted' ? [{ ...(some[index] as Known), teamId, domainId: result.domainId }] : [],
    )
    return { kind: 'release', teamId, names: some, released }
  }
  const isPreview = random.chance(0.2)
  const kind = isPreview ? 'preview' : 'register'
  let data: Awaited<ReturnType<typeof previewDomains | typeof registerDomains>>['data']
  try {
    ;({ data } = await (isPreview ? previewDomains : registerDomains)(keyContext, { domains }, store))
  } catch (error) {
    if (isApiError(error) && error.code === 'domain_limit_reached') return { kind: 'refused', teamId, names: some }
    throw error
  }
  const results = data.results.map((result, index) => ({
    ...(some[index] as Known),
    verdict: result.status === 'invalid' ? result.code : result.status,
    domainId: 'domainId' in result ? result.domainId : undefined,
  }))
  return { kind, teamId, results }
}
