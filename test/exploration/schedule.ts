import type { PendingChange } from '../../src/outbox/contract.ts'
import { createManagedStore, type StoreBackend } from '../../src/store/managed-store.ts'
import { createLedger } from './ledger.ts'
import {
  type Budget,
  connectBackend,
  createProcess,
  die,
  endLeases,
  optionsOf,
  type Process,
  runActions,
  type StepOutcome,
  tell,
  type World,
} from './processes.ts'
import type { Scenario } from './scenarios.ts'

/** A possible next event. */
export interface Choice {
  readonly says: string
  take(): Promise<void>
}

/**
 * A change counts as waiting if it is due more than this many milliseconds from now. This threshold is shorter than any
 * wait, and longer than any difference between clocks.
 */
const SOON = 50_000
/**
 * How many sweeps push everything that the monitor accepts. The release of a transferred registration follows its new
 * registration, so the second sweep pushes it.
 */
const LAST_SWEEPS = 2

/**
 * One schedule of a scenario. The processes of a schedule share a backend and a monitor, and each process waits before
 * every step until that step is chosen. The same choices lead to the same state.
 */
export function createSchedule(scenario: Scenario, backend: StoreBackend, close: () => Promise<void>) {
  const { faults, deaths = 0, leases = 0, refused } = scenario
  const ledger = createLedger()
  const world: World = {
    ledger,
    budget: { faults, deaths, leases },
    refused: new Set(refused),
    steps: [],
    late: [],
  }
  const processes = Object.entries(scenario.processes).map(([name, actions]) => createProcess(name, actions, 'runs'))
  /** The store of one process. All processes share the backend. */
  const storeOf = (process: Process) =>
    createManagedStore(connectBackend(world, process, backend), optionsOf(world, process))

  /** Processes with the same actions are described alike, because it does not matter which of them is where. */
  function describe(process: Process): string {
    const { actions, done, isFaulted, log, goneBefore } = process
    const kind = processes.findIndex(
      other => other.actions.length === actions.length && other.actions.every((each, index) => each === actions[index]),
    )
    const waitsFor = world.steps.flatMap(step => (step.process === process ? step.says : []))
    return ledger.show([kind, done, isFaulted, log, [...goneBefore], waitsFor])
  }

  async function check() {
    const rows = await backend.list(wholeList)
    const pending = await backend.outbox.list(undefined, wholeList.limit)
    ledger.checkState(rows, pending)
    return { rows, pending }
  }

  return {
    violation: ledger.violation,

    async start(): Promise<void> {
      const before = createProcess('before', scenario.before ?? [], 'automatic')
      await runActions(world, before, storeOf(before))
      for (const process of processes) void runActions(world, process, storeOf(process))
      await settled()
    },

    choices: () => listChoices(world, processes),

    /** How many failures may still happen. */
    budget: (): Budget => ({ ...world.budget }),

    /**
     * Checks the state.
     *
     * @returns Everything that determines what can happen next, but for {@link budget}, as a string.
     */
    async inspect(): Promise<string> {
      const { rows, pending } = await check()
      return ledger.show([
        processes.filter(isAlive).map(describe).sort(),
        rows.map(({ domainId, teamId }) => ledger.show([domainId, teamId])).sort(),
        pending
          .map(each => ledger.show([each.domainId, each.kind, each.refusals, each.lastFailure, isDue(each)]))
          .sort(),
        world.late.map(tell).sort(),
        ledger.summary(),
      ])
    },

    /** Stops failures, ends all leases, and lets one process sweep: at first, the monitor still refuses some names. */
    async finish(): Promise<void> {
      for (const isRefusing of world.refused.size > 0 ? [true, false] : [false]) {
        if (!isRefusing) world.refused.clear()
        const store = storeOf(createProcess('in the end', [], 'automatic'))
        for (let sweep = 0; sweep < LAST_SWEEPS; sweep += 1) {
          await endLeases(backend)
          await store.synchronizePending()
        }
        const { rows, pending } = await check()
        ledger.checkEnd(rows, pending, world.refused)
      }
    },

    /** Stops all processes of the schedule, and closes the backend. */
    async end(): Promise<void> {
      for (const process of processes) die(world, process)
      await settled()
      await close()
    },
  }
}

function listChoices(world: World, processes: readonly Process[]): readonly Choice[] {
  const { budget, late, ledger } = world
  const isAffordable = ({ costs }: Pick<StepOutcome, 'costs'>) => !costs || budget[costs] > 0
  /** Counts the failure, carries out the event, and waits until each process has reached its next step. */
  const toChoice = (says: string, costs: StepOutcome['costs'], happen: () => unknown): Choice => ({
    says,
    async take() {
      if (costs) budget[costs] -= 1
      await happen()
      await settled()
    },
  })
  const ofSteps = world.steps.flatMap(({ process, says, outcomes, settle }) =>
    outcomes
      .filter(isAffordable)
      .map(outcome => toChoice(`${process.name}: ${says} ${outcome.says}`, outcome.costs, () => settle(outcome))),
  )
  const deaths = isAffordable({ costs: 'deaths' }) ? processes.filter(isAlive) : []
  return [
    ...ofSteps,
    ...deaths.map(process => toChoice(`${process.name} dies`, 'deaths', () => die(world, process))),
    ...late.map((changes, index) =>
      toChoice(`${tell(changes)} arrives late`, undefined, () => ledger.watch(late.splice(index, 1).flat())),
    ),
  ]
}

/** Whether a process may still do something. */
const isAlive = ({ state, done, actions }: Process) => state === 'runs' && done < actions.length

const wholeList = {
  teamId: undefined,
  after: undefined,
  limit: 1000,
  order: 'oldest',
  domain: undefined,
  below: undefined,
} as const

const isDue = ({ nextAttempt }: PendingChange) => nextAttempt.getTime() < Date.now() + SOON

/** Resolves when the handlers of all settled promises have run. */
const settled = () => new Promise<void>(resolve => void setImmediate(resolve))
