import { describeReason } from '../errors/failure-log.ts'
import type { ItemFailure, Progress } from '../isolate.ts'
import { TimeLimitError } from '../time/deadline.ts'
import { isMonitorUnavailable, type LeasedChange, type Line, LONGEST_WAIT, type Postponement } from './contract.ts'

/** The default time limit of each push, in milliseconds. Leases and waits depend on the time limit. */
export const DEFAULT_PUSH_TIME_LIMIT = 30_000
/** The first wait, 5 seconds by default. The backoff doubles with each refusal. */
const firstWait = (timeLimit: number) => timeLimit / 6

/** A row of the table of lines. */
export interface LineRow {
  readonly line: Line
  /** Which changes wait in this line, if the monitor has not refused them; see {@link lineOf}. */
  readonly changes: 'taken by at most two sweeps' | 'taken by three sweeps or more' | 'refused by the monitor'
  /** How many changes of this line share a push. */
  readonly together: 'a batch' | 'one, then twice as many with each success' | 'one'
}

/**
 * The lines in which changes wait for a sweep. The first push of a sweep is for a line that is drawn by lot. After
 * that, the sweep empties the lines in this order. In each line, teams take turns, and a change comes before those that
 * became due later. A push that fails is halved at once, until each failing change is alone, and if a half fails too,
 * the next pushes have the changes of one team each.
 *
 * So no change waits forever, although no process remembers anything: a push that fails puts its changes behind all
 * that are due. A change that fails only because of others leaves the first line after three sweeps, and comes alone as
 * soon as it is the first of the second line. A process that dies during a push has counted its sweep before, so its
 * changes move on too. And no line loses every lot.
 */
// biome-ignore format: a table
export const lines: readonly LineRow[] = [
  { line: 'new',     changes: 'taken by at most two sweeps',   together: 'a batch' },
  { line: 'failed',  changes: 'taken by three sweeps or more', together: 'one, then twice as many with each success' },
  { line: 'refused', changes: 'refused by the monitor',        together: 'one' },
]

/** The lines in their order. */
export const inOrder: readonly Line[] = lines.map(({ line }) => line)

/** Returns the lines in the order for the first push of a sweep. */
export function drawFirst(random: () => number): readonly Line[] {
  const drawn = inOrder[Math.floor(random() * inOrder.length)]
  return inOrder.toSorted((one, other) => Number(other === drawn) - Number(one === drawn))
}

/** The answer of the monitor to the last push of a change, and how many changes that push had. */
type Answer = 'accepted' | 'denied alone' | 'unavailable alone' | 'failed with others' | 'not pushed'

/** A row of the policy. */
export interface PolicyRow {
  readonly answer: Answer
  /** Whether the monitor accepts anything; see {@link policy}. */
  readonly accepts: 'yes' | 'no' | 'any'
  /** How often the monitor has refused the change before. */
  readonly refusals: 'none' | 'some' | 'any'
  /** What the change is after that. `refused` adds one to its refusals. */
  readonly becomes: 'delivered' | 'refused' | 'pending'
  /** When the change is due again. A `Retry-After` of its last push delays it further. */
  readonly due: 'never' | 'at once' | 'after the first wait' | 'after the backoff'
}

/**
 * The policy for pending changes, after a call or a sweep has pushed them: the first row that matches decides.
 *
 * - `denied alone`: the push of this change alone failed, and the error does not say that the monitor is unavailable.
 * - `unavailable alone`: it failed with a {@link MonitorUnavailableError} or was late, so the change need not be at
 *   fault.
 * - `accepts`: whether the monitor has accepted any change in this call or sweep. For a denial, also `yes` if each
 *   change was pushed alone, because then no other change waits for the monitor.
 * - `refusals`: how often the monitor has refused the change in sweeps. A call does not know, so it decides as if there
 *   were none. However often a call is repeated, its failures count as one refusal.
 */
// biome-ignore format: a table
export const policy: readonly PolicyRow[] = [
  { answer: 'accepted',           accepts: 'any', refusals: 'any',  becomes: 'delivered', due: 'never' },
  { answer: 'denied alone',       accepts: 'yes', refusals: 'any',  becomes: 'refused',   due: 'after the backoff' },
  { answer: 'denied alone',       accepts: 'no',  refusals: 'none', becomes: 'refused',   due: 'after the first wait' },
  { answer: 'denied alone',       accepts: 'no',  refusals: 'some', becomes: 'pending',   due: 'after the first wait' },
  { answer: 'unavailable alone',  accepts: 'yes', refusals: 'any',  becomes: 'refused',   due: 'after the backoff' },
  { answer: 'unavailable alone',  accepts: 'no',  refusals: 'any',  becomes: 'pending',   due: 'after the first wait' },
  { answer: 'failed with others', accepts: 'yes', refusals: 'any',  becomes: 'pending',   due: 'at once' },
  { answer: 'failed with others', accepts: 'no',  refusals: 'any',  becomes: 'pending',   due: 'after the first wait' },
  { answer: 'not pushed',         accepts: 'any', refusals: 'any',  becomes: 'pending',   due: 'at once' },
]

/** Finds the row for a change. */
export function findRow(answer: Answer, accepts: boolean, refusals: number): PolicyRow {
  const isMatch = (row: PolicyRow) =>
    row.answer === answer &&
    row.accepts !== (accepts ? 'no' : 'yes') &&
    row.refusals !== (refusals > 0 ? 'none' : 'some')
  return policy.find(isMatch) as PolicyRow
}

/** The changes that a call or a sweep did not deliver. */
interface Undelivered {
  /** The last failure of each change; `null` if the monitor has not answered a push of the change. */
  readonly unfinished: ReadonlyMap<LeasedChange, ItemFailure | null>
  /** Whether the monitor has accepted any change. */
  readonly hasSucceeded: boolean
  /** Whether each change was pushed alone, and no others are due. */
  readonly areAllAlone: boolean
}

/**
 * Applies the {@link policy} to changes that were not delivered.
 *
 * @param timeLimit The time limit of a push, in milliseconds.
 * @param random Returns a number from 0 to 1 (exclusive), for jitter: changes that failed together are not retried
 *   together.
 */
export function postponeAll(
  { unfinished, hasSucceeded, areAllAlone }: Undelivered,
  timeLimit: number,
  random: () => number,
): readonly Postponement[] {
  const backoff = (refusals: number) =>
    Math.min(LONGEST_WAIT, firstWait(timeLimit) * 2 ** refusals) * (1 - random() / 2)
  const waits = { never: 0, 'at once': 0, 'after the first wait': firstWait(timeLimit) }
  return [...unfinished].map(([change, failure]) => {
    const answer = toAnswer(failure)
    const accepts = hasSucceeded || (areAllAlone && answer === 'denied alone')
    const { becomes, due } = findRow(answer, accepts, change.refusals)
    const wait = due === 'after the backoff' ? backoff(change.refusals) : waits[due]
    return {
      change,
      wait: Math.max(wait, readRetryAfter(failure?.cause) ?? 0),
      failure: failure ? describeReason(failure.cause) : undefined,
      refusals: change.refusals + Number(becomes === 'refused'),
    }
  })
}

function toAnswer(failure: ItemFailure | null): Answer {
  if (!failure) return 'not pushed'
  if (!failure.isAlone) return 'failed with others'
  return isDenial(failure.cause) ? 'denied alone' : 'unavailable alone'
}

/** Whether a failure says that a change is at fault, and not that the monitor is unavailable. */
const isDenial = (cause: unknown) => !isMonitorUnavailable(cause) && !(cause instanceof TimeLimitError)

/** @returns After how many milliseconds the monitor wants a retry, but at most an hour. */
export function readRetryAfter(cause: unknown): number | undefined {
  const retryAfter = isMonitorUnavailable(cause) ? cause.retryAfter : undefined
  return typeof retryAfter === 'number' && retryAfter >= 0 ? Math.min(LONGEST_WAIT, retryAfter) : undefined
}

/** After this many consecutive failures, a call or a sweep pushes nothing more. */
const MOST_FAILURES_IN_A_ROW = 8
/**
 * The same, if the monitor may be unavailable or have had enough: nothing was accepted the last time, the last failure
 * has a `Retry-After`, or something was accepted, and then the monitor says that it is unavailable. Three, so
 * that each half of a failed push is tried: if only one of them has changes at fault, the other goes on.
 */
const FEW_FAILURES_IN_A_ROW = 3
/** After this many failures, a call or a sweep leaves the remaining changes to the next sweep. */
const MOST_FAILURES = 100

/**
 * Whether a call or a sweep leaves the remaining changes to the next sweep.
 *
 * @param wasUnavailable Whether nothing was accepted the last time.
 */
export function hasFailedEnough(progress: Progress, wasUnavailable: boolean): boolean {
  const { hasSucceeded, failures, failuresInARow, cause } = progress
  const hasHadEnough = readRetryAfter(cause) !== undefined || (hasSucceeded && !isDenial(cause))
  const mostInARow = wasUnavailable || hasHadEnough ? FEW_FAILURES_IN_A_ROW : MOST_FAILURES_IN_A_ROW
  return failuresInARow >= mostInARow || failures >= MOST_FAILURES
}
