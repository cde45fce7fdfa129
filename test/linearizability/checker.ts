/**
 * A linearizability checker: whether calls that overlap in time can be explained by some order of atomic steps, one for
 * each call, somewhere between its start and its end.
 *
 * Wing & Gong, "Testing and verifying concurrent objects" (1993), with each situation tried once, as Lowe does
 * ("Testing for linearizability", 2017).
 */

/** A call of which it is known when it ran and what it answered. */
export interface Event<Operation> {
  readonly operation: Operation
  readonly startedAt: number
  readonly endedAt: number
}

/** What the calls should do, one after the other. */
export interface Specification<State, Operation> {
  /** The state after the step, or `null` where the operation cannot answer in this state what it has answered. */
  step(state: State, operation: Operation): State | null
  /** Equal texts for equal states. */
  toText(state: State): string
  /** Whether the operation never changes a state. */
  isObservation(operation: Operation): boolean
}

/** A possible past: the state, and the calls that have not done their step. */
export interface Past<State, Call> {
  readonly state: State
  readonly left: readonly Call[]
}

/** @returns `null` where some order explains all the calls; else how far one can get. */
export function explain<State, Operation, Call extends Event<Operation>>(
  { step, toText, isObservation }: Specification<State, Operation>,
  initial: State,
  calls: readonly Call[],
): Past<State, Call> | null {
  const numbers = new Map(calls.map((call, number) => [call, number]))
  const tried = new Set<string>()
  let furthest: Past<State, Call> = { state: initial, left: calls }

  /** Whether some order explains what is left. */
  function canEnd(state: State, left: readonly Call[]): boolean {
    if (left.length === 0) return true
    const key = `${left.map(call => numbers.get(call))} ${toText(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    if (left.length < furthest.left.length) furthest = { state, left }

    // Calls that end when another starts overlap with it: the clock may be coarse.
    const firstEnd = Math.min(...left.map(({ endedAt }) => endedAt))
    const next = left.filter(({ startedAt }) => startedAt <= firstEnd)
    // At once, without another order, since they change nothing for the others.
    const idle = next.filter(({ operation }) => isObservation(operation) && step(state, operation) !== null)
    if (idle.length > 0)
      return canEnd(
        state,
        left.filter(call => !idle.includes(call)),
      )
    return next
      .toSorted((one, other) => one.endedAt - other.endedAt)
      .some(call => {
        const after = step(state, call.operation)
        return (
          after !== null &&
          canEnd(
            after,
            left.filter(other => other !== call),
          )
        )
      })
  }
  return canEnd(initial, calls) ? null : furthest
}
