import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import type { Outbox, PendingChange } from '../../src/outbox/contract.ts'
import { type Change, NOTHING_BELOW, type Registration } from '../../src/rules/registration.ts'
import type { StoreBackend } from '../../src/store/managed-store.ts'
import type { ScenarioName } from '../../src/testing/index.ts'

/** A backend in memory with one defect, most often of its outbox. */
export interface BrokenOutbox {
  readonly breaks: string
  /** A scenario in which the exploration finds the defect. */
  readonly scenario: ScenarioName
  createBackend(): StoreBackend
}

type Break = (
  outbox: Outbox,
  backend: StoreBackend,
) => Partial<Omit<StoreBackend, 'outbox'>> & { outbox?: Partial<Outbox> }

const broken = (breaks: string, scenario: ScenarioName, change: Break): BrokenOutbox => ({
  breaks,
  scenario,
  createBackend() {
    const backend = createMemoryBackend()
    const { outbox, ...methods } = change(backend.outbox, backend)
    return { ...backend, ...methods, outbox: { ...backend.outbox, ...outbox } }
  },
})

/** The pending changes of a memory store, which returns them directly and not as a promise. */
const pendingIn = (outbox: Outbox) => outbox.list(undefined, 1000) as readonly PendingChange[]
const ofKind =
  (kind: Change['kind']) =>
  ({ domainId, domain, registrableDomain, teamId }: Omit<Change, 'kind' | 'at'>): Change => ({
    kind,
    domainId,
    domain,
    registrableDomain,
    teamId,
    at: new Date(0),
  })
const ofBothKinds = (change: Change) => [ofKind('registered')(change), ofKind('released')(change)]

const REGISTER_AND_RELEASE = 'a name is registered and released during a sweep'

export const brokenOutboxes: readonly BrokenOutbox[] = [
  broken('forgets the release of a name if the push of its registration succeeds', REGISTER_AND_RELEASE, outbox => ({
    outbox: { finish: changes => outbox.finish(changes.flatMap(ofBothKinds)) },
  })),
  broken('forgets the release of a name if the push of its registration fails', REGISTER_AND_RELEASE, outbox => ({
    outbox: {
      postpone(postponements) {
        const isRegistration = ({ change }: (typeof postponements)[number]) => change.kind === 'registered'
        outbox.finish(postponements.filter(isRegistration).map(({ change }) => ofKind('released')(change)))
        return outbox.postpone(postponements)
      },
    },
  })),
  broken('removes pending changes by name instead of by ID', 'a name moves to another team during a sweep', outbox => ({
    outbox: {
      finish: changes =>
        outbox.finish(pendingIn(outbox).filter(({ domain }) => changes.some(change => change.domain === domain))),
    },
  })),
  broken('forgets a change whose push fails', REGISTER_AND_RELEASE, outbox => ({
    outbox: { postpone: postponements => outbox.finish(postponements.map(({ change }) => change)) },
  })),
  broken('forgets changes when a sweep leases them', REGISTER_AND_RELEASE, outbox => ({
    outbox: {
      take(request) {
        const taken = outbox.take(request) as readonly Change[]
        outbox.finish(taken)
        return taken.map(change => ({ ...change, line: 'new' as const, refusals: 0 }))
      },
    },
  })),
  broken('never ends the lease of a sweep', REGISTER_AND_RELEASE, outbox => {
    const leased = new Set<string>()
    return {
      outbox: {
        async take(request) {
          const taken = (await outbox.take(request)).filter(({ domainId, kind }) => !leased.has(domainId + kind))
          for (const { domainId, kind } of request.lease > 0 ? taken : []) leased.add(domainId + kind)
          return taken
        },
        postpone(postponements) {
          for (const { change } of postponements) leased.delete(change.domainId + change.kind)
          return outbox.postpone(postponements)
        },
      },
    }
  }),
  broken('does not record releases', REGISTER_AND_RELEASE, (_, backend) => ({
    release: (teamId, keys, recording) => backend.release(teamId, keys, { ...recording, isPushed: false }),
  })),
  broken('does not record the release of a pending registration', REGISTER_AND_RELEASE, (outbox, backend) => ({
    release(...parameters) {
      const released = backend.release(...parameters) as readonly Registration[]
      outbox.finish(released.filter(({ synchronized }) => !synchronized).map(ofKind('released')))
      return released
    },
  })),
  broken('finds nothing in the way of a call', 'two teams register names that overlap', (_, backend) => ({
    register: step =>
      backend.register({
        ...step,
        decide: found => step.decide({ registrations: [], below: found.below.map(() => NOTHING_BELOW) }),
      }),
  })),
  broken(
    'records only the first registration of a call',
    'two teams register names that overlap',
    (outbox, backend) => ({
      register(step) {
        const result = backend.register(step) as Awaited<ReturnType<StoreBackend['register']>>
        outbox.finish(result.saved.slice(1).map(ofKind('registered')))
        return result
      },
    }),
  ),
  broken(
    'forgets a pending registration when a call finds it',
    'a name is registered twice and released',
    (outbox, backend) => ({
      register(step) {
        const result = backend.register(step) as Awaited<ReturnType<StoreBackend['register']>>
        outbox.finish(result.found.registrations.map(ofKind('registered')))
        return result
      },
    }),
  ),
  broken(
    'forgets failed changes when an operator retries them',
    'a failed push is made due during a release',
    outbox => ({
      outbox: {
        retry() {
          const failed = pendingIn(outbox).filter(({ lastFailure }) => lastFailure !== null)
          outbox.finish(failed)
          return failed.length
        },
      },
    }),
  ),
  broken('does not record imports', 'a name is imported, registered and released', (outbox, backend) => ({
    import(request) {
      const before = pendingIn(outbox)
      const findings = backend.import?.(request) as Awaited<ReturnType<NonNullable<StoreBackend['import']>>>
      const isNew = ({ domainId }: Change) => before.every(change => change.domainId !== domainId)
      outbox.finish(pendingIn(outbox).filter(isNew))
      return findings
    },
  })),
]
