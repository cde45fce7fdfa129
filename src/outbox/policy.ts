/** The answer of the monitor to the last push of a change, and how many changes that push had. */
export type Answer = 'accepted' | 'denied alone' | 'unavailable alone' | 'failed with others' | 'not pushed'

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
 * The policy for pending changes, after a call or a sweep has pushed them: the first row that matches decides. Sweeps
 * take changes that were never refused before refused ones, and of each kind those first that have been due the
 * longest. So whatever was pushed in vain comes after all others.
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
