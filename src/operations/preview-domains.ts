import { type KeyContext, requireScope } from '../keys/key-context.ts'
import { judgeAll, type Verdict } from '../rules/overlap.ts'
import { isName, readSubmitted } from '../rules/submitted.ts'
import type { DomainStore } from '../store/contract.ts'
import { createLookUp } from '../store/create-request.ts'
import { waitForStore } from '../time/deadline.ts'
import { readFields } from '../wire/requests.ts'
import { countTotals, type PreviewDomainsResponse, type PreviewResult, toInvalidPreview } from '../wire/response.ts'
import {
  type OperationCall,
  type OperationOptions,
  requireActiveTeam,
  requireCallOptions,
  requireMethod,
  startDeadline,
  tryStore,
} from './call.ts'
import { askAboutNames, checkNamesRule } from './check-names.ts'
import { toRoom } from './limit.ts'
import type { RegisterDomainsOptions } from './register-domains.ts'

type PreviewOptions = OperationOptions & Pick<RegisterDomainsOptions, 'checkNames'>

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
  options: PreviewOptions = {},
): Promise<PreviewDomainsResponse> {
  requireCallOptions(options, { checkNames: checkNamesRule })
  return runPreview({ keyContext, input: body, store, options, progress: {} })
}

/** {@link previewDomains}, for adapters. */
export async function runPreview(call: OperationCall<PreviewOptions>): Promise<PreviewDomainsResponse> {
  const { keyContext, input, store, options, progress } = call
  const deadline = startDeadline(options)
  const find = requireMethod(store, 'find')
  requireScope(keyContext, 'domains:create')
  const request = readFields('body', input, keyContext)
  const team = await requireActiveTeam(request.teamId, keyContext, store, deadline, progress)
  const maxDomains = team.maxDomains ?? null

  const submitted = request.domains.map(readSubmitted)
  const question = { checkNames: options.checkNames, team, keyContext, store, deadline, progress }
  const names = await askAboutNames(question, submitted.filter(isName))
  progress.step = 'find'
  const { verdicts, found } = await tryStore('The registrations could not be looked up.', async () => {
    const found = await waitForStore(store, find(createLookUp(team.id, names, maxDomains !== null)), deadline)
    return { verdicts: judgeAll(team.id, names, found), found }
  })
  const room = maxDomains === null ? null : toRoom(maxDomains, found.teamCount)
  const idOf = new Map(found.registrations.map(({ domain, domainId }) => [domain, domainId]))
  let used = 0
  const results = submitted.map((read, index): PreviewResult => {
    const sent = request.domains[index] as string
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
