import { type CallFailure, toWait } from './call.ts'

/*
 * What a run sends when, and when it ends. Each event makes the next state: names were read, a part was sent, a call
 * has ended. After a failure, the `policy` decides. `decide` only reads the state, and says what to do next.
 */

/** A name, and its position among all names, starting at 0. */
export interface PlacedName {
  readonly name: string
  readonly place: number
}

/** Names that are sent in one call. */
export interface Part {
  readonly names: readonly PlacedName[]
  /** The only one of these names that is sent, if it is to show whether the service works. */
  readonly probe?: PlacedName | undefined
  /**
   * - `first`: was never sent.
   * - `again`: has failed, and is sent again when it is due.
   * - `last`: has failed, and is sent once more after all other names.
   * - `given up`: is not sent any more.
   */
  readonly turn: 'first' | 'again' | 'last' | 'given up'
  /** When a part that has failed is due, as a time of `performance.now()`. */
  readonly dueAt: number
  /** How many times in a row the part has failed while no other call succeeded. */
  readonly failures: number
  /** How many calls had succeeded when the part was first sent or, if it has failed, when it last failed. */
  readonly successesBefore: number
}

/** What a call with names has achieved. */
export interface BatchOutcome<Result = unknown> {
  readonly results: readonly { readonly result: Result; readonly place: number }[]
  /** Why names that were sent have no result. */
  readonly failure?: CallFailure
}

export interface RunState {
  /** The names of the next call, once they have been read. */
  readonly next: readonly PlacedName[] | undefined
  /** Whether all names have been read. */
  readonly isAtEnd: boolean
  /** How many names have been sent at least once. */
  readonly taken: number
  /** The parts that are not under way, in the order in which they are sent. */
  readonly parts: readonly Part[]
  readonly successes: number
  /** How many calls with new names have failed since the last success. Others may fail because of their names. */
  readonly newFailures: number
  /** When the first call after the last success has failed. */
  readonly failingSince?: number | undefined
  /** The last failure or, if the run is over, the one that ended it. */
  readonly failure?: CallFailure | undefined
  /** Whether nothing is sent any more: no retry can help, or all calls have failed for too long. */
  readonly isOver: boolean
}

export const initialState: RunState = {
  next: undefined,
  isAtEnd: false,
  taken: 0,
  parts: [],
  successes: 0,
  newFailures: 0,
  isOver: false,
}

interface PolicyRow {
  readonly fault: 'caller' | 'names' | 'service' | 'others' | 'any'
  readonly turn: Part['turn'] | 'any'
  readonly names: 'one' | 'several' | 'any'
  readonly becomes: Exclude<Part['turn'], 'first'> | 'halves' | 'probe'
}

/**
 * What becomes of the names that have no result after their call: the first row that matches decides. A part that is
 * sent `again`, in `halves` or as a `probe` waits for a backoff, or for the response's `Retry-After` if that is longer.
 *
 * - `caller`: a retry would get the same response, such as a 401. This ends the run.
 * - `names`: the service failed, although another call has succeeded since these names were last sent. One name may be
 *   the reason, for instance because the monitor refuses it. Halves find that name.
 * - `service`: the service failed, and no other call has succeeded. This is an outage, or each call contains such a
 *   name. So a retry sends only one of the names, each time another one: in an outage, halves would only cause more
 *   calls.
 * - `others`: none of these. The response was lost, for instance, or asks for fewer calls. This says nothing about the
 *   names.
 */
// biome-ignore format: a table
export const policy: readonly PolicyRow[] = [
  { fault: 'caller',  turn: 'any',   names: 'any',     becomes: 'given up' },
  { fault: 'others',  turn: 'last',  names: 'any',     becomes: 'last' },
  { fault: 'any',     turn: 'last',  names: 'any',     becomes: 'given up' },
  { fault: 'any',     turn: 'first', names: 'any',     becomes: 'again' },
  { fault: 'names',   turn: 'again', names: 'one',     becomes: 'last' },
  { fault: 'names',   turn: 'again', names: 'several', becomes: 'halves' },
  { fault: 'service', turn: 'again', names: 'several', becomes: 'probe' },
  { fault: 'any',     turn: 'again', names: 'any',     becomes: 'again' },
]

/**
 * While this many parts wait to be sent again, no new names are sent. This limits the memory in use. Besides, a run
 * keeps the names that it has put off to the end or given up, because its error lists them.
 */
const MOST_PARTS_WAITING = 200

/** @param names The names of the next call; `undefined` at the end. */
export const afterRead = (state: RunState, names: readonly PlacedName[] | undefined): RunState => ({
  ...state,
  next: names,
  isAtEnd: names === undefined,
})

/** @param part The part that {@link decide} has returned. */
export function afterSend(state: RunState, part: Part): RunState {
  if (part.turn === 'first') return { ...state, next: undefined, taken: state.taken + part.names.length }
  return { ...state, parts: state.parts.filter(each => each !== part) }
}

export function afterCall(
  state: RunState,
  part: Part,
  { results, failure }: BatchOutcome,
  { patience, now }: Pick<Situation, 'patience' | 'now'>,
): RunState {
  const hasResults = results.length > 0
  const failingSince = hasResults ? undefined : (state.failingSince ?? now)
  const successes = state.successes + Number(hasResults)
  const newFailures = hasResults ? 0 : state.newFailures + Number(part.turn === 'first')
  const next = { ...state, successes, newFailures, failingSince }
  const settled = new Set(results.map(({ place }) => place))
  const left = part.names.filter(({ place }) => !settled.has(place))
  if (left.length === 0) return next
  // After a successful probe, the other names are sent at once. If they fail again, one of them may be the reason.
  if (!failure) return { ...next, parts: [{ ...part, names: left, probe: undefined, dueAt: now }, ...state.parts] }

  const fault = findFault(failure, successes > part.successesBefore)
  const { becomes } = policy.find(
    row =>
      (row.fault === fault || row.fault === 'any') &&
      (row.turn === part.turn || row.turn === 'any') &&
      row.names !== (left.length === 1 ? 'several' : 'one'),
  ) as PolicyRow
  const turn = becomes === 'halves' || becomes === 'probe' ? 'again' : becomes
  const failures = fault === 'names' ? 1 : part.failures + 1
  const dueAt = now + toWait(failures, failure.retryAfter)
  const middle = becomes === 'halves' ? Math.ceil(left.length / 2) : left.length
  const probe = becomes === 'probe' ? left[failures % left.length] : undefined
  const failed = [left.slice(0, middle), left.slice(middle)]
    .filter(names => names.length > 0)
    .map((names): Part => ({ names, probe, turn, dueAt, failures, successesBefore: successes }))
  return {
    ...next,
    parts: [...state.parts, ...failed].sort((one, other) => one.dueAt - other.dueAt),
    failure: state.isOver ? state.failure : failure,
    isOver: state.isOver || fault === 'caller' || (failingSince !== undefined && now - failingSince >= patience),
  }
}

function findFault({ mayPass, code }: CallFailure, hasSucceeded: boolean): PolicyRow['fault'] {
  if (!mayPass) return 'caller'
  if (code !== 'domain_registration_unavailable' && code !== 'internal_error') return 'others'
  return hasSucceeded ? 'names' : 'service'
}

/** All that matters besides the state. */
interface Situation {
  /** Whether another call may be sent. */
  readonly hasRoom: boolean
  /** Whether no call is under way, and all results have been yielded. */
  readonly isIdle: boolean
  readonly concurrency: number
  readonly patience: number
  /** The time of `performance.now()`. */
  readonly now: number
}

/**
 * What to do next: send a part, wait for at most so many milliseconds until something happens, or end. Parts that are
 * due come before new names, and those that were put off come last. But after a failure, new names come first, because
 * they tell whose fault it is. If as many of them fail as may be under way, no more are sent.
 */
export function decide(state: RunState, situation: Situation): Part | number | 'end' {
  const { hasRoom, isIdle, concurrency, patience, now } = situation
  const { next, isAtEnd, parts, successes, newFailures, failingSince = now, isOver } = state
  if (isOver) return isIdle ? 'end' : Number.POSITIVE_INFINITY
  const again = parts.filter(({ turn }) => turn === 'again')
  const failed = again[0] ?? (isAtEnd ? parts.find(({ turn }) => turn === 'last') : undefined)
  const { dueAt = Number.POSITIVE_INFINITY } = failed ?? {}
  const mayTakeNew = !failed || (newFailures < concurrency && again.length < MOST_PARTS_WAITING)
  const isDue = dueAt <= now
  if (hasRoom) {
    if (next && mayTakeNew && (!isDue || state.failingSince !== undefined))
      return { names: next, turn: 'first', dueAt: now, failures: 0, successesBefore: successes }
    if (failed && isDue) return failed
  }
  const isOut = isAtEnd || !mayTakeNew
  if (isIdle && isOut && (!failed || dueAt > failingSince + patience)) return 'end'
  return hasRoom ? dueAt - now : Number.POSITIVE_INFINITY
}
