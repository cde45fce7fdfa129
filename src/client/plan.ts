import { type CallFailure, toWait } from './call.ts'
import type { BatchOutcome, PlacedName } from './send-batch.ts'

/*
 * What a run sends when, and when it ends. All that it knows about its calls is one value, the `RunState`. `afterCall`
 * returns the next state, according to the `policy`. `decide` only reads the state, and says what to do next.
 */

/** Names that are sent in one call. */
export interface Part {
  readonly names: readonly PlacedName[]
  /**
   * - `first`: was never sent.
   * - `again`: has failed.
   * - `last`: was put off until all other names have been sent.
   * - `given up`: is not sent any more.
   */
  readonly turn: 'first' | 'again' | 'last' | 'given up'
  /** When a part with the turn `again` is sent, as a time of `performance.now()`. Otherwise infinite. */
  readonly dueAt: number
  /** How many times in a row the part has failed while no other call succeeded. */
  readonly failures: number
  /** How many calls had succeeded when the part was first sent or, if it has failed, when it last failed. */
  readonly successesBefore: number
}

export interface RunState {
  /** The parts that have failed, in the order in which they are due, without those that are under way. */
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

export const initialState: RunState = { parts: [], successes: 0, newFailures: 0, isOver: false }

/** Who is at fault if a call fails; see {@link policy}. */
type Fault = 'caller' | 'names' | 'service' | 'others'

interface PolicyRow {
  readonly fault: Fault | 'any'
  readonly turn: Part['turn'] | 'any'
  readonly names: 'one' | 'several' | 'any'
  readonly becomes: Exclude<Part['turn'], 'first'> | 'halves'
}

/**
 * What becomes of the names that have no result after their call: the first row that matches decides. A part that is
 * sent `again` waits for a backoff, or for the response's `Retry-After` if that is longer.
 *
 * - `caller`: a retry would get the same response, such as a 401. This ends the run.
 * - `names`: the service failed, although another call has succeeded since these names were last sent. One name may be
 *   the reason, for instance because the monitor refuses it. Halves find that name.
 * - `service`: the service failed, no other call has succeeded, and fewer than 16 parts wait. Each call may contain
 *   such a name, so halves are tried. In an outage, they only cause more calls.
 * - `others`: none of these. The response was lost, for instance, or asks for fewer calls.
 */
// biome-ignore format: a table
export const policy: readonly PolicyRow[] = [
  { fault: 'caller',  turn: 'any',   names: 'any',     becomes: 'given up' },
  { fault: 'any',     turn: 'last',  names: 'any',     becomes: 'given up' },
  { fault: 'any',     turn: 'first', names: 'any',     becomes: 'again' },
  { fault: 'names',   turn: 'again', names: 'one',     becomes: 'last' },
  { fault: 'names',   turn: 'again', names: 'several', becomes: 'halves' },
  { fault: 'service', turn: 'again', names: 'any',     becomes: 'halves' },
  { fault: 'others',  turn: 'again', names: 'any',     becomes: 'again' },
]

const FEW_PARTS = 16
/** While this many parts wait, no new names are sent. This limits the memory in use. */
const MOST_PARTS_WAITING = 200

/** The state after a call has ended. */
export function afterCall(
  state: RunState,
  part: Part,
  { results, left, failure }: BatchOutcome,
  { patience, now }: Pick<Situation, 'patience' | 'now'>,
): RunState {
  const hasResults = results.length > 0
  const failingSince = hasResults ? undefined : (state.failingSince ?? now)
  const successes = state.successes + Number(hasResults)
  const newFailures = hasResults ? 0 : state.newFailures + Number(part.turn === 'first')
  const next = { ...state, successes, newFailures, failingSince }
  if (!failure) return next

  const fault = findFault(failure, successes > part.successesBefore, state.parts.length)
  const becomes = findRow(fault, part.turn, left.length).becomes
  const failures = fault === 'names' ? 1 : part.failures + 1
  const turn = becomes === 'halves' ? 'again' : becomes
  const dueAt = turn === 'again' ? now + toWait(failures, failure.retryAfter) : Number.POSITIVE_INFINITY
  const middle = becomes === 'halves' ? Math.ceil(left.length / 2) : left.length
  const failed = [left.slice(0, middle), left.slice(middle)]
    .filter(names => names.length > 0)
    .map((names): Part => ({ names, turn, dueAt, failures, successesBefore: successes }))
  return {
    ...next,
    parts: [...state.parts, ...failed].sort((one, other) => (one.dueAt < other.dueAt ? -1 : 1)),
    failure: state.isOver ? state.failure : failure,
    isOver: state.isOver || fault === 'caller' || (failingSince !== undefined && now - failingSince >= patience),
  }
}

function findFault({ mayPass, code }: CallFailure, hasSucceeded: boolean, waiting: number): Fault {
  if (!mayPass) return 'caller'
  if (code !== 'domain_registration_unavailable' && code !== 'internal_error') return 'others'
  if (hasSucceeded) return 'names'
  return waiting < FEW_PARTS ? 'service' : 'others'
}

const findRow = (fault: Fault, turn: Part['turn'], names: number): PolicyRow =>
  policy.find(
    row =>
      (row.fault === fault || row.fault === 'any') &&
      (row.turn === turn || row.turn === 'any') &&
      row.names !== (names === 1 ? 'several' : 'one'),
  ) as PolicyRow

/** All that matters besides the state. */
interface Situation {
  /** The next names, once they have been read, and whether there are no more. */
  readonly next: readonly PlacedName[] | undefined
  readonly isAtEnd: boolean
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
 * What to do next: send a part, wait for so many milliseconds or until something happens, or end. Parts that are due
 * come first, then new names, and then those that were put off. If the latest calls with new names have all failed, no
 * more are sent.
 */
export function decide(state: RunState, situation: Situation): Part | { readonly wait: number } | 'end' {
  const { next, isAtEnd, hasRoom, isIdle, concurrency, patience, now } = situation
  const { newFailures, failingSince = now, isOver, successes } = state
  if (isOver) return isIdle ? 'end' : { wait: Number.POSITIVE_INFINITY }
  const again = state.parts.filter(({ turn }) => turn === 'again')
  const { dueAt = Number.POSITIVE_INFINITY } = again[0] ?? {}
  const mayTakeNew = again.length === 0 || (newFailures < concurrency && again.length < MOST_PARTS_WAITING)
  const putOff = again.length === 0 && isAtEnd ? state.parts.find(({ turn }) => turn === 'last') : undefined
  if (hasRoom) {
    if (again[0] && dueAt <= now) return again[0]
    if (next && mayTakeNew) return { names: next, turn: 'first', dueAt, failures: 0, successesBefore: successes }
    if (putOff) return putOff
  }
  const isOut = isAtEnd || !mayTakeNew
  if (isIdle && isOut && (again.length === 0 || dueAt > failingSince + patience)) return 'end'
  return { wait: hasRoom ? dueAt - now : Number.POSITIVE_INFINITY }
}
