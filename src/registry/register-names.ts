import { type Deadline, waitForStore } from '../time/deadline.ts'
import { mostFailuresInARow, type Progress, workByHalves } from './halving.ts'
import type { Verdict } from './overlap.ts'
import { createRegistrationRequest, judgeAll } from './request.ts'
import type { DomainStore, LookUpResult, Registration, SavedRegistrations } from './store.ts'
import type { Submitted } from './submitted.ts'

/** The outcome for a submitted name. */
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

/** Positions of names that share a registrable domain. Their verdicts depend on each other, so they stay together. */
type Group = readonly number[]

/**
 * Registers names in a team. A name that cannot be saved costs only its own result: {@link workByHalves} finds it. A
 * store that is down is not asked so often: if nothing has succeeded after {@link mostFailuresInARow} calls, the rest
 * is left. Each call of the store may take half of the remaining time, so that a name on which the store hangs leaves
 * time for the others.
 *
 * @returns One outcome for each name, in the same order.
 */
export async function registerNames(registrar: Registrar, names: readonly Submitted[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = names.map(() => unprocessed)
  const groups = toGroups(names)
  const failed: unknown[] = []

  async function attempt(part: readonly Group[]) {
    const places = part.flat().sort((one, other) => one - other)
    try {
      const batch = await registerBatch(
        registrar,
        places.map(place => names[place] as Submitted),
      )
      batch.forEach((outcome, index) => {
        outcomes[places[index] as number] = outcome
      })
      return null
    } catch (cause) {
      failed.push(cause)
      return { cause }
    }
  }

  const isOver = ({ hasSucceeded, failures }: Progress) =>
    registrar.deadline.remaining() < SHORTEST_WAIT || (!hasSucceeded && failures >= mostFailuresInARow(groups.length))
  const { alone, left } = await workByHalves([groups], { attempt, isOver })
  const causes = alone.map(each => each.cause)
  if (left.length > 0) causes.push(...(failed.length > 0 ? failed : [new Error('No time was left to ask the store')]))
  for (const each of distinct(causes)) registrar.onError(each)
  return outcomes
}

/** In milliseconds, the resolution of timers. */
const SHORTEST_WAIT = 1

const unprocessed = {
  status: 'invalid',
  code: 'internal_error',
  message: 'The hostname could not be processed, which is not its fault; send it again later.',
} as const satisfies Outcome

function toGroups(names: readonly Submitted[]): Group[] {
  const groups = new Map<string, number[]>()
  for (const [place, { registrableDomain }] of names.entries()) {
    const group = groups.get(registrableDomain)
    if (group) group.push(place)
    else groups.set(registrableDomain, [place])
  }
  return [...groups.values()]
}

async function registerBatch({ store, teamId, deadline }: Registrar, names: readonly Submitted[]): Promise<Outcome[]> {
  const timeLimit = deadline.remaining() / 2
  const request = createRegistrationRequest(teamId, names, timeLimit)
  const registered = await waitForStore(store, store.register(request), deadline, timeLimit)
  const verdicts = judgeAll(teamId, names, requireFound(registered))
  return toOutcomes(names, verdicts, registered)
}

function requireFound({ found, saved }: SavedRegistrations): LookUpResult {
  if (Array.isArray(found?.registrations) && Array.isArray(found.below) && Array.isArray(saved)) return found
  throw new TypeError('The method "register" of the store must resolve to { found, saved }; see DomainStore')
}

function toOutcomes(
  names: readonly Submitted[],
  verdicts: readonly Verdict[],
  { found, saved }: SavedRegistrations,
): Outcome[] {
  const created = names.filter((_, index) => verdicts[index]?.status === 'created')
  if (saved.length !== created.length || created.some((name, index) => saved[index]?.domain !== name.domain)) {
    throw new Error('The store did not return one registration for each name that decide returned, in that order')
  }
  const existing = new Map<string, Registration>()
  for (const registration of [...found.registrations, ...saved]) existing.set(registration.domain, registration)
  return names.map(({ domain }, index) => {
    const verdict = verdicts[index] as Verdict
    if (verdict.status === 'invalid') return verdict
    return { status: verdict.status, registration: existing.get(domain) as Registration }
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
