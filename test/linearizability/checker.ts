/**
 * A linearizability checker: whether calls that overlap in time can be explained by some order of atomic steps, one for
 * each call, somewhere between its start and its end.
 *
 * Wing & Gong, "Testing and verifying concurrent objects" (1993), with each situation tried once, and steps put off
 * until a call ends that needs them, as Lowe does ("Testing for linearizability", 2017). The first call that no order
 * reaches the end of is the first without an explanation.
 */

/** A call of which it is known when it ran and what it answered. */
export interface Event<Operation> {
  readonly operation: Operation
  readonly startedAt: number
  /** Infinite for a call whose step may also never have happened. */
  readonly endedAt: number
}

/** What the calls should do, one after the other. */
export interface Specification<State, Operation> {
  /** The state after the step, or `null` where the operation cannot answer in this state what it has answered. */
  step(state: State, operation: Operation): State | null
  /** Equal texts for equal states. */
  toText(state: State): string
  /** Whether the operation never changes a state, so that a history without it is no harder to explain. */
  isObservation(operation: Operation): boolean
  /** Whether the operation, if it can be done in this state, changes neither it nor any that can come after it. */
  isIdle(state: State, operation: Operation): boolean
}

/** The least of a history that shows that there is no explanation. */
export interface Inexplicable<State, Operation> {
  /** What was possible when no call was under way for the last time. */
  readonly before: readonly State[]
  /** From then on, until the first call without an explanation ends. Those that end later are as if they never did. */
  readonly events: readonly Event<Operation>[]
}

/** @returns `null` where some order explains all the calls. */
export function explain<State, Operation>(
  specification: Specification<State, Operation>,
  initial: State,
  events: readonly Event<Operation>[],
): Inexplicable<State, Operation> | null {
  const fault = search(specification, initial, events)
  if (!fault) return null
  const isInexplicable = (some: readonly Event<Operation>[]) =>
    fault.before.every(state => search(specification, state, some) !== null)
  let left = fault.events
  for (const event of fault.events) {
    const fewer = left.filter(other => other !== event)
    if (specification.isObservation(event.operation) && isInexplicable(fewer)) left = fewer
  }
  return { before: fault.before, events: left }
}

/** A start or an end, and what is under way just before it. */
interface Moment<Operation> {
  readonly event: Event<Operation>
  readonly isStart: boolean
  readonly underWay: readonly Event<Operation>[]
}

/** A possible past of a moment: the state, and which of the calls under way have done their step. */
interface Past<State, Operation> {
  readonly moment: number
  readonly state: State
  readonly done: ReadonlySet<Event<Operation>>
}

function search<State, Operation>(
  specification: Specification<State, Operation>,
  initial: State,
  events: readonly Event<Operation>[],
): Inexplicable<State, Operation> | null {
  const moments = toMoments(events)
  const numbers = new Map(events.map((event, number) => [event, number]))
  const toKey = ({ state, done }: Past<State, Operation>) =>
    `${[...done].map(event => numbers.get(event)).sort()} ${specification.toText(state)}`
  const tried = moments.map(() => new Map<string, State>())
  const open: Past<State, Operation>[] = [{ moment: 0, state: initial, done: new Set() }]
  let furthest = 0
  for (let past = open.pop(); past; past = open.pop()) {
    const moment = moments[past.moment]
    if (!moment) return null
    const key = toKey(past)
    const triedHere = tried[past.moment] as Map<string, State>
    if (triedHere.has(key)) continue
    triedHere.set(key, past.state)
    furthest = Math.max(furthest, past.moment)
    open.push(...continuePast(specification, past, moment))
  }
  const quiet = moments.findLastIndex(({ underWay }, index) => index <= furthest && underWay.every(isEndless))
  const end = moments[furthest]?.event.endedAt ?? 0
  const starts = moments.slice(quiet, furthest).flatMap(({ event, isStart }) => (isStart ? [event] : []))
  return {
    before: distinct(specification, [...(tried[quiet]?.values() ?? [])]),
    events: [...(moments[quiet]?.underWay ?? []), ...starts].map(event =>
      event.endedAt > end ? { ...event, endedAt: Number.POSITIVE_INFINITY } : event,
    ),
  }
}

/** What may come next; what is tried first stands last. */
function continuePast<State, Operation>(
  { step, isIdle }: Specification<State, Operation>,
  past: Past<State, Operation>,
  { event, isStart, underWay }: Moment<Operation>,
): Past<State, Operation>[] {
  const { moment, state, done } = past
  if (isStart) return [{ ...past, moment: moment + 1 }]
  if (done.has(event)) {
    return [{ moment: moment + 1, state, done: new Set([...done].filter(other => other !== event)) }]
  }
  const waiting = underWay.filter(other => !done.has(other))
  // At once, without another order, since no other differs.
  const idle = waiting.filter(({ operation }) => isIdle(state, operation) && step(state, operation) !== null)
  if (idle.length > 0) return [{ moment, state, done: new Set([...done, ...idle]) }]
  return [...waiting.filter(other => other !== event), event].flatMap(next => {
    const after = step(state, next.operation)
    return after === null ? [] : [{ moment, state: after, done: new Set([...done, next]) }]
  })
}

/** In the order of time. Calls that end when another starts overlap with it: the clock may be coarse. */
function toMoments<Operation>(events: readonly Event<Operation>[]): Moment<Operation>[] {
  const ends = events.filter(event => !isEndless(event))
  const times = [
    ...events.map(event => ({ event, isStart: true, time: event.startedAt })),
    ...ends.map(event => ({ event, isStart: false, time: event.endedAt })),
  ].sort((one, other) => one.time - other.time || Number(other.isStart) - Number(one.isStart))
  const underWay = new Set<Event<Operation>>()
  return times.map(({ event, isStart }) => {
    const moment = { event, isStart, underWay: [...underWay] }
    if (isStart) underWay.add(event)
    else underWay.delete(event)
    return moment
  })
}

const isEndless = ({ endedAt }: { readonly endedAt: number }) => endedAt === Number.POSITIVE_INFINITY

const distinct = <State>({ toText }: { toText(state: State): string }, states: readonly State[]): State[] => [
  ...new Map(states.map(state => [toText(state), state])).values(),
]
