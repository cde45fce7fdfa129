import { isApiError } from '../errors/api-error.ts'
import { changeOf } from '../outbox/contract.ts'
import type { Registration } from '../rules/registration.ts'
import { byDomain, lookUp, save, submit, submitForCodes } from './calls.ts'
import { checkEqual, checkRejects, checkThat } from './check.ts'
import { openMonitored, synchronize } from './monitor.ts'
import { releaseDomains } from './release-cases.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

export async function areSynchronized(store: SuiteStore, ...domains: string[]): Promise<boolean[]> {
  const { registrations } = await lookUp(store, '1', domains)
  return registrations.map(({ synchronized }) => synchronized)
}

export const synchronizationCases: readonly CaseDefinition[] = [
  {
    id: 'without-synchronize-nothing-is-pending',
    name: 'MUST save registrations as synchronized if the store has no `synchronize`, and as pending if it has one',
    async test({ open }) {
      const store = await open()
      const [registration] = await save(store, '1', ['example.com'])
      const hasNone = store.synchronize === undefined
      checkEqual('`synchronized` of the returned registrations', registration?.synchronized, hasNone)
      checkEqual('`synchronized` of the registrations found', await areSynchronized(store, 'example.com'), [hasNone])
    },
  },
  {
    id: 'with-synchronize-new-ones-are-pending',
    name: 'MUST save registrations as unsynchronized if the store has `synchronize`',
    needs: ['synchronize'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', ['example.com', 'example.org'])
      checkEqual(
        '`synchronized` of the returned registrations',
        saved.map(({ synchronized }) => synchronized),
        [false, false],
      )
      const found = await areSynchronized(store, 'example.com', 'example.org')
      checkEqual('`synchronized` of the registrations found', found, [false, false])
    },
  },
  {
    id: 'register-does-not-push',
    name: 'MUST push new registrations in `synchronize`, after everything is saved, and never in `register`',
    needs: ['synchronize'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      await save(store, '1', ['example.com'])
      checkEqual('the pushed changes', monitor.takePushes(), [])
    },
  },
  {
    id: 'synchronize-pushes-what-it-is-given',
    name: 'MUST push exactly the registrations that are passed to `synchronize`, with all fields',
    needs: ['synchronize'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const saved = await save(store, '1', ['b.com', '*.a.com', 'c.com'])
      await synchronize(store, saved.slice(0, 2))
      checkEqual(
        'the pushed changes',
        monitor.takePushes().flat().sort(byDomain),
        saved
          .slice(0, 2)
          .map(registration => changeOf(registration, 'registered'))
          .sort(byDomain),
      )
    },
  },
  {
    id: 'synchronize-marks-what-was-pushed',
    name: 'MUST mark as synchronized exactly the registrations that were pushed',
    needs: ['synchronize'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', ['a.com', 'b.com', 'c.com'])
      await synchronize(store, saved.slice(0, 2))
      checkEqual('`synchronized` of the registrations', await areSynchronized(store, 'a.com', 'b.com', 'c.com'), [
        true,
        true,
        false,
      ])
    },
  },
  {
    id: 'synchronize-twice',
    name: 'MUST mark a registration as synchronized even if two calls push it at the same time',
    needs: ['synchronize'],
    async test({ open }) {
      const store = await open(() => {})
      const saved = await save(store, '1', ['a.com', 'b.com'])
      await Promise.all([synchronize(store, saved), synchronize(store, saved.slice(1))])
      checkEqual('`synchronized` of the registrations', await areSynchronized(store, 'a.com', 'b.com'), [true, true])
    },
  },
  {
    id: 'synchronized-despite-an-earlier-release',
    name: 'MUST mark a registration as synchronized even if an earlier release of the same name is pending',
    needs: ['synchronize', 'release'],
    async test({ open }) {
      const store = await open(() => {})
      await synchronize(store, await save(store, '1', ['example.com']))
      await releaseDomains(store, '1', ['example.com'])
      await synchronize(store, await save(store, '1', ['example.com']))
      checkEqual('`synchronized` of the registration', await areSynchronized(store, 'example.com'), [true])
    },
  },
  {
    id: 'synchronize-keeps-the-registration',
    name: 'MUST change only the field `synchronized` of a registration that was pushed',
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
      checkEqual('the registrations found', registrations.map(fields), saved.map(fields))
    },
  },
  {
    id: 'synchronize-marks-after-the-push',
    name: 'MUST mark registrations as synchronized only after the push has succeeded',
    needs: ['synchronize'],
    async test({ open }) {
      const seen: boolean[][] = []
      const store = await open(async () => {
        seen.push(await areSynchronized(store, 'example.com'))
      })
      await synchronize(store, await save(store, '1', ['example.com']))
      checkEqual('`synchronized` during the push', seen, [[false]])
    },
  },
  {
    id: 'synchronize-rejects-with-the-push',
    name: 'MUST reject the promise of `synchronize` if the push throws or rejects',
    needs: ['synchronize'],
    async test({ open }) {
      const pushes = [
        () => {
          throw new Error('fails at once, on purpose')
        },
        () => Promise.reject(new Error('fails later, on purpose')),
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
    name: 'MUST NOT mark registrations as synchronized if their push failed',
    needs: ['synchronize'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      monitor.isAway = true
      const saved = await save(store, '1', ['a.com', 'b.com'])
      await Promise.allSettled([synchronize(store, saved)])
      checkEqual('`synchronized` after the push failed', await areSynchronized(store, 'a.com', 'b.com'), [false, false])
    },
  },
  {
    id: 'retry-after-a-failed-push',
    name: 'MUST return the same IDs as before if a call is retried because its push failed',
    needs: ['synchronize'],
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      monitor.isAway = true
      const domains = ['example.com', '*.example.org']
      const refusal = await checkRejects('the call', () => submit(store, '1', domains))
      checkThat('the call fails with 503', isApiError(refusal) && refusal.status === 503, String(refusal))
      const saved = (await lookUp(store, '1', domains)).registrations
      monitor.isAway = false
      checkEqual(
        'the results of the retry',
        (await submit(store, '1', domains)).map(result =>
          'domainId' in result ? [result.status, result.domainId] : result,
        ),
        saved.map(({ domainId }) => ['existing', domainId]),
      )
      monitor.takePushes()
      checkEqual('the codes of the third call', await submitForCodes(store, '1', domains), ['existing', 'existing'])
      checkEqual('the changes pushed by the third call', monitor.takePushes(), [])
    },
  },
]

/** The cases for stores that leave their pushes to the sweep of another store. */
export const laterCases: readonly CaseDefinition[] = [
  {
    id: 'later-is-not-now',
    name: 'MUST NOT push in the application’s transaction, or make a call wait for a push',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open)
      const domains = ['example.com', '*.example.org']
      for (const code of ['created', 'existing']) {
        checkEqual('the codes of the results', await submitForCodes(store, '1', domains), [code, code])
        checkEqual('`synchronized` of the registrations', await areSynchronized(store, ...domains), [false, false])
      }
      checkEqual('the pushed changes', monitor.takePushes(), [])
    },
  },
]
