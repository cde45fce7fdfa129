import type { FailedAttempt } from './answer.ts'
import { afterFailure, type Part } from './part.ts'

/** While this many parts wait, no new names are sent. This limits the memory in use. */
const MOST_PARTS_ASIDE = 200

/** The parts that failed, and the state of the service. */
export type Queue = ReturnType<typeof createQueue>

/** @param patience Milliseconds for which all calls may fail before the client gives up. */
export function createQueue({ concurrency, patience }: { concurrency: number; patience: number }) {
  let aside: readonly Part[] = []
  /** The abandoned names, each of which is sent once more at the end. */
  const givenUp: Part[] = []
  const refused: Part[] = []
  let successes = 0
  let failuresInARow = 0
  let failingSince: number | undefined
  let refusal: FailedAttempt | undefined
  let lastFailure: FailedAttempt | undefined

  const setAside = (part: Part, failure: FailedAttempt) => {
    lastFailure = failure
    const again = afterFailure(part, failure, { successes, others: aside.length })
    if (again.length === 0) (part.isLastTry ? refused : givenUp).push(part)
    if (part.isLastTry) refusal = failure
    aside = [...aside, ...again].sort((one, other) => one.dueAt - other.dueAt)
  }

  return {
    isEmpty: () => aside.length === 0 && givenUp.length === 0,
    /** Why some names have no result at the end. `undefined` if every name has a result. */
    refusal: () => refusal,
    /** All waiting or abandoned parts. */
    parts: () => [...aside, ...givenUp, ...refused],
    /**
     * Whether new names may be sent. If the latest calls have all failed, only parts that failed before may be sent.
     */
    mayTakeNew: () => aside.length === 0 || (failuresInARow < concurrency && aside.length < MOST_PARTS_ASIDE),
    markNew: (part: Part): Part => ({ ...part, successesBefore: successes }),
    /** Removes and returns an abandoned name, but only if no other part is waiting. */
    takeGivenUp(): Part | undefined {
      const part = aside.length === 0 ? givenUp.pop() : undefined
      return part && { ...part, isLastTry: true }
    },
    takeDue(): Part | undefined {
      const [first, ...others] = aside
      if (!first || first.dueAt > performance.now()) return undefined
      aside = others
      return first
    },
    /** The time until a part is due, in milliseconds. Infinite if nothing waits. */
    untilDue: () => (aside[0] ? Math.max(0, aside[0].dueAt - performance.now()) : Number.POSITIVE_INFINITY),
    /** The last failure, if the next retry would come after `patience` has passed. */
    whyTooLate(): FailedAttempt | undefined {
      const end = (failingSince ?? performance.now()) + patience
      return aside[0] && aside[0].dueAt > end ? lastFailure : undefined
    },
    succeeded() {
      successes += 1
      failuresInARow = 0
      failingSince = undefined
    },
    setAside,
    /** @returns Whether all calls have failed for `patience`. */
    failed(part: Part, failure: FailedAttempt): boolean {
      const now = performance.now()
      failuresInARow += 1
      failingSince ??= now
      setAside(part, failure)
      return now - failingSince >= patience
    },
  }
}
