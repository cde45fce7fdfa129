import { type Call, createQueue, type RunCalls } from '../../src/postgres/queue.ts'
import { createDeadline } from '../../src/time/deadline.ts'
import { createRandom } from '../random.ts'
import { createVirtualTime } from '../virtual-time.ts'

/** Milliseconds until a transaction has its locks, if they are free; for a look-up; and from COMMIT to the caller. */
const TAKES = { beginning: 2, lookUp: 1, answer: 1 }
const TIME_LIMIT = 10_000

/** Calls a server, and resolves to how many milliseconds the call took. */
type Server = (teamId: string, domain: string) => Promise<number>

/** Servers before one simulated PostgreSQL, in virtual time. */
interface World {
  startServer(): Server
  /** Locks a registrable domain in a transaction of somebody else, until the returned function is called. */
  hold(domain: string): Promise<() => void>
  sleep(milliseconds: number): Promise<void>
}

/** @param commit Milliseconds for which a transaction keeps its locks. */
function simulate<T>(commit: number, work: (world: World) => Promise<T>): Promise<T> {
  const time = createVirtualTime(createRandom(1))
  const { sleep } = time
  const locks = createLocks(sleep)
  const runCalls: RunCalls<undefined> = async (calls, { patience }, join) => {
    const locked: string[] = []
    try {
      await sleep(TAKES.beginning)
      for (const lock of [...new Set(calls.flatMap(call => call.locks))].sort()) {
        await locks.acquire(lock, patience)
        locked.push(lock)
      }
      if (join().length > 0) await sleep(TAKES.lookUp)
      await sleep(commit)
      return calls.map(() => undefined)
    } finally {
      locked.forEach(locks.release)
      await sleep(TAKES.answer)
    }
  }
  function startServer(): Server {
    const queue = createQueue(runCalls)
    return async (teamId, domain) => {
      const begun = performance.now()
      const call: Call<undefined> = {
        ...{ teamId, locks: [domain], deadline: createDeadline(TIME_LIMIT) },
        ...{ names: 1, size: 1, work: undefined },
      }
      await queue.run(call)
      return performance.now() - begun
    }
  }
  async function hold(domain: string): Promise<() => void> {
    await locks.acquire(domain, 0)
    return () => locks.release(domain)
  }
  return time.run(() => work({ startServer, hold, sleep }))
}

/** Locks of a database: those who wait get them in order. */
function createLocks(sleep: (milliseconds: number) => Promise<void>) {
  const held = new Map<string, (() => void)[]>()
  return {
    async acquire(lock: string, patience: number): Promise<void> {
      const waiting = held.get(lock)
      if (!waiting) return void held.set(lock, [])
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve)
        void sleep(patience).then(() => {
          const at = waiting.indexOf(resolve)
          if (at === -1) return
          waiting.splice(at, 1)
          reject(Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }))
        })
      })
    },
    release(lock: string): void {
      const next = held.get(lock)?.shift()
      if (next) next()
      else held.delete(lock)
    },
  }
}

const BUSY = 'busy.com'

/** How many calls 48 callers of one registrable domain make through some servers. */
export const countCalls = ({ servers, commit, milliseconds }: Record<'servers' | 'commit' | 'milliseconds', number>) =>
  simulate(commit, async ({ startServer }) => {
    const all = Array.from({ length: servers }, startServer)
    let calls = 0
    const callers = Array.from({ length: 48 }, async (_, caller) => {
      const server = all[caller % servers] as Server
      while (performance.now() < milliseconds) {
        await server(String(caller), BUSY)
        calls += 1
      }
    })
    await Promise.all(callers)
    return calls
  })

/**
 * The slowest call for a registrable domain that some callers of each server use, while somebody else holds the locks
 * of eight other domains for five seconds, for which calls wait at one of the servers.
 */
export const findWorstBusyCall = ({ servers, callers, commit }: Record<'servers' | 'callers' | 'commit', number>) =>
  simulate(commit, async ({ startServer, hold, sleep }) => {
    let isOver = false
    let worst = 0
    async function keepCalling(server: Server): Promise<void> {
      while (!isOver) worst = Math.max(worst, await server('busy', BUSY))
    }
    const all = Array.from({ length: servers }, startServer)
    const calling = all.flatMap(server => Array.from({ length: callers }, () => keepCalling(server)))
    const [ours] = all as [Server]
    await sleep(1000)
    const held = Array.from({ length: 8 }, (_, index) => `held-${index}.com`)
    const release = await Promise.all(held.map(hold))
    const waiting = held.flatMap(domain => Array.from({ length: 3 }, () => ours(domain, domain)))
    await sleep(5000)
    for (const end of release) end()
    await Promise.all(waiting)
    isOver = true
    await Promise.all(calling)
    return worst
  })

/**
 * How long the calls of others take, in ascending order: one call each 20 ms, for five seconds in which somebody else
 * holds the locks of some domains, for which calls begin at once.
 */
export const timeOthers = ({ commit, locks }: Record<'commit' | 'locks', number>) =>
  simulate(commit, async ({ startServer, hold, sleep }) => {
    const ours = startServer()
    const held = Array.from({ length: locks }, (_, index) => `held-${index}.com`)
    const release = await Promise.all(held.map(hold))
    const waiting = held.map(domain => ours('1', domain))
    const others: Promise<number>[] = []
    for (let call = 0; call < 250; call += 1) {
      others.push(ours('2', `other-${call}.com`))
      await sleep(20)
    }
    for (const end of release) end()
    await Promise.all(waiting)
    return (await Promise.all(others)).sort((one, other) => one - other)
  })
