import { requireOptions } from '../options.ts'
import type { WaitingDomain } from '../wire/results.ts'
import { type CallOptions, callRules, get, requireTexts } from './call.ts'
import { send } from './list-all.ts'
import { toUrlBelow } from './operations.ts'

/** Options of {@link listAllWaiting}. */
export interface ListAllWaitingOptions extends CallOptions {}

/**
 * Lists the names of one team that wait to be registered, by calling a service that offers this operation (`GET
 * {url}/waiting`). The key needs the scope `domains:read`. Calls are retried in the same way as by {@link registerAll}.
 * To end a name's wait, delete it; see {@link deleteAll}.
 *
 * @returns The names, at most 1,000, sorted by domain.
 * @throws {CallError} if a retry would not change the response, such as 403, or if calls keep failing.
 * @throws {TypeError} if an option is missing, invalid or unknown.
 *
 * @example
 * for (const { domain, message } of await listAllWaiting({ url: 'https://api.example.com/v1/domains', apiKey }))
 *   console.log(domain, message)
 */
export async function listAllWaiting(options: ListAllWaitingOptions): Promise<readonly WaitingDomain[]> {
  requireOptions(options, callRules)
  const url = new URL(toUrlBelow(options.url, '/waiting'))
  if (options.teamId !== undefined) url.searchParams.set('team_id', options.teamId)
  return send({ url, read: readWaiting }, options)
}

function readWaiting(body: unknown): readonly WaitingDomain[] {
  const domains = get(get(body, 'data'), 'domains')
  if (!Array.isArray(domains)) throw new Error('it has no data.domains')
  const texts = ['domain', 'since', 'until', 'lastTried', 'nextTry', 'code', 'reason', 'message']
  for (const [index, listed] of domains.entries()) requireTexts(`domains[${index}]`, listed, texts)
  return domains
}
