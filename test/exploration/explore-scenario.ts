import type { StoreBackend } from '../../src/store/managed-store.ts'
import type { Awaitable } from '../../src/time/awaitable.ts'
import type { Budget } from './processes.ts'
import type { Scenario } from './scenarios.ts'
import { type Choice, createSchedule } from './schedule.ts'

/** The result of exploring a scenario. */
interface Found {
  /** How many different states were visited: if there is no violation, every state that exists. */
  readonly states: number
  /** The broken promise, and one of the shortest sequences of steps that break it. */
  readonly violation?: { readonly what: string; readonly story: readonly string[] }
}

/** Starts a schedule in which nothing has happened yet. */
type Open = () => Promise<ReturnType<typeof createSchedule>>

/**
 * Runs the processes of a scenario in every possible order of their steps, and so visits every state. A step is either
 * a call to the backend or a push. Some steps fail, lose their responses or arrive late; processes die, and leases
 * expire. Each of these events happens at every possible point.
 *
 * The exploration checks five things:
 *
 * - In every state, no names overlap, no ID changes its team, no team exceeds its limit, and each registered name is
 *   watched or pending.
 * - The results of calls are correct.
 * - A step fails only if the exploration makes it fail.
 * - A transferred name stays watched.
 * - Once failures stop, exactly the registered names are watched.
 *
 * The exploration cannot see inside a step, for example whether a lock is missing; the races of `domainStoreSuite` do.
 *
 * @param createBackend Returns a backend without registrations or pending changes. Called once for each schedule.
 *   Schedules run one after another, so this function may clear the tables of one database.
 * @throws An `Error` if a repeated schedule has a different outcome.
 */
export async function exploreScenario<Backend extends StoreBackend>(
  scenario: Scenario,
  createBackend: () => Awaitable<Backend>,
  closeBackend?: (backend: Backend) => Awaitable<unknown>,
): Promise<Found> {
  const { random } = Math
  // The order of pushes and of their parts must be the same in every schedule, not random.
  Math.random = () => 0.5
  async function open() {
    const backend = await createBackend()
    return createSchedule(scenario, backend, async () => void (await closeBackend?.(backend)))
  }
  try {
    const found = await visit(open, 'deep first')
    return found.violation ? await visit(open, 'short first') : found
  } finally {
    Math.random = random
  }
}

/**
 * A schedule cannot be copied, so each schedule starts from the beginning and repeats the choices that lead to a state.
 * A schedule ends when it reaches a known state, from which at least as many failures may happen: all that can follow
 * has then been tried.
 */
async function visit(open: Open, order: 'deep first' | 'short first'): Promise<Found> {
  const seen = createStates()
  let paths: (readonly string[])[] = [[]]
  let longer: (readonly string[])[] = []
  for (;;) {
    if (paths.length === 0) [paths, longer] = [longer, paths]
    const path = paths.pop()
    if (!path) return { states: seen.count() }
    const schedule = await open()
    const story = [...path]
    try {
      await schedule.start()
      for (const says of path) await choose(schedule.choices(), says).take()
      for (;;) {
        const state = await schedule.inspect()
        const choices = schedule.choices()
        const isNew = seen.add(state, schedule.budget())
        if (choices.length === 0 && isNew) await schedule.finish()
        const what = schedule.violation()
        if (what !== null) return { states: seen.count(), violation: { what, story } }
        if (!isNew) break
        const next = order === 'deep first' ? choices[0] : undefined
        const others = next ? choices.slice(1) : choices
        for (const { says } of others) (order === 'deep first' ? paths : longer).push([...story, says])
        if (!next) break
        story.push(next.says)
        await next.take()
      }
    } finally {
      await schedule.end()
    }
  }
}

/** The states that were visited, and how many failures could still happen then. */
function createStates() {
  const budgets = new Map<string, Budget[]>()
  return {
    count: () => [...budgets.values()].flat().length,
    /** Whether the state was new. */
    add(state: string, budget: Budget): boolean {
      const known = budgets.get(state) ?? []
      const covers = (other: Budget) =>
        other.faults >= budget.faults && other.deaths >= budget.deaths && other.leases >= budget.leases
      if (known.some(covers)) return false
      budgets.set(state, [...known, budget])
      return true
    },
  }
}

function choose(choices: readonly Choice[], says: string): Choice {
  const choice = choices.find(choice => choice.says === says)
  if (!choice)
    throw new Error(
      `The same choices led to another state: "${says}" cannot be chosen. The backend is not deterministic`,
    )
  return choice
}
