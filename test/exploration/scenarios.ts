import type { CheckNames } from '../../src/operations/check-names.ts'
import { deleteDomains } from '../../src/operations/delete-domains.ts'
import { importDomains } from '../../src/operations/import-domains.ts'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { transfer } from '../../src/operations/transfer.ts'
import type { Team } from '../../src/rules/registration.ts'
import type { ManagedStore } from '../../src/store/managed-store.ts'

/** The result of a caller's action. */
export interface ActionResult {
  /** Why the action was incomplete, if something failed. */
  readonly hasFailed?: string | undefined
  /** The IDs that the action reported as registered and watched. */
  readonly registered?: readonly string[]
  /** The IDs reported as released. */
  readonly released?: readonly string[]
}

/** An action of a process. */
export interface Action {
  readonly teamId?: string
  run(store: ManagedStore): Promise<ActionResult>
}

/**
 * Actions that processes perform at the same time, and how many failures may happen. Every possible order of the steps
 * is explored.
 */
export interface Scenario {
  /** The actions that are performed before the scenario. None of them fails. */
  readonly before?: readonly Action[]
  /** The actions of each process, one after another. */
  readonly processes: Readonly<Record<string, readonly Action[]>>
  /** How many steps may fail or lose their responses. A step is either a call to the backend or a push. */
  readonly faults: number
  /** How many processes may die. */
  readonly deaths?: number
  /** How many times all leases and waits may expire before a sweep. */
  readonly leases?: number
  /** The domains that the monitor refuses until the end. */
  readonly refused?: readonly string[]
}

export const scenarioTeams: readonly Team[] = [
  { id: '1', organizationId: '10', state: 'active' },
  { id: '2', organizationId: '10', state: 'active' },
  { id: '3', organizationId: '10', state: 'active', maxDomains: 1 },
]

/** Longer than any schedule takes. */
const TIME_LIMIT = 600_000
const keyOf = (teamId: string) => ({ type: 'team', teamId, scopes: ['domains:create', 'domains:delete'] }) as const

export const register = (teamId: string, ...domains: readonly string[]) => registering(teamId, domains, false)

/**
 * Registers names that the application allows if it is asked. Names that became available meanwhile may get
 * `internal_error`, but must not be registered.
 */
const registerAsking = (teamId: string, ...domains: readonly string[]) => registering(teamId, domains, true)

const registering = (teamId: string, domains: readonly string[], asks: boolean): Action => ({
  teamId,
  run: attempt(async store => {
    const asked = new Set<string>()
    const checkNames: CheckNames = names => {
      for (const { domain } of names) asked.add(domain)
      return names.map(() => null)
    }
    const options = { timeLimit: TIME_LIMIT, ...(asks && { checkNames }) }
    const { results } = (await registerDomains(keyOf(teamId), { domains }, store, options)).data
    const isError = results.some(result => result.status === 'invalid' && result.code === 'internal_error')
    const unasked = results.find(({ status, input }) => status === 'created' && !asked.has(input))
    const isUnasked = unasked && `${unasked.input} was registered, but the application was not asked`
    return {
      hasFailed: asks ? isUnasked : isError ? 'internal_error' : undefined,
      registered: results.flatMap(result => (result.status === 'invalid' ? [] : result.domainId)),
    }
  }),
})

export const release = (teamId: string, ...domains: readonly string[]): Action => ({
  teamId,
  run: attempt(async store => {
    const { data } = await deleteDomains(keyOf(teamId), { domains }, store, { timeLimit: TIME_LIMIT })
    return { released: data.results.flatMap(result => (result.status === 'deleted' ? result.domainId : [])) }
  }),
})

export const sweep: Action = {
  run: attempt(async store => {
    await store.synchronizePending()
    return {}
  }),
}

/** Makes refused changes due, and sweeps. */
export const retry: Action = {
  run: attempt(async store => {
    await store.retryPending()
    await store.synchronizePending()
    return {}
  }),
}

const importName = (teamId: string, domain: string, domainId: string): Action => ({
  teamId,
  run: attempt(async store => {
    await importDomains(store, [{ domainId, domain, teamId, createdAt: new Date(0), synchronized: false }])
    return {}
  }),
})

export const transferName = (from: string, to: string, domain: string): Action => ({
  run: attempt(async store => {
    const transferred = await transfer(store, { from, to, domains: [domain] })
    return { released: transferred.map(({ formerId }) => formerId) }
  }),
})

function attempt(work: (store: ManagedStore) => Promise<ActionResult>): Action['run'] {
  return async store => {
    try {
      return await work(store)
    } catch (error) {
      const isLimit = (error as { readonly code?: unknown }).code === 'domain_limit_reached'
      return isLimit ? {} : { hasFailed: String(error) }
    }
  }
}

/** An ID in the form of a UUID of version 7. */
const IMPORTED_ID = '01940000-0000-7000-8000-000000000001'

/** Small scenarios, which together cover every way in which a step can fail. */
export const scenarios = {
  'two teams register names that overlap': {
    processes: {
      'team 1': [register('1', 'a.example.com', 'b.example.com')],
      'team 2': [register('2', '*.example.com')],
    },
    faults: 1,
    deaths: 1,
  },
  'a wildcard is released while another team registers below it': {
    before: [register('1', '*.example.com')],
    processes: {
      'team 1': [release('1', '*.example.com')],
      'team 2': [register('2', 'a.example.com')],
      sweeper: [sweep],
    },
    faults: 1,
  },
  'a name is registered twice and released': {
    processes: {
      caller: [register('1', 'a.example.com')],
      'same caller': [register('1', 'a.example.com')],
      releaser: [release('1', 'a.example.com')],
    },
    faults: 1,
  },
  'a name is registered and released during a sweep': {
    processes: { caller: [register('1', 'a.example.com'), release('1', 'a.example.com')], sweeper: [sweep] },
    faults: 1,
    deaths: 1,
    leases: 1,
  },
  'a name moves to another team during a sweep': {
    before: [register('1', 'a.example.com')],
    processes: { teams: [release('1', 'a.example.com'), register('2', 'a.example.com')], sweeper: [sweep] },
    faults: 1,
    leases: 1,
  },
  'a push succeeds in part': {
    processes: { caller: [register('1', 'a.example.com', 'b.example.com')], sweeper: [sweep] },
    refused: ['b.example.com'],
    faults: 1,
    leases: 1,
  },
  'a failed push is made due during a release': {
    processes: {
      caller: [register('1', 'a.example.com')],
      operator: [retry],
      releaser: [release('1', 'a.example.com')],
    },
    faults: 2,
  },
  'calls of one team reach its limit': {
    before: [register('3', 'a.example.com')],
    processes: {
      releaser: [release('3', 'a.example.com')],
      'caller 1': [register('3', 'b.example.com')],
      'caller 2': [register('3', 'b.example.net')],
    },
    faults: 1,
  },
  'the application is asked about names that another team releases and registers': {
    before: [register('2', 'a.example.com')],
    processes: {
      'team 1': [registerAsking('1', 'a.example.com', 'b.example.com')],
      'team 2': [release('2', 'a.example.com'), register('2', 'b.example.com')],
    },
    faults: 0,
  },
  'a name is imported, registered and released': {
    processes: {
      importer: [importName('1', 'a.example.com', IMPORTED_ID)],
      caller: [register('2', 'a.example.com')],
      releaser: [release('1', 'a.example.com')],
      sweeper: [sweep],
    },
    faults: 1,
  },
  'a name is transferred twice and released': {
    before: [register('1', 'a.example.com')],
    processes: {
      operator: [transferName('1', '2', 'a.example.com'), transferName('2', '1', 'a.example.com')],
      releaser: [release('1', 'a.example.com')],
      sweeper: [sweep],
    },
    faults: 1,
    leases: 1,
  },
  'a transfer and a call reach a limit': {
    before: [register('1', 'a.example.com')],
    processes: {
      operator: [transferName('1', '3', 'a.example.com')],
      caller: [register('3', 'b.example.com')],
      sweeper: [sweep],
    },
    faults: 1,
  },
} as const satisfies Readonly<Record<string, Scenario>>

export type ScenarioName = keyof typeof scenarios
