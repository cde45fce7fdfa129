import type { Awaitable } from '../awaitable.ts'
import { classifyHostname } from '../hostname/classify.ts'
import { describe, optional, type Rules, requireOptions } from '../options.ts'
import { readListOptions, requireRelease } from '../registry/host-arguments.ts'
import {
  createSynchronizer,
  DEFAULT_SYNCHRONIZE_TIME_LIMIT,
  leaseFor,
  synchronizationRules,
  unsynchronizedOf,
} from '../registry/outbox.ts'
import type {
  Change,
  DomainStore,
  ListOptions,
  Registered,
  Registration,
  RegistrationRequest,
  SweepOptions,
  SweepResult,
  SynchronizationErrorHandler,
  Team,
} from '../registry/store.ts'
import { createUuidGenerator } from '../uuid.ts'
import { createHolding, type Holding, toRegistration } from './holding.ts'
import { listPage } from './list-page.ts'
import { createRegistrations } from './registrations.ts'
import { createWaitingChanges } from './waiting-changes.ts'

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  /** The first teams. Default: none; see {@link MemoryStore.addTeam}. */
  teams?: readonly Team[] | undefined
  /**
   * Pushes changes to your monitor. It must be idempotent on `domainId` and `kind`, since a change may be pushed twice.
   * While it rejects, calls that registered something answer 503. Default: registrations need no push.
   */
  synchronize?: ((changes: readonly Change[]) => Awaitable<unknown>) | undefined
  /**
   * Milliseconds after which a push counts as failed, and will be repeated even if it goes through later. Default
   * 30,000.
   */
  synchronizeTimeLimit?: number | undefined
  /** Called with each change that could not be pushed. Default: failures are not reported. */
  onError?: SynchronizationErrorHandler | undefined
}

/** A store in memory, with methods for the host. */
export interface MemoryStore extends DomainStore {
  /** Adds a team, or replaces the one with the same ID, for instance to suspend it. */
  addTeam(team: Team): void
  /**
   * Releases registrations of a team, so that the names are free again. Names that the team does not hold are ignored.
   * The next sweep tells the monitor; see {@link startSynchronizing}.
   *
   * @param domains In any spelling that {@link classifyHostname} accepts.
   * @returns The released registrations.
   * @throws {TypeError} for an ID that is no string, or domains that are no list.
   */
  release(teamId: string, domains: readonly string[]): Registration[]
  /**
   * Lists registrations page by page, in the order in which they were made. Each page costs a pass over all of them.
   *
   * @returns At most `limit`; fewer on the last page.
   * @throws {TypeError} for an option that is wrong or does not exist.
   */
  list(options?: ListOptions): Registration[]
  /**
   * Sweeps: pushes the waiting changes that are due, the oldest first. {@link startSynchronizing} calls this in a loop.
   * Refused changes are retried with exponential backoff, up to an hour.
   *
   * @throws {TypeError} for an option that is wrong or does not exist.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /** Counts the changes that wait to be pushed, registrations and releases. For alerts. */
  countPending(): number
}

/**
 * Makes a store in memory: the embedded default. Its registrations are lost when the process ends. A registration keeps
 * the submitted string; if a host sliced that from a longer text, the engine keeps the whole text.
 *
 * @throws {TypeError} for an option that is wrong or does not exist.
 *
 * @example
 * const store = createMemoryStore({ teams: [{ id: '1', organizationId: '7', state: 'active' }] })
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  requireOptions(options, rules())
  const { synchronize: push, synchronizeTimeLimit: timeLimit = DEFAULT_SYNCHRONIZE_TIME_LIMIT, onError } = options
  const teams = new Map<string, Team>()
  const registrations = createRegistrations()
  const waiting = createWaitingChanges(leaseFor(timeLimit))
  const synchronizer = push && createSynchronizer({ push, timeLimit, onError }, waiting)
  const createId = createUuidGenerator()

  function addTeam(team: Team): void {
    requireTeam(team)
    // A copy: the host may change its object later.
    teams.set(team.id, Object.freeze({ ...team }))
  }
  options.teams?.forEach(addTeam)

  /** Atomic, because all of it is synchronous. */
  function register(request: RegistrationRequest): Registered {
    const { names, wildcardBases } = request
    const holdings = registrations.findAll(names)
    const found = {
      registrations: holdings.map(toRegistration),
      below: wildcardBases.map(base => registrations.findBelow(base, request.teamId)),
    }
    const created = request.decide(found)
    for (const { domainId } of unsynchronizedOf(request, found)) waiting.lease(domainId)

    // One string, shared by all registrations of the team.
    const teamId = teams.get(request.teamId)?.id ?? request.teamId
    const now = Date.now()
    // All are made before the first is saved, so that a failure saves none.
    const newcomers = created.map(name => createHolding(name, createId(now), teamId, push === undefined))
    newcomers.forEach(registrations.add)
    if (push) newcomers.forEach(waiting.addRegistered)
    return { found, saved: newcomers.map(toRegistration) }
  }

  function release(teamId: string, domains: readonly string[]): Registration[] {
    requireRelease(teamId, domains)
    return domains.flatMap(domain => {
      const hostname = classifyHostname(domain)
      const holding = hostname.valid ? registrations.find(hostname) : undefined
      if (holding?.teamId !== teamId) return []
      registrations.remove(holding)
      if (push) waiting.addReleased(holding)
      return [toRegistration(holding)]
    })
  }

  return {
    addTeam,
    findTeam: teamId => teams.get(teamId) ?? null,
    register,
    release,
    list(options) {
      const { teamId, after = '', limit } = readListOptions(options)
      const isListed = (holding: Holding) =>
        holding.domainId > after && (teamId === undefined || holding.teamId === teamId)
      return listPage(registrations.all(), isListed, limit).map(toRegistration)
    },
    ...(synchronizer && { synchronize: synchronizer.synchronize }),
    synchronizePending: synchronizer?.synchronizePending ?? (async () => ({ synchronized: 0, failed: 0 })),
    countPending: waiting.count,
  }
}

/** Made when asked for: bundlers keep a spread at the top level of a module, used or not. */
const rules = (): Rules => ({
  teams: { holds: optional(Array.isArray), expected: 'a list of teams' },
  ...synchronizationRules,
})

/** @throws {TypeError} for a team that would never be found, or never be active. */
function requireTeam({ id, organizationId, state }: Team): void {
  const wrong = Object.entries({ id, organizationId }).find(([, value]) => typeof value !== 'string')
  if (wrong) throw new TypeError(`The "${wrong[0]}" of a team must be a string; it is ${describe(wrong[1])}`)
  if (typeof state !== 'string') {
    throw new TypeError(`The "state" of a team must be "active" or "suspended"; it is ${describe(state)}`)
  }
}
