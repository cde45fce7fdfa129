import { isApiError } from '../errors.ts'
import type { Registration } from '../registry/store.ts'
import { lookUp, save, submit, submitForFates, toDomains } from './calls.ts'
import { checkEqual, checkRejects, checkThat, UnmetExpectation } from './check.ts'
import type { SuiteStore } from './domain-store-suite.ts'
import type { CaseDefinition } from './store-case.ts'

/** What does the monitoring, as a case sees it: it can be switched off, and remembers what it was told. */
function createMonitor() {
  const monitor = {
    isOnline: true,
    pushes: [] as (readonly Registration[])[],
    push(registrations: readonly Registration[]): void {
      monitor.pushes.push([...registrations])
      if (!monitor.isOnline) throw new Error('the monitor is offline, as the case wants it')
    },
    /** The domains of each push since the last question. */
    takePushes: () => monitor.pushes.splice(0).map(toDomains),
  }
  return monitor
}

async function areSynchronized(store: SuiteStore, ...domains: string[]): Promise<boolean[]> {
  const { registrations } = await lookUp(store, '1', domains)
  return registrations.map(({ synchronized }) => synchronized)
}

/** For a store whose feature is declared; a case tells when that is not so. */
const synchronize = async (store: SuiteStore, registrations: readonly Registration[]) => {
  if (!store.synchronize) throw new UnmetExpectation('expected a method synchronize, got none')
  await store.synchronize(registrations)
}
const synchronizePending = async (store: SuiteStore, options?: { limit?: number }) => {
  if (!store.synchronizePending) throw new UnmetExpectation('expected a method synchronizePending, got none')
  return store.synchronizePending(options)
}

export const synchronizationCases: readonly CaseDefinition[] = [
  {
    id: 'without-synchronize-nothing-is-pending',
    name: 'MUST save registrations as synchronized if it has no synchronize, and only then',
    async test({ open }) {
      const store = await open()
      const [registration] = await save(store, '1', ['example.com'])
      const hasNone = store.synchronize === undefined
      checkEqual('synchronized, of what was returned', registration?.synchronized, hasNone)
      checkEqual('synchronized, of what was found', await areSynchronized(store, 'example.com'), [hasNone])
    },
  },
  {
    id: 'with-synchronize-new-ones-are-pending',
    name: 'MUST save registrations as not synchronized if it has synchronize',
    needs: ['synchronize'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', ['example.com', 'example.org'])
      checkEqual(
        'synchronized, of what was returned',
        saved.map(({ synchronized }) => synchronized),
        [false, false],
      )
      const found = await areSynchronized(store, 'example.com', 'example.org')
      checkEqual('synchronized, of what was found', found, [false, false])
    },
  },
  {
    id: 'register-does-not-push',
    name: 'MUST NOT push from within register: that is what synchronize is for, once all is saved',
    needs: ['synchronize'],
    async test({ open }) {
      const monitor = createMonitor()
      await save(await open(monitor.push), '1', ['example.com'])
      checkEqual('what was pushed', monitor.takePushes(), [])
    },
  },
  {
    id: 'synchronize-pushes-what-it-is-given',
    name: 'MUST push the registrations that synchronize is given, whole, and no others',
    needs: ['synchronize'],
    async test({ open }) {
      const monitor = createMonitor()
      const store = await open(monitor.push)
      const saved = await save(store, '1', ['b.com', '*.a.com', 'c.com'])
      await synchronize(store, saved.slice(0, 2))
      const fields = ({ domainId, domain, registrableDomain, teamId }: Registration) => [
        domainId,
        domain,
        registrableDomain,
        teamId,
      ]
      const byDomain = (one: readonly string[], other: readonly string[]) => String(one).localeCompare(String(other))
      checkEqual(
        'what was pushed',
        monitor.pushes.flat().map(fields).sort(byDomain),
        saved.slice(0, 2).map(fields).sort(byDomain),
      )
    },
  },
  {
    id: 'synchronize-marks-what-was-pushed',
    name: 'MUST mark as synchronized what was pushed, and nothing else',
    needs: ['synchronize'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', ['a.com', 'b.com', 'c.com'])
      await synchronize(store, saved.slice(0, 2))
      checkEqual('synchronized', await areSynchronized(store, 'a.com', 'b.com', 'c.com'), [true, true, false])
    },
  },
  {
    id: 'synchronize-keeps-the-registration',
    name: 'MUST keep everything else about a registration when it marks it',
    needs: ['synchronize'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', ['www.example.com'])
      await synchronize(store, saved)
      const fields = ({ domainId, domain, registrableDomain, teamId }: Registration) => [
        domainId,
        domain,
        registrableDomain,
        teamId,
      ]
      const { registrations } = await lookUp(store, '1', ['www.example.com'])
      checkEqual('what was found', registrations.map(fields), saved.map(fields))
    },
  },
  {
    id: 'synchronize-marks-after-the-push',
    name: 'MUST mark as synchronized only once the push has gone through',
    needs: ['synchronize'],
    async test({ open }) {
      const seen: boolean[][] = []
      const store = await open(async () => {
        seen.push(await areSynchronized(store, 'example.com'))
      })
      await synchronize(store, await save(store, '1', ['example.com']))
      checkEqual('synchronized, while it is pushed', seen, [[false]])
    },
  },
  {
    id: 'synchronize-rejects-with-the-push',
    name: 'MUST reject when the push fails, at once or later',
    needs: ['synchronize'],
    async test({ open }) {
      const pushes = [
        () => {
          throw new Error('fails at once, as the case wants it')
        },
        () => Promise.reject(new Error('fails later, as the case wants it')),
      ]
      for (const push of pushes) {
        const store = await open(push)
        const saved = await save(store, '1', ['example.com'])
        await checkRejects('synchronize', () => synchronize(store, saved))
      }
    },
  },
  {
    id: 'failed-push-marks-nothing',
    name: 'MUST NOT mark as synchronized what could not be pushed',
    needs: ['synchronize'],
    async test({ open }) {
      const monitor = createMonitor()
      monitor.isOnline = false
      const store = await open(monitor.push)
      const saved = await save(store, '1', ['a.com', 'b.com'])
      await Promise.allSettled([synchronize(store, saved)])
      checkEqual('synchronized, after the push failed', await areSynchronized(store, 'a.com', 'b.com'), [false, false])
    },
  },
  {
    id: 'retry-after-a-failed-push',
    name: 'MUST let the same call go through once the push does, with the IDs that it has saved',
    needs: ['synchronize'],
    async test({ open }) {
      const monitor = createMonitor()
      monitor.isOnline = false
      const store = await open(monitor.push)
      const domains = ['example.com', '*.example.org']
      const refusal = await checkRejects('the call', () => submit(store, '1', domains))
      checkThat('the call answers 503', isApiError(refusal) && refusal.status === 503, String(refusal))
      const saved = (await lookUp(store, '1', domains)).registrations
      monitor.isOnline = true
      checkEqual(
        'the results of the retry',
        (await submit(store, '1', domains)).map(result =>
          'domainId' in result ? [result.status, result.domainId] : result,
        ),
        saved.map(({ domainId }) => ['existing', domainId]),
      )
      monitor.takePushes()
      checkEqual('what becomes of them the third time', await submitForFates(store, '1', domains), [
        'existing',
        'existing',
      ])
      checkEqual('what was pushed the third time', monitor.takePushes(), [])
    },
  },
  {
    id: 'pending-survive-a-failed-push',
    name: 'MUST keep what could not be pushed for synchronizePending, which rejects while the push fails',
    needs: ['synchronize', 'synchronizePending'],
    async test({ open }) {
      const monitor = createMonitor()
      monitor.isOnline = false
      const store = await open(monitor.push)
      await Promise.allSettled([synchronize(store, await save(store, '1', ['a.com', 'b.com']))])
      await checkRejects('synchronizePending', () => synchronizePending(store))
      monitor.isOnline = true
      checkEqual('how many were pushed then', await synchronizePending(store), 2)
      checkEqual('synchronized', await areSynchronized(store, 'a.com', 'b.com'), [true, true])
    },
  },
  {
    id: 'pending-oldest-first',
    name: 'MUST push what is pending oldest first',
    needs: ['synchronize', 'synchronizePending'],
    async test({ open }) {
      const monitor = createMonitor()
      const store = await open(monitor.push)
      const domains = ['c.com', 'a.com', 'd.com', 'b.com', 'z.a.com']
      for (const domain of domains) await save(store, '1', [domain])
      await synchronizePending(store)
      checkEqual('what was pushed', monitor.takePushes().flat(), domains)
    },
  },
  {
    id: 'pending-within-the-limit',
    name: 'MUST push at most limit registrations, and say how many',
    needs: ['synchronize', 'synchronizePending'],
    async test({ open }) {
      const monitor = createMonitor()
      const store = await open(monitor.push)
      await save(store, '1', ['a.com', 'b.com', 'c.com', 'd.com', 'e.com'])
      for (const expected of [2, 2, 1]) {
        checkEqual('how many synchronizePending says', await synchronizePending(store, { limit: 2 }), expected)
        checkEqual('how many were pushed', monitor.takePushes().flat().length, expected)
      }
    },
  },
  {
    id: 'pending-pushed-once',
    name: 'MUST NOT push again what has gone through, nor call the push for nothing',
    needs: ['synchronize', 'synchronizePending'],
    async test({ open }) {
      const monitor = createMonitor()
      const store = await open(monitor.push)
      await synchronize(store, await save(store, '1', ['a.com']))
      await save(store, '1', ['b.com'])
      monitor.takePushes()
      await synchronizePending(store)
      checkEqual('what was pushed', monitor.takePushes(), [['b.com']])
      checkEqual('how many the second time', await synchronizePending(store), 0)
      checkEqual('what was pushed the second time', monitor.takePushes(), [])
    },
  },
]
