import { vi } from 'vitest'
import type { Deadline } from '../../src/deadline.ts'
import type { Verdict } from '../../src/registry/overlap.ts'
import type { Outcome } from '../../src/registry/register-names.ts'
import type { Found } from '../../src/registry/store.ts'
import type { Breach } from './faulty-store.ts'
import type { Invariant } from './simulate.ts'

type OverlapModule = typeof import('../../src/registry/overlap.ts')
type NameModule = typeof import('../../src/registry/name.ts')
type RequestModule = typeof import('../../src/registry/request.ts')
type RegisterModule = typeof import('../../src/registry/register-names.ts')
type DeadlineModule = typeof import('../../src/deadline.ts')
type ResponseModule = typeof import('../../src/wire/response.ts')

/** A mistake in the core: one module with a part of it replaced. */
export interface Mutation {
  readonly mistake: string
  readonly invariant: Invariant
  /** Has to be followed by a fresh import of the core. */
  install(): void
}

const judgeAs = (change: (verdict: Verdict, ...parameters: Parameters<OverlapModule['judge']>) => Verdict) => () =>
  void vi.doMock('../../src/registry/overlap.ts', async original => {
    const { judge, ...rest } = await original<OverlapModule>()
    const changed: OverlapModule['judge'] = (...parameters) => change(judge(...parameters), ...parameters)
    return { ...rest, judge: changed }
  })

const ancestorsAs = (change: (ancestors: readonly string[], domain: string) => readonly string[]) => () =>
  void vi.doMock('../../src/registry/name.ts', async original => {
    const { ancestorsOf, ...rest } = await original<NameModule>()
    const changed: NameModule['ancestorsOf'] = name => change(ancestorsOf(name), name.domain)
    return { ...rest, ancestorsOf: changed }
  })

const judgeByFirstFindings = () =>
  void vi.doMock('../../src/registry/request.ts', async original => {
    const { createRegistrationRequest, judgeAll } = await original<RequestModule>()
    const first = new Map<readonly unknown[], Found>()
    const changed: RequestModule = {
      createRegistrationRequest(teamId, names) {
        const request = createRegistrationRequest(teamId, names)
        const decide: typeof request.decide = found => {
          if (!first.has(names)) first.set(names, found)
          return request.decide(found)
        }
        return { ...request, decide, judge: found => judgeAll(teamId, names, first.get(names) ?? found) }
      },
      judgeAll,
    }
    return changed
  })

const registerAs =
  (change: (registerNames: RegisterModule['registerNames']) => RegisterModule['registerNames']) => () =>
    void vi.doMock('../../src/registry/register-names.ts', async original => ({
      registerNames: change((await original<RegisterModule>()).registerNames),
    }))

const outcomesAs = (change: (outcome: Outcome) => Outcome) =>
  registerAs(
    registerNames =>
      async (...parameters) =>
        (await registerNames(...parameters)).map(change),
  )

const waitAs = (change: (wait: Deadline['wait']) => Deadline['wait']) => () =>
  void vi.doMock('../../src/deadline.ts', async original => {
    const { createDeadline, ...rest } = await original<DeadlineModule>()
    const changed: DeadlineModule['createDeadline'] = limit => {
      const deadline = createDeadline(limit)
      return { ...deadline, wait: change(deadline.wait) }
    }
    return { ...rest, createDeadline: changed }
  })

const alreadyLicensed = (message: string): Verdict => ({ status: 'invalid', code: 'domain_already_licensed', message })
const isRefusedAs = (verdict: Verdict, code: string) => verdict.status === 'invalid' && verdict.code === code

export const mutations: readonly Mutation[] = [
  {
    mistake: 'other teams are overlooked',
    invariant: 'names do not overlap',
    install: judgeAs(verdict => (isRefusedAs(verdict, 'domain_already_licensed') ? { status: 'created' } : verdict)),
  },
  {
    mistake: 'only the nearest wildcard is looked at',
    invariant: 'names do not overlap',
    install: ancestorsAs(ancestors => ancestors.slice(0, 1)),
  },
  {
    mistake: 'a wildcard does not cover narrower wildcards',
    invariant: 'names do not overlap',
    install: ancestorsAs((ancestors, domain) => (domain.startsWith('*.') ? [] : ancestors)),
  },
  {
    mistake: 'a wildcard covers its own base',
    invariant: 'a refusal has its reason',
    install: ancestorsAs((ancestors, domain) => (domain.startsWith('*.') ? ancestors : [domain, ...ancestors])),
  },
  {
    mistake: 'other teams are looked at before the own',
    invariant: 'all is well in the end',
    install: judgeAs((verdict, name, _, holdings) =>
      isRefusedAs(verdict, 'subdomain_conflict') && holdings.below(name).heldByOthers
        ? alreadyLicensed('Taken.')
        : verdict,
    ),
  },
  {
    mistake: 'a message names what another team holds',
    invariant: 'messages keep to the own team',
    install: judgeAs((verdict, { domain, registrableDomain }) =>
      isRefusedAs(verdict, 'domain_already_licensed')
        ? alreadyLicensed(`"${domain}" overlaps with "*.${registrableDomain}".`)
        : verdict,
    ),
  },
  {
    mistake: 'names are judged by stale findings',
    invariant: 'a failure has its cause',
    install: judgeByFirstFindings,
  },
  {
    mistake: 'a batch that fails is not tried in parts',
    invariant: 'a failure has its cause',
    install: registerAs(registerNames => async (registrar, names) => {
      let calls = 0
      const register: typeof registrar.store.register = request => {
        calls += 1
        if (calls > 1) throw new Error('Given up')
        return registrar.store.register(request)
      }
      return registerNames({ ...registrar, store: { ...registrar.store, register } }, names)
    }),
  },
  {
    mistake: 'what fails is tried once more',
    invariant: 'calls of the store are bounded',
    install: registerAs(registerNames => (registrar, names) => {
      const register: typeof registrar.store.register = async request => {
        try {
          return await registrar.store.register(request)
        } catch {
          return registrar.store.register(request)
        }
      }
      return registerNames({ ...registrar, store: { ...registrar.store, register } }, names)
    }),
  },
  {
    mistake: 'causes are kept from the host',
    invariant: 'each cause is reported once',
    install: registerAs(
      registerNames => (registrar, names) => registerNames({ ...registrar, onError: () => {} }, names),
    ),
  },
  {
    mistake: 'the ID of an existing registration is made anew',
    invariant: 'what is acknowledged is held',
    install: outcomesAs(outcome =>
      outcome.status === 'existing'
        ? { ...outcome, registration: { ...outcome.registration, domainId: 'id-new' } }
        : outcome,
    ),
  },
  {
    mistake: 'an existing registration is reported as created',
    invariant: 'a name is created once',
    install: outcomesAs(outcome => (outcome.status === 'existing' ? { ...outcome, status: 'created' } : outcome)),
  },
  {
    mistake: 'a created registration is reported as existing',
    invariant: 'a name is created once',
    install: outcomesAs(outcome => (outcome.status === 'created' ? { ...outcome, status: 'existing' } : outcome)),
  },
  {
    mistake: 'an existing registration counts as synchronized',
    invariant: 'what is acknowledged is synchronized',
    install: outcomesAs(outcome =>
      outcome.status === 'existing'
        ? { ...outcome, registration: { ...outcome.registration, synchronized: true } }
        : outcome,
    ),
  },
  {
    mistake: 'the deadline is not kept',
    invariant: 'a call ends in time',
    install: waitAs(() => value => value),
  },
  {
    mistake: 'one batch may take all the time that is left',
    invariant: 'a call ends in time',
    install: waitAs(wait => value => wait(value)),
  },
  {
    mistake: 'totals count existing registrations as created',
    invariant: 'one result each, in order',
    install: () =>
      void vi.doMock('../../src/wire/response.ts', async original => {
        const { countTotals } = await original<ResponseModule>()
        const changed: ResponseModule['countTotals'] = results =>
          countTotals(results.map(({ status }) => ({ status: status === 'existing' ? 'created' : status })))
        return { countTotals: changed }
      }),
  },
]

/** The modules that a mutation may have replaced. */
export function uninstallMutations(): void {
  vi.doUnmock('../../src/registry/overlap.ts')
  vi.doUnmock('../../src/registry/name.ts')
  vi.doUnmock('../../src/registry/request.ts')
  vi.doUnmock('../../src/registry/register-names.ts')
  vi.doUnmock('../../src/deadline.ts')
  vi.doUnmock('../../src/wire/response.ts')
  vi.resetModules()
}

/** Stores that break their promise, and what shows it. */
export const breaches: readonly (readonly [Breach, Invariant])[] = [
  ['commits what an earlier look-up decided', 'names do not overlap'],
  ['answers with earlier findings', 'a failure has its cause'],
  ['loses what it saved last when the process dies', 'what is acknowledged is held'],
  ['marks before it pushes', 'what is synchronized was pushed'],
  ['swallows a failed synchronization', 'what is acknowledged is synchronized'],
  ['skips the synchronization', 'what is acknowledged is synchronized'],
]
