import type { KeyContext } from '../keys/key-context.ts'
import { isFunction, optional, type Rule } from '../options.ts'
import { isAddress } from '../rules/name.ts'
import { judgeAll, type Verdict } from '../rules/overlap.ts'
import { type DnsRecord, isName, readDnsRecord, type Submitted } from '../rules/submitted.ts'
import type { DomainStore } from '../store/contract.ts'
import { waitingRule } from '../store/waiting.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { type Deadline, waitForStore } from '../time/deadline.ts'
import { countTotals, type PreviewDomainsResponse, type PreviewResult, toInvalidPreview } from '../wire/results.ts'
import { callOperation, type Operation, type OperationCall, openBatch, requireMethod, tryStore } from './call.ts'
import { askAboutNames, type CheckedOptions, checkNamesRule } from './check-names.ts'
import { createLookUp } from './create-request.ts'
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
  options: PreviewDomainsOptions = {},
): Promise<PreviewDomainsResponse> {
  return callOperation(previewOperation, { keyContext, input: body, store, options })
}

/** Options of {@link previewDomains}. */
export interface PreviewDomainsOptions extends CheckedOptions {
  /**
   * Returns the record that a preview shows beside a name that another team has. Pass it only if you look at claims:
   * the record tells the customer that adding it leads somewhere. Not called about IP addresses. Default: no record.
   *
   * @example
   * domainsRouter({ store, keys, checkNames: verification.checkNames, claimRecord: verification.record })
   */
  claimRecord?: ClaimRecord | undefined
}

/** See {@link PreviewDomainsOptions.claimRecord}. */
export type ClaimRecord = (teamId: string, domain: string) => Awaitable<DnsRecord>

export const claimRecordRule: Rule = {
  holds: optional(isFunction),
  expected: 'a function from a team and a name to a DNS record, such as verification.record',
}

/** {@link previewDomains}. */
export const previewOperation: Operation<PreviewDomainsResponse, PreviewDomainsOptions> = {
  scope: 'domains:create',
  needs: 'find',
  rules: { checkNames: checkNamesRule, waiting: waitingRule, claimRecord: claimRecordRule },
  perform: preview,
}

async function preview(
  call: OperationCall<PreviewDomainsOptions>,
  deadline: Deadline,
): Promise<PreviewDomainsResponse> {
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
  const claimRecords = await createClaimRecords(call, team.id, names, verdicts, deadline)
  let used = 0
  const results = submitted.map((read, index): PreviewResult => {
    const sent = inputs[index] as string
    if (!isName(read)) return toInvalidPreview(sent, read)
    const verdict = verdicts[used++] as Verdict
    const { domain } = read
    if (verdict.status === 'invalid') {
      const result = toInvalidPreview(sent, verdict)
      const record = claimRecords.get(domain)
      return result.conflicts ? { ...result, domain } : record ? { ...result, record } : result
    }
    if (verdict.status === 'created') return { status: 'created', input: sent, domain }
    // If the call contains a name twice and would create it, the second occurrence is `existing` but has no ID yet.
    const domainId = idOf.get(domain)
    return { status: 'existing', input: sent, domain, ...(domainId !== undefined && { domainId }) }
  })
  return { data: { results, totals: countTotals(results), room } }
}

/** The records for the names that other teams have, if the application shows them. */
async function createClaimRecords(
  { options: { claimRecord }, progress }: OperationCall<PreviewDomainsOptions>,
  teamId: string,
  names: readonly Submitted[],
  verdicts: readonly Verdict[],
  deadline: Deadline,
): Promise<ReadonlyMap<string, DnsRecord>> {
  if (!claimRecord) return new Map()
  progress.step = 'checkNames'
  const taken = names.filter(({ answer, domain }, index) => {
    const verdict = verdicts[index]
    const isTaken = verdict?.status === 'invalid' && verdict.code === 'domain_already_licensed'
    // What the application itself refused has the record of its own answer.
    return isTaken && typeof answer !== 'object' && !isAddress(domain)
  })
  return tryStore('The records for claims could not be made.', async () => {
    const records = taken.map(async ({ domain }) => {
      const record = readDnsRecord(await claimRecord(teamId, domain))
      if (!record) throw new TypeError('"claimRecord" must return a DNS record')
      return [domain, record] as const
    })
    return new Map(await deadline.wait(Promise.all(records)))
  })
}
