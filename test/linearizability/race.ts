import type { Awaitable } from '../../src/awaitable.ts'
import { classifyHostname } from '../../src/hostname/classify.ts'
import type { Name } from '../../src/registry/name.ts'
import { createRegistrationRequest, judgeAll } from '../../src/registry/request.ts'
import type { DomainStore, Registration } from '../../src/registry/store.ts'
import { createRequest } from '../../src/testing/calls.ts'
import type { Random } from '../simulation/random.ts'
import type { Deed } from './history.ts'
import type { Held, Operation } from './registry.ts'

/** A store with whatever it has of the operations that are raced. */
export interface RacedStore extends Pick<DomainStore, 'register' | 'synchronize'> {
  release(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>
  synchronizePending(options?: { limit?: number }): Promise<unknown>
  reclassify?(): Promise<{ readonly left: readonly { readonly domainId: string }[] }>
}

/** What a push says of one registration; of its release too, where the store tells releases. */
interface Change {
  readonly domainId: string
  readonly kind?: 'registered' | 'released'
}

interface Push {
  readonly changes: readonly Change[]
  readonly startedAt: number
  /** `null` while it is under way, and for good if it failed. */
  wentThroughAt: number | null
}

/** What does the monitoring, as one client's store reaches it: now and then a push fails. */
export interface Monitor {
  readonly push: (changes: readonly Change[]) => Promise<void>
  /** Which pushes were made since the last time. */
  takePushes(): readonly Push[]
}

const FAILING_PUSHES = 0.1

export function createMonitor(random: Random, now: () => number): Monitor {
  let pushes: Push[] = []
  return {
    async push(changes) {
      const push: Push = { changes: [...changes], startedAt: now(), wentThroughAt: null }
      pushes.push(push)
      for (let ticks = random.integer(0, 4); ticks > 0; ticks -= 1) await undefined
      if (random.chance(FAILING_PUSHES)) throw new PushFailed('The monitor is away')
      push.wentThroughAt = now()
    },
    takePushes() {
      const taken = pushes
      pushes = []
      return taken
    },
  }
}

export class PushFailed extends Error {}

/** Makes one call of its store after another. */
export interface Client {
  readonly name: string
  readonly store: RacedStore
  readonly monitor: Monitor
}

export interface Race {
  readonly clients: readonly Client[]
  readonly random: Random
  /** Never goes back, and is the same for all clients. */
  readonly now: () => number
  readonly registrableDomains: readonly string[]
  /** What is kept under a registrable domain that is not its own, and a walk puts right. */
  readonly misplaced: readonly Held[]
  /** Of all clients together. */
  readonly calls: number
}

export interface Outcome {
  readonly deeds: readonly Deed[]
  /** What calls failed with; none of them has done anything. */
  readonly failures: readonly unknown[]
}

const teamIds = ['1', '2']

/** The names of a registrable domain that are wanted: few, and they overlap in every way. */
export const namesOf = (registrableDomain: string): Name[] =>
  ['', '*.', 'x.', '*.x.', 'y.x.', 'w.'].map(labels => ({ domain: labels + registrableDomain, registrableDomain }))

/** Lets clients call their stores at the same time, without any agreement. */
export async function race({ clients, random, now, calls, ...wanted }: Race): Promise<Outcome> {
  const deeds: Deed[] = []
  const failures: unknown[] = []
  const seen: Registration[] = []
  let left = calls

  async function work(client: Client): Promise<void> {
    while (left > 0) {
      left -= 1
      const act = random.pick(client.store.reclassify ? actsWithReclassify : acts)
      const startedAt = now()
      const operations = await act({ ...wanted, client, random, seen }).catch((failure: unknown) => {
        if (!(failure instanceof PushFailed)) failures.push(failure)
        return null
      })
      const endedAt = now()
      for (const operation of operations ?? []) {
        deeds.push({ client: client.name, operation, startedAt, endedAt })
        if (operation.kind === 'register') seen.push(...operation.saved, ...operation.found)
      }
      const markedAt = operations ? endedAt : Number.POSITIVE_INFINITY
      deeds.push(...toDeeds(client, markedAt, wanted.misplaced))
    }
  }
  await Promise.all(clients.map(work))
  return { deeds, failures }
}

/**
 * What went through is marked until the call ends; if that failed, it may never be, nor may what was put right
 * meanwhile: it is then pushed once more.
 */
function toDeeds({ name: client, monitor }: Client, markedAt: number, misplaced: readonly Held[]): Deed[] {
  const mayMove = new Set(misplaced.map(({ domainId }) => domainId))
  return monitor.takePushes().flatMap(({ changes, startedAt, wentThroughAt }) =>
    changes.flatMap(({ kind = 'registered', domainId }): Deed[] => {
      if (kind === 'released') {
        return [{ client, operation: { kind: 'tell of a release', domainId }, startedAt, endedAt: startedAt }]
      }
      if (wentThroughAt === null) return []
      const endedAt = mayMove.has(domainId) ? Number.POSITIVE_INFINITY : markedAt
      return [{ client, operation: { kind: 'mark', domainId }, startedAt: wentThroughAt, endedAt }]
    }),
  )
}

interface Surroundings extends Pick<Race, 'registrableDomains' | 'misplaced' | 'random'> {
  readonly client: Client
  /** Registrations that any client has seen. */
  readonly seen: readonly Registration[]
}

/** Makes a call, and says what was answered. */
type Act = (surroundings: Surroundings) => Promise<readonly Operation[]>

function pickNames({ random, registrableDomains }: Surroundings): Name[] {
  const names = Array.from({ length: random.integer(1, 2) }, () => random.pick(registrableDomains)).flatMap(namesOf)
  return Array.from({ length: random.integer(1, 4) }, () => random.pick(names))
}

const register: Act = async surroundings => {
  const teamId = surroundings.random.pick(teamIds)
  const submitted = pickNames(surroundings)
  const request = createRegistrationRequest(teamId, submitted)
  const { found, saved } = await surroundings.client.store.register(request)
  return [
    {
      kind: 'register',
      teamId,
      submitted,
      verdicts: judgeAll(teamId, submitted, found).map(verdict =>
        verdict.status === 'invalid' ? verdict.code : verdict.status,
      ),
      names: request.names,
      found: [...found.registrations],
      bases: request.wildcardBases,
      below: [...found.below],
      saved: [...saved],
    },
  ]
}

const release: Act = async surroundings => {
  const teamId = surroundings.random.pick(teamIds)
  const names = pickNames(surroundings)
  const released = await surroundings.client.store.release(
    teamId,
    names.map(({ domain }) => domain),
  )
  return [{ kind: 'release', teamId, names, released: [...released] }]
}

const look: Act = async ({ client, random, registrableDomains }) => {
  const names = [...new Set([random.pick(registrableDomains), random.pick(registrableDomains)])].flatMap(namesOf)
  const { found } = await client.store.register(createRequest(random.pick(teamIds), names, [], () => []))
  return [{ kind: 'look', names, found: [...found.registrations] }]
}

const synchronize: Act = async ({ client, random, seen }) => {
  const some = Array.from({ length: Math.min(seen.length, random.integer(1, 3)) }, () => random.pick(seen.slice(-12)))
  const registrations = [...new Map(some.map(registration => [registration.domainId, registration])).values()]
  if (registrations.length > 0) await client.store.synchronize?.(registrations)
  return []
}

const sweep: Act = async ({ client, random }) => {
  await client.store.synchronizePending({ limit: random.integer(1, 8) })
  return []
}

const reclassify: Act = async ({ client, misplaced }) => {
  const left = new Set((await client.store.reclassify?.())?.left.map(({ domainId }) => domainId))
  return misplaced.map(({ domainId }) => ({ kind: 'put right', domainId, isLeft: left.has(domainId) }))
}

/** The more often, the more entries. */
const acts: readonly Act[] = [
  ...Array(9).fill(register),
  ...Array(5).fill(release),
  look,
  synchronize,
  synchronize,
  sweep,
]
const actsWithReclassify: readonly Act[] = [...acts, reclassify, reclassify]

/**
 * Registers names under registrable domains that an older Public Suffix List would say: one that is too long, or too
 * short.
 *
 * @returns What is there then, as the specification sees it.
 */
export async function misplace(
  store: RacedStore,
  random: Random,
  registrableDomains: readonly string[],
): Promise<Held[]> {
  const held: Held[] = []
  for (const registrableDomain of registrableDomains) {
    const isPrivate = registrableDomain.endsWith('.github.io')
    const stale = isPrivate ? 'github.io' : `x.${registrableDomain}`
    const candidates = namesOf(registrableDomain).filter(
      ({ domain }) => domain === stale || domain.endsWith(`.${stale}`),
    )
    const names = candidates
      .filter(() => random.chance(0.3))
      .map(({ domain }) => ({ domain, registrableDomain: stale }))
    if (names.length === 0) continue
    const teamId = random.pick(teamIds)
    const { saved } = await store.register(createRequest(teamId, names, [], () => names))
    held.push(...saved.map(registration => ({ ...registration, registrableDomain, isMisplaced: true })))
  }
  return held
}

/** As the store would say it of everything that it holds. */
export const toTrueNames = (registrations: readonly Registration[]): Registration[] =>
  registrations.map(registration => {
    const hostname = classifyHostname(registration.domain)
    return hostname.valid ? { ...registration, registrableDomain: hostname.registrableDomain } : registration
  })
