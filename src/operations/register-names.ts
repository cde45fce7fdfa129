import type { ApiError } from '../errors/api-error.ts'
import { describeError, withoutNumbers } from '../errors/failure-log.ts'
import { isolate, type Progress } from '../isolate.ts'
import { judgeAll, type Verdict } from '../rules/overlap.ts'
import type { LookUpResult, Registration, Team } from '../rules/registration.ts'
import type { Submitted } from '../rules/submitted.ts'
import type { DomainStore, SavedRegistrations } from '../store/contract.ts'
import { type Deadline, SHORTEST_TIMER, waitForStore } from '../time/deadline.ts'
import { countCreated, createRegistrationRequest } from './create-request.ts'
import { findLimitError } from './limit.ts'

/** The outcome for a submitted name. */
export type Outcome =
  | { readonly status: 'created' | 'existing'; readonly registration: Registration }
  | Extract<Verdict, { status: 'invalid' }>
  | { readonly status: 'invalid'; readonly code: 'internal_error'; readonly message: string }

interface Registrar {
  readonly store: DomainStore
  readonly teamId: string
  /** The limit of the team; see {@link Team.maxDomains}. */
  readonly maxDomains?: Team['maxDomains']
  readonly deadline: Deadline
}

interface Registered {
  /** One outcome for each name, in the same order. */
  readonly outcomes: readonly Outcome[]
  /** The causes of `internal_error`, one for each distinct failure. */
  readonly causes: readonly unknown[]
}

/**
 * The positions of names that share a registrable domain. Their verdicts depend on each other, so these names stay
 * together.
 */
type Group = readonly number[]

/**
 * Registers names for a team. If a name cannot be saved, only that name fails: {@link isolate} isolates it. If the
 * store is down, few calls are made: after {@link mostFailuresInARow} failed calls and no success, the remaining names
 * are abandoned. Each call may take half of the remaining time, so even if the store hangs on one name, there is time
 * left for the other names.
 *
 * @returns The outcomes. A name that an attempt saved whose response was lost is `created`, because a later attempt
 *   finds its ID; if another call has released the name in between, it is registered anew. If another call reaches the
 *   limit after part of this call was saved, the remaining names get `internal_error`.
 * @throws {ApiError} 403 `domain_limit_reached`, and 500 if the store does not count. In both cases nothing is saved.
 */
export async function registerNames(registrar: Registrar, names: readonly Submitted[]): Promise<Registered> {
  const outcomes: Outcome[] = names.map(() => unprocessed)
  const groups = toGroups(names)
  const failed: unknown[] = []
  const causes: unknown[] = []
  const ownIds = new Set<string>()
  let isFull = false

  async function attempt(part: readonly Group[]) {
    const places = part.flat().sort((one, other) => one - other)
    const batch = await registerBatch(registrar, names, places, ownIds).catch((cause: unknown) => ({ cause }))
    if ('outcomes' in batch) {
      for (const [index, outcome] of batch.outcomes.entries()) outcomes[places[index] as number] = outcome
      if (batch.outcomes.some(isInternalError)) causes.push(new Error(NOT_ASKED))
      return null
    }
    if ('limitError' in batch) {
      // The responses of earlier attempts may have been lost after they had saved some names.
      for (const [place, outcome] of batch.own) outcomes[place] = outcome
      if (!outcomes.some(({ status }) => status === 'created')) throw batch.limitError
      isFull = true
    }
    const cause = 'limitError' in batch ? batch.limitError : batch.cause
    failed.push(cause)
    return { cause }
  }

  const isOver = ({ hasSucceeded, failures }: Progress) =>
    isFull ||
    registrar.deadline.remaining() < SHORTEST_TIMER ||
    (!hasSucceeded && failures >= mostFailuresInARow(groups.length))
  const { unfinished } = await isolate(groups, { attempt, isOver })
  const alone = [...unfinished.values()].flatMap(failure => (failure?.isAlone ? failure.cause : []))
  causes.push(...alone)
  if (alone.length < unfinished.size)
    causes.push(...(failed.length > 0 ? failed : [new Error('No time was left for the store')]))
  return { outcomes, causes: distinct(causes) }
}

const NOT_ASKED = 'Names became available after "checkNames" was asked about the call, so they were not registered'

export const isInternalError = (outcome: Outcome) => outcome.status === 'invalid' && outcome.code === 'internal_error'

const unprocessed = {
  status: 'invalid',
  code: 'internal_error',
  message: 'The hostname could not be processed because of an internal error; send it again later.',
} as const satisfies Outcome

function toGroups(names: readonly Submitted[]): Group[] {
  const groups = new Map<string, number[]>()
  for (const [place, { registrableDomain }] of names.entries()) {
    const group = groups.get(registrableDomain)
    if (group) group.push(place)
    else groups.set(registrableDomain, [place])
  }
  return [...groups.values()]
}

type BatchResult =
  | { readonly outcomes: readonly Outcome[] }
  | { readonly limitError: ApiError; readonly own: ReadonlyMap<number, Outcome> }

/**
 * Registers some of the names of a call. If the team has a limit, all names of the call count toward the limit.
 *
 * @param places The positions of the names to register.
 * @param ownIds The IDs that the attempts of this call were about to save.
 * @returns The outcomes of the names at these positions, or the error if the call exceeds the team's limit. In the case
 *   of an error, this batch saved nothing.
 */
async function registerBatch(
  { store, teamId, maxDomains = null, deadline }: Registrar,
  names: readonly Submitted[],
  places: readonly number[],
  ownIds: Set<string>,
): Promise<BatchResult> {
  const timeLimit = deadline.remaining() / 2
  const part = places.map(place => names[place] as Submitted)
  const limit = maxDomains === null ? undefined : { maxDomains, names }
  const willSave = (domainIds: readonly string[]) => {
    for (const domainId of domainIds) ownIds.add(domainId)
  }
  const request = createRegistrationRequest({ teamId, submitted: part, timeLimit, limit, willSave })
  const registered = await waitForStore(store, store.register(request), deadline, timeLimit)
  const found = requireFound(registered)
  // The store has run `decide` on these findings, perhaps after others, and returns only the findings: a store of an
  // application need not hand on verdicts. So the names are judged once more.
  if (!limit) return { outcomes: toOutcomes(part, judgeAll(teamId, part, found), registered, ownIds) }
  const verdicts = judgeAll(teamId, names, found)
  const limitError = findLimitError(limit.maxDomains, found.teamCount, countCreated(verdicts))
  if (limitError) return { limitError, own: findOwn(names, found, ownIds) }
  const ofPart = places.map(place => verdicts[place] as Verdict)
  return { outcomes: toOutcomes(part, ofPart, registered, ownIds) }
}

function requireFound({ found, saved }: SavedRegistrations): LookUpResult {
  if (Array.isArray(found?.registrations) && Array.isArray(found.below) && Array.isArray(saved)) return found
  throw new TypeError('The method "register" of the store must resolve to { found, saved }; see DomainStore')
}

function toOutcomes(
  names: readonly Submitted[],
  verdicts: readonly Verdict[],
  { found, saved }: SavedRegistrations,
  ownIds: ReadonlySet<string>,
): Outcome[] {
  const created = names.filter((_, index) => verdicts[index]?.status === 'created')
  if (saved.length !== created.length || created.some((name, index) => saved[index]?.domain !== name.domain)) {
    throw new Error('The store did not return one registration for each name from decide, in the same order')
  }
  const existing = new Map<string, Registration>()
  for (const registration of [...found.registrations, ...saved]) existing.set(registration.domain, registration)
  const own = findOwn(names, found, ownIds)
  return names.map(({ domain }, index) => {
    const verdict = verdicts[index] as Verdict
    if (verdict.status === 'invalid') return verdict
    return own.get(index) ?? { status: verdict.status, registration: existing.get(domain) as Registration }
  })
}

/**
 * Finds names that an earlier attempt of this call saved, although its response was lost. If the call contains a name
 * several times, only its first position is returned: the others are `existing`.
 */
function findOwn(
  names: readonly Submitted[],
  { registrations }: LookUpResult,
  ownIds: ReadonlySet<string>,
): ReadonlyMap<number, Outcome> {
  const own = registrations.filter(({ domainId }) => ownIds.has(domainId))
  return new Map(
    own.map(registration => [
      names.findIndex(({ domain }) => domain === registration.domain),
      { status: 'created', registration },
    ]),
  )
}

/** Returns the first cause of each kind. Errors of the same kind differ only in numbers, such as ports, and in IDs. */
function distinct(causes: readonly unknown[]): unknown[] {
  const kinds = new Map<unknown, unknown>()
  for (const cause of causes) {
    const kind = cause instanceof Error ? withoutNumbers(describeError(cause)) : cause
    if (!kinds.has(kind)) kinds.set(kind, cause)
  }
  return [...kinds.values()]
}

/**
 * The number of consecutive failures after which everything is assumed to fail. This number is large enough for
 * attempts to shrink to a single item first.
 *
 * @param size The number of items in the largest attempt.
 */
const mostFailuresInARow = (size: number) => Math.ceil(Math.log2(size)) + 2
