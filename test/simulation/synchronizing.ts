import type { createSynchronizer } from '../../src/registry/outbox.ts'
import { maxFailures } from '../../src/registry/split.ts'
import type { Change, Registration } from '../../src/registry/store.ts'
import type { startSynchronizing } from '../../src/start-synchronizing.ts'
import { manyDomains } from '../../src/testing/calls.ts'
import { createDatabase, type Worker } from './database.ts'
import { createPushRules, keyOf, type PushInvariant, type Run } from './push-rules.ts'
import { createRandom } from './random.ts'
import type { Registry, RegistryOptions } from './registries.ts'
import { createVirtualClock, follow, type VirtualClock } from './virtual-clock.ts'

export type SynchronizingInvariant =
  | PushInvariant
  | 'what is watched is what is registered'
  | 'nothing waits behind something that fails'
  | 'only what is released is told as released'
  | 'what is acknowledged is watched'

export interface SynchronizingViolation {
  readonly invariant: SynchronizingInvariant
  readonly detail: string
}

/** What is simulated: parts of `src`, or mutations of them. */
export interface SynchronizingParts {
  readonly createSynchronizer: typeof createSynchronizer
  readonly startSynchronizing: typeof startSynchronizing
  readonly open: (options: RegistryOptions) => Registry
}

export interface SynchronizingSimulation extends SynchronizingParts {
  readonly seed: number
  /** Counts what happened, to see that everything does. */
  readonly count?: (event: string) => void
  /** Learns what happens, for a reader. */
  readonly trace?: ((line: string) => void) | undefined
}

/** Milliseconds for a push; what follows from it, as the documentation has it. */
const TIME_LIMIT = 3_000
const LEASE = 3 * TIME_LIMIT
const LONGEST_WAIT = 3_600_000
const LONGEST_JUMP = 2 * LONGEST_WAIT
/** So many refused changes keep no other waiting for longer than one sweep; more of them do so for a few sweeps. */
const FEW_REFUSALS = 2
const domains = ['a.com', 'b.com', 'c.com', 'd.com', 'e.com', 'f.com', 'g.com', 'h.com']
const teamIds = ['1', '2']

/**
 * Runs one schedule of registrations, releases, sweeps, failures and crashes; then only refusals are left, and all else
 * must go through; then nothing fails any more, and what is watched must be what is registered.
 *
 * @returns The first invariant that did not hold, if any.
 */
export async function simulateSynchronizing(
  simulation: SynchronizingSimulation,
): Promise<SynchronizingViolation | null> {
  const clock = createVirtualClock()
  follow(clock)
  const registry = simulation.open({ timeLimit: TIME_LIMIT, lease: LEASE })
  try {
    return await runSchedule(simulation, registry, clock)
  } finally {
    registry.close()
    follow(null)
  }
}

async function runSchedule(
  simulation: SynchronizingSimulation,
  registry: Registry,
  clock: VirtualClock,
): Promise<SynchronizingViolation | null> {
  const { seed, count = () => {}, trace } = simulation
  const random = createRandom(seed)
  const rate = () => random.pick([0, 0, 0.05, 0.3])
  const rates = {
    database: rate() / 2,
    push: rate(),
    half: rate(),
    slow: rate(),
    hang: rate() / 2,
    crash: rate(),
    jump: rate(),
  }
  const stormEnds = random.pick([4_000, 15_000, 40_000])
  /** Whether the monitor takes nothing of a push in which it refuses something, or the rest. */
  const isAtomic = random.chance(0.5)
  let isStorm = true
  let isMonitorAway = false
  /** What the monitor refuses: all about some names. */
  const refused = new Set<string>(domains.filter(() => random.chance(random.pick([0, 0, 0.2, 0.4]))).slice(0, 3))
  let violation: SynchronizingViolation | null = null

  const note = (line: string) => trace?.(`${clock.now().toFixed(0).padStart(8)}  ${line}`)
  function violate(invariant: SynchronizingInvariant, detail: string): void {
    violation ??= { invariant, detail }
    note(`VIOLATION: ${invariant}: ${detail}`)
  }
  function happened(event: string): void {
    count(event)
    note(event)
  }
  function strikes(chance: number, event: string): boolean {
    const isStruck = isStorm && random.chance(chance)
    if (isStruck) happened(event)
    return isStruck
  }

  const database = createDatabase({
    registry,
    clock,
    random,
    lease: LEASE,
    fails: () => strikes(rates.database, 'the database fails'),
    onOvertaken: domainId =>
      violate('nothing waits behind something that fails', `${domainId} is due, and passed over`),
  })
  const rules = createPushRules({ clock, database, timeLimit: TIME_LIMIT, violate })

  /** The last word that the monitor has heard of each ID, which is final where it was released. */
  const monitor = new Map<string, Change>()
  const isWatched = (domainId: string) => monitor.get(domainId)?.kind === 'registered'
  function hear(change: Change): void {
    if (monitor.get(change.domainId)?.kind !== 'released') monitor.set(change.domainId, change)
  }

  /** @param begunAt When the first push of its run was made. */
  function send(run: Run, begunAt: number, changes: readonly Change[]): Promise<void> {
    const held = new Set(registry.list().map(({ domainId }) => domainId))
    const early = changes.find(({ kind, domainId }) => kind === 'released' && held.has(domainId))
    if (early) violate('only what is released is told as released', early.domain)
    const push = rules.push(run, changes, begunAt)
    note(`push of ${changes.map(change => `${keyOf(change)} ${change.domain}`).join(', ')}`)

    const slowness = strikes(rates.slow, 'a slow push') ? random.integer(100, 20_000) : 0
    // Short enough for nobody to give up, and long enough for others to come between.
    const latency = random.integer(0, isStorm && random.chance(0.2) ? 900 : 20)
    const hangs = strikes(rates.hang, 'a push without an answer')
    return new Promise((resolve, reject) => {
      clock.plan(latency + slowness, null, () => {
        const isHalf = strikes(rates.half, 'half a push')
        const isRefused = changes.some(({ domain }) => refused.has(domain))
        const isDown = strikes(rates.push, 'a failed push') || isMonitorAway
        if (isRefused && changes.length === 1) happened('a refusal')
        const isHeard = ({ domain }: Change) =>
          !refused.has(domain) && !isDown && !(isRefused && isAtomic) && (!isHalf || random.chance(0.5))
        const heard = changes.filter(isHeard)
        heard.forEach(hear)
        if (hangs) return
        clock.plan(random.integer(0, 20), run.worker, () => {
          if (clock.now() < push.givenUpAt) push.answeredAt = clock.now()
          if (isRefused || isHalf || isDown) return reject(new Error('The monitor did not take it'))
          push.hasGoneThrough = push.answeredAt !== null
          resolve()
        })
      })
    })
  }

  /** The push of one call or sweep. */
  function pusherOf(run: Run) {
    let begunAt: number | undefined
    return (changes: readonly Change[]) => {
      begunAt ??= clock.now()
      return send(run, begunAt, changes)
    }
  }

  function createProcess() {
    const worker: Worker = { database: {} }
    const outbox = database.outboxOf(worker)
    const limit = random.pick([2, 5, 1000])
    let run: Run
    let push: ReturnType<typeof pusherOf>
    const common = { timeLimit: TIME_LIMIT, random: random.fraction }
    const sweeps = simulation.createSynchronizer(
      { ...common, push: changes => push(changes) },
      {
        ...outbox,
        async take(...parameters) {
          const taken = await outbox.take(...parameters)
          rules.took(run, taken)
          return taken
        },
      },
    )
    return {
      worker,
      limit,
      /** Never two at once. */
      async sweep() {
        run = rules.begin(worker, true)
        push = pusherOf(run)
        try {
          const result = await sweeps.synchronizePending({ limit })
          rules.end(run, result)
          return result
        } catch (error) {
          rules.end(run, null)
          throw error
        }
      },
      async synchronize(registrations: readonly Registration[]) {
        const calling = rules.begin(worker, false)
        const calls = simulation.createSynchronizer({ ...common, push: pusherOf(calling) }, outbox)
        await calls.synchronize(registrations)
      },
    }
  }
  type Process = ReturnType<typeof createProcess>
  let processes: Process[] = []
  const loops = new Map<Process, { stop(): Promise<void> }>()

  function startProcess(): void {
    const process = createProcess()
    processes.push(process)
    const every = random.pick([300, 1_000, 5_000])
    clock.plan(0, process.worker, () => {
      loops.set(process, simulation.startSynchronizing({ synchronizePending: process.sweep }, { every }))
    })
  }

  function crash(process: Process): void {
    happened('a crash')
    processes = processes.filter(other => other !== process)
    loops.delete(process)
    clock.end(process.worker)
    clock.dropSome(process.worker.database, () => random.chance(0.5))
    rules.died(process.worker)
    clock.plan(random.integer(0, 2_000), null, startProcess)
  }

  /** A caller, who calls again until he is told that all is well, or loses interest. */
  function call(teamId: string, wanted: readonly string[], patience: number): void {
    const process = processes.length === 0 ? null : random.pick(processes)
    if (!process) return
    clock.plan(random.integer(0, 20), process.worker, async () => {
      let own: readonly Registration[] = []
      try {
        own = await database.register(process.worker, teamId, wanted)
        if (own.length > 0) await process.synchronize(own)
      } catch {
        happened('a call answered 503')
        if (patience > 0) clock.plan(random.integer(10, 4_000), null, () => call(teamId, wanted, patience - 1))
        return
      }
      happened('a call answered 200')
      const unheard = own.find(({ domainId }) => !monitor.has(domainId))
      if (unheard) violate('what is acknowledged is watched', unheard.domain)
    })
  }

  function release(domain: string): void {
    const held = registry.list().find(each => each.domain === domain)
    if (!held || processes.length === 0) return
    const process = random.pick(processes)
    clock.plan(random.integer(0, 20), process.worker, () => {
      happened('a release')
      database.release(process.worker, held.teamId, domain).catch(() => {})
    })
    if (random.chance(0.5)) clock.plan(random.integer(0, 40), null, () => call(random.pick(teamIds), [domain], 1))
  }

  function storm(): void {
    if (clock.now() >= stormEnds) return
    if (random.chance(0.5)) {
      const wanted = [...new Set(Array.from({ length: random.integer(1, 4) }, () => random.pick(domains)))]
      call(random.pick(teamIds), wanted, random.integer(0, 2))
    }
    if (random.chance(0.4)) release(random.pick(domains))
    if (random.chance(0.1) && processes.length > 0 && strikes(rates.crash, 'somebody dies')) {
      crash(random.pick(processes))
    }
    if (random.chance(0.1) && strikes(rates.jump, 'a clock jumps')) {
      database.jump(random.integer(-LONGEST_JUMP, LONGEST_JUMP))
    }
    clock.plan(random.integer(5, 1_500), null, storm)
  }

  const passTime = async (milliseconds: number) => {
    let isOver = false
    clock.plan(milliseconds, null, () => {
      isOver = true
    })
    await clock.run(() => violation !== null || isOver)
  }

  for (let left = random.integer(1, 3); left > 0; left -= 1) startProcess()
  storm()
  await passTime(stormEnds + 30_000)
  isStorm = false
  await bearRefusals()
  await checkQuiet()
  refused.clear()
  await checkEnd()
  return violation

  /** Half a minute in which only some names are refused, though callers ask for them, and others come and go. */
  async function bearRefusals(): Promise<void> {
    const others = domains.filter(domain => !refused.has(domain))
    for (let time = 0; time < 30_000 && !violation; time += 500) {
      call(random.pick(teamIds), [random.pick(others)], 0)
      release(random.pick(others))
      if (random.chance(0.2)) call(random.pick(teamIds), [random.pick(domains)], 0)
      await passTime(500)
    }
    for (const loop of loops.values()) loop.stop()
    await passTime(4 * TIME_LIMIT)
  }

  /** One process sweeps, when everything is due once more. */
  async function sweepAll(process: Process, sweeps: number): Promise<void> {
    await passTime(LONGEST_WAIT + LEASE + database.jumped())
    for (; sweeps > 0 && !violation; sweeps -= 1) {
      clock.plan(0, process.worker, () => void process.sweep().catch(() => {}))
      await passTime(TIME_LIMIT)
    }
  }

  /** What the monitor has not followed yet, of what it does not refuse. */
  function findBehind(): readonly (Change | Registration)[] {
    const held = registry.list()
    const ids = new Set(held.map(({ domainId }) => domainId))
    const unwatched = held.filter(({ domainId, domain }) => !refused.has(domain) && !isWatched(domainId))
    const gone = [...monitor.values()].filter(
      ({ kind, domainId, domain }) => !refused.has(domain) && kind === 'registered' && !ids.has(domainId),
    )
    return [...unwatched, ...gone]
  }

  /** Leaves much to be swept up, few or all but few of it refused; the monitor may be away for the first sweeps. */
  async function fillUp(process: Process): Promise<void> {
    const backlog = random.shuffle(manyDomains(random.integer(1, 40)))
    registry.register('1', backlog)
    const few = random.integer(0, 2)
    const areMostAccepted = random.chance(0.5)
    const chosen = random.shuffle(backlog).slice(0, few)
    for (const domain of backlog) if (chosen.includes(domain) === areMostAccepted) refused.add(domain)
    isMonitorAway = random.chance(0.3)
    if (isMonitorAway) await sweepAll(process, random.integer(1, 12))
    isMonitorAway = false
  }

  async function checkQuiet(): Promise<void> {
    const process = createProcess()
    await fillUp(process)
    const waiting = registry.count()
    const batches = Math.ceil(waiting / process.limit)
    const batch = Math.min(waiting, process.limit)
    await sweepAll(process, batches)
    const [behindFew] = findBehind()
    // Some of a batch is tried alone in each sweep; once more if it was before, while the monitor was away.
    await sweepAll(process, 2 * batches * Math.ceil(batch / maxFailures(batch)))
    const others = findBehind()
    const areFew = registry.count() - others.length <= FEW_REFUSALS
    count(areFew ? 'few refusals' : 'many refusals')
    const behind = others[0] ?? (areFew ? behindFew : undefined)
    if (behind) violate('nothing waits behind something that fails', `${behind.domain}, ${behind.domainId}`)
  }

  async function checkEnd(): Promise<void> {
    const process = createProcess()
    await sweepAll(process, Math.ceil(registry.count() / process.limit))
    const registered = registry
      .list()
      .map(({ domainId }) => domainId)
      .sort()
    const watched = [...monitor.keys()].filter(isWatched).sort()
    if (registered.join() !== watched.join()) {
      violate('what is watched is what is registered', `registered ${registered}; watched ${watched}`)
    }
    const left = registry.count()
    if (left > 0) violate('what is watched is what is registered', `${left} changes wait`)
  }
}
