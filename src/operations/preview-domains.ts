import type { KeyContext } from '../keys/key-context.ts'
import { judgeAll, type Verdict } from '../rules/overlap.ts'
import { isName } from '../rules/submitted.ts'
import type { DomainStore } from '../store/contract.ts'
import { createLookUp } from '../store/create-request.ts'
import { type Deadline, waitForStore } from '../time/deadline.ts'
import { countTotals, type PreviewDomainsResponse, type PreviewResult, toInvalidPreview } from '../wire/results.ts'
import { callOperation, type Operation, type OperationCall, openBatch, requireMethod, tryStore } from './call.ts'
import { askAboutNames, type CheckedOptions, checkNamesRule } from './check-names.ts'
import { toRoom } from './limit.ts'

/**
 * Returns the results that {@link registerDomains} would return now, but changes nothing: it does not save, lease or
 * push. Another call may change the results before the names are registered.
 *
 * @param body As for registering.
 * @param options With the `checkNames` of registering, the results also contain the application's own rejections.
 * @returns As for registering, with three differences: `created` has no `domainId`; `invalid` has a `reason` with its
 *   details and, if it is clear which name was meant, a `suggestion`, and `certain`: `false` for a guess; `room` says
 *   how many more names the team may register. Registering fails if more names would be `created`.
 * @throws {ApiError} for the same reasons as {@link registerDomains}, except 503 and `domain_limit_reached`.
 * @throws {TypeError} if the store has no `find`.
 *
 * @example
 * const { data } = await previewDomains(keyContext, { domains: ['www.example.com'] }, store)
 * data.results[0] // { status: 'created', input: 'www.example.com', domain: 'www.example.com' }
 */
export async function previewDomains(
  keyContext: KeyContext,
  body: unknown,
  store: DomainStore,
  options: CheckedOptions = {},
): Promise<PreviewDomainsResponse> {
  return callOperation(previewOperation, { keyContext, input: body, store, options })
}

/** {@link previewDomains}. */
export const previewOperation: Operation<PreviewDomainsResponse, CheckedOptions> = {
  scope: 'domains:create',
  needs: 'find',
  rules: { checkNames: checkNamesRule },
  perform: preview,
}

async function preview(call: OperationCall<CheckedOptions>, deadline: Deadline): Promise<PreviewDomainsResponse> {
  const { store, progress } = call
  const { team, inputs, submitted } = await openBatch(call, deadline)
  const maxDomains = team.maxDomains ?? null
  const names = await askAboutNames(call, team, submitted.filter(isName), deadline)
  progress.step = 'find'
  const { verdicts, found } = await tryStore('The registrations could not be looked up.', async () => {
    const lookUp = createLookUp(team.id, names, maxDomains !== null)
    const found = await waitForStore(store, requireMethod(store, 'find')(lookUp), deadline)
    return { verdicts: judgeAll(team.id, names, found), found }
  })
  const room = maxDomains === null ? null : toRoom(maxDomains, found.teamCount)
  const idOf = new Map(found.registrations.map(({ domain, domainId }) => [domain, domainId]))
  let used = 0
  const results = submitted.map((read, index): PreviewResult => {
    const sent = inputs[index] as string
    if (!isName(read)) return toInvalidPreview(sent, read)
    const verdict = verdicts[used++] as Verdict
    const { domain } = read
    if (verdict.status === 'invalid') {
      const result = toInvalidPreview(sent, verdict)
      return result.conflicts ? { ...result, domain } : result
    }
    if (verdict.status === 'created') return { status: 'created', input: sent, domain }
    // If the call contains a name twice and would create it, the second occurrence is `existing` but has no ID yet.
    const domainId = idOf.get(domain)
    return { status: 'existing', input: sent, domain, ...(domainId !== undefined && { domainId }) }
  })
  return { data: { results, totals: countTotals(results), room } }
}
