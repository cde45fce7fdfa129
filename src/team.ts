import { internalError, teamNotFound, teamSuspended } from './api-errors.ts'
import { DEFAULT_TIME_LIMIT, type Deadline, timeLimitRule } from './deadline.ts'
import type { KeyContext } from './keys/key-context.ts'
import { describe, requireOptions } from './options.ts'
import type { DomainStore, Team } from './registry/store.ts'

/** After how many seconds a caller should retry a call that a store or a monitor could not finish. */
export const RETRY_AFTER_SECONDS = 5

/** What operations other than registering take beside the call itself. */
export interface OperationOptions {
  /** How many milliseconds the call may wait for the store, all its steps together. Default 30,000. */
  timeLimit?: number | undefined
}

/** @throws {TypeError} for an option that is wrong or does not exist. */
export function requireOperationOptions(options: OperationOptions): { readonly timeLimit: number } {
  requireOptions(options, { timeLimit: timeLimitRule })
  return { timeLimit: options.timeLimit ?? DEFAULT_TIME_LIMIT }
}

/**
 * Finds the team of a call. A team of another organization is answered like one that does not exist.
 *
 * @returns The team as your application answered it, whose ID may be spelled otherwise than the submitted one.
 * @throws {ApiError} 404 `team_not_found`; 500 `internal_error` when the team cannot be looked up, or is none.
 */
export async function requireTeam(
  teamId: string,
  keyContext: KeyContext,
  store: DomainStore,
  deadline: Deadline,
): Promise<Team> {
  let team: Team | null
  try {
    team = requireShape(await deadline.wait(store.findTeam(teamId)))
  } catch (cause) {
    throw internalError('The team could not be looked up; nothing was done.', cause)
  }
  if (!team || (keyContext.type === 'organization' && team.organizationId !== keyContext.organizationId)) {
    throw teamNotFound()
  }
  return team
}

/** @throws {ApiError} as {@link requireTeam}, and 403 `team_suspended`. */
export async function requireActiveTeam(...question: Parameters<typeof requireTeam>): Promise<Team> {
  const team = await requireTeam(...question)
  if (team.state !== 'active') throw teamSuspended()
  return team
}

/**
 * A team with a number for an ID would be nobody's, and one that is "ACTIVE" suspended: neither is the caller's fault.
 */
function requireShape(team: Team | null | undefined): Team | null {
  if (team === null || team === undefined) return null
  const { id, organizationId, state } = team
  for (const [name, value] of Object.entries({ id, organizationId })) {
    if (typeof value !== 'string')
      throw new TypeError(`The "${name}" of a team must be a string; findTeam answered ${describe(value)}`)
  }
  if (state !== 'active' && state !== 'suspended')
    throw new TypeError(`The "state" of a team must be "active" or "suspended"; findTeam answered ${describe(state)}`)
  return team
}

/**
 * Takes an optional method of a store.
 *
 * @throws {TypeError} if the store has none.
 */
export function requireMethod<Name extends 'find' | 'release' | 'list' | 'count'>(
  store: DomainStore,
  name: Name,
): NonNullable<DomainStore[Name]> {
  const method = store?.[name]
  if (typeof method === 'function') return method.bind(store) as NonNullable<DomainStore[Name]>
  throw new TypeError(`The store has no method "${name}", which this needs; all bundled stores have`)
}
