import type { KeyContext } from '../keys/key-context.ts'
import type { DomainStore } from '../store/contract.ts'
import { requiredWaitingRule, type WaitingStore } from '../store/waiting.ts'
import { waitForStore } from '../time/deadline.ts'
import { type ListWaitingQuery, parseWaitingQuery, type Query, requests, requireParameters } from '../wire/requests.ts'
import { type ListWaitingResponse, toWaitingDomain } from '../wire/results.ts'
import { callOperation, type Operation, type OperationOptions, requireTeam, tryStore } from './call.ts'

/** Options of {@link listWaiting}. */
export interface ListWaitingOptions extends OperationOptions {
  waiting: WaitingStore
}

/**
 * Lists the names of one team that wait to be registered, even if the team is suspended: at most 1,000, in the order of
 * their domains. To end a name's wait, delete it; to try it at once, send it again.
 *
 * @param query `team_id` (required with an organization key).
 * @throws {ApiError} if the whole call fails. Checked in this order: 403 `insufficient_scope`, 400 `invalid_request`,
 *   404 `team_not_found`. 500 `internal_error` if the store failed.
 * @throws {TypeError} if an option or a parameter is invalid or unknown.
 *
 * @example
 * const { data } = await listWaiting(keyContext, {}, store, { waiting })
 * data.domains[0] // { domain: 'www.example.com', nextTry: '2026-11-29T10:05:00.000Z', reason: 'not_verified', … }
 */
export async function listWaiting(
  keyContext: KeyContext,
  query: ListWaitingQuery,
  store: DomainStore,
  options: ListWaitingOptions,
): Promise<ListWaitingResponse> {
  requireParameters(query, requests.waiting)
  return callOperation(waitingOperation, { keyContext, input: query, store, options })
}

/** {@link listWaiting}. */
export const waitingOperation: Operation<ListWaitingResponse, ListWaitingOptions> = {
  scope: 'domains:read',
  rules: { waiting: requiredWaitingRule },
  async perform({ keyContext, input, store, progress, options: { waiting } }, deadline) {
    const { teamId } = parseWaitingQuery(input as Query, keyContext)
    const team = await requireTeam(teamId, keyContext, store, deadline, progress)
    progress.step = 'waiting'
    const names = await tryStore('The names that wait could not be listed.', () =>
      waitForStore(waiting, waiting.list(team.id), deadline),
    )
    return { data: { domains: names.map(toWaitingDomain) } }
  },
}
