import { isApiError } from '../../src/errors/api-error.ts'
import { deleteDomains } from '../../src/operations/delete-domains.ts'
import { importDomains } from '../../src/operations/import-domains.ts'
import { listDomains } from '../../src/operations/list-domains.ts'
import { previewDomains } from '../../src/operations/preview-domains.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { transfer } from '../../src/operations/transfer.ts'
import type { DomainStore, ImportRequest } from '../../src/store/contract.ts'
import type { Random } from '../random.ts'
import type { Known } from '../rules/brute-force.ts'
import type { Deed, ImportedRow, Operation } from './registry.ts'

export type RacedStore = DomainStore & Required<Pick<DomainStore, 'find' | 'release' | 'list'>>

/** A client that makes one call after another on its store. */
export interface Client {
  readonly name: string
  readonly store: RacedStore
}

export interface Race {
  readonly clients: readonly Client[]
  readonly random: Random
  readonly registrableDomains: readonly string[]
  /** The total number of calls by all clients. */
  readonly calls: number
}

/** How many names each of these teams may register. Teams that are not listed have no limit. */
export const limits: Readonly<Record<string, number>> = { 2: 3 }

/** Finds a team for every ID, so all stores have the same teams. */
export const findTeam = (id: string) => ({
  id,
  organizationId: '1',
  state: 'active' as const,
  maxDomains: limits[id] ?? null,
})

/** The time in microseconds, the same in all processes. */
export const now = () => Number(process.hrtime.bigint() / 1000n)

const teamIds = ['1', '2']

/** A few names that overlap in every possible way. */
const namesOf = (registrableDomain: string): Known[] =>
  ['', '*.', 'x.', '*.x.', 'y.x.', 'w.'].map(labels => ({ domain: labels + registrableDomain, registrableDomain }))

/** Lets clients call their stores at the same time, without coordination. */
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
  if (store.transfer && random.chance(0.15)) return callTransfer(store, teamId, some)
  if (store.import && random.chance(0.1)) return callImport(store, random, some)
  if (random.chance(0.35)) {
    const { data } = await deleteDomains(keyContext, { domains }, store)
    const released = data.results.flatMap((result, index) =>
      result.status === 'deleted' ? [{ ...(some[index] as Known), teamId, domainId: result.domainId }] : [],
    )
    return { kind: 'release', teamId, names: some, released }
  }
  const toResults = (
    results: readonly { readonly status: string; readonly code?: string; readonly domainId?: string }[],
  ) =>
    results.map(({ status, code, domainId }, index) => ({
      ...(some[index] as Known),
      verdict: code ?? status,
      domainId,
    }))
  if (random.chance(0.2)) {
    const { data } = await previewDomains(keyContext, { domains }, store)
    return { kind: 'preview', teamId, results: toResults(data.results), room: data.room }
  }
  try {
    const { data } = await registerDomains(keyContext, { domains }, store)
    return { kind: 'register', teamId, results: toResults(data.results) }
  } catch (error) {
    if (isApiError(error) && error.code === 'domain_limit_reached') return { kind: 'refused', teamId, names: some }
    throw error
  }
}

async function callTransfer(store: RacedStore, from: string, names: readonly Known[]): Promise<Operation> {
  const to = teamIds.find(id => id !== from) as string
  const answer = { kind: 'transfer', from, to, names } as const
  try {
    const transferred = await transfer(store, { from, to, domains: names.map(({ domain }) => domain) })
    const toName = (domain: string) => names.find(name => name.domain === domain) as Known
    return { ...answer, transferred: transferred.map(each => ({ ...toName(each.domain), ...each })) }
  } catch (error) {
    if (isApiError(error) && error.code === 'domain_limit_reached') return { ...answer, transferred: null }
    throw error
  }
}

/**
 * Imports names whose IDs come from a set so small that some collide. Each ID belongs to names of one registrable
 * domain only. No names are imported for a team that has a limit: an import ignores the limit, and does not wait for
 * calls that count the team's names. Such a call may miss imported rows that other calls have already seen.
 */
async function callImport(store: RacedStore, random: Random, names: readonly Known[]): Promise<Operation> {
  const rows = names.map(name => ({
    ...name,
    teamId: random.pick(teamIds.filter(id => limits[id] === undefined)),
    domainId: idOf(name, random.integer(0, 2)),
  }))
  let imported: readonly { readonly domain: string }[] = []
  const importRows = (request: ImportRequest) =>
    (store.import as NonNullable<DomainStore['import']>)({
      ...request,
      decide(found) {
        // A failed import is retried, so only the last attempt counts.
        imported = request.decide(found)
        return request.decide(found)
      },
    })
  const createdAt = new Date()
  const registrations = rows.map(row => ({ ...row, createdAt, synchronized: true }))
  const { rejected } = await importDomains({ ...store, import: importRows }, registrations)
  const codes = [...rejected]
  const saved = new Set(imported.map(({ domain }) => domain))
  const verdictOf = ({ domain, domainId, teamId }: Omit<ImportedRow, 'verdict'>) => {
    const [next] = codes
    if (next?.domain === domain && next.domainId === domainId && next.teamId === teamId) return codes.shift()?.code
    // If two rows are equal, the first one is imported, and the second one finds the imported registration.
    return saved.delete(domain) ? 'imported' : 'existing'
  }
  return { kind: 'import', rows: rows.map(row => ({ ...row, verdict: verdictOf(row) as string })) }
}

/** A UUID of version 7. */
function idOf({ registrableDomain }: Known, number: number): string {
  const hex = Buffer.from(registrableDomain).toString('hex').padEnd(16, '0').slice(0, 15)
  return `01900000-0000-7000-8${hex.slice(0, 3)}-${hex.slice(3, 14)}${number}`
}
