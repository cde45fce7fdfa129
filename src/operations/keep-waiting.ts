import { ignoreErrors } from '../errors/failure-log.ts'
import type { GivenRefusal, NameRefusal, Submitted } from '../rules/submitted.ts'
import type { NameToKeep, WaitingReason } from '../store/waiting.ts'
import { type Deadline, waitForStore } from '../time/deadline.ts'
import type { OperationCall } from './call.ts'
import { type CheckedOptions, toSend } from './check-names.ts'
import type { Outcome } from './register-names.ts'

const MINUTE = 60_000
/** How many minutes a name waits once it is kept, and after each try; after the last of them again and again. */
const waits = [1, 2, 5, 10, 30, 60, 120, 240]
export const waitAfter = (tries: number): number => (waits[tries] ?? LAST_WAIT / MINUTE) * MINUTE
export const LAST_WAIT = 240 * MINUTE
const KEPT_FOR = 14 * 24 * 60 * MINUTE
/** The maximum number of names of a team. */
export const MOST_WAITING = 1000
/** If a name has been due for longer, nothing retries. */
export const MOST_OVERDUE = 60 * MINUTE

interface KeepingOptions extends CheckedOptions {
  onError?: ((cause: unknown) => unknown) | undefined
}

/**
 * Keeps the names of a call that wait, and forgets those that it has registered. A failure of the store is reported,
 * and fails no name: nothing is promised then.
 *
 * @returns The outcomes. The message of a name that waits says whether it is kept.
 */
export async function keepWaiting(
  { store, options: { waiting, onError }, progress }: OperationCall<KeepingOptions>,
  teamId: string,
  names: readonly Submitted[],
  outcomes: readonly Outcome[],
  deadline: Deadline,
): Promise<readonly Outcome[]> {
  if (!waiting) return outcomes
  const toKeep = new Map<string, NameToKeep>()
  const created = new Set<string>()
  for (const [index, outcome] of outcomes.entries()) {
    const { domain, registrableDomain } = names[index] as Submitted
    if (isWaiting(outcome)) toKeep.set(domain, { domain, registrableDomain, refusal: toReason(outcome) })
    // If the application rolls back its transaction, the name still waits. If not, the loop finds it registered.
    else if (outcome.status === 'created' && (waiting.isInTransaction || !store.isInTransaction)) created.add(domain)
  }
  const until = new Map<string, Date>()
  const wait = <T>(answer: T | PromiseLike<T>) => waitForStore(waiting, answer, deadline, deadline.remaining() / 2)
  progress.step = 'waiting'
  try {
    if (created.size > 0) await wait(waiting.remove(teamId, [...created]))
    if (toKeep.size > 0) {
      const options = { wait: waitAfter(0), keepFor: KEPT_FOR, most: MOST_WAITING }
      const { kept, overdue } = await wait(waiting.keep(teamId, [...toKeep.values()], options))
      for (const name of kept) until.set(name.domain, name.until)
      if (overdue > MOST_OVERDUE) throw new Error(explainOverdue(overdue))
    }
  } catch (cause) {
    ignoreErrors(onError)(cause)
  }
  return outcomes.map((outcome, index) => {
    if (!isWaiting(outcome)) return outcome
    const date = until.get((names[index] as Submitted).domain)
    const { message } = outcome
    return { ...outcome, message: date ? `${message} ${explainKept(date)}` : toSend(message) }
  })
}

const isWaiting = (outcome: Outcome): outcome is Extract<Outcome, { status: 'invalid' }> & GivenRefusal =>
  'waits' in outcome && outcome.waits === true

export const toReason = ({ code, reason = 'not_allowed', message, record }: NameRefusal): WaitingReason => ({
  code,
  reason,
  message,
  ...(record && { record }),
})

const explainKept = (until: Date) => `It is kept until ${until.toISOString().slice(0, 10)}, and needs no other call.`

const explainOverdue = (overdue: number) =>
  `Nothing retries the names that wait: one has been due for ${Math.floor(overdue / MINUTE)} minutes. Call ` +
  'startRetrying in your server, or run retryWaiting every minute'
