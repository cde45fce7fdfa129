import type { createSynchronizer } from '../../src/registry/outbox.ts'
import type { Change } from '../../src/registry/store.ts'
import type { startSynchronizing } from '../../src/start-synchronizing.ts'
import { createOutboxModel, type Holding, type OutboxBreach, type Worker } from './outbox-model.ts'
import { createRandom } from './random.ts'
import { createVirtualClock, follow, type VirtualClock } from './virtual-clock.ts'

export type SynchronizingInvariant =
  | 'what is watched is what is registered'
  | 'nothing waits behind something that fails'
  | 'what is refused is tried more and more rarely'
  | 'no release overtakes its registration'
  | 'only what is released is told as released'
  | 'what is acknowledged is watched'
  | 'sweeps share the work'

export interface SynchronizingViolation {
  readonly invariant: SynchronizingInvariant
  readonly detail: string
}

export interface SynchronizingSimulation {
  readonly seed: number
  readonly createSynchronizer: typeof createSynchronizer
  readonly startSynchronizing: typeof startSynchronizing
  readonly breach?: OutboxBreach | undefined
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
/** How often one change may be pushed within half a minute in which it is refused. */
const REFUSALS_IN_HALF_A_MINUTE = 40
const domains = ['a.com', 'b.com', 'c.com', 'd.com', 'e.com', 'f.com', 'g.com', 'h.com']
const teamIds = ['1', '2']

/** A push on its way. */
interface Push {
  readonly bySweep: boolean
  readonly worker: Worker
  readonly keys: ReadonlySet<string>
  /** Nothing is known of one that is slow: it may have been given up. */
  isUnderWay: boolean
}

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
  try {
    return await runSchedule(simulation, clock)
  } finally {
    follow(null)
  }
}

async function runSchedule(
  simulation: SynchronizingSimulation,
  clock: VirtualClock,
): Promise<SynchronizingViolation | null> {
  const { seed, breach, count = () => {}, trace } = simulation
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
  let isStorm = true
  /** What the monitor refuses: all about some names. */
  const refused = new Set(domains.filter(() => random.chance(random.pick([0, 0, 0.2, 0.4]))).slice(0, 3))
  let jumped = 0
  /** Until then no change may be in two sweeps at a time: who fails puts off what somebody else may have taken. */
  let hasFailed = false
  let violation: SynchronizingViolation | null = null

  const note = (line: string) => trace?.(`${clock.now().toFixed(0).padStart(8)}  ${line}`)
  function violate(invariant: SynchronizingInvariant, detail: string): void {
    violation ??= { invariant, detail }
    note(`VIOLATION: ${invariant}: ${detail}`)
  }
  function strikes(chance: number, event: string): boolean {
    const isStruck = isStorm && random.chance(chance)
    if (isStruck) happened(event)
    hasFailed ||= isStruck
    return isStruck
  }
  function happened(event: string): void {
    count(event)
    note(event)
  }

  const fails = () => strikes(rates.database, 'the database fails')
  const model = createOutboxModel({ clock, random, breach, fails, lease: LEASE })

  /** The last word that the monitor has heard of each ID; what is released stays so. */
  const monitor = new Map<string, Change['kind']>()
  const pushes: Push[] = []
  const refusals = new Map<string, number>()
  function hear({ domainId, kind }: Change): void {
    if (monitor.get(domainId) !== 'released') monitor.set(domainId, kind)
  }

  function checkPush(push: Push, changes: readonly Change[]): void {
    const recent = pushes.filter(other => other.isUnderWay)
    for (const { kind, domainId, domain } of changes) {
      if (kind === 'released' && [...model.held.values()].some(holding => holding.domainId === domainId)) {
        violate('only what is released is told as released', domain)
      }
      if (jumped > 0) continue
      // Once it was heard of, another push of the registration tells nothing new.
      if (
        kind === 'released' &&
        !monitor.has(domainId) &&
        recent.some(({ keys }) => keys.has(`registered ${domainId}`))
      ) {
        violate('no release overtakes its registration', `${domain}, ${domainId}`)
      }
      const isTwice = recent.some(
        other => other.bySweep && other.worker !== push.worker && other.keys.has(`${kind} ${domainId}`),
      )
      if (isTwice && push.bySweep && !hasFailed) violate('sweeps share the work', `${kind} ${domain}, ${domainId}`)
    }
  }

  function send(worker: Worker, bySweep: boolean, changes: readonly Change[]): Promise<void> {
    const keys = new Set(changes.map(({ kind, domainId }) => `${kind} ${domainId}`))
    const slowness = strikes(rates.slow, 'a slow push') ? random.integer(100, 20_000) : 0
    // Short enough for nobody to give up, and long enough for others to come between.
    const latency = random.integer(0, isStorm && random.chance(0.2) ? 900 : 20)
    const hangs = strikes(rates.hang, 'a push without an answer')
    const push: Push = { bySweep, worker, keys, isUnderWay: slowness === 0 && !hangs }
    checkPush(push, changes)
    pushes.push(push)
    note(`push of ${[...keys].join(', ')}`)
    return new Promise((resolve, reject) => {
      clock.plan(latency + slowness, null, () => {
        const isHalf = strikes(rates.half, 'half a push')
        const isRefused = changes.some(({ domain }) => refused.has(domain))
        const isDown = strikes(rates.push, 'a failed push')
        hasFailed ||= isRefused
        if (isRefused && changes.length === 1) {
          happened('a refusal')
          for (const key of keys) refusals.set(key, (refusals.get(key) ?? 0) + 1)
        }
        const heard = changes.filter(({ domain }) => !refused.has(domain) && !isDown && (!isHalf || random.chance(0.5)))
        heard.forEach(hear)
        push.isUnderWay = false
        if (hangs) return
        clock.plan(random.integer(0, 20), worker, () => {
          if (isRefused || isHalf || isDown) reject(new Error('The monitor did not take it'))
          else resolve()
        })
      })
    })
  }

  function createProcess() {
    const worker: Worker = { database: {} }
    const outbox = model.outboxOf(worker)
    const create = (bySweep: boolean) =>
      simulation.createSynchronizer(
        { push: changes => send(worker, bySweep, changes), timeLimit: TIME_LIMIT, random: random.fraction },
        outbox,
      )
    return { worker, calls: create(false), sweeps: create(true), limit: random.pick([2, 5, 1000]) }
  }
  type Process = ReturnType<typeof createProcess>
  let processes: Process[] = []
  const loops = new Map<Process, { stop(): Promise<void> }>()

  function startProcess(): void {
    const process = createProcess()
    processes.push(process)
    const every = random.pick([300, 1_000, 5_000])
    const sweep = () => process.sweeps.synchronizePending({ limit: process.limit })
    clock.plan(0, process.worker, () => {
      loops.set(process, simulation.startSynchronizing({ synchronizePending: sweep }, { every }))
    })
  }

  function crash(process: Process): void {
    happened('a crash')
    processes = processes.filter(other => other !== process)
    clock.end(process.worker)
    clock.dropSome(process.worker.database, () => random.chance(0.5))
    clock.plan(random.integer(0, 2_000), null, startProcess)
  }

  /** A caller, who calls again until he is told that all is well, or loses interest. */
  function call(teamId: string, wanted: readonly string[], patience: number): void {
    const process = processes.length === 0 ? null : random.pick(processes)
    if (!process) return
    clock.plan(random.integer(0, 20), process.worker, async () => {
      let own: readonly Holding[] = []
      try {
        own = await model.register(process.worker, teamId, wanted)
        const registrations = own.map(({ isSynchronized, ...holding }) => ({
          ...holding,
          synchronized: isSynchronized,
        }))
        if (own.length > 0) await process.calls.synchronize(registrations)
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
    const holding = model.held.get(domain)
    if (!holding || processes.length === 0) return
    const process = random.pick(processes)
    clock.plan(random.integer(0, 20), process.worker, () => {
      happened('a release')
      model.release(process.worker, holding.teamId, holding.domain).catch(() => {})
    })
    if (random.chance(0.5))
      clock.plan(random.integer(0, 40), null, () => call(random.pick(teamIds), [holding.domain], 1))
  }

  function storm(): void {
    if (clock.now() >= stormEnds) return
    if (random.chance(0.5)) {
      const wanted = [...new Set(Array.from({ length: random.integer(1, 4) }, () => random.pick(domains)))]
      call(random.pick(teamIds), wanted, random.integer(0, 2))
    }
    if (random.chance(0.4)) release(random.pick(domains))
    if (random.chance(0.1) && processes.length > 0 && strikes(rates.crash, 'somebody dies'))
      crash(random.pick(processes))
    if (random.chance(0.1) && strikes(rates.jump, 'a clock jumps')) {
      const jump = random.integer(-LONGEST_JUMP, LONGEST_JUMP)
      jumped += Math.abs(jump)
      model.jump(jump)
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
  await checkRefusals()
  await checkQuiet()
  refused.clear()
  await checkEnd()
  return violation

  /** Half a minute in which only some names are refused, and others come and go. */
  async function checkRefusals(): Promise<void> {
    refusals.clear()
    const others = domains.filter(domain => !refused.has(domain))
    for (let time = 0; time < 30_000 && !violation; time += 500) {
      call(random.pick(teamIds), [random.pick(others)], 0)
      release(random.pick(others))
      await passTime(500)
    }
    const [most] = [...refusals].sort(([, one], [, other]) => other - one)
    if (most && most[1] > REFUSALS_IN_HALF_A_MINUTE) {
      violate('what is refused is tried more and more rarely', `${most[0]}: ${most[1]} times in half a minute`)
    }
    for (const loop of loops.values()) loop.stop()
    await passTime(4 * TIME_LIMIT)
  }

  /** When everything is due once more. */
  async function sweepAll(sweeps: number): Promise<void> {
    const process = createProcess()
    await passTime(LONGEST_WAIT + LEASE + jumped)
    for (; sweeps > 0 && !violation; sweeps -= 1) {
      clock.plan(0, process.worker, () => void process.sweeps.synchronizePending().catch(() => {}))
      await passTime(TIME_LIMIT)
    }
  }

  async function checkQuiet(): Promise<void> {
    const refusable = model.changes().filter(({ domain }) => refused.has(domain)).length
    // Each sweep that takes the monitor for away tries two more changes alone.
    await sweepAll(refusable <= FEW_REFUSALS ? 1 : Math.ceil(model.changes().length / 2) + 1)
    count(refusable <= FEW_REFUSALS ? 'few refusals' : 'many refusals')
    const behind = model.changes().find(({ domain }) => !refused.has(domain))
    if (behind)
      violate('nothing waits behind something that fails', `${behind.kind} ${behind.domain}, ${behind.domainId}`)
  }

  async function checkEnd(): Promise<void> {
    await sweepAll(1)
    const registered = [...model.held.values()].map(({ domainId }) => domainId).sort()
    const watched = [...monitor].flatMap(([domainId, kind]) => (kind === 'registered' ? [domainId] : [])).sort()
    if (registered.join() !== watched.join()) {
      violate('what is watched is what is registered', `registered ${registered}; watched ${watched}`)
    }
    const left = model.changes().length
    if (left > 0) violate('what is watched is what is registered', `${left} changes wait`)
  }
}
