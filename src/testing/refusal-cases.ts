import type { SynchronizationErrorHandler } from '../outbox/contract.ts'
import { manyDomains, methodOf, save, submit, toDomains } from './calls.ts'
import { checkEqual, checkRejects, checkThat } from './check.ts'
import { named, openMonitored, pause, runSweep, saveAndRelease, synchronize } from './monitor.ts'
import type { CaseDefinition } from './store-case.ts'
import { areSynchronized } from './synchronization-cases.ts'

export const refusalCases: readonly CaseDefinition[] = [
  {
    id: 'refused-in-a-call-alone',
    name: 'MUST reject a call if the monitor refuses one of its registrations, and synchronize all others',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const domains = manyDomains(20)
      monitor.refuses = named('n7.com')
      await checkRejects('synchronize', async () => synchronize(store, await save(store, '1', domains)))
      checkEqual(
        '`synchronized` of the registrations',
        await areSynchronized(store, ...domains),
        domains.map(domain => domain !== 'n7.com'),
      )
      const retried = await submit(store, '1', ['n0.com', 'n19.com'])
      checkEqual(
        'the results of a retry without the refused name',
        retried.map(({ status }) => status),
        ['existing', 'existing'],
      )
    },
  },
  {
    id: 'refused-in-a-sweep-alone',
    name: 'MUST deliver all other pending changes in the same sweep if the monitor refuses one',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      await saveAndRelease(store, ...manyDomains(20))
      monitor.refuses = named('n0.com')
      checkEqual('the result of synchronizePending', await runSweep(store), { synchronized: 19, failed: 1 })
    },
  },
  {
    id: 'refused-is-told',
    name: 'MUST call `onError` with the error and the change if the push of a single change is refused',
    needs: ['release'],
    async test({ open }) {
      const told: unknown[] = []
      const [store, monitor] = await openMonitored(open, {
        onError: (error, change) => void told.push([String(error), change]),
      })
      await saveAndRelease(store, ...manyDomains(5))
      monitor.refuses = named('n3.com')
      monitor.takePushes()
      await runSweep(store)
      const released = monitor.takePushes().findLast(([{ domain } = {}]) => domain === 'n3.com')
      checkEqual('the calls of onError', told, [['Error: the monitor refuses n3.com', released?.[0]]])
    },
  },
  {
    id: 'refused-waits',
    name: 'MUST NOT retry a refused change immediately',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      await saveAndRelease(store, 'a.com', 'b.com', 'c.com')
      monitor.refuses = named('b.com')
      await runSweep(store)
      monitor.takePushes()
      checkEqual('the result of synchronizePending', await runSweep(store), { synchronized: 0, failed: 0 })
      checkEqual('the pushed changes', monitor.takePushes(), [])
    },
  },
  {
    id: 'monitor-that-is-away',
    name: 'SHOULD stop after a few pushes if all fail, instead of pushing each change alone',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      monitor.isAway = true
      const saved = await save(store, '1', manyDomains(64))
      await checkRejects('synchronize', () => synchronize(store, saved))
      const pushes = monitor.takePushes().length
      checkThat('64 changes cost at most 14 pushes', pushes <= 14, pushes)
    },
  },
  {
    id: 'refused-let-new-ones-pass',
    name: 'MUST push a new change in the next sweep, even if many others are refused',
    needs: ['release'],
    async test({ open }) {
      const timeLimit = 300
      const [store, monitor] = await openMonitored(open, { synchronizeTimeLimit: timeLimit })
      const refused = manyDomains(6)
      await saveAndRelease(store, ...refused)
      monitor.refuses = named(...refused)
      await runSweep(store)
      // The refused changes are older than the new change, and due before it.
      await pause(timeLimit)
      await saveAndRelease(store, 'new.com')
      monitor.accepted.length = 0
      const result = await runSweep(store, { limit: 3 })
      checkEqual('the result of synchronizePending', result, { synchronized: 1, failed: 2 })
      checkEqual('the accepted changes', toDomains(monitor.accepted), ['new.com'])
      const { failed } = await runSweep(store)
      checkThat('the four changes that this sweep did not push are still due', failed >= 4, failed)
    },
  },
  {
    id: 'refused-is-shared',
    name: 'MUST NOT lease a refused change to two sweeps at once',
    needs: ['release', 'retryPending'],
    async test({ open, alongside }) {
      const [store, monitor] = await openMonitored(open)
      await saveAndRelease(store, 'a.com')
      monitor.refuses = named('a.com')
      await runSweep(store)
      monitor.refuses = named()
      checkEqual('how many changes were made due', await methodOf(store, 'retryPending')(), 1)
      const held = monitor.holdNext()
      const sweeping = alongside(runSweep(store), held.end)
      await held.begun
      checkEqual('the result of a later sweep', await runSweep(store), { synchronized: 0, failed: 0 })
      held.end()
      checkEqual('the result of the first sweep', await sweeping, { synchronized: 1, failed: 0 })
    },
  },
  {
    id: 'refused-by-due-time',
    name: 'MUST push refused changes in the order of their due times, regardless of how often each was refused',
    needs: ['release'],
    async test({ open }) {
      const timeLimit = 300
      const [store, monitor] = await openMonitored(open, { synchronizeTimeLimit: timeLimit })
      await saveAndRelease(store, 'twice.com')
      monitor.refuses = named('twice.com', 'once.com')
      for (const wait of [timeLimit / 3, timeLimit / 2]) {
        await runSweep(store)
        await pause(wait)
      }
      await checkRejects('synchronize', async () => synchronize(store, await save(store, '1', ['once.com'])))
      await pause(timeLimit / 2)
      monitor.takePushes()
      await runSweep(store, { limit: 1 })
      checkEqual('the pushed changes', monitor.takePushes().map(toDomains), [['twice.com']])
    },
  },
  {
    id: 'refused-is-told-to-its-own-sweep',
    name: 'MUST call the `onError` of the sweep whose push failed, not that of another sweep',
    needs: ['release'],
    async test({ open, alongside }) {
      const [store, monitor] = await openMonitored(open)
      const domains = manyDomains(2)
      await saveAndRelease(store, ...domains)
      monitor.refuses = named(...domains)
      const told: [string[], string[]] = [[], []]
      const sweepOnce = (list: string[]) => {
        const onError: SynchronizationErrorHandler = (_, change) => void list.push(change?.domain ?? '')
        return runSweep(store, { limit: 1, onError })
      }
      // The second sweep begins and ends while the first one pushes.
      const held = monitor.holdNext()
      const first = alongside(sweepOnce(told[0]), held.end)
      await held.begun
      const second = await sweepOnce(told[1])
      held.end()
      const results = [await first, second]
      checkEqual(
        'the number of changes that each onError got',
        told.map(({ length }) => length),
        results.map(({ failed }) => failed),
      )
      checkEqual('the changes that the two onError functions got', told.flat().sort(), domains)
    },
  },
]
