import type { Deadline } from '../deadline.ts'
import type { Name } from './name.ts'
import type { Verdict } from './overlap.ts'
import { findRegistrableDomains } from './registrable-domains.ts'
import { createRegistrationRequest } from './request.ts'
import { splitUntilAlone } from './split.ts'
import type { DomainStore, Registered, Registration } from './store.ts'

/** The result for a submitted name. */
export type Outcome =
  | { readonly status: 'created' | 'existing'; readonly registration: Registration }
  | Extract<Verdict, { status: 'invalid' }>
  | { readonly status: 'invalid'; readonly code: 'internal_error'; readonly message: string }

interface Registrar {
  readonly store: DomainStore
  readonly teamId: string
  readonly deadline: Deadline
  /** Called with the cause of each `internal_error`, once for each distinct failure. */
  readonly onError: (cause: unknown) => void
}

/**
 * Registers names in a team. A name that cannot be saved costs only its own result: a batch that fails is split until
 * each failing part is alone, see {@link splitUntilAlone}. Names of the same registrable domain stay together, because
 * their verdicts depend on each other. Each call of the store may take half of the remaining time, so that a name on
 * which the store hangs leaves time for the others.
 *
 * @returns One outcome for each name, in the same order.
 */
export async function registerNames(registrar: Registrar, names: readonly Name[]): Promise<readonly Outcome[]> {
  const { deadline, onError } = registrar
  const registrableDomains = findRegistrableDomains(names)
  let outcomes: Outcome[] = names.map(() => internalError)

  const { refused, untried, lastCause } = await splitUntilAlone([...registrableDomains.all], {
    async attempt(part) {
      // The common case: all names at once.
      if (part.length === registrableDomains.all.size) {
        outcomes = await registerBatch(registrar, names, registrableDomains)
        return
      }
      const chosen = new Set(part)
      const places = [...names.keys()].filter(index => chosen.has((names[index] as Name).registrableDomain))
      const batch = await registerBatch(
        registrar,
        places.map(index => names[index] as Name),
      )
      places.forEach((place, index) => {
        outcomes[place] = batch[index] as Outcome
      })
    },
    hasTime: () => deadline.remaining() >= SHORTEST_WAIT,
  })

  const causes = refused.map(({ cause }) => cause)
  if (untried.length > 0) {
    causes.push(lastCause === undefined ? new Error('No time was left to ask the store') : lastCause)
  }
  for (const cause of distinct(causes)) onError(cause)
  return outcomes
}

/** In milliseconds, the resolution of timers. */
const SHORTEST_WAIT = 1

export const internalError = {
  status: 'invalid',
  code: 'internal_error',
  message: 'The hostname could not be processed, which is not its fault; send it again later.',
} as const satisfies Outcome

async function registerBatch(
  { store, teamId, deadline }: Registrar,
  names: readonly Name[],
  registrableDomains = findRegistrableDomains(names),
): Promise<Outcome[]> {
  const request = createRegistrationRequest(teamId, names, registrableDomains)
  const registered = await deadline.wait(store.register(request), deadline.remaining() / 2)
  return toOutcomes(names, request.judge(requireFound(registered)), registered)
}

function requireFound({ found, saved }: Registered): Registered['found'] {
  if (Array.isArray(found?.registrations) && Array.isArray(found.below) && Array.isArray(saved)) return found
  throw new TypeError('The method "register" of the store must resolve to { found, saved }; see DomainStore')
}

function toOutcomes(names: readonly Name[], verdicts: readonly Verdict[], { found, saved }: Registered): Outcome[] {
  const created = names.filter((_, index) => verdicts[index]?.status === 'created')
  if (saved.length !== created.length || created.some((name, index) => saved[index]?.domain !== name.domain)) {
    throw new Error('The store did not return one registration for each name that decide returned, in that order')
  }
  const held = verdicts.some(({ status }) => status === 'existing') ? [...found.registrations, ...saved] : []
  const existing = new Map(held.map(registration => [registration.domain, registration]))
  let used = 0
  return names.map(({ domain }, index) => {
    const verdict = verdicts[index] as Verdict
    if (verdict.status === 'invalid') return verdict
    const registration = verdict.status === 'created' ? saved[used++] : existing.get(domain)
    return { status: verdict.status, registration: registration as Registration }
  })
}

/** Returns the first cause of each kind. Errors that differ only in numbers, such as ports, are of one kind. */
function distinct(causes: readonly unknown[]): unknown[] {
  const kinds = new Map<unknown, unknown>()
  for (const cause of causes) {
    const kind = cause instanceof Error ? `${cause.name}: ${cause.message.replaceAll(/\d+/g, '#')}` : cause
    if (!kinds.has(kind)) kinds.set(kind, cause)
  }
  return [...kinds.values()]
}
