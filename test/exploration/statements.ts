import type { Pool, PoolClient } from 'pg'
import type { PostgresPool } from '../../src/postgres/index.ts'

/** A function that works on a pool, and resolves to the outcome. */
export type Work = () => Promise<string>

/** A caller that has its own sessions, and sends each statement only on command. */
export interface Caller {
  readonly pool: PostgresPool
  /** Starts the work, and stops before its first statement. */
  start(work: Work): void
  /**
   * The statement that is sent next. `undefined` while a statement is running or waiting for a lock, and after the last
   * statement.
   */
  next(): string | undefined
  /** Sends the next statement. */
  step(): void
  /** The process ID of the caller's session in PostgreSQL. */
  session(): number
  /** The process IDs of the sessions for whose locks this caller's statement waits. */
  findBlockers(): Promise<readonly number[]>
  /** The outcome of the work. */
  ending(): string | undefined
}

/** @param observer Another pool, used to query which sessions wait for a lock. */
export function createCaller(sessions: Pool, observer: Pool): Caller {
  let waiting: { readonly text: string; send(): void } | undefined
  let session = 0
  let ended: string | undefined

  function wrap(client: PoolClient & { readonly processID?: number }) {
    const query = (statement: { readonly text: string }) =>
      new Promise<never>((resolve, reject) => {
        // A lock is waited for until a step releases it, however long the steps take.
        const text = statement.text.replace(/(?<=lock_timeout = ')\d+/, '0')
        waiting = {
          text,
          send() {
            session = client.processID ?? 0
            client.query({ ...statement, text }).then(result => resolve(result as never), reject)
          },
        }
      })
    return {
      query,
      release: client.release,
      on: client.on.bind(client),
      removeListener: client.removeListener.bind(client),
    }
  }

  return {
    pool: { connect: () => sessions.connect().then(wrap) } as PostgresPool,
    start(work) {
      ended = undefined
      work().then(
        told => {
          ended = told
        },
        error => {
          ended = `failed: ${error}`
        },
      )
    },
    next: () => waiting?.text,
    step() {
      const { send } = waiting as NonNullable<typeof waiting>
      waiting = undefined
      send()
    },
    session: () => session,
    async findBlockers() {
      const { rows } = await observer.query('SELECT pg_blocking_pids($1) AS pids', [session])
      return rows[0].pids
    },
    ending: () => ended,
  }
}

/** A schedule: the caller of each step, in order. */
type Order = readonly number[]

/** The callers that can take the next step. */
interface Fork {
  readonly ready: readonly number[]
  readonly chosen: number
}

/**
 * Runs the work of all callers, in every order of their statements.
 *
 * @param prepare Called before each order. Returns the work of each caller.
 * @param check Called after each order, with the outcomes and the steps.
 * @returns The number of orders.
 */
export async function runAllOrders(
  callers: readonly Caller[],
  prepare: () => Promise<readonly Work[]>,
  check: (endings: readonly (string | undefined)[], story: readonly string[]) => Promise<void>,
): Promise<number> {
  let orders = 0
  for (let order: Order | undefined = []; order !== undefined; ) {
    const { forks, story } = await runOrder(callers, await prepare(), order)
    await check(
      callers.map(each => each.ending()),
      story,
    )
    orders += 1
    order = findNext(forks)
  }
  return orders
}

/**
 * Whether a statement uses no table and ends no transaction. It then commutes with all statements of other sessions, so
 * it is sent at once, and other orders are not tried. (At READ COMMITTED, each statement takes its own snapshot.)
 */
const usesNoTable = (text: string) => !/^(?:COMMIT|ROLLBACK)|"domain_registration"\./.test(text)

/**
 * Takes the steps of a schedule. After that, always lets the first caller that can take a step do so, until no caller
 * can.
 */
async function runOrder(callers: readonly Caller[], works: readonly Work[], order: Order) {
  const forks: Fork[] = []
  const story: string[] = []
  for (const [index, work] of works.entries()) callers[index]?.start(work)
  for (;;) {
    await becomeStill(callers)
    const able = [...callers.keys()].filter(index => callers[index]?.next() !== undefined)
    const free = able.find(index => usesNoTable(callers[index]?.next() as string))
    const ready = free === undefined ? able : [free]
    const chosen = order[forks.length] ?? ready[0]
    if (chosen === undefined) return { forks, story }
    const next = callers[chosen] as Caller
    story.push(`${chosen + 1}: ${next.next()?.replaceAll(/\s+/g, ' ').slice(0, 80)}`)
    forks.push({ ready, chosen })
    next.step()
  }
}

/**
 * Resolves when no caller can make progress until another step is taken: each caller has a statement to send, has
 * ended, or waits for a lock that another caller holds. Locks that autovacuum holds do not count, because autovacuum
 * releases them without a step.
 */
async function becomeStill(callers: readonly Caller[]): Promise<void> {
  const isIdle = (caller: Caller) => caller.next() !== undefined || caller.ending() !== undefined
  const still = new Set(callers.filter(isIdle))
  while (still.size < callers.length) {
    for (const caller of callers.filter(each => !still.has(each))) {
      const sessions = [...still].map(each => each.session())
      const blockers = await caller.findBlockers()
      if (isIdle(caller) || blockers.some(session => sessions.includes(session))) still.add(caller)
    }
  }
}

/**
 * Returns the next order: the same steps up to the last one that a later caller could have taken instead, and then the
 * step of the next such caller.
 */
function findNext(forks: readonly Fork[]): Order | undefined {
  const last = forks.findLastIndex(({ ready, chosen }) => ready.indexOf(chosen) < ready.length - 1)
  const fork = forks[last]
  if (!fork) return undefined
  const other = fork.ready[fork.ready.indexOf(fork.chosen) + 1] as number
  return [...forks.slice(0, last).map(({ chosen }) => chosen), other]
}
