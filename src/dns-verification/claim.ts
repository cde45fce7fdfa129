import { eachPage } from '../operations/each-registration.ts'
import { findOwners, readHost } from '../operations/find-owners.ts'
import { transfer } from '../operations/transfer.ts'
import { baseOf, isWildcard } from '../rules/name.ts'
import { covers } from '../rules/overlap.ts'
import type { Registration } from '../rules/registration.ts'
import { toName } from '../rules/submitted.ts'
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

/** A registration that has moved. */
export type MovedRegistration = Extract<ClaimedRegistration, { readonly status: 'moved' }>

/**
 * A claim failed after some registrations had moved. Its `cause` is the failure.
 *
 * @example
 * await verification.claim(store, '7', ['*.example.org']).catch(error => {
 *   if (error instanceof ClaimError) console.error(error.moved) // [{ domain: 'www.example.org', from: '2', … }]
 *   throw error
 * })
 */
export class ClaimError extends Error {
  override readonly name = 'ClaimError'
  /** What has moved until then, and stays moved. */
  readonly moved: readonly MovedRegistration[]

  constructor(moved: readonly MovedRegistration[], cause: unknown) {
    super(`The claim failed after ${moved.length} registrations had moved`, { cause })
    this.moved = moved
  }
}

/**
 * Why a registration stays with its team:
 *
 * - `not_verified`: the claiming team cannot prove it; `claimant` has the record to add.
 * - `both_verified`: its team can prove it too.
 * - `dns_unreachable`: the DNS did not say so of one of them. Try again later.
 * - `not_verifiable`: no record can prove it.
 * - `gone`: during the claim, its team has released it, or another claim has moved it.
 */
export type KeptReason = 'not_verified' | 'both_verified' | 'dns_unreachable' | 'not_verifiable' | 'gone'

type Verify = (teamId: string, domains: readonly string[]) => Promise<readonly Verification[]>

/** How many registrations are verified and transferred at a time. */
const BATCH_SIZE = 100

/** Why a registration stays if the claiming team cannot prove it. */
const byClaimant = { missing: 'not_verified', unreachable: 'dns_unreachable', impossible: 'not_verifiable' } as const
/** Why it stays if the claiming team can: by the proof of the team that has it. */
const byHolder = {
  verified: 'both_verified',
  missing: 'gone',
  unreachable: 'dns_unreachable',
  impossible: 'not_verifiable',
} as const

export async function claimNames(
  verify: Verify,
  store: DomainStore,
  teamId: string,
  hostnames: readonly string[],
  onMoved: ((moved: readonly MovedRegistration[]) => unknown) | undefined,
): Promise<readonly ClaimResult[]> {
  const owners = await findOwners(store, hostnames)
  const inTheWay: (readonly Registration[])[] = []
  for (const { hostname, registration } of owners) {
    const found = registration ? [registration] : await listBelow(store, hostname)
    inTheWay.push(found.filter(each => each.teamId !== teamId))
  }
  const distinct = [...new Map(inTheWay.flat().map(each => [each.domainId, each])).values()]
  const claimed = new Map<string, ClaimedRegistration>()
  const listMoved = () => [...claimed.values()].filter(each => each.status === 'moved')
  try {
    for (const from of new Set(distinct.map(each => each.teamId))) {
      const ofTeam = distinct.filter(each => each.teamId === from)
      for (let start = 0; start < ofTeam.length; start += BATCH_SIZE) {
        const batch = await claimBatch(verify, store, teamId, from, ofTeam.slice(start, start + BATCH_SIZE))
        for (const registration of batch) claimed.set(registration.formerId, registration)
        const moved = batch.filter(each => each.status === 'moved')
        if (moved.length > 0) await onMoved?.(moved)
      }
    }
  } catch (error) {
    const moved = listMoved()
    throw moved.length > 0 ? new ClaimError(moved, error) : error
  }
  return owners.map(({ hostname, rejection }, index) => {
    const registrations = (inTheWay[index] ?? []).flatMap(({ domainId }) => claimed.get(domainId) ?? [])
    const isMoved = registrations.every(({ status }) => status === 'moved')
    const status = registrations.length > 0 ? (isMoved ? 'moved' : 'kept') : rejection ? 'invalid' : 'free'
    return { hostname, status, registrations }
  })
}

/** The registrations that a wildcard would cover: none for any other hostname. */
async function listBelow(store: DomainStore, hostname: string): Promise<readonly Registration[]> {
  const wildcard = readHost(hostname)?.domain
  const list = store.list?.bind(store)
  if (wildcard === undefined || !isWildcard(wildcard) || !list) return []
  const found: Registration[] = []
  for await (const page of eachPage(list, { below: baseOf(wildcard) })) {
    for (const registration of page) {
      const name = toName(registration.domain)
      if (name && covers(wildcard, name)) found.push(registration)
    }
  }
  return found
}

/** Claims registrations of one team in one step. */
async function claimBatch(
  verify: Verify,
  store: DomainStore,
  teamId: string,
  from: string,
  registrations: readonly Registration[],
): Promise<readonly ClaimedRegistration[]> {
  const claimants = new Map((await verify(teamId, toDomains(registrations))).map(each => [each.domain, each]))
  const proven = toDomains(registrations).filter(domain => claimants.get(domain)?.status === 'verified')
  const holders = new Map((await verify(from, proven)).map(each => [each.domain, each]))
  const free = registrations.filter(({ domain }) => holders.get(domain)?.status === 'missing')
  const domains = free.map(({ domainId }) => domainId)
  const transferred = domains.length > 0 ? await transfer(store, { from, to: teamId, domains }) : []
  const moved = new Map(transferred.map(({ formerId, domainId }) => [formerId, domainId]))
  return registrations.map(({ domain, domainId: formerId }) => {
    const claimant = claimants.get(domain) as Verification
    const facts = { domain, from, formerId, claimant }
    const domainId = moved.get(formerId)
    if (domainId !== undefined) return { ...facts, status: 'moved', domainId }
    const holder = holders.get(domain)?.status ?? 'missing'
    const reason = claimant.status === 'verified' ? byHolder[holder] : byClaimant[claimant.status]
    return { ...facts, status: 'kept', reason }
  })
}

const toDomains = (registrations: readonly Registration[]) => registrations.map(({ domain }) => domain)
