import { createFailureLog } from '../errors/failure-log.ts'
import { ignoreErrors } from '../errors/ignore-errors.ts'
import { isFunction, optional, type Rule, type Rules, requireOptions } from '../options.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { timeLimitRule } from '../time/deadline.ts'
import { baseOf, isWildcard, type Name } from './name.ts'
import type {
  Outbox,
  PendingChange,
  PendingStats,
  Push,
  SweepOptions,
  SweepResult,
  SynchronizationErrorHandler,
} from './outbox.ts'
import type {
  DomainStore,
  ImportFindings,
  ImportRequest,
  ListedRegistration,
  ListOptions,
  LookUp,
  LookUpResult,
  Registration,
  RegistrationRequest,
  SavedRegistrations,
  Team,
  TransferRequest,
  TransferredRegistrations,
} from './store.ts'
import {
  type ListPage,
  onErrorRule,
  type ReleaseKeys,
  readCountOptions,
  readListOptions,
  readPendingOptions,
  readRelease,
  readRetryOptions,
  readSweepOptions,
  type ToDomainId,
} from './store-arguments.ts'
import { createSynchronizer, DEFAULT_PUSH_TIME_LIMIT, leaseFor } from './synchronizer.ts'

/** The options that all bundled stores share. */
export interface ManagedStoreOptions {
  /** Finds one of your teams; see {@link DomainStore.findTeam}. */
  findTeam: (teamId: string) => Awaitable<Team | null>
  /**
   * Pushes changes to your monitor. It must be idempotent on `domainId` and `kind`: a change may be pushed twice. While
   * it rejects, calls that register something fail with 503. Default: registrations need no push.
   */
  synchronize?: Push | undefined
  /**
   * Milliseconds after which a push counts as failed, and is retried even if it succeeds later. Default 30,000.
   */
  synchronizeTimeLimit?: number | undefined
  /**
   * The most changes in one push, 1 or more; a push of this many must fit into `synchronizeTimeLimit`. Default: the
   * `batchSize` of `synchronize`, which {@link createWebhook} sets to 100, otherwise all changes of a call or a sweep.
   */
  batchSize?: number | undefined
  /** Called with each change that the monitor refused, and when all pushes fail. Default: logs to the console. */
  onError?: SynchronizationErrorHandler | undefined
}

/** A store with all methods that your application needs; every bundled store is one. */
export interface ManagedStore extends DomainStore {
  find(question: LookUp): Awaitable<LookUpResult>
  release(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>
  list(options?: ListOptions): Awaitable<readonly ListedRegistration[]>
  count(options?: { readonly teamId?: string | undefined }): Awaitable<number>
  /**
   * Sweeps: pushes the pending changes that are due, those first that have never failed. {@link startSynchronizing}
   * calls this in a loop. Refused changes are retried with exponential backoff, up to an hour. Processes that share a
   * database share the work.
   *
   * @throws {TypeError} for an option that is wrong or does not exist.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /** Counts the pending changes, registrations and releases. For alerts. */
  countPending(): Awaitable<number>
  /** Returns how many changes are pending and refused, and since when the oldest is pending. For alerts. */
  pendingStats(): Awaitable<PendingStats>
  /**
   * Makes changes due whose push failed, so the next sweep pushes them. Call it once the monitor is fixed: refused
   * changes otherwise wait up to an hour.
   *
   * @param options `domainIds`: at most 1,000, of the changes to push. Default: all.
   * @returns How many changes were not due before.
   * @throws {TypeError} for an option that is wrong or does not exist.
   */
  retryPending(options?: { readonly domainIds?: readonly string[] | undefined }): Promise<number>
  /**
   * Lists the pending changes by `domainId`, with their failures.
   *
   * @param options `after`: the last `domainId` of the previous page. `limit`: at most 1,000, the default.
   * @throws {TypeError} for an option that is wrong or does not exist.
   */
  listPending(options?: {
    readonly after?: string | undefined
    readonly limit?: number | undefined
  }): Awaitable<readonly PendingChange[]>
}

/** The work of a store for one request, in one atomic step; see {@link DomainStore.register}. */
export interface RegistrationStep extends Omit<RegistrationRequest, 'decide'> {
  /**
   * Milliseconds for which the new registrations are leased to the call, so no sweep pushes them. 0: no lease. `null`:
   * the store has no push, and they are saved as synchronized.
   */
  readonly lease: number | null
  /** Pure and synchronous; may be called any number of times. */
  decide(found: LookUpResult): Decision
}

/** The decision of a {@link RegistrationStep}. */
export interface Decision {
  /** The names to save for the team. */
  readonly created: readonly Name[]
  /**
   * Found registrations that are still pending: MUST be leased to the call too, unless they are due even later.
   */
  readonly waiting: readonly Registration[]
}

/** How to record releases in the {@link Outbox}. */
export interface ReleaseRecording {
  /**
   * A push of a pending registration may be under way: its release MUST be due only after this many milliseconds, so it
   * cannot overtake the registration. Any other release is due at once.
   */
  readonly lease: number
  /**
   * Whether this store pushes. If not, releases MUST still be recorded once any store has swept these tables or
   * finished a push, and if the registration is still pending. Otherwise there is no monitor, and they SHOULD NOT be
   * recorded, because no sweep would ever remove them.
   */
  readonly isPushed: boolean
}

/** Where a {@link ManagedStore} keeps its registrations and its {@link Outbox}. All names are canonical. */
export interface StoreBackend {
  /** See {@link DomainStore.register}. */
  register(step: RegistrationStep): Awaitable<SavedRegistrations>
  /** See {@link DomainStore.find}. */
  find(question: LookUp): Awaitable<LookUpResult>
  /**
   * Releases the team's registrations with these names and IDs; see {@link DomainStore.release}. Records the releases
   * in the outbox according to {@link ReleaseRecording}.
   */
  release(teamId: string, keys: ReleaseKeys, recording: ReleaseRecording): Awaitable<readonly Registration[]>
  /** See {@link DomainStore.import}. Without it, the store cannot import. */
  import?(request: ImportRequest): Awaitable<ImportFindings>
  /**
   * See {@link DomainStore.transfer}: `keys` are its `domains`. Without it, the store cannot transfer.
   *
   * Both changes are recorded if a release would be. The registration is due at once; the release is due when a release
   * would be, and follows the registration; see {@link Outbox}.
   */
  transfer?(
    request: TransferRequest,
    keys: ReleaseKeys,
    recording: ReleaseRecording,
  ): Awaitable<TransferredRegistrations>
  /** See {@link DomainStore.list}. */
  list(page: ListPage): Awaitable<readonly ListedRegistration[]>
  /** @param teamId Default: all teams. */
  count(teamId: string | undefined): Awaitable<number>
  /**
   * Returns the ID that a string spells, in the form that the other methods get; `null` for a string that this store
   * never returned as an ID: such a cursor gives a 400. Default: any string may be an ID, and is passed on unchanged.
   */
  toDomainId?(text: string): string | null
  readonly outbox: Outbox
  /** Whether all work is part of a transaction that your application commits later: then nothing is pushed. */
  readonly isInTransaction?: boolean
}

const batchSizeRule: Rule = {
  holds: optional(size => Number.isInteger(size) && Number(size) > 0),
  expected: 'an integer of at least 1',
}

/** The rules of {@link ManagedStoreOptions}. */
export const managedStoreRules: Rules = {
  findTeam: { holds: isFunction, expected: 'a function from an ID to a team' },
  synchronize: { holds: optional(isFunction), expected: 'a function that takes an array of changes' },
  synchronizeTimeLimit: timeLimitRule,
  batchSize: batchSizeRule,
  onError: onErrorRule,
}

/**
 * Makes a store for your application from a backend: checks arguments, converts names to their canonical form, pushes
 * changes and backs off. All bundled stores are made with it, and your own store can be.
 *
 * @throws {TypeError} for an option that is wrong or does not exist.
 *
 * @example
 * const store = createManagedStore(backend, {
 *   findTeam: id => myTeams.find(id),
 *   synchronize: changes => monitor.apply(changes),
 * })
 */
export function createManagedStore(backend: StoreBackend, options: ManagedStoreOptions): ManagedStore {
  requireOptions(options, managedStoreRules)
  const { findTeam, synchronize: push, onError = createSynchronizationLog() } = options
  const { synchronizeTimeLimit: timeLimit = DEFAULT_PUSH_TIME_LIMIT } = options
  const { outbox, isInTransaction = false } = backend
  const { batchSize = push?.batchSize } = options
  requireOptions({ batchSize }, { batchSize: batchSizeRule }, 'property', 'properties of synchronize')
  const toDomainId: ToDomainId = text => (backend.toDomainId ? backend.toDomainId(text) : text)
  const synchronizer = push && createSynchronizer({ push, timeLimit, batchSize }, outbox)
  const lease = push ? (isInTransaction ? 0 : leaseFor(timeLimit)) : null
  const recording = { lease: leaseFor(timeLimit), isPushed: push !== undefined }
  const { transfer } = backend

  return {
    findTeam,
    register: request => backend.register(toStep(request, lease)),
    find: question => backend.find(question),
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
        synchronize: (registrations: readonly Registration[]) =>
          synchronizer.synchronize(registrations, ignoreErrors(onError)),
      }),

    async synchronizePending(sweep) {
      const { limit, onError: report = onError, signal } = readSweepOptions(sweep)
      if (!synchronizer) return { synchronized: 0, failed: 0 }
      if (isInTransaction)
        throw new Error('In a transaction nothing is pushed: sweep with a store on a pool, once you have committed')
      return synchronizer.sweep(limit, ignoreErrors(report), signal)
    },

    countPending: async () => (await outbox.stats()).count,
    pendingStats: () => outbox.stats(),
    retryPending: async options => outbox.retry(readRetryOptions(options, toDomainId)),
    listPending(page) {
      const { after, limit } = readPendingOptions(page, toDomainId)
      return outbox.list(after, limit)
    },
  }
}

/**
 * A call pushes the registrations that it creates, and its team's pending registrations that it names. A wildcard that
 * only covers one of its names is left to the sweep: otherwise calls would renew its lease again and again.
 */
function toStep({ decide, ...request }: RegistrationRequest, lease: number | null): RegistrationStep {
  const isNamed = ({ domain }: Name) => !isWildcard(domain) || request.bases.includes(baseOf(domain))
  const isWaiting = (registration: Registration) =>
    !registration.synchronized && registration.teamId === request.teamId && isNamed(registration)
  return {
    ...request,
    lease,
    decide: found => ({
      created: decide(found),
      waiting: lease ? found.registrations.filter(isWaiting) : [],
    }),
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
