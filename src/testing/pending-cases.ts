import { changeOf, MonitorUnavailableError, type PendingChange, toChange } from '../outbox/contract.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import { byDomain, manyDomains, methodOf, save, toDomains } from './calls.ts'
import { checkEqual, checkRejects, checkRejectsArgument, checkThat } from './check.ts'
import { named, openMonitored, pause, runSweep, saveAndRelease, synchronize, withoutTime } from './monitor.ts'
import { releaseDomains } from './release-cases.ts'
import type { CaseDefinition } from './store-case.ts'
import { areSynchronized } from './synchronization-cases.ts'

export const pendingCases: readonly CaseDefinition[] = [
  {
    id: 'counts-what-waits',
    name: 'MUST count all pending changes: registrations and releases, including leased ones',
    needs: ['release', 'countPending'],
    async test({ open }) {
      const store = await open(() => {})
      const counts = [await methodOf(store, 'countPending')()]
      const saved = await save(store, '1', ['a.com', 'b.com', 'c.com'])
      counts.push(await methodOf(store, 'countPending')())
      await synchronize(store, saved.slice(0, 2))
      counts.push(await methodOf(store, 'countPending')())
      await releaseDomains(store, '1', ['a.com', 'b.com'])
      counts.push(await methodOf(store, 'countPending')())
      await runSweep(store)
      counts.push(await methodOf(store, 'countPending')())
      checkEqual('the result of countPending', counts, [0, 3, 1, 3, 1])
    },
  },
  {
    id: 'counts-nothing-without-synchronize',
    name: 'MUST NOT count registrations as pending if the store has no `synchronize`',
    needs: ['countPending'],
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['a.com', 'b.com'])
      checkEqual('the result of countPending', await methodOf(store, 'countPending')(), 0)
      checkEqual('the result of synchronizePending', await runSweep(store), { synchronized: 0, failed: 0 })
    },
  },
  {
    id: 'records-nothing-without-a-monitor',
    name: 'SHOULD NOT record a release or a transfer as pending if there is no monitor',
    needs: ['release', 'countPending'],
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['a.com', 'b.com', 'c.com'])
      await releaseDomains(store, '1', ['a.com', 'b.com'])
      await store.transfer?.({ from: '1', to: '2', domains: ['c.com'], needsCount: false, decide: () => true })
      checkEqual('the result of countPending', await methodOf(store, 'countPending')(), 0)
    },
  },
  {
    id: 'retries-when-told',
    name: 'MUST let `retryPending` retry the given failed changes, or all failed changes if no IDs are given',
    needs: ['release', 'retryPending'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const retryPending = methodOf(store, 'retryPending')
      await saveAndRelease(store, ...manyDomains(5))
      // The change is leased to a call, so it must not count toward the limit of a sweep.
      await save(store, '1', ['leased.com'])
      monitor.refuses = named('n1.com', 'n3.com')
      await runSweep(store)
      monitor.refuses = named()
      checkEqual('the result of an early sweep', await runSweep(store), { synchronized: 0, failed: 0 })
      const ids = monitor.accepted.map(({ domainId }) => domainId)
      const ofName = (domain: string) => monitor.accepted.find(change => change.domain === domain)?.domainId ?? ''
      const other = ids.filter(id => id !== ofName('n3.com'))
      checkEqual('how many of the other changes were made due', await retryPending({ domainIds: other }), 1)
      monitor.takePushes()
      checkEqual('the result of a sweep', await runSweep(store, { limit: 1 }), { synchronized: 1, failed: 0 })
      checkEqual('the changes that the sweep pushed', toDomains(monitor.takePushes().flat()), ['n1.com'])
      checkEqual('how many changes were made due by an invalid ID', await retryPending({ domainIds: ['not an ID'] }), 0)
      checkEqual(
        'how many changes were made due by two calls without IDs',
        [await retryPending(), await retryPending()],
        [1, 0],
      )
      checkEqual('the result of a sweep', await runSweep(store, { limit: 1 }), { synchronized: 1, failed: 0 })
      for (const wrong of [{ domainIds: 'n3.com' }, { domainIds: [3] }, { ids: [] }]) {
        await checkRejectsArgument('retryPending', async () => retryPending(wrong as object))
      }
    },
  },
  {
    id: 'retries-after-an-outage',
    name: 'MUST let `retryPending` retry even changes that failed because the monitor was unavailable',
    needs: ['retryPending'],
    async test({ open }) {
      const outage = new MonitorUnavailableError('the monitor is unavailable, on purpose', { retryAfter: 3_000_000 })
      let failure: Error = outage
      const store = await open(() => {
        throw failure
      })
      const saved = await save(store, '1', ['a.com', 'b.com'])
      await checkRejects('synchronize', () => synchronize(store, saved))
      const stats = await store.pendingStats?.()
      if (stats) checkEqual('how many changes were refused', stats.refused, 0)
      checkEqual('the result of an early sweep', await runSweep(store), { synchronized: 0, failed: 0 })
      const retryPending = methodOf(store, 'retryPending')
      checkEqual(
        'how many changes were made due by one ID',
        await retryPending({ domainIds: [saved[0]?.domainId ?? ''] }),
        1,
      )
      checkEqual('how many of the other changes were made due', await retryPending(), 1)
      failure = new Error('the monitor refuses all, on purpose')
      await runSweep(store)
      failure = outage
      await retryPending()
      checkEqual('how many changes the next sweep fails to push', (await runSweep(store)).failed, 2)
      checkEqual('the result of the next sweep', await runSweep(store), { synchronized: 0, failed: 0 })
    },
  },
  {
    id: 'retry-takes-nothing-from-a-push',
    name: 'MUST NOT let `retryPending` retry a change that is leased to a call and has not failed',
    needs: ['release', 'retryPending'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', ['a.com', 'b.com'])
      await releaseDomains(store, '1', ['b.com'])
      const retryPending = methodOf(store, 'retryPending')
      const domainIds = saved.map(({ domainId }) => domainId)
      checkEqual('how many changes were made due', [await retryPending({ domainIds }), await retryPending()], [0, 0])
      checkEqual('the result of a sweep', await runSweep(store), { synchronized: 0, failed: 0 })
    },
  },
  {
    id: 'says-since-when-it-waits',
    name: 'MUST report how many changes are pending or refused, when the oldest was made, and the longest refused',
    needs: ['release', 'pendingStats'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const stats = async () => methodOf(store, 'pendingStats')()
      checkEqual('the report on an empty store', await stats(), {
        count: 0,
        refused: 0,
        oldest: null,
        longestRefused: null,
      })
      const [first] = await save(store, '1', ['d.com'])
      await pause(5)
      const others = await save(store, '1', ['a.com', 'b.com', 'c.com'])
      checkEqual('since when the oldest change is pending', (await stats()).oldest, first?.createdAt)
      await synchronize(store, others)
      await releaseDomains(store, '1', toDomains(others))
      monitor.refuses = named('b.com')
      await runSweep(store)
      const { count, refused } = await stats()
      checkEqual('how many changes are pending, and how many were refused', [count, refused], [2, 1])
      await pause(5)
      await saveAndRelease(store, 'e.com')
      monitor.refuses = named('b.com', 'e.com')
      await runSweep(store)
      const { longestRefused } = await stats()
      const { domain, refusals, lastFailure } = longestRefused ?? {}
      checkEqual(
        'the change that has been refused the longest',
        [domain, refusals, lastFailure],
        ['b.com', 1, 'Error: the monitor refuses b.com'],
      )
      const areDates = longestRefused?.at instanceof Date && longestRefused.nextAttempt instanceof Date
      checkThat('the change has the time at which it was made, and a next attempt', areDates, longestRefused)
    },
  },
  {
    id: 'settles-when-told',
    name: 'MUST let `settlePending` count the changes with the given IDs as delivered, and no others',
    needs: ['release', 'settlePending'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const settlePending = methodOf(store, 'settlePending')
      monitor.refuses = named('a.com', 'b.com')
      const saved = await save(store, '1', ['a.com', 'b.com', 'c.com'])
      await checkRejects('synchronize', () => synchronize(store, saved.slice(0, 2)))
      const [a, , c] = saved.map(({ domainId }) => domainId)
      const domainIds = [a ?? '', c ?? '']
      checkEqual(
        'how many changes two calls settled',
        [await settlePending({ domainIds }), await settlePending({ domainIds })],
        [2, 0],
      )
      const states = await areSynchronized(store, 'a.com', 'b.com', 'c.com')
      checkEqual('`synchronized` of the registrations', states, [true, false, true])
      checkEqual('how many changes were settled by an invalid ID', await settlePending({ domainIds: ['no ID'] }), 0)
      monitor.takePushes()
      await releaseDomains(store, '1', ['a.com', 'c.com'])
      checkEqual('the result of a sweep', (await runSweep(store)).synchronized, 1)
      checkEqual('the settled release', await settlePending({ domainIds: [a ?? ''] }), 1)
      for (const wrong of [{}, undefined, { domainIds: 'a.com' }, { domainIds: [3] }, { ids: [] }]) {
        await checkRejectsArgument('settlePending', async () => settlePending(wrong as never))
      }
    },
  },
  {
    id: 'release-inherits-no-failure',
    name: 'MUST NOT carry the refusals of a registration over to its release',
    needs: ['release', 'listPending'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      monitor.refuses = named('a.com')
      await checkRejects('synchronize', async () => synchronize(store, await save(store, '1', ['a.com'])))
      await releaseDomains(store, '1', ['a.com'])
      const pending = await methodOf(store, 'listPending')()
      checkEqual(
        'the pending changes, with their refusals and reasons',
        pending.map(({ kind, refusals, lastFailure }) => [kind, refusals, lastFailure]),
        [['released', 0, null]],
      )
    },
  },
  {
    id: 'calls-count-one-refusal',
    name: 'MUST count the failures of repeated calls as one refusal, and keep the count of sweeps',
    needs: ['retryPending', 'listPending'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const countRefusals = async () =>
        (await methodOf(store, 'listPending')()).filter(({ domain }) => domain === 'a.com').map(each => each.refusals)
      const saved = await save(store, '1', ['a.com'])
      const other = await save(store, '1', ['b.com'])
      monitor.isAway = true
      for (let calls = 0; calls < 3; calls += 1) await checkRejects('synchronize', () => synchronize(store, saved))
      checkEqual('how often the change was refused in calls', await countRefusals(), [1])
      await checkRejects('synchronize', () => synchronize(store, other))
      monitor.isAway = false
      monitor.refuses = named('a.com')
      await methodOf(store, 'retryPending')()
      await runSweep(store)
      checkEqual('how often the change was refused after a sweep', await countRefusals(), [2])
      await checkRejects('synchronize', () => synchronize(store, saved))
      checkEqual('how often the change was refused after another call', await countRefusals(), [2])
    },
  },
  {
    id: 'shows-what-waits',
    name: 'MUST list how often and why each pending change was refused',
    needs: ['release', 'retryPending', 'listPending'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const saved = await save(store, '1', ['a.com', 'b.com', 'c.com'])
      await synchronize(store, saved.slice(1))
      await releaseDomains(store, '1', ['b.com', 'c.com'])
      monitor.refuses = named('b.com')
      await runSweep(store)
      const pending = (await methodOf(store, 'listPending')()).toSorted(byDomain)
      const [a, b] = saved
      checkEqual(
        'the pending changes',
        pending.map(each => withoutTime(toChange(each))),
        [a && withoutTime(changeOf(a, 'registered')), b && withoutTime(changeOf(b, 'released'))],
      )
      checkEqual('when the registration was created', pending[0]?.at, a?.createdAt)
      const toRefusals = ({ refusals, lastFailure }: PendingChange) => [refusals, lastFailure]
      const expected = (...last: readonly [refusals: number, failure: string]) => [[0, null], last]
      const once = expected(1, 'Error: the monitor refuses b.com')
      checkEqual('how often each change was refused, and why', pending.map(toRefusals), once)
      const areDates = ({ at, nextAttempt }: PendingChange) =>
        at instanceof Date && nextAttempt > at && nextAttempt.getTime() < at.getTime() + 150_000
      checkThat(
        'each change has the time at which it was made, and is due at most 150 seconds later',
        pending.every(areDates),
        pending,
      )
      monitor.isAway = true
      await methodOf(store, 'retryPending')()
      await runSweep(store)
      const later = (await methodOf(store, 'listPending')()).toSorted(byDomain)
      const twice = expected(2, 'Error: the monitor is unavailable, on purpose')
      checkEqual('how often each change was refused after another sweep, and why', later.map(toRefusals), twice)
    },
  },
  {
    id: 'keeps-the-last-failure',
    name: 'MUST keep the last failure of a change if a sweep is stopped while it pushes the change again',
    needs: ['retryPending', 'listPending'],
    async test({ open, alongside }) {
      const [store, monitor] = await openMonitored(open)
      const saved = await save(store, '1', ['a.com'])
      monitor.refuses = named('a.com')
      await checkRejects('synchronize', () => synchronize(store, saved))
      monitor.refuses = named()
      monitor.isAway = true
      await checkRejects('synchronize', () => synchronize(store, saved))
      monitor.isAway = false
      await methodOf(store, 'retryPending')()
      const stopping = new AbortController()
      const held = monitor.holdNext()
      const sweeping = alongside(runSweep(store, { signal: stopping.signal }), held.end)
      await held.begun
      stopping.abort(new Error('the application stops, on purpose'))
      checkEqual('the result of synchronizePending', await sweeping, { synchronized: 0, failed: 1 })
      const pending = await methodOf(store, 'listPending')()
      const failures = pending.map(({ lastFailure }) => lastFailure)
      checkEqual('the last failures', failures, ['Error: the monitor is unavailable, on purpose'])
    },
  },
  {
    id: 'shows-what-waits-by-page',
    name: 'MUST list at most `limit` pending changes, sorted by ID, starting after the ID in `after`',
    needs: ['release', 'listPending'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', manyDomains(7))
      // The releases of these three names become the newest changes, although the names have the oldest IDs. So a list
      // sorted by time would differ from a list sorted by ID.
      await synchronize(store, saved.slice(0, 3))
      await releaseDomains(store, '1', manyDomains(3))
      const listPending = methodOf(store, 'listPending')
      const pages: string[][] = []
      for (let after: string | undefined; pages.length < 9; ) {
        const page = await listPending({ after, limit: 3 })
        pages.push(toDomains(page))
        after = page.at(-1)?.domainId
        if (page.length < 3) break
      }
      const domains = toDomains(saved.toSorted((one, other) => (one.domainId < other.domainId ? -1 : 1)))
      checkEqual('the pages', pages, [domains.slice(0, 3), domains.slice(3, 6), domains.slice(6)])
      for (const wrong of [{ limit: -1 }, { limit: MOST_AT_ONCE + 1 }, { after: 7 }, { teamId: '1' }]) {
        await checkRejectsArgument('listPending', async () => listPending(wrong as object))
      }
    },
  },
]
