import { createBrand } from '../errors/brand.ts'
import type { Name } from '../rules/name.ts'
import type { ImportFindings, LookUpResult, Registration, Team } from '../rules/registration.ts'
import type { Awaitable } from '../time/awaitable.ts'

/** A query for registrations by name. The findings do not depend on the suffix list. Any of the arrays may be empty. */
export interface LookUp {
  /** The calling team; {@link NO_CALLING_TEAM} if no team makes the call. */
  readonly teamId: string
  /** The distinct canonical names to look up exactly. A wildcard is looked up literally. */
  readonly domains: readonly string[]
  /**
   * The distinct canonical names above which to look up wildcards, at most 125 for each name. For `a.b.example.com`,
   * these are `*.b.example.com` and `*.example.com`; see {@link wildcardsAbove}. Default: none.
   */
  readonly covered?: readonly string[] | undefined
  /** The distinct canonical names below which to search: the bases of wildcards, without `*.`. */
  readonly bases: readonly string[]
  /** Whether to count the team's registrations, because the team has a limit. Default: no. */
  readonly needsCount?: boolean | undefined
}

/** The request of {@link DomainStore.register}, for one atomic step. Each lookup of a request can use an index. */
export interface RegistrationRequest extends LookUp {
  /**
   * The registrable domains to lock: distinct, in ascending order of code units, so that two calls cannot deadlock.
   */
  readonly registrableDomains: readonly string[]
  /**
   * How many milliseconds the caller waits. The store MUST have settled by then, and MUST NOT do anything for the
   * request afterwards, because the caller may then commit or roll back its own transaction.
   */
  readonly timeLimit: number
  /**
   * Decides which names to save. Pure and synchronous, so the same findings give the same names. A store may call it
   * any number of times, each time with newer findings.
   *
   * @returns The distinct names to register for the team, without names that are already registered.
   */
  decide(found: LookUpResult): readonly Name[]
  /**
   * A store SHOULD call this function with the IDs of the new registrations before it saves them. If the save succeeds,
   * but its response is lost, the call finds these IDs when it tries again, and reports the names as `created` instead
   * of `existing`.
   */
  willSave?(domainIds: readonly string[]): void
}

/** The result of {@link DomainStore.register}. */
export interface SavedRegistrations {
  /** The findings on which the saved names are based: those that were passed to the last call of `decide`. */
  readonly found: LookUpResult
  /** The saved registrations, in the order in which `decide` returned their names. */
  readonly saved: readonly Registration[]
}

/** The request of {@link DomainStore.import}, for one atomic step. Its `teamId` is not the ID of any team. */
export interface ImportRequest extends LookUp {
  /** The registrable domains to lock, as in a {@link RegistrationRequest}. */
  readonly registrableDomains: readonly string[]
  /** The IDs to look up: distinct, in lower case. */
  readonly domainIds: readonly string[]
  /**
   * Decides which registrations to save. Pure and synchronous. A store may call it any number of times, each time with
   * newer findings.
   *
   * @returns At most 1,000 registrations, to be saved with their own IDs, teams and times.
   */
  decide(found: ImportFindings): readonly Registration[]
}

/** The findings for a {@link TransferRequest}. */
export interface TransferFindings {
  /** The registrations of the team `from` that are listed in the request's `domains`, in any order. */
  readonly registrations: readonly Registration[]
  /** If the request `needsCount`: how many registrations the team `to` has. */
  readonly teamCount?: number | undefined
}

/** The request of {@link DomainStore.transfer}, for one atomic step. */
export interface TransferRequest {
  readonly from: string
  readonly to: string
  /** Names in any spelling that {@link classifyHostname} accepts, or values of `domainId`; at most 1,000. */
  readonly domains: readonly string[]
  /** Whether the receiving team has a limit, so its registrations must be counted. */
  readonly needsCount: boolean
  /**
   * Decides whether to transfer all of the found registrations or none. Pure and synchronous. A store may call it any
   * number of times, each time with newer findings.
   */
  decide(found: TransferFindings): boolean
}

/** The result of {@link DomainStore.transfer}. */
export interface TransferredRegistrations {
  /** The findings on which the decision is based: those that were passed to the last call of `decide`. */
  readonly found: TransferFindings
  /** One transferred registration for each registration found, in the same order. Empty if nothing was transferred. */
  readonly saved: readonly Registration[]
}

/** Which registrations to list. */
export interface ListOptions {
  /**
   * Lists only this team's registrations. Default: the registrations of all teams. An explicit `undefined` is rejected.
   */
  readonly teamId?: string
  /**
   * The page begins after the registration with this `domainId`; with `below`, after the registration of this domain.
   * The value is a cursor that only the store understands. Default: the page begins with the first registration.
   *
   * IDs are assigned before a call commits, so a registration that commits while you list may sort before `after`. To
   * find these registrations too, list again later, starting from an earlier ID: go back further than the duration of
   * your longest call.
   */
  readonly after?: string | undefined
  /** The length of a page, at most 1,000, which is the default. {@link eachRegistration} lists more, page by page. */
  readonly limit?: number | undefined
  /** Whether the oldest or the newest registrations come first. Default `oldest`. Cannot be combined with `below`. */
  readonly order?: 'oldest' | 'newest' | undefined
  /** Lists only the registration of exactly this name, if there is one. */
  readonly domain?: string | undefined
  /**
   * Lists only registrations below this name, at any depth, including the wildcard over it but not the name itself. The
   * list is sorted by labels, from right to left.
   */
  readonly below?: string | undefined
}

/**
 * The maximum number of registrations or changes that a store lists, releases or sweeps in one step, and the maximum
 * length of a page. More than that takes several steps, so no single step blocks the event loop or holds a lock for
 * long.
 */
export const MOST_AT_ONCE = 1000

/**
 * Keeps teams and registrations. A store contains none of the overlap rules: it looks up registrations, calls `decide`,
 * and saves the result. Your own store needs `findTeam` and `register`; the other methods are optional, and
 * `createManagedStore` provides most of them.
 *
 * The key words MUST, SHOULD and MAY are those of RFC 2119. If a store fails, it MUST reject (or throw), and MUST NOT
 * resolve to anything that looks like success. A store MUST treat every string as data.
 */
export interface DomainStore {
  /**
   * Finds a team.
   *
   * For any string of digits, MUST resolve to `null` if the team does not exist. MUST reject if it cannot find out
   * whether the team exists.
   *
   * @param teamId Digits only, of any length.
   */
  findTeam(teamId: string): Awaitable<Team<string | number> | null>

  /**
   * Performs the lookups of the request, passes the findings to `decide`, and saves the names that `decide` returns.
   *
   * - Looking up, deciding and saving MUST be one atomic step with respect to every other `register` that shares a
   *   registrable domain. If two calls race, the second sees the registrations that the first saved. Calls that share
   *   no registrable domain SHOULD NOT wait for each other.
   * - If the request `needsCount`, counting MUST be part of the atomic step. Such a step MUST also be atomic with
   *   respect to every other step that counts the same team, even if the two share no registrable domain. A store that
   *   cannot count leaves out `teamCount`: calls of teams with `maxDomains` then fail with 500, and nothing is saved.
   * - A name MUST be found even if it was registered with another registrable domain, and MUST NOT be saved twice.
   * - All names that `decide` returned MUST be saved durably before the promise resolves. If the promise rejects, no
   *   name may be saved.
   * - The store MUST NOT change the request. Any array in the request MAY be empty. The array that `decide` returns MAY
   *   also be empty.
   * - After a conflict with another call, the store MAY look up and call `decide` again, a limited number of times.
   * - New registrations MUST be saved with `synchronized: false` if there is a monitor, otherwise with `true`.
   * - The cost SHOULD depend only on the length of the request, not on the number of registrations.
   *
   * After a rejection, the core may call `register` again with some of the names. A client that gets no response sends
   * all names again.
   *
   * @returns The saved registrations, and the findings that `decide` used. The core checks all names against these
   *   findings.
   */
  register(request: RegistrationRequest): Awaitable<SavedRegistrations>

  /**
   * Pushes saved registrations to the monitor, and marks them synchronized.
   *
   * - It MUST mark a registration only after the push has succeeded, and MUST reject if any registration was not
   *   pushed.
   * - Registrations that were pushed SHOULD be marked even if others were not.
   * - Delivery is at least once: the push MUST be idempotent on `domainId`.
   * - A store that also sweeps SHOULD lease two kinds of registrations to the call: those that `register` saves, and
   *   unsynchronized registrations of the same team that it finds. The lease keeps sweeps from pushing these
   *   registrations before the call itself can. If the process of the call dies, a sweep MUST push the registrations
   *   once the lease has expired.
   *
   * A store without this method has no monitor, or pushes in some other way.
   *
   * @param registrations All unsynchronized registrations of one call, both new and old; at least one.
   */
  synchronize?(registrations: readonly Registration[]): Awaitable<void>

  /**
   * Whether the store works in a transaction that your application commits later.
   *
   * - It MUST NOT push anything, and has no {@link synchronize}: a later sweep pushes the registrations that calls
   *   save.
   * - An operation waits until the store has settled, even beyond its own time limit, because your application may
   *   commit or roll back as soon as the operation returns. So the store itself MUST enforce the time limit, and MUST
   *   NOT do anything after it has settled.
   */
  readonly isInTransaction?: boolean

  /**
   * Looks up registrations, and registers nothing. MUST find the same registrations that {@link register} would find.
   * MUST change nothing: no registration is leased, and no lock outlasts the call.
   */
  find?(question: LookUp): Awaitable<LookUpResult>

  /**
   * Releases registrations of a team, so any team can register the names again.
   *
   * - All registrations MUST be released in one atomic step, durably before the promise resolves. If the promise
   *   rejects, none may be released.
   * - Names and IDs that the team has not registered MUST be skipped. A wildcard releases only itself.
   * - The release MUST be recorded as a change in the same step, so that the next sweep pushes it to the monitor.
   *
   * @param domains Names in any spelling that {@link classifyHostname} accepts, or values of `domainId`; at most 1,000.
   * @returns The released registrations, in any order.
   * @throws {TypeError} if `domains` is not an array of strings, or has more than 1,000 entries.
   */
  release?(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>

  /**
   * Lists registrations page by page. The cost MUST depend only on the length of the page, not on the number of
   * registrations. From the oldest to the newest, the IDs MUST ascend as strings.
   *
   * @returns At most `limit` registrations; fewer only on the last page.
   * @throws {InvalidCursorError} if `after` cannot have come from this store.
   * @throws {TypeError} if an option is invalid or unknown, such as a `limit` above 1,000.
   */
  list?(options?: ListOptions): Awaitable<readonly Registration[]>

  /**
   * Saves registrations unchanged, for {@link importDomains}.
   *
   * - Looking up, deciding and saving MUST be one atomic step, as in {@link register}. Either all registrations are
   *   saved, or none.
   * - `domainId`, `domain`, `registrableDomain`, `teamId` and `createdAt` MUST be saved unchanged.
   * - A registration that is not synchronized MUST be recorded as a pending change that is due at once, even if the
   *   store has no push. A synchronized registration MUST NOT be recorded.
   *
   * @returns The findings on which the saved registrations are based: those that were passed to the last call of
   *   `decide`.
   */
  import?(request: ImportRequest): Awaitable<ImportFindings>

  /**
   * Transfers registrations from one team to another, for {@link transfer}.
   *
   * - Looking up, deciding and saving MUST be one atomic step with respect to every `register`, `release` and other
   *   transfer of the same names. The step MUST be durable before the promise resolves. Either all registrations are
   *   transferred, or none.
   * - If the request `needsCount`, the step MUST also be atomic with respect to every other step that counts the team
   *   `to`.
   * - Each registration MUST get a new `domainId`, because an ID never moves to another team. The name and the
   *   registrable domain stay the same. Names and IDs that the team `from` has not registered MUST be skipped.
   * - The registration of the new ID and the release of the former ID MUST be recorded as changes in the same step. The
   *   release MUST NOT be pushed before the registration, even if changes are refused or another process pushes, so the
   *   monitor never stops watching the name. This order does not matter if the new ID is released before its
   *   registration is pushed.
   *
   * @throws {TypeError} if `domains` is not an array of strings, or has more than 1,000 entries.
   */
  transfer?(request: TransferRequest): Awaitable<TransferredRegistrations>

  /**
   * Counts the registrations of one team, or of all teams. The cost grows with the number of registrations, so count
   * rarely. With SQLite, counting blocks the event loop.
   */
  count?(options?: Pick<ListOptions, 'teamId'>): Awaitable<number>
}

/**
 * Thrown by a store if `after` is not a cursor that the store could have returned. The client that requested the list
 * then gets 400 `invalid_request`.
 *
 * @example
 * async function listAfter(after: string) {
 *   if (!after.startsWith('id_')) throw new InvalidCursorError()
 *   return database.query('SELECT domain FROM names WHERE id > $1 ORDER BY id LIMIT 1000', [after])
 * }
 */
export class InvalidCursorError extends TypeError {
  override readonly name = 'InvalidCursorError'

  constructor(message = 'The option "after" must be the "domainId" of the last registration of the previous page') {
    super(message)
    invalidCursor.put(this)
  }
}

const invalidCursor = createBrand<InvalidCursorError>('InvalidCursorError')
export const isInvalidCursor = (error: unknown) => invalidCursor.isOn(error)
