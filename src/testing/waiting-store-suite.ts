import type { NameToKeep, TakenName, WaitingName, WaitingStore } from '../store/waiting.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { createDeadline } from '../time/deadline.ts'
import { toTestName } from './calls.ts'
import { checkEqual, describeFailedCase } from './check.ts'
import type { StoreCase } from './store-case.ts'

/** Options of {@link waitingStoreSuite}. */
export interface WaitingStoreSuiteOptions<Store extends WaitingStore = WaitingStore> {
  /** Creates a store without names. Called once for each case. */
  createStore(): Awaitable<Store>
  /** Closes a store that {@link createStore} returned, whether or not its case passed. */
  closeStore?: ((store: Store) => Awaitable<unknown>) | undefined
  /** The time limit of a case, in milliseconds. Default 4,000. */
  timeLimit?: number | undefined
}

interface WaitingCase {
  readonly id: string
  readonly name: `MUST ${string}`
  test(store: WaitingStore): Promise<void>
}

/**
 * Returns the conformance suite for your own {@link WaitingStore}. It works with any test runner, like {@link
 * domainStoreSuite}.
 *
 * @returns The cases, always in the same order.
 *
 * @example
 * import { waitingStoreSuite } from 'domain-registration/testing'
 * import { test } from 'vitest'
 *
 * const cases = waitingStoreSuite({ createStore: () => waiting })
 * for (const { name, run } of cases) test(name, run)
 */
export function waitingStoreSuite<Store extends WaitingStore>({
  createStore,
  closeStore,
  timeLimit = 4000,
}: WaitingStoreSuiteOptions<Store>): readonly StoreCase[] {
  async function run({ id, test }: WaitingCase): Promise<void> {
    const store = await createStore()
    try {
      await createDeadline(timeLimit).wait(test(store))
    } catch (cause) {
      throw new Error(`${id}: ${describeFailedCase(cause)}`, { cause })
    } finally {
      await closeStore?.(store)
    }
  }
  return cases.map(each => ({ id: each.id, level: 'MUST', name: each.name, run: () => run(each) }))
}

const MINUTE = 60_000
const DUE = { wait: 0, keepFor: MINUTE, most: 1000 }
const LATER = { ...DUE, wait: 10 * MINUTE }

const toNames = (...domains: readonly string[]): NameToKeep[] =>
  domains.map(domain => ({
    ...toTestName(domain),
    refusal: { code: 'invalid_domain', reason: 'not_verified', message: `Prove ${domain}.` },
  }))
const numbered = (count: number, zone: string) => Array.from({ length: count }, (_, index) => `n${index}.${zone}`)
const domainsOf = (names: readonly { readonly domain: string }[]) => names.map(({ domain }) => domain).sort()

const namesOf = async (store: WaitingStore, teamId = '1') => domainsOf(await store.list(teamId))
const take = async (store: WaitingStore, limit = 1000, lease = MINUTE): Promise<readonly TakenName[]> =>
  store.take({ limit, lease })
async function findIn(store: WaitingStore, domain: string): Promise<WaitingName | undefined> {
  return (await store.list('1')).find(name => name.domain === domain)
}
/** How many minutes from the last try to the next one. */
const minutesOf = (name: WaitingName | undefined) =>
  name && Math.round((name.nextTry.getTime() - name.lastTried.getTime()) / MINUTE)

const cases: readonly WaitingCase[] = [
  {
    id: 'keeps-whole-names',
    name: 'MUST list what it keeps, for each team and in the order of the domains',
    async test(store) {
      const record = { type: 'TXT', name: '_x.b.com', host: '_x', zone: 'b.com', value: 'v' }
      const message = 'Add "v",\\ {NULL}, \u0000, \ud800 and 🍪.'
      const odd: NameToKeep = {
        ...toTestName('b.com'),
        refusal: { code: 'domain_already_licensed', reason: 'odd', message, record },
      }
      const { kept } = await store.keep('1', [odd, ...toNames('*.c.com', 'a.com')], LATER)
      checkEqual('the kept names', domainsOf(kept), ['*.c.com', 'a.com', 'b.com'])
      checkEqual(
        'the list',
        (await store.list('1')).map(({ domain }) => domain),
        ['*.c.com', 'a.com', 'b.com'],
      )
      checkEqual('the list of another team', await namesOf(store, '2'), [])
      const name = await findIn(store, 'b.com')
      checkEqual('the refusal', name?.refusal, odd.refusal)
      checkEqual('the name', [name?.teamId, name?.registrableDomain, name?.tries], ['1', 'b.com', 0])
      checkEqual('the next try, in minutes', minutesOf(name), 10)
      checkEqual('the last try', name?.lastTried, name?.since)
      const until = kept.find(({ domain }) => domain === 'b.com')?.until
      checkEqual('the end, in minutes', Number(until) - Number(name?.since), MINUTE)
    },
  },
  {
    id: 'kept-again',
    name: 'MUST begin again when a name is kept again, but keep its first time',
    async test(store) {
      await store.keep('1', toNames('a.com'), { ...DUE, keepFor: 0 })
      const [before] = await take(store)
      const refusal = { code: 'invalid_domain', reason: 'other', message: 'Something else.' } as const
      await store.keep('1', [{ ...toTestName('a.com'), refusal }], LATER)
      const after = await findIn(store, 'a.com')
      checkEqual('the tries', after?.tries, 0)
      checkEqual('the first time', after?.since, before?.since)
      checkEqual('the refusal', after?.refusal, refusal)
      checkEqual('whether the end is later', Number(after?.until) >= Number(before?.until) + MINUTE, true)
      checkEqual('what is due', await take(store), [])
    },
  },
  {
    id: 'at-most-so-many',
    name: 'MUST NOT keep more names of a team than allowed, even in simultaneous calls, but keep the old ones again',
    async test(store) {
      const most = { ...DUE, most: 6 }
      const calls = ['a.com', 'b.com', 'c.com', 'd.com'].map(zone =>
        store.keep('1', toNames(...numbered(3, zone)), most),
      )
      const kept = (await Promise.all(calls)).flatMap(({ kept }) => kept)
      checkEqual('how many are kept', [kept.length, (await namesOf(store)).length], [6, 6])
      const old = kept[0]?.domain as string
      const again = await store.keep('1', toNames('new.com', old), most)
      checkEqual('what is kept in a full list', domainsOf(again.kept), [old])
      checkEqual('what another team keeps', (await store.keep('2', toNames('new.com'), most)).kept.length, 1)
    },
  },
  {
    id: 'removes-names',
    name: 'MUST remove names of the given team, and return those that were there',
    async test(store) {
      await store.keep('1', toNames('a.com', 'b.com'), DUE)
      await store.keep('2', toNames('a.com'), DUE)
      checkEqual('what was removed', await store.remove('1', ['a.com', 'c.com']), ['a.com'])
      checkEqual('what is left', [await namesOf(store, '1'), await namesOf(store, '2')], [['b.com'], ['a.com']])
      checkEqual('what was removed the second time', await store.remove('1', ['a.com']), [])
    },
  },
  {
    id: 'takes-what-is-due',
    name: 'MUST take only due names of one team, at most as many as asked for, and not again within their lease',
    async test(store) {
      await store.keep('1', toNames('a.com', 'b.com', 'c.com'), DUE)
      await store.keep('1', toNames('later.com'), LATER)
      const first = await take(store, 2, 0)
      checkEqual(
        'the first take',
        [first.length, ...first.map(({ tries, teamId }) => [tries, teamId])],
        [2, [1, '1'], [1, '1']],
      )
      checkEqual('the second take', domainsOf(await take(store)), ['a.com', 'b.com', 'c.com'])
      checkEqual('the third take', await take(store), [])
      checkEqual('the tries', (await findIn(store, first[0]?.domain as string))?.tries, 2)
    },
  },
  {
    id: 'takes-by-lot',
    name: 'MUST choose the team by lot, so that many names of one team do not hold up another',
    async test(store) {
      await store.keep('1', toNames(...numbered(80, 'a.com')), DUE)
      await store.keep('2', toNames('b.com'), DUE)
      const taken: string[] = []
      for (let turn = 1; turn <= 40 && !taken.includes('2'); turn += 1)
        for (const { teamId } of await take(store, 1)) taken.push(teamId)
      checkEqual('whether the other team had a turn', taken.includes('2'), true)
    },
  },
  {
    id: 'takes-once',
    name: 'MUST NOT give a name to two simultaneous calls',
    async test(store) {
      await store.keep('1', toNames(...numbered(40, 'a.com')), DUE)
      const taken = (await Promise.all(Array.from({ length: 8 }, () => take(store, 10)))).flat()
      checkEqual('how many were taken twice', taken.length - new Set(domainsOf(taken)).size, 0)
      for (let turn = 0; turn < 4; turn += 1) taken.push(...(await take(store, 10)))
      checkEqual('how many were taken', taken.length, 40)
    },
  },
  {
    id: 'says-what-is-last',
    name: 'MUST say whether the time of a name is over',
    async test(store) {
      await store.keep('1', toNames('a.com'), { ...DUE, keepFor: 0 })
      await store.keep('1', toNames('b.com'), DUE)
      const last = (await take(store)).filter(({ isLast }) => isLast)
      checkEqual('what is tried for the last time', domainsOf(last), ['a.com'])
    },
  },
  {
    id: 'settles-what-was-taken',
    name: 'MUST forget or postpone a name only for the call that took it last',
    async test(store) {
      await store.keep('1', toNames('a.com', 'b.com', 'c.com'), DUE)
      await take(store, 3, 0)
      const until = new Map((await take(store, 3)).map(name => [name.domain, name.until]))
      const of = (domain: string, tries = 2) => ({ domain, tries, until: until.get(domain) ?? new Date(0) })
      const late = ['a.com', 'b.com'].map(domain => ({ ...of(domain, 1), isOver: true }) as const)
      checkEqual('what a late call changed', await store.settle('1', late), [])
      const refusal = { code: 'invalid_domain', reason: 'other', message: 'Something else.' } as const
      const settled = await store.settle('1', [
        { ...of('a.com'), isOver: true },
        { ...of('b.com'), wait: 5 * MINUTE, refusal },
        { ...of('c.com'), wait: 0 },
        { ...of('gone.com', 1), isOver: true },
      ])
      checkEqual('what was changed', settled.toSorted(), ['a.com', 'b.com', 'c.com'])
      checkEqual('what is left', await namesOf(store), ['b.com', 'c.com'])
      const [b, c] = [await findIn(store, 'b.com'), await findIn(store, 'c.com')]
      checkEqual('the new refusal', b?.refusal, refusal)
      checkEqual('the next try, in minutes', minutesOf(b), 5)
      checkEqual('the old refusal', c?.refusal.reason, 'not_verified')
      checkEqual('the last try of a name that was not tried', c?.lastTried, c?.since)
      checkEqual('what is due', domainsOf(await take(store)), ['c.com'])
    },
  },
  {
    id: 'settles-for-no-earlier-call',
    name: 'MUST leave a name as it is that was kept, or removed and kept, and taken again in the meantime',
    async test(store) {
      await store.keep('1', toNames('a.com', 'b.com'), { ...DUE, keepFor: 0 })
      const before = await take(store)
      await store.remove('1', ['b.com'])
      await store.keep('1', toNames('a.com', 'b.com'), DUE)
      const taken = await take(store)
      checkEqual(
        'the tries',
        [...before, ...taken].map(({ tries }) => tries),
        [1, 1, 1, 1],
      )
      const over = before.map(({ domain, tries, until }) => ({ domain, tries, until, isOver: true }) as const)
      checkEqual('what the call before changed', await store.settle('1', over), [])
      const later = before.map(({ domain, tries, until }) => ({ domain, tries, until, wait: 0 }))
      checkEqual('what it postponed', await store.settle('1', later), [])
      checkEqual('what is due', await take(store), [])
      checkEqual('what is left', await namesOf(store), ['a.com', 'b.com'])
    },
  },
  {
    id: 'hastens-a-zone',
    name: "MUST make the team's other names below a registrable domain due, except those that a lease may cover",
    async test(store) {
      await store.keep('1', toNames('x.a.com', 'y.a.com', 'b.com'), LATER)
      await store.keep('2', toNames('z.a.com'), LATER)
      await store.keep('1', toNames('leased.a.com', 'found.a.com'), DUE)
      const until = (await take(store)).find(({ domain }) => domain === 'found.a.com')?.until ?? new Date(0)
      const found = [{ domain: 'found.a.com', tries: 1, until, isOver: true }] as const
      const settled = await store.settle('1', found, { registrableDomains: ['a.com'], lease: 2 * MINUTE })
      checkEqual('what was changed', settled, ['found.a.com'])
      checkEqual('what is due', domainsOf(await take(store)), ['x.a.com', 'y.a.com'])
      checkEqual('what else is due', await take(store), [])
    },
  },
  {
    id: 'says-what-is-overdue',
    name: 'MUST count the names, and say for how long one has been due',
    async test(store) {
      checkEqual('the figures of an empty store', await store.stats(), { count: 0, overdue: 0 })
      const { overdue } = await store.keep('1', toNames('a.com'), LATER)
      checkEqual('for how long nothing has been due', overdue, 0)
      const late = await store.keep('2', toNames('b.com', 'c.com'), { ...DUE, wait: -5 * MINUTE })
      checkEqual('for how many minutes a name has been due', Math.floor(late.overdue / MINUTE), 5)
      const stats = await store.stats()
      checkEqual('the figures', [stats.count, Math.floor(stats.overdue / MINUTE)], [3, 5])
    },
  },
]
