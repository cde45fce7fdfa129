import type { Change } from '../../rules/registration.ts'
import type { ManagedStore } from '../../store/managed-store.ts'
import type { Ledger } from './ledger.ts'
import type { Action, Scenario } from './scenarios.ts'

/** How many failures may still happen. */
type Budget = Record<'faults' | 'deaths' | 'leases', number>

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
  readonly scenario: Scenario
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
