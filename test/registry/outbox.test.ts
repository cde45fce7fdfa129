import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Awaitable } from '../../src/awaitable.ts'
import { createHolding, type Holding } from '../../src/memory/holding.ts'
import { createWaitingChanges } from '../../src/memory/waiting-changes.ts'
import { createSynchronizer, leaseFor, type Outbox, toChange, type WaitingChange } from '../../src/registry/outbox.ts'
import type { Change } from '../../src/registry/store.ts'
import { toDriver } from '../../src/sqlite/database.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { createOutbox } from '../../src/sqlite/outbox.ts'
import { prepareAll } from '../../src/sqlite/statements.ts'
import { createRequest, manyDomains, save as saveIn, toDomains, toName } from '../../src/testing/calls.ts'
import { openDatabase } from '../sqlite/open-database.ts'

const TIME_LIMIT = 30_000
const LEASE = leaseFor(TIME_LIMIT)
const FIRST_WAIT = 5_000
const HOUR = 3_600_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())
const pass = (milliseconds: number) => vi.advanceTimersByTime(milliseconds)

/** An outbox with what puts changes into it. */
interface Opened {
  readonly outbox: Outbox
  /** Saves registrations, leased to the call. */
  save(...domains: string[]): Promise<readonly Change[]>
  /** What a call does that finds a registration. */
  find(domain: string): Awaitable<unknown>
  release(domain: string): Awaitable<unknown>
}

function openInMemory(): Opened {
  const outbox = createWaitingChanges(LEASE)
  const holdings = new Map<string, Holding>()
  const holdingOf = (domain: string) => holdings.get(domain) as Holding
  return {
    outbox,
    async save(...domains) {
      for (const domain of domains) {
        holdings.set(domain, createHolding(toName(domain), `${holdings.size} ${domain}`, '1', false))
        outbox.addRegistered(holdingOf(domain))
      }
      return domains.map(domain => toChange(holdingOf(domain), 'registered'))
    },
    find: domain => outbox.lease(holdingOf(domain).domainId),
    release: domain => outbox.addReleased(holdingOf(domain)),
  }
}

function openInSqlite(): Opened {
  const database = openDatabase()
  const synchronize = () => {}
  const store = createSqliteStore({ database, findTeam: () => null, synchronize, synchronizeTimeLimit: TIME_LIMIT })
  return {
    outbox: createOutbox(prepareAll(toDriver(database)), work => work(), LEASE),
    save: async (...domains) => (await saveIn(store, '1', domains)).map(each => toChange(each, 'registered')),
    find: domain => store.register(createRequest('1', [toName(domain)], [], () => [])),
    release: domain => store.release('1', [domain]),
  }
}

describe.each([
  ['memory', openInMemory],
  ['SQLite', openInSqlite],
])('what waits in %s', (_, open) => {
  function openSweeps() {
    const opened = open()
    const take = (limit = 1000) => opened.outbox.take(limit, LEASE) as Promise<readonly WaitingChange[]>
    const postpone = (changes: readonly WaitingChange[], wait = FIRST_WAIT, isRefusal = false) =>
      opened.outbox.postpone(changes.map(change => ({ change, lease: change.lease, wait, isRefusal })))
    const giveBack = (changes: readonly Change[]) =>
      opened.outbox.postpone(changes.map(change => ({ change, lease: null, wait: FIRST_WAIT, isRefusal: false })))
    return { ...opened, take, postpone, giveBack }
  }

  test('is due again after its wait, and its refusals count', async () => {
    const { save, take, postpone } = openSweeps()
    await save('a.com')
    pass(LEASE)
    await postpone(await take(), FIRST_WAIT, true)
    pass(FIRST_WAIT - 1)
    expect(await take()).toEqual([])
    pass(1)
    expect(await take()).toMatchObject([{ domain: 'a.com', refusals: 1 }])
  })

  test.each(['registered', 'released'])(
    'is not put off by the sweep that had it, once another has taken it: %s',
    async kind => {
      const { save, release, take, postpone } = openSweeps()
      await save('a.com')
      if (kind === 'released') await release('a.com')
      pass(LEASE)
      const stale = await take()
      pass(LEASE)
      expect(await take()).toMatchObject([{ kind }])
      await postpone(stale, FIRST_WAIT, true)
      pass(LEASE - 1)
      expect(await take()).toEqual([])
      pass(1)
      expect(await take()).toMatchObject([{ refusals: 0 }])
    },
  )

  test('is due soon after the call that saved it could not push it', async () => {
    const { save, take, giveBack } = openSweeps()
    await giveBack(await save('a.com'))
    pass(FIRST_WAIT - 1)
    expect(await take()).toEqual([])
    pass(1)
    expect(await take()).toMatchObject([{ domain: 'a.com', refusals: 0 }])
  })

  test('stays with the sweep that took it from the call that saved it', async () => {
    const { save, take, giveBack } = openSweeps()
    const saved = await save('a.com')
    pass(LEASE)
    expect(await take()).toHaveLength(1)
    await giveBack(saved)
    pass(FIRST_WAIT)
    expect(await take()).toEqual([])
  })

  test('stays with the call that found it, when the one that saved it could not push it', async () => {
    const { save, find, take, giveBack } = openSweeps()
    const saved = await save('a.com')
    pass(10)
    await find('a.com')
    await giveBack(saved)
    pass(LEASE - 1)
    expect(await take()).toEqual([])
    pass(1)
    expect(await take()).toHaveLength(1)
  })

  test('stays with a sweep, when a call finds it and cannot push it', async () => {
    const { save, find, take, giveBack } = openSweeps()
    const saved = await save('a.com')
    pass(LEASE)
    await take()
    pass(10)
    await find('a.com')
    await giveBack(saved)
    pass(LEASE - 11)
    expect(await take()).toEqual([])
  })

  test('waits no less because a call finds it', async () => {
    const { save, find, take, postpone } = openSweeps()
    await save('a.com')
    pass(LEASE)
    await postpone(await take(), HOUR, true)
    await find('a.com')
    pass(HOUR - 1)
    expect(await take()).toEqual([])
    pass(1)
    expect(await take()).toHaveLength(1)
  })

  test('waits no more once it was pushed, whoever has taken it since', async () => {
    const { save, outbox, take } = openSweeps()
    await save('a.com')
    pass(LEASE)
    const first = await take()
    pass(LEASE)
    await take()
    await outbox.finish(first)
    pass(LEASE)
    expect(await take()).toEqual([])
  })

  test('is released all the same, though its registration was pushed after the lease of that', async () => {
    const { save, outbox, release, take } = openSweeps()
    await save('a.com')
    pass(LEASE)
    const stale = await take()
    pass(LEASE)
    await release('a.com')
    await outbox.finish(stale)
    expect(await take()).toMatchObject([{ kind: 'released', domain: 'a.com' }])
  })

  test('does not wait behind what is put off again and again', async () => {
    const { save, take, postpone } = openSweeps()
    await save('a.com', 'b.com', 'c.com')
    pass(10)
    await save('new.com')
    pass(LEASE)
    const taken: string[][] = []
    for (let sweep = 0; sweep < 4; sweep += 1) {
      const changes = await take(2)
      taken.push(toDomains(changes))
      await postpone(changes)
      pass(2 * FIRST_WAIT)
    }
    expect(taken).toEqual([
      ['a.com', 'b.com'],
      ['c.com', 'new.com'],
      ['a.com', 'b.com'],
      ['c.com', 'new.com'],
    ])
  })
})

describe('a sweep', () => {
  /** Changes that wait, and a monitor that refuses some of them. */
  async function open(count: number) {
    const { outbox, save } = openInMemory()
    const refused = new Set<string>()
    const accepted: string[] = []
    const pushes: string[][] = []
    const onError = vi.fn()
    const push = (changes: readonly Change[]) => {
      pushes.push(toDomains(changes))
      if (changes.some(({ domain }) => refused.has(domain))) throw new Error('refused')
      accepted.push(...toDomains(changes))
    }
    const domains = manyDomains(count)
    await save(...domains)
    pass(LEASE)
    const synchronizer = createSynchronizer({ push, timeLimit: TIME_LIMIT, onError }, outbox)
    return { outbox, domains, refused, accepted, pushes, onError, push, synchronizer }
  }

  test('gets to each change among many that are refused, though the monitor was away for a long time', async () => {
    const COUNT = 64
    for (const position of [0, 1, 31, 62, 63]) {
      const { domains, refused, accepted, synchronizer } = await open(COUNT)
      const sweep = async () => {
        pass(LEASE)
        await synchronizer.synchronizePending()
      }
      for (const domain of domains) refused.add(domain)
      for (let sweeps = 0; sweeps < 30; sweeps += 1) await sweep()
      const [good] = domains.slice(position) as [string]
      refused.delete(good)
      // One sweep, and as many as it takes to try each alone, eight at a time.
      for (let sweeps = 0; sweeps < 1 + COUNT / 8; sweeps += 1) await sweep()
      expect(accepted).toEqual([good])
    }
  })

  test('pushes nothing once its lease may have ended, and says so', async () => {
    const { outbox, pushes, onError, push } = await open(2)
    const slow: Outbox = {
      ...outbox,
      async take(...parameters) {
        const changes = await outbox.take(...parameters)
        await vi.advanceTimersByTimeAsync(LEASE)
        return changes
      },
    }
    const { synchronizePending } = createSynchronizer({ push, timeLimit: TIME_LIMIT, onError }, slow)
    expect(await synchronizePending()).toEqual({ synchronized: 0, failed: 2 })
    expect(pushes).toEqual([])
    expect(onError.mock.calls).toEqual([[new Error('There was no time for a push')]])
  })
})
