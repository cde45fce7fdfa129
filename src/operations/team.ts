import { teamNotFound, teamNotLookedUp, teamSuspended } from '../errors/call-errors.ts'
import type { KeyContext } from '../keys/key-context.ts'
import type { Team } from '../rules/registration.ts'
import { requireTeamShape } from '../store/arguments.ts'
import type { DomainStore } from '../store/contract.ts'
import { type Deadline, TimeLimitError } from '../time/deadline.ts'

/**
 * Finds the team of a call. A team of another organization is treated as if it did not exist.
 *
 * @returns The team as your application returned it. The ID of the team may be spelled differently in the call.
 * @throws {ApiError} 404 `team_not_found`; 500 `internal_error` if the team cannot be looked up, or is malformed.
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
    if (team !== null && team !== undefined) requireTeamShape(team, 'findTeam returned')
  } catch (cause) {
    throw teamNotLookedUp(store.isInTransaction && cause instanceof TimeLimitError ? waitedInTransaction(cause) : cause)
  }
  if (!team || (keyContext.type === 'organization' && team.organizationId !== keyContext.organizationId)) {
    throw teamNotFound()
  }
  return team
}

/** If transactions that call `findTeam` occupy the whole pool, `findTeam` may never get a connection of its own. */
const waitedInTransaction = (cause: TimeLimitError) =>
  new Error(
    'findTeam did not return in time. Inside your transaction, it must query on the same connection: the pool may ' +
      'have no free one',
    { cause },
  )

/** @throws {ApiError} as for {@link requireTeam}, and also 403 `team_suspended`. */
export async function requireActiveTeam(...question: Parameters<typeof requireTeam>): Promise<Team> {
  const team = await requireTeam(...question)
  if (team.state !== 'active') throw teamSuspended()
  return team
}
