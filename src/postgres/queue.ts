import { createDeadline, type Deadline, TimeLimitError } from '../time/deadline.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import { createTeamLines } from '../time/team-lines.ts'
import { hasCode } from './drivers/failures.ts'
import { createLines, type InLine, insert, isBefore } from './lines.ts'

/*
 * The calls of a store wait here for the registrable domains that they lock, and for one of the transactions that may
 * run at once. No two transactions of this process lock the same registrable domain. So a transaction waits for a lock
 * only if somebody else holds it: another process, or the application in its own transaction. Calls that wait share
 * the next transaction, so under load, many small calls cost little more than one.
 *
 * | who waits | for what | whose turn is next |
 * | --- | --- | --- |
 * | a call | to be first in the lines of its registrable domains | in rounds: a call of each team, then a second one |
 * | a call that is first | a transaction: six, three of them small, two of these for those that go again alone | same |
 * | a call that waited in vain for a lock | its lane, with all calls for the same registrable domains | same |
 * | a lane | a transaction: three beside the six, two of them for lanes that waited in vain twice | the teams in turn |
 *
 * How many: 10,000 names of a team, wherever they wait; then its next call fails at once. What one more costs: a binary
 * search in each of its lines, and nothing for those that wait already. A call that only reads has no line to wait in
 * for domains. In the line of the pool, only those wait that run here, and what ends pushes or belongs to sweeps.
 *
 * | when | what happens |
 * | --- | --- |
 * | a small call begins | those behind it share its transaction, in order, as long as they look up at most 20 names |
 * | this transaction has its locks | calls for the same registrable domains join, if they fit too |
 * | a team has more calls in it than another team, or ten while another team has calls here | its next call waits |
 * | a call has wildcards or a limit, is large or late, or does not register | it shares no transaction |
 * | calls with different domains wait in vain for a lock, or take half of their time | they go again, each alone |
 * | their transaction fails otherwise | they go again, half as many together, until a call at fault fails alone |
 * | calls for the same domains wait in vain | they leave the lines for a lane, and hold up none until it has a place |
 * | a lane has no more calls | it ends; later calls enter the lines again |
 *
 * A transaction waits for one lock twice as long as transactions take, but for 10 to 100 ms; in a lane four times as
 * long, and after each wait in vain there twice as long as before, up to 16 times.
 */

export interface Call<Work> {
  readonly teamId: string
  /** The registrable domains to lock, in ascending order. */
  readonly locks: readonly string[]
  readonly deadline: Deadline
  /** How many names the caller has sent. */
  readonly names: number
  /** How many names the call looks up; `Infinity` if it cannot share a transaction. */
  readonly size: number
  readonly work: Work
}

/**
 * Does the work of calls in one transaction, one call after the other, and returns their results.
 *
 * @param patience For how many milliseconds the transaction may wait for one lock.
 * @param join Returns more calls for the same locks, which then belong to the transaction: `calls` has them too. To be
 *   called once the transaction has its locks.
 */
export type RunCalls<Work> = (
  calls: readonly Call<Work>[],
  limits: { readonly deadline: Deadline; readonly patience: number },
  join: () => readonly Call<Work>[],
) => Promise<readonly unknown[]>

interface Turn<Work> extends InLine {
  readonly call: Call<Work>
  /** How many calls may share the transaction. */
  most: number
  /** The transaction; absent while the call waits. */
  group?: Group<Work> | undefined
  begin(group: Group<Work>): void
}

/** Calls that lock the same registrable domains, one of which somebody else has locked, or had. */
interface Lane<Work> extends InLine {
  /** The calls that wait, in their order. */
  readonly turns: Turn<Work>[]
  /** For how many milliseconds the next transaction waits for one lock. */
  patience: number
  /** How many transactions in a row have waited in vain. */
  failures: number
}

interface Group<Work> {
  readonly turns: Turn<Work>[]
  readonly places: readonly Place[]
  readonly lane?: Lane<Work> | undefined
  /** Set once the first of the calls has begun the transaction, in its own asynchronous context. */
  results?: Promise<readonly unknown[]>
}

/** How many transactions may run at once in each place. */
const MOST = { six: 6, small: 3, alone: 2, beside: 3, stuck: 2 }

type Place = keyof typeof MOST

/** The places that a transaction takes. */
const PLACES = {
  small: ['six', 'small'],
  alone: ['six', 'small', 'alone'],
  large: ['six'],
  lane: ['beside'],
  stuckLane: ['beside', 'stuck'],
} as const satisfies Readonly<Record<string, readonly Place[]>>

/** How many names of a team may wait or run. */
const MOST_NAMES = 10_000

/** How many names the calls of a shared transaction look up together. */
const LARGEST = 20

/** How many calls of one team may share a transaction while other teams have calls: for so many, those wait. */
const MOST_OF_TEAM = 10

/** The share of its calls' time that a shared transaction may take. */
const SHARED_TIME = 0.5

/** With less than this share of its time, a call is late: a transaction with so little time would fail for all. */
const LATE = 0.1

/**
 * For how many milliseconds a transaction waits for one lock: at first, so many times as long as transactions take, but
 * at least `least`, and at most `largest`; in a lane, `inLane` to `most` times as long as at first.
 */
const PATIENCE = { times: 2, least: 10, largest: 100, inLane: 4, most: 16 }

/** In these steps, the first patience follows the transactions, so it stays near their median. */
const STEP = 1.1

/** If a wait would take more than this share of the time that is left, it is the last one, and takes all of it. */
const LAST = 1 / 3

/** With more than this share of its time left, no statement of a transaction can have reached the server's limit. */
const EARLY = 0.1

/** How many calls get their results in one turn of the event loop. */
const AT_ONCE = 10

const lockNotAvailable = new Set(['55P03'])

/** Also the code of a lock timeout, if the lock becomes free while PostgreSQL is cancelling the statement. */
const queryCanceled = new Set(['57014'])

export function createQueue<Work>(runCalls: RunCalls<Work>) {
  const running = { six: 0, small: 0, alone: 0, beside: 0, stuck: 0 }
  /** The calls that wait or run outside lanes, and the lanes that have a place. */
  const lines = createLines<Turn<Work> | Lane<Work>>()
  /** The calls that are first in all of their lines. */
  const ready = { small: [] as Turn<Work>[], alone: [] as Turn<Work>[], large: [] as Turn<Work>[] }
  /** By the key of their calls. */
  const lanes = new Map<string, Lane<Work>>()
  /** The lanes that wait for a place. */
  const waiting = { lane: createTeamLines<Lane<Work>>(), stuckLane: createTeamLines<Lane<Work>>() }
  /** The teams that have calls here. */
  const teams = new Map<string, { calls: number; names: number; lastRound: number }>()
  /** The latest round of which a call has begun. */
  let round = 0
  let number = 0
  let length = 0
  let firstPatience = PATIENCE.least

  const hasRoom = (places: readonly Place[]) => places.every(place => running[place] < MOST[place])

  function occupy(places: readonly Place[], by: 1 | -1 = 1): void {
    for (const place of places) running[place] += by
  }

  function enter(turn: Turn<Work>): void {
    const lane = lanes.get(turn.key)
    if (lane) insert(lane.turns, turn)
    else {
      lines.enter(turn)
      advance([turn])
    }
  }

  /** Takes those that are first in all of their lines one step further: lanes begin, calls wait for a transaction. */
  function advance(entries: readonly (Turn<Work> | Lane<Work>)[]): void {
    for (const entry of entries) {
      if (entry.behind > 0) continue
      if ('turns' in entry) beginLane(entry)
      else if (!entry.group) insert(ready[kindOf(entry)], entry)
    }
  }

  const mostOfTeam = () => (teams.size > 1 ? MOST_OF_TEAM : LARGEST)

  function begin(group: Group<Work>, turns = group.turns): void {
    for (const turn of turns) {
      turn.group = group
      turn.begin(group)
    }
  }

  /** Begins the transactions that can begin. */
  function openNext(): void {
    for (let lane = takeLane(); lane; lane = takeLane()) {
      occupy(placesOf(lane))
      lines.enter(Object.assign(lane, { round, number: number++ }))
      advance([lane])
    }
    for (let first = takeFirst(); first; first = takeFirst()) {
      const places = PLACES[kindOf(first)]
      occupy(places)
      begin({ turns: share(first), places })
    }
  }

  function takeFirst(): Turn<Work> | undefined {
    let from: Turn<Work>[] | undefined
    for (const kind of ['small', 'alone', 'large'] as const) {
      const [turn] = ready[kind]
      const isNext = turn && hasRoom(PLACES[kind]) && !(from?.[0] && isBefore(from[0], turn))
      if (isNext) from = ready[kind]
    }
    return from?.shift()
  }

  /** Takes the calls that share a transaction with a call: those that follow it, in order, as long as they fit. */
  function share(first: Turn<Work>): Turn<Work>[] {
    round = Math.max(round, first.round)
    const turns = [first]
    if (kindOf(first) !== 'small') return turns
    const take = lines.startTaking()
    /** The calls that have their domains once the calls in `turns` have them. */
    const followers: Turn<Work>[] = []
    for (let turn = first; ; ) {
      for (const next of take(turn)) if (!('turns' in next) && kindOf(next) === 'small') insert(followers, next)
      const [[follower], [other]] = [followers, ready.small] as const
      const from = follower && !(other && isBefore(other, follower)) ? followers : ready.small
      const [next] = from
      if (!next || !fits(turns, next, mostOfTeam())) return turns
      from.shift()
      turns.push(next)
      round = Math.max(round, next.round)
      turn = next
    }
  }

  /** Adds calls for the same registrable domains to a transaction, as long as they fit. */
  function join(group: Group<Work>): readonly Call<Work>[] {
    const { turns, lane } = group
    const [first] = turns as [Turn<Work>]
    const joining: Turn<Work>[] = []
    if (turns.some(({ key }) => key !== first.key)) return []
    const findNext = () => (lane ? lane.turns[0] : lines.at(first.locks, turns.length))
    for (let next = findNext(); next && 'call' in next && next.key === first.key; next = findNext()) {
      if (!fits(turns, next, mostOfTeam())) break
      if (lane) lane.turns.shift()
      else round = Math.max(round, next.round)
      turns.push(next)
      joining.push(next)
    }
    begin(group, joining)
    return joining.map(({ call }) => call)
  }

  /** Takes the lane that gets a place next, if one is free. */
  function takeLane(): Lane<Work> | undefined {
    for (const kind of ['lane', 'stuckLane'] as const) {
      const lane = hasRoom(PLACES[kind]) && waiting[kind].take()
      if (lane) return lane
    }
    return undefined
  }

  /** Begins the transaction of a lane that has its place and its domains. */
  function beginLane(lane: Lane<Work>): void {
    const places = placesOf(lane)
    // Its calls may have timed out.
    const first = lane.turns.shift()
    if (first) {
      const group = { turns: [first], places, lane }
      begin(group)
      join(group)
    } else leavePlace(lane, places)
  }

  function leavePlace(lane: Lane<Work>, places: readonly Place[]): void {
    occupy(places, -1)
    waitForPlace(lane)
    advance(lines.leave(lane))
  }

  function waitForPlace(lane: Lane<Work>): void {
    const [first] = lane.turns
    if (first) waiting[kindOfLane(lane)].add(first.call.teamId, lane)
    else lanes.delete(lane.key)
  }

  /** Moves all calls that lock the same registrable domains as these from the lines into a lane. */
  function openLane(turns: readonly Turn<Work>[]): void {
    const [{ key, locks }] = turns as readonly [Turn<Work>]
    const lane: Lane<Work> = {
      ...{ key, locks, round, number, behind: 0, turns: [] },
      ...{ patience: firstPatience * PATIENCE.inLane, failures: 1 },
    }
    lanes.set(key, lane)
    const ofDomain = lines.of(locks[0]).filter(entry => entry.key === key) as readonly Turn<Work>[]
    for (const turn of new Set([...turns, ...ofDomain])) {
      insert(lane.turns, Object.assign(turn, { group: undefined, most: LARGEST }))
      advance(lines.leave(turn).filter(entry => entry.key !== key))
    }
    waitForPlace(lane)
  }

  /** Waits until a transaction has taken the call. */
  async function wait(turn: Turn<Work>): Promise<Group<Work>> {
    const beginning = new Promise<Group<Work>>(resolve => {
      turn.begin = resolve
    })
    try {
      return await turn.call.deadline.wait(beginning)
    } catch (error) {
      if (turn.group) return turn.group
      const lane = lanes.get(turn.key)
      if (lane) remove(lane.turns, turn)
      else {
        if (turn.behind === 0) remove(ready[kindOf(turn)], turn)
        advance(lines.leave(turn))
      }
      openNext()
      throw error
    }
  }

  /** Runs a transaction, and decides what becomes of its calls if it fails. */
  async function runAll(group: Group<Work>): Promise<readonly unknown[]> {
    const { turns, lane } = group
    const calls = turns.map(({ call }) => call)
    const deadline = deadlineOf(calls)
    const time = deadline.remaining()
    const patience = Math.round(lane?.patience ?? firstPatience)
    const elapsed = () => time - deadline.remaining()
    const isReading = calls[0]?.locks.length === 0
    // A call that only reads may wait for somebody who changes a table, and holds up nobody meanwhile.
    const isLast = patience > time * LAST || isReading
    function joinCalls(): readonly Call<Work>[] {
      const joining = join(group)
      calls.push(...joining)
      return joining
    }
    try {
      const results = await runCalls(calls, { deadline, patience: isLast ? time : patience }, joinCalls)
      if (lane) lane.failures = 0
      else if (!isReading) followTime(elapsed())
      leave(group)
      return results
    } catch (error) {
      const isCanceled = hasCode(error, queryCanceled)
      const isEarly = elapsed() >= patience && deadline.remaining() > time * EARLY
      const isLocked = hasCode(error, lockNotAvailable) || (isCanceled && isEarly)
      const isSlow = isLocked || isCanceled || error instanceof TimeLimitError
      if (isLocked && !isLast) waitLonger(group)
      else if (turns.length > 1) goAgain(group, isSlow ? 1 : Math.ceil(turns.length / 2))
      else leave(group)
      throw error
    } finally {
      openNext()
    }
  }

  /** @param milliseconds How long a transaction has taken. */
  function followTime(milliseconds: number): void {
    const { times, least, largest } = PATIENCE
    const isShort = firstPatience < milliseconds * times
    firstPatience = Math.min(largest, Math.max(least, isShort ? firstPatience * STEP : firstPatience / STEP))
  }

  function leave({ turns, places, lane }: Group<Work>): void {
    if (lane) leavePlace(lane, places)
    else {
      occupy(places, -1)
      for (const turn of turns) advance(lines.leave(turn))
    }
  }

  /** @param most How many of the calls may share a transaction again. */
  function goAgain({ turns, places, lane }: Group<Work>, most: number): void {
    for (const turn of turns) Object.assign(turn, { most, group: undefined })
    if (lane) {
      for (const turn of turns) insert(lane.turns, turn)
      leavePlace(lane, places)
    } else {
      occupy(places, -1)
      advance(turns)
    }
  }

  /** After a wait in vain for a lock: whose lock it was is known only if all calls need the same locks. */
  function waitLonger(group: Group<Work>): void {
    const { turns, places, lane } = group
    const [first] = turns as [Turn<Work>]
    if (lane) {
      lane.failures += 1
      lane.patience = Math.min(lane.patience * 2, firstPatience * PATIENCE.most)
      goAgain(group, LARGEST)
    } else if (turns.every(({ key }) => key === first.key)) {
      occupy(places, -1)
      openLane(turns)
    } else goAgain(group, 1)
  }

  return {
    /** How many names wait or are being registered, released, transferred or imported. */
    get length(): number {
      return length
    },

    /**
     * Runs a call as soon as it is its turn.
     *
     * @throws {TimeLimitError} if the call times out before.
     * @throws {Error} at once, if too many names of the team wait.
     */
    async run(call: Call<Work>): Promise<unknown> {
      const { teamId, locks, names } = call
      const team = teams.get(teamId) ?? { calls: 0, names: 0, lastRound: -1 }
      if (team.names >= MOST_NAMES) throw new Error(`${MOST_NAMES} names of one team wait for the database already`)
      teams.set(teamId, team)
      team.lastRound = Math.max(round, team.lastRound + 1)
      team.calls += 1
      team.names += names
      length += names
      const turn: Turn<Work> = {
        ...{ call, locks, key: locks.join(), round: team.lastRound, number: number++, behind: 0 },
        ...{ most: LARGEST, begin() {} },
      }
      enter(turn)
      openNext()
      try {
        return await runTurn(turn)
      } finally {
        team.calls -= 1
        team.names -= names
        length -= names
        if (team.calls === 0) teams.delete(teamId)
      }
    },
  }

  async function runTurn(turn: Turn<Work>): Promise<unknown> {
    /** The wait in vain for a lock after which the call went again. */
    let lockTimeout: unknown
    for (;;) {
      let group = turn.group
      try {
        group ??= await wait(turn)
        group.results ??= runAll(group)
        const results = await group.results
        const index = group.turns.indexOf(turn)
        for (let before = AT_ONCE; before <= index; before += AT_ONCE) await letOthersRun()
        return results[index]
      } catch (error) {
        if (turn.group === group) {
          if (error instanceof TimeLimitError) error.cause ??= lockTimeout
          throw error
        }
        if (hasCode(error, lockNotAvailable)) lockTimeout = error
      }
    }
  }
}

const kindOf = ({ call, most }: Turn<unknown>) => (call.size > LARGEST ? 'large' : most === 1 ? 'alone' : 'small')

const kindOfLane = ({ failures }: Lane<unknown>) => (failures > 1 ? 'stuckLane' : 'lane')

const placesOf = (lane: Lane<unknown>): readonly Place[] => PLACES[kindOfLane(lane)]

const mostOf = ({ call: { deadline }, most }: Turn<unknown>): number =>
  deadline.remaining() < deadline.timeLimit * LATE ? 1 : most

/** Whether a call may share the transaction of others. */
function fits<Work>(turns: readonly Turn<Work>[], next: Turn<Work>, mostOfTeam: number): boolean {
  const most = mostOf(turns[0] as Turn<Work>)
  const size = [...turns, next].reduce((sum, { call }) => sum + call.size, 0)
  const calls = new Map<string, number>()
  for (const { call } of turns) calls.set(call.teamId, (calls.get(call.teamId) ?? 0) + 1)
  const own = calls.get(next.call.teamId) ?? 0
  const isFair = own < mostOfTeam && own <= Math.min(...calls.values())
  return turns.length < most && mostOf(next) === most && size <= LARGEST && isFair
}

function remove<Item>(items: Item[], item: Item): void {
  const at = items.indexOf(item)
  if (at !== -1) items.splice(at, 1)
}

/** A shared transaction ends so early that each of its calls has time to go again. */
function deadlineOf(calls: readonly Call<unknown>[]): Deadline {
  const [{ deadline }] = calls as readonly [Call<unknown>]
  if (calls.length === 1) return deadline
  const least = Math.min(...calls.map(call => call.deadline.remaining()))
  return createDeadline(least * SHARED_TIME, deadline.timeLimit)
}
