import { isFunction, optional, type Rules, requireOptions } from '../../options.ts'
import type { StoreBackend } from '../../store/managed-store.ts'
import type { Awaitable } from '../../time/awaitable.ts'
import { type Scenario, type ScenarioName, scenarios } from './scenarios.ts'
import { type Choice, createSchedule } from './schedule.ts'

/** Options of {@link exploreStore}. */
export interface ExploreOptions<Backend extends StoreBackend = StoreBackend> {
  /** Called at the end of each schedule, with the backend that `createBackend` returned for it. */
  closeBackend?: ((backend: Backend) => Awaitable<unknown>) | undefined
  /**
   * The scenarios to explore. Default: all. Scenarios with imports or transfers are left out if the backend has no
   * `import` or `transfer`.
   */
  scenarios?: readonly ScenarioName[] | undefined
}

/** The result of {@link exploreStore}. */
export interface Exploration {
  /** How many scenarios reached a forbidden state. */
  readonly violations: number
  /** How many states were visited: in a scenario without a violation, every state that exists. */
  readonly states: number
  /**
   * For each violation: the broken promise, and one of the shortest sequences of steps that break it. Missing if there
   * are no violations.
   */
  readonly stories?: readonly string[]
}

/**
 * Runs calls, releases, transfers, imports and sweeps on your own store in every possible order of their steps. A step
 * is either a call to the backend or a push. In each scenario, some steps fail, lose their responses or arrive late; in
 * some scenarios, processes die or leases expire. Each of these events happens at every possible point.
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
 * The exploration cannot see inside a step, for example whether a lock is missing; {@link domainStoreSuite} tests that.
 * The exploration runs a few thousand schedules, each of about ten steps. `Math.random` returns 0.5 during the run, so
 * nothing else should run in the process.
 *
 * @param createBackend Returns a backend without registrations or pending changes. Called once for each schedule.
 *   Schedules run one after another, so this function may clear the tables of one database. The backend must behave the
 *   same each time, apart from the IDs.
 * @returns The result. The number of states changes only if the backend or the package takes different steps.
 * @throws {TypeError} if an option is invalid or unknown, or if `createBackend` is not a function that returns a
 *   backend.
 * @throws The error of `createBackend`, or an `Error` if a repeated schedule has a different outcome.
 *
 * @example
 * import { exploreStore } from 'domain-registration/testing'
 *
 * const { violations, states } = await exploreStore(() => createMyBackend())
 * console.log(violations, states > 1000) // 0 true
 */
export async function exploreStore<Backend extends StoreBackend>(
  createBackend: () => Awaitable<Backend>,
  options: ExploreOptions<Backend> = {},
): Promise<Exploration> {
  if (!isFunction(createBackend)) throw new TypeError('exploreStore takes a function that creates a backend')
  requireOptions(options, optionRules)
  const stories: string[] = []
  let states = 0
  for (const name of options.scenarios ?? (Object.keys(scenarios) as ScenarioName[])) {
    const found = await exploreScenario(scenarios[name], createBackend, options)
    states += found.states
    if (found.violation) stories.push([`${name}: ${found.violation.what}`, ...found.violation.story].join('\n'))
  }
  return { violations: stories.length, states, ...(stories.length > 0 && { stories }) }
}

const optionRules: Rules = {
  closeBackend: { holds: optional(isFunction), expected: 'a function that takes a backend' },
  scenarios: {
    holds: optional(names => Array.isArray(names) && names.every(name => Object.hasOwn(scenarios, name))),
    expected: `an array with some of ${Object.keys(scenarios).map(name => `"${name}"`)}`,
  },
}

/** The result of exploring a scenario. */
interface Found {
  /** How many different states were visited: if there is no violation, every state that exists. */
  readonly states: number
  /** The broken promise, and the steps that led to it. */
  readonly violation?: { readonly what: string; readonly story: readonly string[] }
}

/** Starts a schedule in which nothing has happened yet; `null` if the backend lacks a method of the scenario. */
type Open = () => Promise<ReturnType<typeof createSchedule> | null>

/**
 * Visits every state of a scenario, or none if the backend lacks a method that the scenario needs.
 *
 * @returns The first violation, with one of the shortest sequences of steps that cause it.
 */
export async function exploreScenario<Backend extends StoreBackend>(
  scenario: Scenario,
  createBackend: () => Awaitable<Backend>,
  { closeBackend }: ExploreOptions<Backend> = {},
): Promise<Found> {
  const { random } = Math
  // The order of pushes and of their parts must be the same in every schedule, not random.
  Math.random = () => 0.5
  async function open() {
    const backend = await createBackend()
    if (!backend?.outbox) throw new TypeError('createBackend must return a StoreBackend, which has an "outbox"')
    const close = async () => void (await closeBackend?.(backend))
    const isPossible = !scenario.needs || backend[scenario.needs] !== undefined
    if (isPossible) return createSchedule(scenario, backend, close)
    await close()
    return null
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
 * A schedule ends when it reaches a known state.
 */
async function visit(open: Open, order: 'deep first' | 'short first'): Promise<Found> {
  const seen = new Set<string>()
  let paths: (readonly string[])[] = [[]]
  let longer: (readonly string[])[] = []
  for (;;) {
    if (paths.length === 0) [paths, longer] = [longer, paths]
    const path = paths.pop()
    const schedule = path && (await open())
    if (!schedule) return { states: seen.size }
    const story = [...path]
    try {
      await schedule.start()
      for (const says of path) await choose(schedule.choices(), says).take()
      for (;;) {
        const state = await schedule.inspect()
        const choices = schedule.choices()
        if (choices.length === 0 && !seen.has(state)) await schedule.finish()
        const what = schedule.violation()
        if (what !== null) return { states: seen.size, violation: { what, story } }
        if (seen.has(state)) break
        seen.add(state)
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

function choose(choices: readonly Choice[], says: string): Choice {
  const choice = choices.find(choice => choice.says === says)
  if (!choice)
    throw new Error(`The same choices led to another state: "${says}" cannot be chosen. The store is not deterministic`)
  return choice
}
