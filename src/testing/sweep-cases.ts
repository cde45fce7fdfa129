import { changeOf, MOST_SWEEPS_AS_NEW, MonitorUnavailableError } from '../outbox/contract.ts'
import type { Change } from '../rules/registration.ts'
import { attempt, byDomain, manyDomains, methodOf, type ResultCode, save, submit, toDomains } from './calls.ts'
import { checkEqual, checkRejects, checkThat } from './check.ts'
import {
  createGate,
  createMonitor,
  named,
  openMonitored,
  pause,
  runSweep,
  SOON,
  saveAndRelease,
  saveDuringOutage,
  soon,
  sweepUntil,
  synchronize,
  withoutTime,
} from './monitor.ts'
import { releaseDomains } from './release-cases.ts'
import type { CaseDefinition } from './store-case.ts'
import { areSynchronized } from './synchronization-cases.ts'

const toKinds = (changes: readonly Change[]) => changes.map(({ kind, domain }) => `${kind} ${domain}`)
const isEach = (accepted: readonly Change[], ...domains: string[]) =>
  domains.every(domain => accepted.some(change => change.domain === domain))

/** A call must not lease a pending registration of team 1, so a sweep still pushes that registration. */
function noLeaseCase(
  id: string,
  name: CaseDefinition['name'],
  pending: string,
  [teamId, submitted, code]: readonly [teamId: string, submitted: string, code: ResultCode],
): CaseDefinition {
  return {
    id,
    name,
    needs: ['retryPending'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      await saveDuringOutage(store, monitor, pending)
      await methodOf(store, 'retryPending')()
      checkEqual('the result of the call', (await attempt(store, teamId, [submitted])).codes, [code])
      checkEqual('the result of a sweep', await runSweep(store), { synchronized: 1, failed: 0 })
    },
  }
}

export const sweepCases: readonly CaseDefinition[] = [
  {
    id: 'call-keeps-what-it-saved',
    name: 'MUST lease new registrations to the call that creates them, so that no sweep also pushes them',
    async test({ open }) {
      const monitor = createMonitor()
      for (const synchronizeTimeLimit of [30_000, 7_200_000]) {
        const store = await open(monitor.push, { synchronizeTimeLimit })
        await save(store, '1', ['a.com', 'b.com'])
        checkEqual('the result of synchronizePending', await runSweep(store), { synchronized: 0, failed: 0 })
        checkEqual('the pushed changes', monitor.takePushes(), [])
      }
    },
  },
  {
    id: 'call-keeps-what-it-found',
    name: 'SHOULD lease a pending registration to a call that submits the name again, so that no sweep also pushes it',
    needs: ['retryPending'],
    async test({ open }) {
      const monitor = createMonitor()
      for (const synchronizeTimeLimit of [30_000, 7_200_000]) {
        const store = await open(monitor.push, { synchronizeTimeLimit })
        const domains = ['a.com', '*.b.com']
        await saveDuringOutage(store, monitor, ...domains)
        await methodOf(store, 'retryPending')()
        await attempt(store, '1', domains)
        checkEqual('the result of synchronizePending', await runSweep(store), { synchronized: 0, failed: 0 })
        checkEqual('the pushed changes', monitor.takePushes(), [])
      }
    },
  },
  {
    id: 'call-hastens-nothing',
    name: 'MUST NOT make a postponed registration due earlier when a call submits the name again',
    needs: ['listPending'],
    async test({ open }) {
      const retryAfter = 3_000_000
      const store = await open(() => {
        throw new MonitorUnavailableError('the monitor is unavailable, on purpose', { retryAfter })
      })
      await checkRejects('synchronize', async () => synchronize(store, await save(store, '1', ['a.com'])))
      const nextAttempt = async () => (await methodOf(store, 'listPending')())[0]?.nextAttempt.getTime() ?? 0
      const before = await nextAttempt()
      await attempt(store, '1', ['a.com'])
      const hastened = before - (await nextAttempt())
      checkThat('the registration is not due earlier', hastened < 60_000, `due ${hastened} ms earlier`)
    },
  },
  noLeaseCase(
    'leases-nothing-to-another-team',
    'MUST NOT lease a pending registration to a call of another team',
    'a.com',
    ['2', 'a.com', 'domain_already_licensed'],
  ),
  noLeaseCase(
    'leases-no-wildcard-above',
    'MUST NOT lease a pending wildcard to a call that names only a hostname below it',
    '*.a.com',
    ['1', 'www.a.com', 'wildcard_conflict'],
  ),
  {
    id: 'sweep-takes-what-a-call-left',
    name: 'MUST let a sweep push the registrations that a call saved but never pushed, once their lease has expired',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      const saved = await save(store, '1', ['a.com', '*.b.com'])
      await sweepUntil(store, 'both are pushed', () => monitor.accepted.length >= 2)
      // Both leases end at the same time, so either change may be pushed first.
      checkEqual(
        'the pushed changes',
        monitor.accepted.toSorted(byDomain),
        saved.map(registration => changeOf(registration, 'registered')).toSorted(byDomain),
      )
      checkEqual('`synchronized` of the registrations', await areSynchronized(store, 'a.com', '*.b.com'), [true, true])
    },
  },
  {
    id: 'pending-survive-a-failed-push',
    name: 'MUST retry changes that a call or a sweep failed to push',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      monitor.isAway = true
      const saved = await save(store, '1', ['a.com', 'b.com'])
      await checkRejects('synchronize', () => synchronize(store, saved))
      let failed = 0
      for (let sweeps = 0; failed < 2 && sweeps < 100; sweeps += 1) {
        failed += (await runSweep(store)).failed
        await pause(10)
      }
      checkThat('synchronizePending counts the changes that failed', failed >= 2, failed)
      monitor.isAway = false
      await sweepUntil(store, 'both are pushed', () => isEach(monitor.accepted, 'a.com', 'b.com'))
      checkEqual('`synchronized` of the registrations', await areSynchronized(store, 'a.com', 'b.com'), [true, true])
    },
  },
  {
    id: 'pending-oldest-first',
    name: 'MUST push changes in the order in which they were made if all of them were due immediately',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const domains = ['c.com', 'a.com', 'd.com', 'b.com', 'z.a.com']
      await synchronize(store, await save(store, '1', domains.toSorted()))
      for (const domain of domains) {
        await releaseDomains(store, '1', [domain])
        await pause(2)
      }
      monitor.takePushes()
      await runSweep(store)
      checkEqual('the pushed changes', toDomains(monitor.takePushes().flat()), domains)
    },
  },
  {
    id: 'pending-in-the-order-of-due-times',
    name: 'MUST push pending changes in the order in which they become due, even if they were made in another order',
    needs: ['release', 'listPending'],
    async test({ open }) {
      const timeLimit = 200
      const [store, monitor] = await openMonitored(open, { synchronizeTimeLimit: timeLimit })
      // The registration of a.com is still pending, so its push may be under way. Therefore, the release of a.com is
      // not due until a lease would have ended.
      await save(store, '1', ['a.com'])
      await releaseDomains(store, '1', ['a.com'])
      await pause(2)
      await saveAndRelease(store, 'b.com')
      const pending = [...(await methodOf(store, 'listPending')())]
      const expected = pending.sort((one, other) => one.nextAttempt.getTime() - other.nextAttempt.getTime())
      await pause(4 * timeLimit)
      monitor.takePushes()
      await runSweep(store)
      checkEqual('the pushed changes', toDomains(monitor.takePushes().flat()), toDomains(expected))
    },
  },
  {
    id: 'pending-within-the-limit',
    name: 'MUST push at most `limit` changes in a sweep, each change only once, and return how many were pushed',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      await saveAndRelease(store, ...manyDomains(5))
      monitor.takePushes()
      for (const expected of [2, 2, 1, 0]) {
        checkEqual('the result of synchronizePending', await runSweep(store, { limit: 2 }), {
          synchronized: expected,
          failed: 0,
        })
        const pushes = monitor.takePushes().map(({ length }) => length)
        checkEqual('how many changes each push had', pushes, expected === 0 ? [] : [expected])
      }
    },
  },
  {
    id: 'pushes-in-batches',
    name: 'SHOULD push changes in batches of at most `batchSize`, and if a batch fails, push only that batch again',
    needs: ['release'],
    async test({ open }) {
      const monitor = createMonitor()
      const store = await open(Object.assign(monitor.push, { batchSize: 2 }))
      await saveAndRelease(store, ...manyDomains(6))
      monitor.takePushes()
      monitor.refuses = named('n3.com')
      checkEqual('the result of synchronizePending', await runSweep(store), { synchronized: 5, failed: 1 })
      const pushes = monitor.takePushes()
      checkThat(
        'no push has more than two changes',
        pushes.every(({ length }) => length <= 2),
        pushes.map(toDomains),
      )
      // All are due at the same time, so the store decides which of them share a batch.
      const failing = pushes.map(toDomains).find(batch => batch.includes('n3.com')) ?? []
      const others = toDomains(pushes.flat()).filter(domain => !failing.includes(domain))
      checkEqual('the pushes of the changes of other batches', others.sort(), [...new Set(others)])
    },
  },
  {
    id: 'teams-take-turns',
    name: 'MUST push the changes of each team, even if another team has more than a sweep pushes, due for longer',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      await saveAndRelease(store, ...manyDomains(20))
      const domains = ['a.com', 'b.com']
      await synchronize(store, await save(store, '2', domains))
      await releaseDomains(store, '2', domains)
      monitor.takePushes()
      checkEqual('the result of synchronizePending', await runSweep(store, { limit: 6 }), {
        synchronized: 6,
        failed: 0,
      })
      const pushed = toDomains(monitor.takePushes().flat())
      checkThat(
        'the changes of both teams are pushed',
        domains.every(domain => pushed.includes(domain)),
        pushed,
      )
    },
  },
  {
    id: 'teams-with-nothing-due-take-no-turn',
    name: 'MUST push the changes of each team, even if 150 teams have only changes that are not due',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      await saveAndRelease(store, ...manyDomains(20))
      for (let team = 100; team < 250; team += 1) await save(store, String(team), [`leased-${team}.com`])
      await synchronize(store, await save(store, '9', ['last.com']))
      await releaseDomains(store, '9', ['last.com'])
      monitor.takePushes()
      await runSweep(store, { limit: 6 })
      const pushed = toDomains(monitor.takePushes().flat())
      checkThat('the change of the last team is pushed', pushed.includes('last.com'), pushed)
    },
  },
  {
    id: 'each-sweep-in-a-new-process',
    name: 'MUST push what the monitor accepts, and list all else as refused, even if each sweep has a new process',
    needs: ['release', 'listPending'],
    reopens: true,
    async test({ open, reopen }) {
      const [store, monitor] = await openMonitored(open, soon)
      const domains = manyDomains(12)
      const [refused, others] = [domains.slice(0, 4), domains.slice(4)]
      await saveAndRelease(store, ...domains)
      monitor.refuses = named(...refused)
      monitor.accepted.length = 0
      let sweeps = 0
      while (sweeps < 100 && !isEach(monitor.accepted, ...others)) {
        sweeps += 1
        await runSweep(await reopen(store), { limit: 3 })
        // Refused changes are due again before each sweep.
        await pause(SOON / 5)
      }
      checkEqual('the accepted changes', toDomains(monitor.accepted).sort(), [...others].sort())
      await sweepUntil(await reopen(store), 'each refused change has been pushed alone', async () => {
        const pending = await methodOf(await reopen(store), 'listPending')()
        return pending.every(({ line, refusals }) => line === 'refused' && refusals > 0)
      })
    },
  },
  {
    id: 'sweeps-are-counted',
    name: 'MUST count each sweep that takes a change, so that a change whose pushes never end does not stay new',
    needs: ['release', 'listPending'],
    async test({ open, alongside }) {
      const [store, monitor] = await openMonitored(open)
      await saveAndRelease(store, 'a.com')
      for (let sweeps = 0; sweeps < MOST_SWEEPS_AS_NEW; sweeps += 1) {
        const stopping = new AbortController()
        const held = monitor.holdNext()
        const sweeping = alongside(runSweep(store, { signal: stopping.signal }), held.end)
        await held.begun
        stopping.abort(new Error('the sweep is stopped, on purpose'))
        await sweeping
      }
      const lines = (await methodOf(store, 'listPending')()).map(({ line }) => line)
      checkEqual('the line in which the change waits', lines, ['failed'])
    },
  },
  {
    id: 'pending-is-shared',
    name: 'MUST NOT lease a change to two sweeps at once',
    needs: ['release'],
    async test({ open, alongside }) {
      const pushes: (readonly Change[])[] = []
      const gate = createGate()
      let hangs = false
      const store = await open(async changes => {
        if (!hangs) return
        pushes.push(changes)
        await gate.opened
      })
      await saveAndRelease(store, ...manyDomains(20))
      hangs = true
      const sweeps = [runSweep(store), runSweep(store)].map(each => alongside(each, gate.open))
      for (let turns = 0; pushes.length === 0 && turns < 300; turns += 1) {
        await pause(10)
      }
      // This sweep begins while a push is under way. The two earlier sweeps have leased all changes, so no change is
      // left for this sweep.
      checkEqual('the result of a later sweep', await runSweep(store), { synchronized: 0, failed: 0 })
      gate.open()
      await Promise.all(sweeps)
      checkEqual('how many changes were pushed', pushes.flat().length, 20)
    },
  },
  {
    id: 'release-is-pushed',
    name: 'MUST push a release, with all fields of the registration, until the push succeeds',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      const saved = await save(store, '1', ['www.example.com', '*.example.org'])
      await synchronize(store, saved)
      monitor.isAway = true
      await releaseDomains(store, '1', ['*.example.org', 'www.example.com'])
      await runSweep(store)
      monitor.isAway = false
      monitor.accepted.length = 0
      await sweepUntil(store, 'both releases are pushed', () => monitor.accepted.length >= 2)
      checkEqual(
        'the pushed changes',
        monitor.accepted.sort(byDomain).map(withoutTime),
        saved.toSorted(byDomain).map(registration => withoutTime(changeOf(registration, 'released'))),
      )
      const [first] = saved
      const isLater = ({ at }: Change) => at instanceof Date && first !== undefined && at >= first.createdAt
      checkThat('each release was made after its registration', monitor.accepted.every(isLater), monitor.accepted)
    },
  },
  {
    id: 'release-overtakes-nothing',
    name: 'MUST NOT push a release while its registration is being pushed',
    needs: ['release'],
    async test({ open, alongside }) {
      const [store, monitor] = await openMonitored(open)
      const held = monitor.holdNext()
      const pushing = alongside(synchronize(store, await save(store, '1', ['example.com'])), held.end)
      await releaseDomains(store, '1', ['example.com'])
      await runSweep(store)
      checkEqual('the accepted changes', monitor.accepted, [])
      held.end()
      await pushing
      await runSweep(store)
      const expected = ['registered example.com', 'released example.com']
      checkEqual('the changes accepted after that', toKinds(monitor.accepted), expected)
    },
  },
  {
    id: 'release-of-what-was-never-pushed',
    name: 'MUST NOT push a registration once it has been released, and MUST push its release at most once',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      await save(store, '1', ['a.com', 'b.com'])
      await releaseDomains(store, '1', ['a.com'])
      await sweepUntil(store, 'b.com is pushed', () => isEach(monitor.accepted, 'b.com'))
      await sweepUntil(
        store,
        'nothing is pending',
        async () => !store.countPending || (await store.countPending()) === 0,
      )
      const kinds = toKinds(monitor.accepted)
      checkThat('a.com is not watched', !monitor.watched().some(each => each.startsWith('a.com')), kinds)
      checkThat(
        'at most one change of a.com is pushed',
        kinds.filter(kind => kind.endsWith(' a.com')).length <= 1,
        kinds,
      )
    },
  },
  {
    id: 'registered-again-is-watched',
    name: 'MUST push changes until the monitor watches exactly the registered names, even after failures',
    needs: ['release'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      const attempt = async (team: string, ...domains: string[]) =>
        submit(store, team, domains).then(
          () => {},
          () => {},
        )
      await attempt('1', 'a.com', 'b.com', 'c.com')
      monitor.losesAnswers = true
      await attempt('1', 'e.com')
      await releaseDomains(store, '1', ['e.com'])
      monitor.losesAnswers = false
      monitor.isAway = true
      await releaseDomains(store, '1', ['a.com', 'b.com'])
      await attempt('2', 'a.com')
      await attempt('1', 'd.com')
      await releaseDomains(store, '1', ['d.com'])
      await attempt('2', 'd.com')
      monitor.isAway = false
      await attempt('1', 'b.com')
      const expected = ['a.com for team 2', 'b.com for team 1', 'c.com for team 1', 'd.com for team 2']
      await sweepUntil(store, `${expected} are watched`, () => String(monitor.watched()) === String(expected))
    },
  },
  {
    id: 'release-outlives-a-failed-push',
    name: 'MUST keep a release that is made while the registration is being pushed, even if the push fails',
    needs: ['release', 'listPending'],
    async test({ open }) {
      const monitor = createMonitor()
      monitor.losesAnswers = true
      let isFirst = true
      const store = await open(async changes => {
        const isReleased = isFirst
        isFirst = false
        if (isReleased) await releaseDomains(store, '1', ['a.com'])
        await monitor.push(changes)
      }, soon)
      await checkRejects('synchronize', async () => synchronize(store, await save(store, '1', ['a.com'])))
      const pending = await methodOf(store, 'listPending')()
      const isFresh = pending.every(each => each.kind === 'registered' || (each.refusals === 0 && !each.lastFailure))
      checkThat('the release does not count as failed', isFresh, pending)
      monitor.losesAnswers = false
      await sweepUntil(store, 'the release is pushed', () => toKinds(monitor.accepted).includes('released a.com'))
      monitor.takePushes()
      await pause(3 * SOON)
      await runSweep(store)
      checkEqual('the changes pushed after that', monitor.takePushes(), [])
      checkEqual('the watched names', monitor.watched(), [])
    },
  },
  {
    id: 'push-gets-a-signal',
    name: 'MUST pass a signal to each push, and abort the signal if the push times out',
    async test({ open, alongside }) {
      const gate = createGate()
      const reasons: unknown[] = []
      const store = await open(async (_, context) => {
        checkThat('the push gets a signal', context?.signal instanceof AbortSignal, typeof context?.signal)
        context.signal.addEventListener('abort', () => reasons.push(context.signal.reason))
        await gate.opened
      }, soon)
      const pushing = synchronize(store, await save(store, '1', ['a.com']))
      await checkRejects('synchronize', () => alongside(pushing, gate.open))
      checkThat('the signal of a push that hangs has aborted', reasons.length > 0, reasons.map(String))
    },
  },
  {
    id: 'sweep-ends-when-told',
    name: 'MUST end a sweep whose signal aborts, and leave its remaining changes to the next sweep',
    needs: ['release'],
    async test({ open, alongside }) {
      const [store, monitor] = await openMonitored(open)
      await saveAndRelease(store, 'a.com', 'b.com')
      const stopping = new AbortController()
      const held = monitor.holdNext()
      const sweeping = alongside(runSweep(store, { signal: stopping.signal }), held.end)
      await held.begun
      stopping.abort(new Error('the application stops, on purpose'))
      checkEqual('the result of synchronizePending', await sweeping, { synchronized: 0, failed: 2 })
      checkEqual('the result of the next sweep', await runSweep(store), { synchronized: 2, failed: 0 })
    },
  },
]
