import { storeFailed } from './api-errors.ts'
import { createDeadline, waitForStore } from './deadline.ts'
import { classifyHostname } from './hostname/classify.ts'
import { type KeyContext, requireScope } from './keys/key-context.ts'
import type { Verdict } from './registry/overlap.ts'
import { createLookUp, judgeAll } from './registry/request.ts'
import type { DomainStore, LookUpResult } from './registry/store.ts'
import {
  type OperationOptions,
  RETRY_AFTER_SECONDS,
  requireActiveTeam,
  requireMethod,
  requireOperationOptions,
} from './team.ts'
import { parseRequest } from './wire/request.ts'
import { countTotals, type PreviewDomainsResponse, type PreviewResult } from './wire/response.ts'

/**
 * Tells what {@link registerDomains} would answer now, and changes nothing: it saves, leases and pushes nothing.
 * Another call may change the answer before the names are registered.
 *
 * @param body As for registering.
 * @returns As for registering, but `created` without a `domainId`.
 * @throws {ApiError} as for registering, except 503.
 * @throws {TypeError} for a store without `find`.
 *
 * @example
 * const { data } = await previewDomains(keyContext, { domains: ['www.example.com'] }, store)
 * data.results[0] // { status: 'created', input: 'www.example.com', domain: 'www.example.com' }
 */
export async function previewDomains(
  keyContext: KeyContext,
  body: unknown,
  store: DomainStore,
  options: OperationOptions = {},
): Promise<PreviewDomainsResponse> {
  const deadline = createDeadline(requireOperationOptions(options).timeLimit)
  const find = requireMethod(store, 'find')
  requireScope(keyContext, 'domains:create')
  const request = parseRequest(body, keyContext)
  const team = await requireActiveTeam(request.teamId, keyContext, store, deadline)

  const hostnames = request.domains.map(classifyHostname)
  const names = hostnames.filter(hostname => hostname.valid)
  let found: LookUpResult
  let verdicts: readonly Verdict[]
  try {
    found = await waitForStore(store, find(createLookUp(team.id, names)), deadline)
    verdicts = judgeAll(team.id, names, found)
  } catch (cause) {
    throw storeFailed('The registrations could not be looked up.', RETRY_AFTER_SECONDS, cause)
  }
  const existing = new Map(found.registrations.map(registration => [registration.domain, registration]))
  let used = 0
  const results = hostnames.map((hostname, index): PreviewResult => {
    const input = request.domains[index] as string
    if (!hostname.valid) return { status: 'invalid', input, code: hostname.code, message: hostname.message }
    const verdict = verdicts[used++]
    if (verdict?.status === 'invalid') return { status: 'invalid', input, code: verdict.code, message: verdict.message }
    // A name that the call itself would create before it has no ID yet.
    const domainId = existing.get(hostname.domain)?.domainId
    const { domain } = hostname
    if (verdict?.status !== 'existing') return { status: 'created', input, domain }
    return domainId === undefined
      ? { status: 'existing', input, domain }
      : { status: 'existing', input, domain, domainId }
  })
  return { data: { results, totals: countTotals(results) } }
}
