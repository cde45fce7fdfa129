import { createFailureLog, ignoreErrors } from '../errors/failure-log.ts'
import { countRule, isFunction, optional, type Rules, requireOptions } from '../options.ts'
import {
  type Outbox,
  onErrorRule,
  type PendingChange,
  type PendingStats,
  type Push,
  type SweepOptions,
  type SweepResult,
  type SynchronizationErrorHandler,
} from '../outbox/contract.ts'
import { DEFAULT_PUSH_TIME_LIMIT } from '../outbox/policy.ts'
import { createSynchronizer, leaseFor } from '../outbox/synchronizer.ts'
import { baseOf, isWildcard, type Name } from '../rules/name.ts'
import type { ImportFindings, LookUpResult, Registration, Team } from '../rules/registration.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { timeLimitRule } from '../time/deadline.ts'
import {
  type ListPage,
  type ReleaseKeys,
  readCountOptions,
  readDomainId,
  readListOptions,
  readPendingOptions,
  readRelease,
  readRetryOptions,
  readSettleOptions,
  readSweepOptions,
  type ToDomainId,
} from './arguments.ts'
import type {
  DomainStore,
  ImportRequest,
  ListOptions,
  LookUp,
  RegistrationRequest,
  SavedRegistrations,
  TransferRequest,
  TransferredRegistrations,
} from './contract.ts'

/** The options that all bundled stores share. */
export interface ManagedStoreOptions {
  /** Finds one of your teams; see {@link DomainStore.findTeam}. */
  findTeam: (teamId: string) => Awaitable<Team<string | number> | null>
  /**
   * Pushes changes to your monitor. The function must be idempotent on `domainId` and `kind`: a change may be pushed
   * twice. While it rejects, calls that register names fail with 503. Default: there is no monitor, and registrations
   * are saved as synchronized.
   */
  synchronize?: Push | undefined
  /**
   * After this many milliseconds, a push counts as failed, and is retried even if it succeeds later. Default 30,000.
   */
  synchronizeTimeLimit?: number | undefined
  /**
   * The maximum number of changes in one push, at least 1. A push of that many changes must finish within
   * `synchronizeTimeLimit`. Default: the property `batchSize` of `synchronize`, which {@link createWebhook} sets to
   * 100. If there is no such property, a push may contain all changes of a call or a sweep.
   */
  batchSize?: number | undefined
  /**
   * The maximum number of pushes that the store makes at once, at least 1. Other calls wait until their lease ends, and
   * the teams take turns. If 10,000 calls of a team wait, its next one gets 503 at once. Default 20.
   */
  maxPushes?: number | undefined
  /** Called for each change that the monitor refused, and when all pushes fail. Default: logs to the console. */
  onError?: SynchronizationErrorHandler | undefined
}

/** A store with all methods that your application needs; every bundled store is one. */
export interface ManagedStore extends DomainStore {
  /**
   * Returns the registration with this ID, of any team; `null` if there is none, or if the string cannot be an ID.
   *
   * @throws {TypeError} if the ID is not a string.
   */
  get(domainId: string): Awaitable<Registration | null>
  find(question: LookUp): Awaitable<LookUpResult>
  release(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>
  list(options?: ListOptions): Awaitable<readonly Registration[]>
  count(options?: Pick<ListOptions, 'teamId'>): Awaitable<number>
  /**
   * Runs one sweep: pushes the pending changes that are due, those that were never refused mostly first. Teams take
   * turns. {@link startSynchronizing} calls this in a loop. Refused changes are retried with exponential backoff, up to
   * an hour. Processes that share a database share the work.
   *
   * @throws {TypeError} if an option is invalid or unknown.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /** Counts the pending changes, which are registrations and releases. For alerts. */
  countPending(): Awaitable<number>
  /**
   * Returns how many changes are pending and how many are refused, since when the oldest is pending, and which refused
   * change has been pending the longest. For alerts.
   */
  pendingStats(): Awaitable<PendingStats>
  /**
   * Makes changes due at once if their push has failed, so the next sweep pushes them. Call it when the monitor has
   * been fixed. Otherwise, refused changes wait for up to an hour.
   *
   * @param options `domainIds`: the IDs of the changes to push, at most 1,000. Default: all changes whose push failed.
   * @returns How many changes became due.
   * @throws {TypeError} if an option is invalid or unknown.
   */
  retryPending(options?: { readonly domainIds?: readonly string[] | undefined }): Promise<number>
  /**
   * Counts changes as delivered, so they are never pushed again. Call it for changes that the monitor will never
   * accept, after you have corrected the monitor by hand. A registration then counts as synchronized.
   *
   * @param options `domainIds`: the IDs of the changes, at most 1,000.
   * @returns How many changes were pending.
   * @throws {TypeError} if `domainIds` is missing or invalid, or an option is unknown.
   *
   * @example
   * const { longestRefused } = await store.pendingStats()
   * if (longestRefused) await store.settlePending({ domainIds: [longestRefused.domainId] })
   */
  settlePending(options: { readonly domainIds: readonly string[] }): Promise<number>
  /**
   * Lists the pending changes in order of `domainId`. If the last push of a change failed, the list shows why.
   *
   * @param options `after`: the last `domainId` of the previous page. `limit`: the length of the page, at most 1,000,
   *   which is the default.
   * @throws {TypeError} if an option is invalid or unknown.
   */
  listPending(options?: {
    readonly after?: string | undefined
    readonly limit?: number | undefined
  }): Awaitable<readonly PendingChange[]>
}

/** The work of a store for one request, in one atomic step; see {@link DomainStore.register}. */
export interface RegistrationStep extends Omit<RegistrationRequest, 'decide'> {
  /**
   * For how many milliseconds the new registrations are leased to the call, so no sweep pushes them. 0: no lease.
   * `null`: the store has no push, so new registrations are saved as synchronized.
   */
  readonly lease: number | null
  /** Pure and synchronous. The store may call it any number of times. */
  decide(found: LookUpResult): Decision
}

/** The decision of a {@link RegistrationStep}. */
export interface Decision {
  /** The names to save for the team. */
  readonly created: readonly Name[]
  /**
   * The pending registrations among the findings. The store MUST also lease these changes to the call, except any
   * that are not yet due when the lease ends.
   */
  readonly waiting: readonly Registration[]
}

/** How to record releases in the {@link Outbox}. */
export interface ReleaseRecording {
  /**
   * For how many milliseconds the release of a pending registration MUST wait: a push of the registration may be under
   * way, and the release must not overtake it. Any other release is due at once.
   */
  readonly lease: number
  /**
   * Whether this store pushes. If the store pushes, every release MUST be recorded. If the store does not push, a
   * release MUST be recorded if its registration is still pending, or if any store has ever swept these tables or
   * finished a push. Otherwise there is no monitor, and the release SHOULD NOT be recorded, because no sweep would ever
   * remove the record.
   */
  readonly isPushed: boolean
}

/** Where a {@link ManagedStore} keeps its registrations and its {@link Outbox}. All names are canonical. */
export interface StoreBackend {
  /** See {@link DomainStore.register}. */
  register(step: RegistrationStep): Awaitable<SavedRegistrations>
  /** See {@link DomainStore.find}. */
  find(question: LookUp): Awaitable<LookUpResult>
  /** See {@link ManagedStore.get}. The ID is in the form that {@link toDomainId} returns. */
  get(domainId: string): Awaitable<Registration | null>
  /**
   * Releases the team's registrations with these names and IDs; see {@link DomainStore.release}. Records the releases
   * in the outbox according to {@link ReleaseRecording}.
   */
  release(teamId: string, keys: ReleaseKeys, recording: ReleaseRecording): Awaitable<readonly Registration[]>
  /** See {@link DomainStore.import}. Without this method, the store cannot import. */
  import?(request: ImportRequest): Awaitable<ImportFindings>
  /**
   * See {@link DomainStore.transfer}. `keys` are the `domains` of the request. Without this method, the store cannot
   * transfer.
   *
   * The transfer is recorded if a plain release of the registration would be recorded. It is recorded as two changes: a
   * new registration, which is due at once, and a release. The release has the same due time as a plain release, and
   * follows the new registration; see {@link Outbox}.
   */
  transfer?(
    request: TransferRequest,
    keys: ReleaseKeys,
    recording: ReleaseRecording,
  ): Awaitable<TransferredRegistrations>
  /** See {@link DomainStore.list}. */
  list(page: ListPage): Awaitable<readonly Registration[]>
  /** @param teamId Default: all teams. */
  count(teamId: string | undefined): Awaitable<number>
  /**
   * Reads an ID from a string, and returns it in the form that the other methods expect. Returns `null` if the string
   * cannot be an ID from this store; a call with such a cursor gets a 400. Default: accepts any string, and returns it
   * unchanged.
   */
  toDomainId?(text: string): string | null
  readonly outbox: Outbox
  /** Whether all work is part of a transaction that your application commits later. If so, nothing is pushed. */
  readonly isInTransaction?: boolean
}

/** The rules of {@link ManagedStoreOptions}. */
export const managedStoreRules: Rules = {
  findTeam: { holds: isFunction, expected: 'a function from an ID to a team' },
  synchronize: { holds: optional(isFunction), expected: 'a function that takes an array of changes' },
  synchronizeTimeLimit: timeLimitRule,
  batchSize: countRule,
  maxPushes: countRule,
  onError: onErrorRule,
}

/**
 * Creates a store for your application from a backend. The store checks arguments, converts names to their canonical
 * form, and pushes changes, with backoff. All bundled stores are created this way, and yours can be too.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 *
 * @example
 * const store = createManagedStore(backend, {
 *   findTeam: id => myTeams.find(id),
 *   synchronize: changes => monitor.apply(changes),
 * })
 */
export function createManagedStore(backend: StoreBackend, options: ManagedStoreOptions): ManagedStore {
  requireOptions(options, managedStoreRules)
  const { outbox, transfer, isInTransaction = false } = backend
  const { findTeam, synchronize: push, onError = createSynchronizationLog() } = options
  const { synchronizeTimeLimit: timeLimit = DEFAULT_PUSH_TIME_LIMIT, batchSize = push?.batchSize, maxPushes } = options
  requireOptions({ batchSize }, { batchSize: countRule }, 'property', 'properties of synchronize')
  const toDomainId: ToDomainId = text => (backend.toDomainId ? backend.toDomainId(text) : text)
  const synchronizer = push && createSynchronizer({ push, timeLimit, batchSize, maxPushes }, outbox)
  const lease = push ? (isInTransaction ? 0 : leaseFor(timeLimit)) : null
  const recording = { lease: leaseFor(timeLimit), isPushed: push !== undefined }
  /** A time before the lease of a pending registration began. A process may freeze between lease and push. */
  const leasedAt = new WeakMap<Registration, number>()

  async function register({ decide, ...request }: RegistrationRequest): Promise<SavedRegistrations> {
    // A call pushes the registrations that it creates. It also pushes pending registrations of its team if their exact
    // names are in the call. If a pending wildcard covers a name of the call, but is not itself in the call, only
    // sweeps push it. Otherwise calls would renew the wildcard's lease again and again.
    const isNamed = ({ domain }: Name) => !isWildcard(domain) || request.bases.includes(baseOf(domain))
    const isWaiting = (registration: Registration) =>
      !registration.synchronized && registration.teamId === request.teamId && isNamed(registration)
    let decidedAt = performance.now()
    const result = await backend.register({
      ...request,
      lease,
      decide(found) {
        decidedAt = performance.now()
        return { created: decide(found), waiting: lease ? found.registrations.filter(isWaiting) : [] }
      },
    })
    // The core rejects a malformed result.
    for (const registration of [...(result?.found?.registrations ?? []), ...(result?.saved ?? [])])
      if (!registration.synchronized) leasedAt.set(registration, decidedAt)
    return result
  }

  return {
    findTeam,
    register,
    find: question => backend.find(question),
    get(text) {
      const domainId = readDomainId(text, toDomainId)
      return domainId === null ? null : backend.get(domainId)
    },
    release: (teamId, domains) => backend.release(teamId, readRelease(teamId, domains, toDomainId), recording),
    ...(backend.import && { import: backend.import.bind(backend) }),
    ...(transfer && {
      transfer: (request: TransferRequest) =>
        transfer.call(backend, request, readRelease(request.from, request.domains, toDomainId), recording),
    }),
    list: options => backend.list(readListOptions(options, toDomainId)),
    count: options => backend.count(readCountOptions(options).teamId),
    ...(isInTransaction && { isInTransaction }),
    ...(synchronizer &&
      !isInTransaction && {
        synchronize: (registrations: readonly Registration[]) => {
          const times = registrations.map(registration => leasedAt.get(registration) ?? performance.now())
          return synchronizer.synchronize(registrations, Math.min(...times), ignoreErrors(onError))
        },
      }),

    async synchronizePending(sweep) {
      const { limit, onError: report = onError, signal } = readSweepOptions(sweep)
      if (!synchronizer) return { synchronized: 0, failed: 0 }
      if (isInTransaction)
        throw new Error('A store in a transaction pushes nothing: after the commit, sweep with a store on a pool')
      return synchronizer.sweep(limit, ignoreErrors(report), signal)
    },

    countPending: async () => (await outbox.stats()).count,
    pendingStats: () => outbox.stats(),
    retryPending: async options => outbox.retry(readRetryOptions(options, toDomainId)),
    settlePending: async options => outbox.settle(readSettleOptions(options, toDomainId)),
    listPending(page) {
      const { after, limit } = readPendingOptions(page, toDomainId)
      return outbox.list(after, limit)
    },
  }
}

/** Logs the failure of a push, without the hostname. */
function createSynchronizationLog(): SynchronizationErrorHandler {
  const log = createFailureLog()
  return (error, change) => {
    const step = 'pushing changes to the monitor'
    if (!change) log(error, { step })
    else {
      const { kind, domainId, domain, teamId } = change
      log(error, { step, teamId, count: 1, change: `${kind} ${domainId}` }, { domain })
    }
  }
}
