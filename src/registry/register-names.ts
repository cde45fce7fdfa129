import type { Deadline } from '../deadline.ts'
import type { Name } from './name.ts'
import type { Verdict } from './overlap.ts'
import { createRegistrationRequest, type Decision } from './request.ts'
import type { DomainStore, Registration } from './store.ts'

/** What became of a submitted name. */
export type Outcome =
  | { readonly status: 'created' | 'existing'; readonly registration: Registration }
  | Extract<Verdict, { status: 'invalid' }>
  | { readonly status: 'invalid'; readonly code: 'internal_error'; readonly message: string }

interface Registrar {
  readonly store: DomainStore
  readonly teamId: string
  readonly deadline: Deadline
  /** Learns why names became `internal_error`, once for each registrable domain. */
  readonly onError: (cause: unknown) => void
}

/**
 * Registers names in a team, such that one name which cannot be saved costs one result and not a hundred: a batch that
 * fails is halved until what fails is alone. Names of the same registrable domain stay together, since their verdicts
 * depend on each other.
 *
 * Bounded: n registrable domains cost at most 2 n − 1 calls of the store, and each call may take half of the time that is
 * left, so that a name on which the store hangs leaves time for the others.
 *
 * @param names One object for each submitted name, also for the second of two equal ones.
 * @returns One outcome for each name, in the same order.
 */
export async function registerNames(registrar: Registrar, names: readonly Name[]): Promise<readonly Outcome[]> {
  if (names.length === 0) return []
  try {
    return await registerBatch(registrar, names)
  } catch (cause) {
    const halves = halve(names)
    if (halves) return registerParts(registrar, names, halves)
    registrar.onError(cause)
    return names.map(() => internalError)
  }
}

async function registerParts(
  registrar: Registrar,
  names: readonly Name[],
  parts: readonly (readonly Name[])[],
): Promise<readonly Outcome[]> {
  const outcomes = new Map<Name, Outcome>()
  for (const part of parts) {
    const partOutcomes = await registerNames(registrar, part)
    part.forEach((name, index) => void outcomes.set(name, partOutcomes[index] ?? missing()))
  }
  return names.map(name => outcomes.get(name) ?? missing())
}

const internalError: Outcome = {
  status: 'invalid',
  code: 'internal_error',
  message: 'The hostname could not be processed, which is not its fault; send it again later.',
}

async function registerBatch(
  { store, teamId, deadline }: Registrar,
  names: readonly Name[],
): Promise<readonly Outcome[]> {
  let decision: Decision | undefined
  const request = createRegistrationRequest(teamId, names, latest => {
    decision = latest
  })
  const saved = await deadline.wait(store.register(request), deadline.remaining() / 2)
  if (!decision) throw new Error('The store did not call decide')
  return toOutcomes(names, decision, saved)
}

function toOutcomes(
  names: readonly Name[],
  { found, verdicts, created }: Decision,
  saved: readonly Registration[],
): readonly Outcome[] {
  if (saved.length !== created.length || created.some((name, index) => saved[index]?.domain !== name.domain)) {
    throw new Error('The store did not return one registration for each name that decide returned, in that order')
  }
  const existing = indexByDomain(
    verdicts.some(({ status }) => status === 'existing') ? [...found.registrations, ...saved] : [],
  )
  let used = 0
  return names.map(({ domain }, index) => {
    const verdict = verdicts[index] ?? missing()
    if (verdict.status === 'invalid') return verdict
    const registration = verdict.status === 'created' ? saved[used++] : existing.get(domain)
    return { status: verdict.status, registration: registration ?? missing() }
  })
}

const indexByDomain = (registrations: readonly Registration[]) =>
  new Map(registrations.map(registration => [registration.domain, registration]))

/** Splits names into two parts that share no registrable domain; `null` when they all have the same. */
function halve(names: readonly Name[]): [Name[], Name[]] | null {
  const registrableDomains = [...new Set(names.map(name => name.registrableDomain))]
  if (registrableDomains.length < 2) return null
  const first = new Set(registrableDomains.slice(0, registrableDomains.length / 2))
  const isInFirst = (name: Name) => first.has(name.registrableDomain)
  return [names.filter(isInFirst), names.filter(name => !isInFirst(name))]
}

function missing(): never {
  throw new Error('The registry lost a name')
}
