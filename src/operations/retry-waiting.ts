import { isApiError } from '../errors/api-error.ts'
import { createFailureLog, ignoreErrors } from '../errors/failure-log.ts'
import { hasMethods, isFunction, optional, type Rules, requireOptions } from '../options.ts'
import type { Team } from '../rules/registration.ts'
import type { DomainStore } from '../store/contract.ts'
import {
  requiredWaitingRule,
  type TakenName,
  type Tried,
  type WaitingName,
  type WaitingReason,
  type WaitingStore,
} from '../store/waiting.ts'
import { CALL_TIME_LIMIT, runWithin, timeLimitRule } from '../time/deadline.ts'
import { MAX_DOMAINS } from '../wire/requests.ts'
import type { DomainResult, InvalidCode } from '../wire/results.ts'
import { requireMethod, runOperation, startProgress } from './call.ts'
import { type CheckNames, checkNamesRule } from './check-names.ts'
import { LAST_WAIT, toReason, waitAfter } from './keep-waiting.ts'
import { registerOperation } from './register-domains.ts'

/** A name that waits no longer. */
export type SettledName = Pick<WaitingName, 'teamId' | 'domain' | 'since'> &
  (
    | { readonly status: 'registered'; readonly domainId: string }
    /**
     * `refused`: for a reason for which a name does not wait, such as a conflict. `expired`: the name has waited for 14
     * days. `code` and `message` say what was missing.
     */
    | { readonly status: 'refused' | 'expired'; readonly code: InvalidCode; readonly message: string }
  )

/** Options of {@link retryWaiting}. */
export interface RetryWaitingOptions {
  store: DomainStore
  waiting: WaitingStore
  /** The same function as for your handler: with another one, names would be registered that it refuses. */
  checkNames: CheckNames
  /** Milliseconds for each call, and for `onSettled`. Default 30,000. */
  timeLimit?: number | undefined
  /**
   * Called with names of one team that wait no longer, to tell the team, and for your audit log. The names are
   * forgotten once this function has returned or its promise has resolved. If it fails, it is called again a minute
   * later. After a crash, it may be called twice for a name.
   */
  onSettled?: ((names: readonly SettledName[]) => unknown) | undefined
  /** Called with each failure; the names concerned are tried again. Default: failures are logged to the console. */
  onError?: ((error: unknown) => unknown) | undefined
  /** Once this signal is aborted, no further call begins. */
  signal?: AbortSignal | undefined
}

/** How many names a sweep has tried, and what became of them. The others still wait. */
export interface RetryWaitingResult {
  tried: number
  registered: number
  refused: number
  expired: number
}

export const retryRules: Rules = {
  store: { holds: store => hasMethods(store, 'findTeam', 'register', 'find'), expected: 'a DomainStore with "find"' },
  waiting: requiredWaitingRule,
  checkNames: { ...checkNamesRule, holds: isFunction },
  timeLimit: timeLimitRule,
  onSettled: { holds: optional(isFunction), expected: 'a function that takes an array of names' },
  onError: { holds: optional(isFunction), expected: 'a function that takes an error' },
  signal: { holds: optional(signal => signal instanceof AbortSignal), expected: 'an AbortSignal' },
}

/** How many teams are tried at once, so that one with a silent zone does not hold up the others. */
const TEAMS_AT_ONCE = 4
/** How many names that wait for the same record are tried, before the others are. */
const MOST_ALIKE = 10
/** A sweep ends after so many turns. The next one continues. */
const MOST_TURNS = 1000
/** Longer than a turn, which is two calls and `onSettled`. */
const leaseOf = (timeLimit: number) => 5 * timeLimit

interface Sweep extends RetryWaitingOptions {
  readonly timeLimit: number
  readonly report: (error: unknown) => void
  readonly total: RetryWaitingResult
}

/**
 * Sends the calls again whose names wait and are due, until none is due. Any number of processes may do so at once:
 * they share the work. Run it every minute, for example by cron, or use {@link startRetrying}.
 *
 * A name is tried after 1, 2, 5, 10, 30 and 60 minutes, then after 2 hours, and then every 4 hours. If one is
 * registered, the team's others below its registrable domain are due at once. Names that wait for the same record share
 * their turn: ten of them are tried, and the others only if that record is there. `checkNames` is called with the team
 * as the caller.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 * @throws The failure of the store of names that wait. A call that fails is reported to `onError`.
 *
 * @example
 * await retryWaiting({ store, waiting, checkNames, onSettled: names => mailTo(names) })
 * // { tried: 3, registered: 1, refused: 0, expired: 0 }
 */
export async function retryWaiting(options: RetryWaitingOptions): Promise<RetryWaitingResult> {
  requireOptions(options, retryRules)
  const { waiting, signal, timeLimit = CALL_TIME_LIMIT } = options
  const log = createFailureLog()
  const { onError = (error: unknown) => log(error, { step: 'retrying names that wait' }) } = options
  const total = { tried: 0, registered: 0, refused: 0, expired: 0 }
  const sweep = { ...options, timeLimit, report: ignoreErrors(onError), total }
  let turns = 0
  async function takeTurns(): Promise<void> {
    for (; turns < MOST_TURNS && !signal?.aborted; turns += 1) {
      const names = await waiting.take({ limit: MAX_DOMAINS, lease: leaseOf(timeLimit) })
      if (names.length === 0) return
      await tryNames(names, sweep)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: TEAMS_AT_ONCE }, takeTurns))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return total
}

/** What a call says about a name. `waits` without a `refusal`: the call failed. */
type Answer =
  | { readonly status: 'registered'; readonly domainId: string }
  | { readonly status: 'refused'; readonly code: InvalidCode; readonly message: string }
  | { readonly status: 'waits'; readonly refusal?: WaitingReason | undefined; readonly wait?: number | undefined }

type Answers = ReadonlyMap<string, Answer>

/** Tries names of one team, tells what became of them, and saves it. */
async function tryNames(names: readonly TakenName[], sweep: Sweep): Promise<void> {
  const { waiting, total, timeLimit, onSettled, report } = sweep
  const [{ teamId }] = names as readonly [TakenName]
  const answers = await askAbout(names, sweep)
  const over = names.filter(name => toSettled(name, answers).length > 0)
  const mine = new Set(over.length > 0 ? await renew(over, sweep) : [])
  const settled = over.filter(({ domain }) => mine.has(domain)).flatMap(name => toSettled(name, answers))
  let isTold = true
  try {
    const limit = { milliseconds: timeLimit, message: `"onSettled" did not end within ${timeLimit} ms` }
    if (settled.length > 0) await runWithin(limit, () => onSettled?.(settled))
  } catch (error) {
    isTold = false
    report(error)
  }
  // Names that wait for one record get the same wait, so they are due together again.
  const spread = 0.9 + 0.2 * Math.random()
  const tried = names.map(({ domain, tries, until }): Tried => {
    const name = { domain, tries, until }
    if (mine.has(domain)) return isTold ? { ...name, isOver: true } : { ...name, wait: waitAfter(0) }
    const { refusal, wait = waitAfter(refusal ? tries : 0) } = toWaits(answers.get(domain))
    return { ...name, wait: wait * spread, refusal }
  })
  // While nobody can be told, nothing becomes due sooner: the sweep would try it again and again.
  const found = isTold ? names.filter(({ domain }) => answers.get(domain)?.status === 'registered') : []
  const registrableDomains = [...new Set(found.map(({ registrableDomain }) => registrableDomain))]
  await waiting.settle(teamId, tried, { registrableDomains, lease: leaseOf(timeLimit) })
  if (isTold) for (const { status } of settled) total[status] += 1
}

const toWaits = (answer: Answer | undefined): Partial<Extract<Answer, { status: 'waits' }>> =>
  answer?.status === 'waits' ? answer : {}

function toSettled(name: TakenName, answers: Answers): readonly SettledName[] {
  const { teamId, domain, since, isLast } = name
  const answer = answers.get(domain) as Answer
  if (answer.status !== 'waits') return [{ teamId, domain, since, ...answer }]
  // Only an answer ends the wait: after a pause of the loop, each name is tried once more.
  if (!isLast || (!answer.refusal && answer.wait === undefined)) return []
  const { code, message } = answer.refusal ?? name.refusal
  return [{ teamId, domain, since, status: 'expired', code, message }]
}

/** Renews the leases of names. Returns those that nobody has deleted, sent or taken in the meantime. */
const renew = ([...names]: readonly TakenName[], { waiting, timeLimit }: Sweep) =>
  waiting.settle(
    (names[0] as TakenName).teamId,
    names.map(({ domain, tries, until }) => ({ domain, tries, until, wait: leaseOf(timeLimit) })),
  )

/**
 * Sends names of one team again. Those that wait for one record share its fate, so thousands of names cost a zone only
 * a few queries.
 */
async function askAbout(names: readonly TakenName[], sweep: Sweep): Promise<Answers> {
  const [first, rest]: [TakenName[], TakenName[]] = [[], []]
  const counts = new Map<string, number>()
  for (const name of shuffle(names)) {
    const count = counts.get(toKey(name)) ?? 0
    counts.set(toKey(name), count + 1)
    if (count < MOST_ALIKE) first.push(name)
    else rest.push(name)
  }
  const answers = new Map(await sendAgain(first, sweep))
  const changed = new Set(first.filter(name => !isUnchanged(name, answers)).map(toKey))
  const shared = new Map(first.map(name => [toKey(name), answers.get(name.domain) as Answer]))
  for (const name of rest) answers.set(name.domain, shared.get(toKey(name)) as Answer)
  const others = rest.filter(name => changed.has(toKey(name)))
  return new Map([...answers, ...(await sendAgain(others, sweep))])
}

/** Names with the same key wait for the same record. */
const toKey = ({ refusal: { record }, domain }: Pick<WaitingName, 'refusal' | 'domain'>) =>
  record ? `${record.type} ${record.name} ${record.value}` : domain

function isUnchanged(name: TakenName, answers: Answers): boolean {
  const answer = answers.get(name.domain)
  const { refusal = name.refusal } = toWaits(answer)
  return answer?.status === 'waits' && toKey({ ...name, refusal }) === toKey(name)
}

/** In random order, so that each of many names that wait for one record is tried some time. */
const shuffle = <T>(values: readonly T[]): T[] =>
  values
    .map(value => ({ value, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value)

/** Sends a call again for names of one team, the oldest first. */
async function sendAgain([...names]: readonly TakenName[], sweep: Sweep): Promise<Answers> {
  if (names.length === 0) return new Map()
  names.sort((one, other) => one.since.getTime() - other.since.getTime())
  const { store, checkNames, timeLimit, report, total } = sweep
  const { teamId } = names[0] as TakenName
  const refusals = new Map<string, WaitingReason>()

  const checkAgain: CheckNames = async (proposed, context) => {
    const given = await checkNames(proposed, context)
    // The core rejects what is no array with one entry for each name.
    if (!Array.isArray(given)) return given
    const free = new Set(proposed.filter((_, index) => given[index] === null).map(({ domain }) => domain))
    const mine = new Set(
      free.size > 0
        ? await renew(
            names.filter(({ domain }) => free.has(domain)),
            sweep,
          )
        : [],
    )
    let room = free.size > 0 ? await findRoom(context.team, store) : 0
    const answers = given.map((answer, index) => {
      const { domain } = proposed[index] as { domain: string }
      if (!free.has(domain)) return answer
      if (!mine.has(domain)) return noLongerWaits
      room -= 1
      return room < 0 ? noRoom : null
    })
    for (const [index, answer] of answers.entries())
      if (answer?.waits === true) refusals.set(proposed[index]?.domain as string, toReason(answer))
    return answers
  }

  total.tried += names.length
  const progress = startProgress()
  const call = {
    keyContext: { type: 'team', teamId, scopes: ['domains:create'] } as const,
    input: { domains: names.map(({ domain }) => domain) },
    store,
    options: { timeLimit, checkNames: checkAgain, onError: report },
    progress,
  }
  let results: readonly DomainResult[]
  try {
    results = (await runOperation({ ...registerOperation, step: 'retry' }, call)).data.results
  } catch (error) {
    if (!progress.saved) {
      const answer = toAnswer(error, report)
      return new Map(names.map(({ domain }) => [domain, answer]))
    }
    // Registered, but not synchronized: the store's sweeps do that.
    results = progress.saved.data.results
  }
  return new Map(
    names.map(({ domain }, index): [string, Answer] => {
      const result = results[index] as DomainResult
      if (result.status !== 'invalid') return [domain, { status: 'registered', domainId: result.domainId }]
      const { code, message } = result
      const waits = refusals.has(domain) || code === 'internal_error'
      return [domain, waits ? { status: 'waits', refusal: refusals.get(domain) } : { status: 'refused', code, message }]
    }),
  )
}

const noLongerWaits = { code: 'invalid_domain', message: 'The name no longer waits.' } as const
const noRoom = {
  code: 'invalid_domain',
  reason: 'domain_limit_reached',
  message: 'Nothing is missing but room: the team has as many names as it may register.',
  waits: true,
} as const

/** How many more names a team may register. */
async function findRoom({ id, maxDomains }: Team, store: DomainStore): Promise<number> {
  return typeof maxDomains === 'number' ? maxDomains - (await requireMethod(store, 'count')({ teamId: id })) : Infinity
}

/** A team that is suspended or missing may come back, but not within minutes. */
function toAnswer(error: unknown, report: (error: unknown) => void): Answer {
  const { status, code } = isApiError(error) ? error : { status: 500, code: null }
  if (code === 'domain_limit_reached') return { status: 'waits', refusal: toReason(noRoom) }
  if (status < 500) return { status: 'waits', wait: LAST_WAIT }
  report((error as { readonly cause?: unknown }).cause ?? error)
  return { status: 'waits' }
}
