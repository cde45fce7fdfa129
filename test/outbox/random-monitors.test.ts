import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import { MonitorUnavailableError, type Outbox, type Push } from '../../src/outbox/contract.ts'
import type { Change } from '../../src/rules/registration.ts'
import { createSqliteBackend } from '../../src/sqlite/store.ts'
import { createManagedStore, type ManagedStore, type StoreBackend } from '../../src/store/managed-store.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { counts, seed } from '../counts.ts'
import { createRandom, type Random } from '../random.ts'
import { openDatabase } from '../sqlite/open-database.ts'
import { createVirtualTime, type VirtualProcess, type VirtualTime } from '../virtual-time.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const NEVER = Number.POSITIVE_INFINITY

/** An answer of a monitor to a push. */
type Answer = () => unknown
const accepts: Answer = () => {}
const denies: Answer = () => {
  throw new Error('422')
}
const hangs: Answer = () => new Promise(() => {})
const isAway =
  (retryAfter?: number): Answer =>
  () => {
    throw new MonitorUnavailableError('503', { retryAfter })
  }

/** What can go wrong, in one random case. All times are in milliseconds. */
interface World {
  /** Each change by its domain: whether a call makes it while sweeps run, and the answer to each push that has it. */
  readonly changes: ReadonlyMap<string, { readonly teamId: string; readonly isLate: boolean; readonly answer: Answer }>
  readonly batchSize: number | undefined
  /** For how long the monitor is unavailable at first. */
  readonly outage: number
  /** The most changes in a push that the monitor accepts. */
  readonly most: number
  /** How many pushes a gateway lets through in each time window, and whether it says when the next window begins. */
  readonly gateway: { readonly limit: number; readonly window: number; readonly isTold: boolean } | undefined
  /** The longest time in which the monitor answers. */
  readonly slowest: number
  readonly processes: number
  /** Whether each sweep runs in a new process. */
  readonly isCold: boolean
  /** The limit of a sweep. */
  readonly limit: number
  /** The probabilities with which a process dies or freezes in a push. */
  readonly kills: number
  readonly freezes: number
  /** For how long a process may run. */
  readonly lifetime: number
}

function createWorld(random: Random): World {
  const share = random.pick([0.02, 0.1, 0.5, 0.95])
  const answers = [denies, isAway(), hangs, isAway(random.pick([0, 30 * SECOND, 600 * SECOND, HOUR]))]
  const kinds = random.chance(0.2) ? answers : [random.pick(answers)]
  const teams = random.pick([1, 1, 2, 5, 50])
  const late = random.pick([0, 0, 0.3])
  const toChange = (index: number) => ({
    teamId: String(random.integer(1, teams)),
    isLate: random.chance(late),
    answer: index > 0 && random.chance(share) ? random.pick(kinds) : accepts,
  })
  const domains = manyDomains(1 + Math.floor(120 * random.fraction() ** 2))
  return {
    changes: new Map(domains.map((domain, index) => [domain, toChange(index)])),
    batchSize: random.pick([1, 7, 100, undefined]),
    outage: random.pick([0, 0, 300 * SECOND]),
    most: random.pick([NEVER, NEVER, 1, 5]),
    gateway: random.chance(0.25) ? { limit: 3, window: 60 * SECOND, isTold: random.chance(0.5) } : undefined,
    slowest: random.pick([50, 12 * SECOND]),
    processes: random.pick([1, 1, 2, 3]),
    isCold: random.chance(0.5),
    limit: random.pick([1, 3, 10, 1000]),
    kills: random.pick([0, 0, 0.1]),
    freezes: random.pick([0, 0, 0.05]),
    lifetime: random.pick([NEVER, NEVER, 13 * SECOND]),
  }
}

/** The monitor of a world. Records each push. */
function createMonitor({ changes, ...world }: World, random: Random, { current, sleep }: VirtualTime) {
  const accepted = new Set<string>()
  const log: string[] = []
  const faults: string[] = []
  /** Which process pushes a change now. */
  const pushing = new Map<string, VirtualProcess>()
  let [window, inWindow] = [0, 0]

  function toAnswer(pushed: readonly Change[]): Answer {
    const now = performance.now()
    if (now < world.outage) return isAway()
    if (world.gateway) {
      const { limit, isTold, window: length } = world.gateway
      inWindow = window === Math.floor(now / length) ? inWindow + 1 : 1
      window = Math.floor(now / length)
      if (inWindow > limit) return isAway(isTold ? (window + 1) * length - now : undefined)
    }
    if (pushed.length > world.most) return denies
    const failing = pushed.map(({ domain }) => changes.get(domain)?.answer ?? accepts).filter(each => each !== accepts)
    return failing.length > 0 ? random.pick(failing) : accepts
  }

  const push: Push = async (pushed, { signal }) => {
    const process = current() as VirtualProcess
    log.push(`${performance.now()} ${pushed.map(({ domain }) => domain)}`)
    for (const { domain } of pushed) {
      const other = pushing.get(domain)
      // What a process does after it was frozen may end a lease of another one too early.
      if (other && !other.isDead && world.freezes === 0) faults.push(`Two processes push ${domain} at once`)
      pushing.set(domain, process)
    }
    const end = () => pushed.map(({ domain }) => pushing.get(domain) === process && pushing.delete(domain))
    signal.addEventListener('abort', end, { once: true })
    const answer = toAnswer(pushed)
    const isLost = random.chance(world.kills)
    if (answer === accepts && !(isLost && random.chance(0.5))) for (const { domain } of pushed) accepted.add(domain)
    if (isLost) process.kill()
    if (random.chance(world.freezes)) process.frozenUntil = performance.now() + 300 * SECOND * random.fraction()
    await sleep(random.integer(10, world.slowest))
    end()
    return answer()
  }
  return { push, accepted, log, faults }
}

/** As many sweeps, even of three processes, take longer than the longest wait of a change. */
const MOST_IDLE = 2_000

/** Lives through a world, and checks what the policy promises. Returns each push. */
async function live(world: World, random: Random, connect: () => StoreBackend): Promise<readonly string[]> {
  const time = createVirtualTime(random)
  const { push, accepted, log, faults } = createMonitor(world, random, time)
  const good = [...world.changes].flatMap(([domain, { answer }]) => (answer === accepts ? [domain] : []))
  const isDone = () => good.every(domain => accepted.has(domain))
  const most = 400 + 100 * world.changes.size
  let sweeps = 0
  let idle = 0

  const open = () =>
    createManagedStore(connect(), {
      findTeam: id => ({ id, organizationId: '10', state: 'active' }),
      batchSize: world.batchSize,
      onError() {},
      synchronize: push,
    })

  async function keepSweeping(): Promise<void> {
    let process: VirtualProcess | undefined
    let store: ManagedStore | undefined
    while (!isDone()) {
      await time.sleep(world.isCold ? random.integer(55, 65) * SECOND : 10 * SECOND)
      if (world.isCold || process?.isDead !== false || !store) [process, store] = [time.startProcess(), open()]
      const { kill, run } = process
      const end = world.lifetime < NEVER && setTimeout(kill, world.lifetime)
      const before = log.length
      await run(() => (store as ManagedStore).synchronizePending({ limit: world.limit }))
      if (end) clearTimeout(end)
      if (log.length > before) sweeps += 1
      idle = log.length > before ? 0 : idle + 1
      if (sweeps > most || idle > MOST_IDLE)
        faults.push(`After ${sweeps} sweeps, ${accepted.size} of ${good.length} changes were accepted`)
      if (faults.length > 0) throw new Error(faults.join('\n'))
    }
  }

  /** A call makes a change, and pushes it. */
  async function call(domain: string, teamId: string): Promise<void> {
    await time.sleep(random.integer(0, 1200) * SECOND)
    const store = open()
    const { run } = time.startProcess()
    await run(async () => store.synchronize?.(await save(store, teamId, [domain]))).catch(() => {})
  }

  async function change(): Promise<void> {
    const store = open()
    for (const teamId of new Set([...world.changes.values()].map(change => change.teamId))) {
      const isEarly = ([, change]: readonly [string, { teamId: string; isLate: boolean }]) =>
        change.teamId === teamId && !change.isLate
      const domains = [...world.changes].filter(isEarly).map(([domain]) => domain)
      if (domains.length === 0) continue
      await save(store, teamId, domains)
      await store.release(
        teamId,
        domains.filter(() => random.chance(0.5)),
      )
    }
    const late = [...world.changes].filter(([, { isLate }]) => isLate)
    const calls = late.map(([domain, { teamId }]) => call(domain, teamId))
    await Promise.all([...calls, ...Array.from({ length: world.processes }, keepSweeping)])
    const pending = (await store.listPending()).map(({ domain }) => domain)
    const bad = [...world.changes.keys()].filter(domain => !good.includes(domain))
    expect(pending, 'what is pending').toEqual(expect.arrayContaining(bad))
    expect([...bad, ...accepted], 'what was accepted or is bad').toEqual(expect.arrayContaining(pending))
  }

  await time.run(change)
  return log
}

beforeEach(() => {
  Error.stackTraceLimit = 0 // because a world has thousands of errors
})
afterEach(() => {
  Error.stackTraceLimit = 10
})

/** The data of a world. */
interface Data {
  /** Opens a store over the data. */
  connect(): StoreBackend
  close?(): unknown
}

const engines: Readonly<Record<string, () => Data>> = {
  memory() {
    const backend = createMemoryBackend()
    return { connect: () => backend }
  },
  SQLite() {
    const database = openDatabase()
    return { connect: () => createSqliteBackend({ database }), close: () => database.close() }
  },
}

async function liveThrough(worldSeed: number, { connect, close }: Data): Promise<readonly string[]> {
  const random = createRandom(worldSeed)
  const world = createWorld(random)
  try {
    return await live(world, random, connect)
  } catch (error) {
    throw new Error(`SEED=${worldSeed}: ${error}; ${JSON.stringify({ ...world, changes: world.changes.size })}`)
  } finally {
    close?.()
  }
}

describe.each(Object.entries(engines))('with a store in %s', (name, openData) => {
  const worlds = name === 'memory' ? counts.monitors : counts.monitorsOfSqlite
  test(`${worlds} random monitors get all changes that they accept alone, whatever else happens`, async () => {
    for (let index = 0; index < worlds; index += 1) await liveThrough(seed + index, openData())
  })

  test('a seed repeats each push, even if other work of this process uses timers and random numbers', async () => {
    const pushes = await liveThrough(8, openData())
    expect(pushes.length).toBeGreaterThan(10)
    let turns = 0
    const other = setInterval(() => setTimeout(() => (turns += Math.random() + crypto.randomUUID().length)))
    onTestFinished(() => clearInterval(other))
    expect(await liveThrough(8, openData())).toEqual(pushes)
    expect(turns).toBeGreaterThan(0)
  })
})

test.each<[string, RegExp, (take: Outbox['take']) => Outbox['take']]>([
  [
    'never takes failed changes',
    /^Error: SEED=\d+: Error: After \d+ sweeps, \d+ of \d+ changes were accepted/,
    take =>
      ({ lines, ...request }) =>
        take({ ...request, lines: lines.filter(({ line }) => line !== 'failed') }),
  ],
  [
    'leases nothing to a sweep',
    /^Error: SEED=\d+: Error: Two processes push n\d+\.com at once/,
    take => request => take({ ...request, lease: 0 }),
  ],
])('a store that %s fails in one of the first hundred worlds, and the failure names the seed', async (...row) => {
  const [, expected, toTake] = row
  let failure: unknown
  for (let worldSeed = 1; worldSeed <= 100 && !failure; worldSeed += 1) {
    const { outbox, ...backend } = createMemoryBackend()
    const broken = { ...backend, outbox: { ...outbox, take: toTake(outbox.take) } }
    await liveThrough(worldSeed, { connect: () => broken }).catch(error => {
      failure = error
    })
  }
  expect(String(failure)).toMatch(expected)
})
