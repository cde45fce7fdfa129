import { type LeasedChange, LONGEST_WAIT, type Push, toChange } from '../../src/outbox/contract.ts'
import { inOrder } from '../../src/outbox/policy.ts'
import type { Change, Registration } from '../../src/rules/registration.ts'
import type { ManagedStore, ManagedStoreOptions, StoreBackend } from '../../src/store/managed-store.ts'
import type { Ledger } from './ledger.ts'
import { type Action, scenarioTeams } from './scenarios.ts'

/** How many failures may still happen. */
export type Budget = Record<'faults' | 'deaths' | 'leases', number>

/** One of the ways in which a step can end. */
export interface StepOutcome {
  readonly says: string
  readonly costs?: keyof Budget
  /** Performs the step. The process gets the result or the error. */
  run(): unknown
}

/** A step for which a process waits. */
interface ProcessStep {
  readonly process: Process
  readonly says: string
  readonly outcomes: readonly StepOutcome[]
  settle(outcome: StepOutcome): Promise<void>
}

/** A process of your application. */
export interface Process {
  readonly name: string
  readonly actions: readonly Action[]
  /** How many of the process's actions are done. */
  done: number
  /**
   * What happens to the steps of the process: each waits to be chosen, runs at once, or fails because the process has
   * died.
   */
  state: 'runs' | 'dead' | 'automatic'
  /** Whether a step of the current action has failed. */
  isFaulted: boolean
  /** The results of the current action's steps so far, which determine its next step. */
  log: string[]
  /** The IDs that had been released before the current action. */
  goneBefore: ReadonlySet<string>
}

/** The state that the processes of a schedule share. */
export interface World {
  readonly ledger: Ledger
  readonly budget: Budget
  readonly refused: Set<string>
  /** All steps for which processes wait. */
  readonly steps: ProcessStep[]
  /** Pushes that are under way, and whose result no process awaits any longer. */
  readonly late: (readonly Change[])[]
}

export const createProcess = (name: string, actions: readonly Action[], state: Process['state']): Process => ({
  name,
  actions,
  done: 0,
  state,
  isFaulted: false,
  log: [],
  goneBefore: new Set(),
})

/** Makes a process wait until one of the outcomes is chosen. In the first outcome, nothing goes wrong. */
export function waitFor({ steps, ledger }: World, process: Process, says: string, outcomes: readonly StepOutcome[]) {
  return new Promise<unknown>((resolve, reject) => {
    const step: ProcessStep = { process, says, outcomes, settle }
    async function settle(outcome: StepOutcome): Promise<void> {
      steps.splice(steps.indexOf(step), 1)
      if (process.state === 'dead') return reject(new Error('The process has died'))
      try {
        const answer = await outcome.run()
        process.log.push(`${outcome.says} ${ledger.show(answer)}`)
        resolve(answer)
      } catch (error) {
        process.log.push(`${outcome.says}!`)
        process.isFaulted = true
        reject(error)
      }
    }
    steps.push(step)
    if (process.state !== 'runs') void settle(outcomes[0] as StepOutcome)
  })
}

/** Performs the actions of a process, one after another. */
export async function runActions({ ledger }: World, process: Process, store: ManagedStore): Promise<void> {
  for (const action of process.actions) {
    Object.assign(process, { isFaulted: false, log: [], goneBefore: ledger.gone() })
    const answer = await action.run(store)
    if (process.state === 'dead') return
    ledger.checkAnswer(process.name, action, answer, process.goneBefore)
    if (!process.isFaulted) ledger.checkFailure(process.name, answer)
    process.done += 1
  }
  Object.assign(process, { log: [], goneBefore: new Set() })
}

/** Kills a process: its remaining steps never happen. */
export function die({ steps }: World, process: Process): void {
  process.state = 'dead'
  for (const step of steps.filter(step => step.process === process)) void step.settle(step.outcomes[0] as StepOutcome)
}

/**
 * The time limit of a push, in milliseconds. A lease is three times as long as this limit. Both the limit and a lease
 * are longer than a schedule takes, and shorter than an hour.
 */
const PUSH_TIME_LIMIT = 600_000

/**
 * Sorts changes by name instead of time, because the schedule, not the clock, decides which changes are due, and in
 * which order.
 */
const byDomain = (one: Change, other: Change) => (one.domain + one.kind < other.domain + other.kind ? -1 : 1)

/** Omits fields that a store adds to a change, such as a time, because they would make equal states look different. */
const toLeased = (change: LeasedChange) => ({
  ...toChange(change),
  line: change.line,
  refusals: change.refusals,
})

function fail(): never {
  throw new Error('It failed on purpose')
}

/**
 * Ends all leases, and all delays before retries. `take` also counts a change as due if its due time is further ahead
 * than one hour plus a lease. With a lease of minus one hour, this sum is 0, so every change counts as due.
 */
export async function endLeases({ outbox }: StoreBackend): Promise<void> {
  for (const line of inOrder) await outbox.take({ lines: [{ line, limit: 1000 }], lease: -LONGEST_WAIT, lot: 0 })
}

/** Wraps a backend for one process: each call of a method becomes a step. */
export function connectBackend(world: World, process: Process, backend: StoreBackend): StoreBackend {
  const { toDomainId, outbox, isInTransaction: _, ...methods } = backend
  const { ledger } = world

  function runStep(says: string, step: () => unknown, more: readonly StepOutcome[] = []): Promise<never> {
    const run = async () => {
      try {
        return await step()
      } catch (error) {
        ledger.checkStep(`${process.name}: ${says}`, error)
        throw error
      }
    }
    const lose = async () => {
      await run()
      fail()
    }
    return waitFor(world, process, says, [
      { says: 'is done', run },
      { says: 'fails', costs: 'faults', run: fail },
      { says: 'is done, but its response is lost', costs: 'faults', run: lose },
      ...more,
    ]) as Promise<never>
  }

  const through = <Methods extends object>(methods: Methods): Methods =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        (...parameters: unknown[]) => runStep(`${name} ${tell(parameters[0])}`, () => method(...parameters)),
      ]),
    ) as Methods

  return {
    ...through(methods),
    ...(toDomainId && { toDomainId }),
    register: step =>
      runStep(`register ${step.domains}`, async () => {
        const result = await backend.register(step)
        ledger.save(result.saved)
        return result
      }),
    release: (teamId, keys, recording) =>
      runStep(`release ${tell(keys.names)}`, async () => {
        const released = await backend.release(teamId, keys, recording)
        ledger.release(released)
        return released
      }),
    ...(backend.import && {
      import: request =>
        runStep('import', async () => {
          let imported: readonly Registration[] = []
          const findings = await backend.import?.({
            ...request,
            decide: found => (imported = request.decide(found)),
          })
          ledger.save(imported)
          return findings
        }),
    }),
    ...(backend.transfer && {
      transfer: (request, keys, recording) =>
        runStep(`transfer ${tell(keys.names)}`, async () => {
          const transferred = await backend.transfer?.(request, keys, recording)
          if (transferred) ledger.transfer(transferred)
          return transferred
        }),
    }),
    outbox: {
      ...through(outbox),
      take(request) {
        const take = async () => (await outbox.take(request)).map(toLeased).toSorted(byDomain)
        const takeAll = async () => {
          await endLeases(backend)
          return take()
        }
        return runStep('take', take, [{ says: 'is done after all leases have expired', costs: 'leases', run: takeAll }])
      },
    },
  }
}

/** The options of a process's store. Each push of the store is also a step. */
export const optionsOf = (world: World, process: Process): ManagedStoreOptions => ({
  findTeam: id => scenarioTeams.find(team => team.id === id) ?? null,
  synchronize: toPush(world, process),
  synchronizeTimeLimit: PUSH_TIME_LIMIT,
  onError: () => {},
})

function toPush(world: World, process: Process): Push {
  const { ledger, refused, late } = world
  const watch = (changes: readonly Change[]) => () => ledger.watch(changes)
  const watchAndFail = (changes: readonly Change[]) => () => {
    ledger.watch(changes)
    fail()
  }
  return changes => {
    const says = `push ${tell(changes)}`
    if (changes.some(({ domain }) => refused.has(domain)))
      return waitFor(world, process, says, [{ says: 'is refused', run: fail }])
    const delay = () => {
      late.push(changes)
      fail()
    }
    const some = changes.slice(0, Math.floor(changes.length / 2))
    const inPart: StepOutcome = { says: `fails, except for ${tell(some)}`, costs: 'faults', run: watchAndFail(some) }
    return waitFor(world, process, says, [
      { says: 'succeeds', run: watch(changes) },
      { says: 'fails', costs: 'faults', run: fail },
      { says: 'succeeds, but its response is lost', costs: 'faults', run: watchAndFail(changes) },
      { says: 'times out, and arrives later', costs: 'faults', run: delay },
      ...(some.length > 0 ? [inPart] : []),
    ])
  }
}

type Described = Registration | Change | { readonly change: Change }

/** Describes an array of changes, registrations or postponements. Any other value becomes an empty string. */
export function tell(value: unknown): string {
  if (!Array.isArray(value)) return ''
  return (value as readonly Described[])
    .map(each => ('change' in each ? each.change : each))
    .map(each => ('kind' in each ? `${each.kind} ${each.domain}` : each.domain))
    .join(', ')
}
