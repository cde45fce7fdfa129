import { createDeadline, type Deadline, TimeLimitError } from '../time/deadline.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import { hasCode } from './failures.ts'

/*
 * The calls of a store wait here for the registrable domains that they lock, and for one of the transactions that may
 * run at once. No two transactions of this process lock the same registrable domain. So a transaction waits for a lock
 * only if somebody else holds it: another process, or the application in its own transaction. Calls that wait share
 * the next transaction, so under load, many small calls cost little more than one.
 *
 * | when | what happens |
 * | --- | --- |
 * | a call comes, fewer than six transactions run, and nobody has or wants its domains | it begins at once, alone |
 * | three of these transactions are of calls that may share one | no fourth begins, so more calls share the next |
 * | otherwise | it waits in line, and holds nothing: a call of each team, then a second call of each team, and so on |
 * | a transaction ends | the next takes calls from the line, in order, as long as they look up at most 20 names |
 * | one of these calls cannot begin yet | nobody behind it takes its domains; all others pass it |
 * | a call has wildcards or a limit, is large or late, releases, transfers or imports | it shares no transaction |
 * | a shared transaction waits 25 ms for one lock, or takes half of its calls' time | they go again, each alone |
 * | a shared transaction fails otherwise | they go again, half as many together, until a call at fault fails alone |
 * | a call alone waits 10 ms for one lock | it goes again, beside the six: three such calls wait, each twice as long |
 */

/** A call that locks registrable domains. */
export interface Call<Work> {
  readonly teamId: string
  readonly locks: readonly string[]
  readonly deadline: Deadline
  /** How many names the call looks up; `Infinity` if it cannot share a transaction. */
  readonly size: number
  readonly work: Work
}

/**
 * Does the work of calls in one transaction, one call after the other, and returns their results.
 *
 * @param patience For how many milliseconds the transaction may wait for one lock.
 */
export type RunCalls<Work> = (
  calls: readonly Call<Work>[],
  deadline: Deadline,
  patience: number,
) => Promise<readonly unknown[]>

interface Turn<Work> {
  readonly call: Call<Work>
  /** The line is in ascending order of rounds. */
  round: number
  /** How many calls may share the transaction. */
  most: number
  /** How often the call, alone, has waited in vain for a lock. */
  waits: number
  /** The transaction; absent while the call is in line. */
  group?: Group<Work> | undefined
  begin(): void
}

interface Group<Work> {
  readonly turns: readonly Turn<Work>[]
  readonly kind: Kind
  /** Set once the first of the calls has begun the transaction, in its own asynchronous context. */
  results?: Promise<readonly unknown[]>
}

/** Small calls may share a transaction. Waiting calls need a lock that somebody else held when they tried before. */
type Kind = 'small' | 'large' | 'waiting'

/** How many transactions run at once: `all` of small and large calls, of them `small`, and beside them `waiting`. */
const MOST = { all: 6, small: 3, waiting: 3 }
/** How many names the calls of a shared transaction look up together. */
const LARGEST = 20
/** The share of its calls' time that a shared transaction may take. */
const SHARED_TIME = 0.5
/** With less than this share of its time, a call is late: a transaction with so little time would fail for all. */
const LATE = 0.1
/** For how many milliseconds a transaction waits for one lock, at first. */
const PATIENCE = { shared: 25, alone: 10 }
/** If a wait would take more than this share of the time that is left, it is the last one, and takes all of it. */
const LAST = 1 / 3
/** How many calls get their results in one turn of the event loop. */
const AT_ONCE = 10

const LOCK_NOT_AVAILABLE = '55P03'
const QUERY_CANCELED = '57014'

export function createQueue<Work>(runCalls: RunCalls<Work>) {
  const running = { small: 0, large: 0, waiting: 0 }
  let line: Turn<Work>[] = []
  /** The latest round of which a call has begun. */
  let round = 0
  /** The registrable domains of the running transactions. */
  const locked = new Set<string>()
  /** The registrable domains of the calls that cannot begin yet. */
  const wanted = new Set<string>()

  function hasRoom(kind: Kind): boolean {
    if (kind === 'waiting') return running.waiting < MOST.waiting
    return running.small + running.large < MOST.all && (kind === 'large' || running.small < MOST.small)
  }

  const isFree = ({ locks }: Call<Work>) => !locks.some(lock => locked.has(lock) || wanted.has(lock))

  function want({ locks }: Call<Work>): void {
    for (const lock of locks) wanted.add(lock)
  }

  function enter(turn: Turn<Work>): void {
    turn.group = undefined
    line.splice(line.findLastIndex(other => other.round <= turn.round) + 1, 0, turn)
    want(turn.call)
  }

  function open(turns: readonly Turn<Work>[]): void {
    const group: Group<Work> = { turns, kind: kindOf(turns[0] as Turn<Work>) }
    running[group.kind] += 1
    for (const turn of turns) {
      turn.group = group
      round = Math.max(round, turn.round)
      for (const lock of turn.call.locks) locked.add(lock)
    }
  }

  function openNext(): void {
    for (let turns = take(); turns.length > 0; turns = take()) {
      open(turns)
      for (const turn of turns) turn.begin()
    }
  }

  /** Takes the calls of the next transaction from the line. */
  function take(): readonly Turn<Work>[] {
    wanted.clear()
    const taken: Turn<Work>[] = []
    let size = 0
    function fits(turn: Turn<Work>): boolean {
      const [first] = taken
      if (!first) return hasRoom(kindOf(turn))
      const most = mostOf(turn)
      return most === mostOf(first) && taken.length < most && size + turn.call.size <= LARGEST
    }
    for (const turn of line) {
      if (isFree(turn.call) && fits(turn)) {
        taken.push(turn)
        size += turn.call.size
      } else want(turn.call)
    }
    const left = new Set(taken)
    if (left.size > 0) line = line.filter(turn => !left.has(turn))
    return taken
  }

  /** Waits in line until a transaction has taken the call. */
  async function wait(turn: Turn<Work>): Promise<Group<Work>> {
    const beginning = new Promise<void>(resolve => {
      turn.begin = resolve
    })
    try {
      await turn.call.deadline.wait(beginning)
    } catch (error) {
      if (!turn.group) {
        line = line.filter(other => other !== turn)
        openNext()
        throw error
      }
    }
    return turn.group as Group<Work>
  }

  /** Runs a transaction. If it fails, puts the calls that go again back in line, in their order. */
  async function runAll({ turns, kind }: Group<Work>): Promise<readonly unknown[]> {
    const calls = turns.map(({ call }) => call)
    const deadline = deadlineOf(calls)
    const patience = (turns.length > 1 ? PATIENCE.shared : PATIENCE.alone) * 2 ** (turns[0]?.waits ?? 0)
    const isLast = patience > deadline.remaining() * LAST
    try {
      return await runCalls(calls, deadline, isLast ? deadline.remaining() : patience)
    } catch (error) {
      const isLocked = hasCode(error, new Set([LOCK_NOT_AVAILABLE]))
      if (turns.length > 1) {
        const isSlow = isLocked || hasCode(error, new Set([QUERY_CANCELED])) || error instanceof TimeLimitError
        for (const turn of turns) turn.most = isSlow ? 1 : Math.ceil(turns.length / 2)
        turns.forEach(enter)
      } else if (isLocked && !isLast) {
        for (const turn of turns) {
          turn.waits += 1
          turn.round = round
          enter(turn)
        }
      }
      throw error
    } finally {
      running[kind] -= 1
      for (const { locks } of calls) for (const lock of locks) locked.delete(lock)
      openNext()
    }
  }

  return {
    /**
     * Runs a call as soon as it is its turn.
     *
     * @throws {TimeLimitError} if the call times out before.
     */
    async run(call: Call<Work>): Promise<unknown> {
      const last = line.findLast(other => other.call.teamId === call.teamId)
      const next = Math.max(round, last ? last.round + 1 : 0)
      const turn: Turn<Work> = { call, round: next, most: LARGEST, waits: 0, begin() {} }
      if (hasRoom(kindOf(turn)) && isFree(call)) open([turn])
      else enter(turn)
      for (;;) {
        const group = turn.group ?? (await wait(turn))
        group.results ??= runAll(group)
        try {
          const results = await group.results
          const index = group.turns.indexOf(turn)
          for (let before = AT_ONCE; before <= index; before += AT_ONCE) await letOthersRun()
          return results[index]
        } catch (error) {
          if (turn.group === group) throw error
        }
      }
    },
  }
}

const kindOf = ({ call, waits }: Turn<unknown>): Kind =>
  waits > 0 ? 'waiting' : call.size > LARGEST ? 'large' : 'small'

const mostOf = ({ call, most, waits }: Turn<unknown>): number => (isLate(call) || waits > 0 ? 1 : most)

const isLate = ({ deadline }: Call<unknown>) => deadline.remaining() < deadline.timeLimit * LATE

/** A shared transaction ends so early that each of its calls has time to go again. */
function deadlineOf(calls: readonly Call<unknown>[]): Deadline {
  const [{ deadline }] = calls as readonly [Call<unknown>]
  if (calls.length === 1) return deadline
  const least = Math.min(...calls.map(call => call.deadline.remaining()))
  return createDeadline(least * SHARED_TIME, deadline.timeLimit)
}
