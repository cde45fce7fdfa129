import { findOwners } from '../operations/find-owners.ts'
import { transfer } from '../operations/transfer.ts'
import type { Registration } from '../rules/registration.ts'
import type { DomainStore } from '../store/contract.ts'
import type { Verification } from './verify.ts'

/** What became of one claimed hostname. */
export interface ClaimResult {
  /** The hostname as it was passed. */
  readonly hostname: string
  /**
   * - `free`: no registration of another team overlaps with it.
   * - `moved`: all registrations of other teams that overlap with it belong to the claiming team now.
   * - `kept`: at least one of them stays with its team; its `reason` says why.
   * - `invalid`: it is not a hostname.
   */
  readonly status: 'free' | 'moved' | 'kept' | 'invalid'
  /** The registrations of other teams that overlap with it. */
  readonly registrations: readonly ClaimedRegistration[]
}

/** A registration of another team, and what became of it. */
export type ClaimedRegistration = {
  readonly domain: string
  /** The team that had registered it before the claim. */
  readonly from: string
  /** Its ID before the claim. */
  readonly formerId: string
  /** Whether the claiming team can prove the name. */
  readonly claimant: Verification
} & ({ readonly status: 'moved'; readonly domainId: string } | { readonly status: 'kept'; readonly reason: KeptReason })

/**
 * Why a registration stays with its team:
 *
 * - `not_verified`: the claiming team cannot prove it; `claimant` has the record to add.
 * - `both_verified`: its team can prove it too.
 * - `dns_unreachable`: the DNS did not say so of one of them. Try again later.
 * - `not_verifiable`: no record can prove it.
 * - `released`: its team has released it during the claim.
 */
export type KeptReason = 'not_verified' | 'both_verified' | 'dns_unreachable' | 'not_verifiable' | 'released'

type Verify = (teamId: string, names: readonly string[]) => Promise<readonly Verification[]>

/** How many registrations are verified and transferred at a time. */
const BATCH_SIZE = 100

/** Why a registration stays if the claiming team cannot prove it. */
const byClaimant = { missing: 'not_verified', unreachable: 'dns_unreachable', impossible: 'not_verifiable' } as const
/** Why it stays if the claiming team can: by the proof of the team that has it. */
const byHolder = {
  verified: 'both_verified',
  missing: 'released',
  unreachable: 'dns_unreachable',
  impossible: 'not_verifiable',
} as const

export async function claimNames(
  verify: Verify,
  store: DomainStore,
  teamId: string,
  hostnames: readonly string[],
): Promise<readonly ClaimResult[]> {
  const owners = await findOwners(store, hostnames)
  const inTheWay = owners.map(({ registration, below = [] }) =>
    [...(registration ? [registration] : []), ...below].filter(each => each.teamId !== teamId),
  )
  const distinct = [...new Map(inTheWay.flat().map(each => [each.domainId, each])).values()]
  const claimed = new Map<string, ClaimedRegistration>()
  for (let start = 0; start < distinct.length; start += BATCH_SIZE) {
    const batch = await claimBatch(verify, store, teamId, distinct.slice(start, start + BATCH_SIZE))
    for (const registration of batch) claimed.set(registration.formerId, registration)
  }
  return owners.map(({ hostname, rejection }, index) => {
    const registrations = (inTheWay[index] ?? []).flatMap(({ domainId }) => claimed.get(domainId) ?? [])
    const isMoved = registrations.every(({ status }) => status === 'moved')
    const status = registrations.length > 0 ? (isMoved ? 'moved' : 'kept') : rejection ? 'invalid' : 'free'
    return { hostname, status, registrations }
  })
}

async function claimBatch(
  verify: Verify,
  store: DomainStore,
  teamId: string,
  registrations: readonly Registration[],
): Promise<readonly ClaimedRegistration[]> {
  const claimants = await verify(
    teamId,
    registrations.map(({ domain }) => domain),
  )
  const rows = registrations.map((registration, index) => ({
    registration,
    claimant: claimants[index] as Verification,
  }))
  const holders = new Map<string, Verification>()
  const moved = new Map<string, string>()
  for (const from of new Set(registrations.map(each => each.teamId))) {
    const proven = rows.filter(row => row.registration.teamId === from && row.claimant.status === 'verified')
    const names = proven.map(({ registration }) => registration)
    const found = await verify(
      from,
      names.map(({ domain }) => domain),
    )
    for (const [index, { domainId }] of names.entries()) holders.set(domainId, found[index] as Verification)
    const domains = names.flatMap(({ domainId }) => (holders.get(domainId)?.status === 'missing' ? domainId : []))
    if (domains.length === 0) continue
    for (const { formerId, domainId } of await transfer(store, { from, to: teamId, domains }))
      moved.set(formerId, domainId)
  }
  return rows.map(({ registration: { domain, domainId: formerId, teamId: from }, claimant }) => {
    const facts = { domain, from, formerId, claimant }
    const domainId = moved.get(formerId)
    if (domainId !== undefined) return { ...facts, status: 'moved', domainId }
    const holder = holders.get(formerId)?.status ?? 'missing'
    const reason = claimant.status === 'verified' ? byHolder[holder] : byClaimant[claimant.status]
    return { ...facts, status: 'kept', reason }
  })
}
