import type { Pool, PoolClient } from 'pg'
import type { PostgresPool } from '../../src/postgres/index.ts'

/** Works through a pool, and says at its end what came of it. */
export type Work = () => Promise<string>

/** A caller with sessions of its own, whose statements are sent one by one when they are let. */
export interface Caller {
  readonly pool: PostgresPool
  /** Starts to work, up to its first statement. */
  start(work: Work): void
  /** What is sent next; absent while a statement waits for a lock, and at the end. */
  next(): string | undefined
  /** Lets the next statement go. */
  step(): void
  /** Whether it is clear what it does next: send a statement, wait for a lock, or nothing more. */
  isStill(): Promise<boolean>
  /** What came of the work. */
  ending(): string | undefined
}

/** @param observer Another pool, through which it learns who waits for a lock. */
export function createCaller(sessions: Pool, observer: Pool): Caller {
  let waiting: { readonly text: string; send(): void } | undefined
  let session = 0
  let ended: string | undefined

  function wrap(client: PoolClient & { readonly processID?: number }) {
    const query = (statement: { readonly text: string }) =>
      new Promise<never>((resolve, reject) => {
        waiting = {
          text: statement.text,
          send() {
            session = client.processID ?? 0
            client.query(statement).then(result => resolve(result as never), reject)
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
    async isStill() {
      if (waiting || ended !== undefined) return true
      const { rows } = await observer.query('SELECT cardinality(pg_blocking_pids($1)) > 0 AS waits', [session])
      return rows[0].waits && !waiting && ended === undefined
    },
    ending: () => ended,
  }
}

/** Who made each step, in order. */
type Order = readonly number[]

/** The ways in which a schedule may go on after the steps that it has. */
interface Fork {
  readonly ready: readonly number[]
  readonly chosen: number
}

/**
 * Runs the works of callers in every order of their statements.
 *
 * @param prepare Called before each order. Returns a work for each caller.
 * @param check Called after each order, with what came of the works and the steps.
 * @returns How many orders there are.
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

/** Follows an order to its end, and then goes on with whoever comes first. */
async function runOrder(callers: readonly Caller[], works: readonly Work[], order: Order) {
  const forks: Fork[] = []
  const story: string[] = []
  for (const [index, work] of works.entries()) callers[index]?.start(work)
  let last: Caller | undefined
  for (;;) {
    // First whoever made the last step: it may have ended the wait of another.
    if (last) await becomeStill(last)
    for (const each of callers) await becomeStill(each)
    const ready = [...callers.keys()].filter(index => callers[index]?.next() !== undefined)
    const chosen = order[forks.length] ?? ready[0]
    if (chosen === undefined) return { forks, story }
    last = callers[chosen] as Caller
    story.push(`${chosen + 1}: ${last.next()?.replaceAll(/\s+/g, ' ').slice(0, 80)}`)
    forks.push({ ready, chosen })
    last.step()
  }
}

async function becomeStill(caller: Caller): Promise<void> {
  while (!(await caller.isStill())) await new Promise(resolve => setImmediate(resolve))
}

/** The next order, by the last fork that has another way. */
function findNext(forks: readonly Fork[]): Order | undefined {
  const last = forks.findLastIndex(({ ready, chosen }) => ready.indexOf(chosen) < ready.length - 1)
  const fork = forks[last]
  if (!fork) return undefined
  const other = fork.ready[fork.ready.indexOf(fork.chosen) + 1] as number
  return [...forks.slice(0, last).map(({ chosen }) => chosen), other]
}
