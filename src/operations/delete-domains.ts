import type { KeyContext } from '../keys/key-context.ts'
import type { Registration } from '../rules/registration.ts'
import { isName, type readSubmitted } from '../rules/submitted.ts'
import type { DomainStore } from '../store/contract.ts'
import { type WaitingStore, waitingRule } from '../store/waiting.ts'
import { waitForStore } from '../time/deadline.ts'
import { countDeleted, type DeleteDomainsResponse, type DeleteResult, toInvalidResult } from '../wire/results.ts'
import { callOperation, type Operation, type OperationOptions, openBatch, requireMethod, tryStore } from './call.ts'

/** Options of {@link deleteDomains}. */
export interface DeleteDomainsOptions extends OperationOptions {
  /** The store of the names that wait, from which the names are removed too. */
  waiting?: WaitingStore | undefined
}

/**
 * Deletes 1 to 100 registrations of one team, each with its own result. Other teams can register the names at once, and
 * the next sweep pushes the releases to the monitor. It is safe to repeat the call: names that the first call has
 * deleted are then `missing`.
 *
 * @param body `{ domains, team_id }`, as for registering.
 * @returns One result for each submitted name, in the submitted order, and totals. `missing` means that this team has
 *   not registered the name; another team may have. Deleting a wildcard deletes nothing below it.
 * @throws {ApiError} if the whole call fails. Checked in this order: 403 `insufficient_scope`, 400 `invalid_request`,
 *   404 `team_not_found`, 403 `team_suspended`. 500 `internal_error` if the store failed: either all names were deleted
 *   or none, so send the same call again.
 * @throws {TypeError} if the store has no `release`.
 *
 * @example
 * const { data } = await deleteDomains(keyContext, { domains: ['www.example.com', 'example.net'] }, store)
 * data.results[0] // { status: 'deleted', input: 'www.example.com', domain: 'www.example.com', domainId: '0199…' }
 * data.totals // { deleted: 1, missing: 1, invalid: 0 }
 */
export async function deleteDomains(
  keyContext: KeyContext,
  body: unknown,
  store: DomainStore,
  options: DeleteDomainsOptions = {},
): Promise<DeleteDomainsResponse> {
  return callOperation(deleteOperation, { keyContext, input: body, store, options })
}

/** {@link deleteDomains}. */
export const deleteOperation: Operation<DeleteDomainsResponse, DeleteDomainsOptions> = {
  scope: 'domains:delete',
  needs: 'release',
  step: 'delete',
  rules: { waiting: waitingRule },
  async perform(call, deadline) {
    const { store, progress } = call
    const { team, inputs, submitted } = await openBatch(call, deadline)
    const asked = [...new Set(submitted.filter(isName).map(({ domain }) => domain))]
    const { waiting } = call.options
    progress.step = 'waiting'
    // Before the registrations: otherwise the loop could register a name after it was looked for.
    const waited = await tryStore('The domains were not deleted.', () =>
      waiting && asked.length > 0 ? waitForStore(waiting, waiting.remove(team.id, asked), deadline) : [],
    )
    progress.step = 'release'
    const released = await tryStore('The domains may or may not have been deleted.', () =>
      asked.length === 0 ? [] : waitForStore(store, requireMethod(store, 'release')(team.id, asked), deadline),
    )
    const results = toResults(inputs, submitted, released, new Set(waited))
    const totals = countDeleted(results)
    progress.traced.totals = totals
    return { data: { results, totals: { ...totals } } }
  },
}

function toResults(
  inputs: readonly string[],
  submitted: readonly ReturnType<typeof readSubmitted>[],
  released: readonly Registration[],
  waited: Set<string>,
): DeleteResult[] {
  const ids = new Map(released.map(({ domain, domainId }) => [domain, domainId]))
  return inputs.map((input, index): DeleteResult => {
    const read = submitted[index] as ReturnType<typeof readSubmitted>
    if (!isName(read)) return toInvalidResult(input, read)
    const { domain, rejection } = read
    const domainId = ids.get(domain)
    // If the call contains the name again, the second occurrence did not wait.
    if (waited.delete(domain) && domainId === undefined) return { status: 'missing', input, waited: true }
    if (domainId === undefined) return rejection ? toInvalidResult(input, rejection) : { status: 'missing', input }
    // If the call contains this name again, the second occurrence is `missing`.
    ids.delete(domain)
    return { status: 'deleted', input, domain, domainId }
  })
}
