import { internalError, storeFailed, teamNotFound, teamSuspended } from './api-errors.ts'
import type { Awaitable } from './awaitable.ts'
import { createDeadline, DEFAULT_TIME_LIMIT, type Deadline, timeLimitRule } from './deadline.ts'
import type { KeyContext } from './keys/key-context.ts'
import { requireOptions } from './options.ts'
import type { DomainStore, Team } from './registry/store.ts'
import { requireTeamShape } from './registry/store-arguments.ts'

/** What every operation takes beside the call itself. */
export interface OperationOptions {
  /** How many milliseconds the call may wait for the store, all its steps together. Default 30,000. */
  timeLimit?: number | undefined
}

/**
 * Begins the time of a call.
 *
 * @throws {TypeError} for an option that is wrong or does not exist.
 */
export function startDeadline(options: OperationOptions): Deadline {
  requireOptions(options, { timeLimit: timeLimitRule })
  return createDeadline(options.timeLimit ?? DEFAULT_TIME_LIMIT)
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
  let team: Team | null | undefined
  try {
    team = await deadline.wait(store.findTeam(teamId))
    if (team !== null && team !== undefined) requireTeamShape(team, 'findTeam answered')
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

/**
 * Works with a store.
 *
 * @param failed What could not be done where it fails, as a sentence.
 * @throws {ApiError} 500 `internal_error`.
 */
export async function tryStore<T>(failed: string, work: () => Awaitable<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw storeFailed(failed, cause)
  }
}
