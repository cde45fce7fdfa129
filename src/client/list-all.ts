import { isText, optional, type Rules, requireOptions } from '../options.ts'
import type { ListDomainsResponse, ListedDomain } from '../wire/results.ts'
import {
  type Call,
  type CallOptions,
  callRules,
  DEFAULT_PATIENCE,
  get,
  onProgressRule,
  requireTexts,
  sendOnce,
  toWait,
} from './call.ts'
import { CallError } from './errors.ts'

/** Options of {@link listAll}. */
export interface ListAllOptions extends CallOptions {
  /** Default `oldest`, the order of registration. */
  order?: 'newest' | 'oldest' | undefined
  /** Lists only this name. */
  domain?: string | undefined
  /** Lists only names below this name. */
  below?: string | undefined
  /** Resumes after a page. Pass the `next` of the last {@link ListProgress}. */
  after?: string | undefined
  /** Called after each page, for instance to show progress. If this function throws or rejects, the work ends. */
  onProgress?: ((progress: ListProgress) => void) | undefined
}

/** The progress of {@link listAll}. */
export interface ListProgress {
  /** How many registrations have been read. */
  readonly done: number
  /** To resume later, pass this as `after`. `null` at the end. */
  readonly next: string | null
  /** The operations that the caller may use, such as `delete`; empty if the service does not say. */
  readonly operations: readonly string[]
}

/** The maximum number of registrations that the service returns at once. */
const PAGE_SIZE = '1000'

const listRules: Rules = {
  ...callRules,
  order: { holds: optional(order => order === 'newest' || order === 'oldest'), expected: '"newest" or "oldest"' },
  domain: { holds: optional(isText), expected: 'a hostname' },
  below: { holds: optional(isText), expected: 'a hostname' },
  after: { holds: optional(isText), expected: 'the "next" of a page' },
  onProgress: onProgressRule,
}

/**
 * Lists all registrations of one team, page by page, by calling a service that offers this operation (`GET {url}`). The
 * next page is requested once you have read the previous page. The key needs the scope `domains:read`. Calls are
 * retried in the same way as by {@link registerAll}.
 *
 * @returns The registrations in the requested order; with `below`, sorted by name.
 * @throws {CallError} from the iterator, if a retry would not change the response, such as 403, or if calls keep
 *   failing, as in {@link registerAll}.
 * @throws {TypeError} at once, if an option is missing, invalid or unknown.
 *
 * @example
 * for await (const { domain, createdAt } of listAll({ url: 'https://api.example.com/v1/domains', apiKey })) {
 *   console.log(domain, createdAt)
 * }
 */
export function listAll(options: ListAllOptions): AsyncGenerator<ListedDomain, void, undefined> {
  requireOptions(options, listRules)
  return readPages(options)
}

async function* readPages(options: ListAllOptions): AsyncGenerator<ListedDomain, void, undefined> {
  const { teamId, order, domain, below, onProgress } = options
  let { after } = options
  const seen = new Set([after])
  for (let done = 0; ; ) {
    const url = new URL(options.url)
    const query = { team_id: teamId, limit: PAGE_SIZE, after, order, domain, below }
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
    const { domains, next, operations = [] } = await send({ url, read: body => readPage(body, seen) }, options)
    done += domains.length
    await onProgress?.({ done, next, operations })
    yield* domains
    if (next === null) return
    after = next
    seen.add(next)
  }
}

/** Sends a call until it succeeds, no retry can help, or the next retry would come after `patience` has passed. */
export async function send<Value>(call: Call<Value>, options: CallOptions): Promise<Value> {
  const { patience = DEFAULT_PATIENCE, signal } = options
  const startedAt = performance.now()
  for (let failures = 1; ; failures += 1) {
    const attempt = await sendOnce(call, options)
    if ('value' in attempt) return attempt.value
    const { failure } = attempt
    const wait = toWait(failures, failure.retryAfter)
    if (!failure.mayPass || performance.now() - startedAt + wait > patience) throw new CallError(failure)
    await sleep(wait, signal)
  }
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => resolve(signal?.removeEventListener('abort', onAbort)), milliseconds)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
  })
}

/** @param seen The cursors of the requests so far. With one of them in the response, the pages would never end. */
function readPage(body: unknown, seen: ReadonlySet<string | undefined>): ListDomainsResponse['data'] {
  const data = get(body, 'data')
  const [domains, next] = [get(data, 'domains'), get(data, 'next')]
  if (!Array.isArray(domains)) throw new Error('it has no data.domains')
  for (const [index, listed] of domains.entries())
    requireTexts(`domains[${index}]`, listed, ['domain', 'domainId', 'createdAt'])
  if (next !== null && !isText(next)) throw new Error('data.next is neither a string nor null')
  if (next !== null && domains.length === 0) throw new Error('data.domains is empty, but data.next is not null')
  if (next !== null && seen.has(next)) throw new Error('data.next is the same as for an earlier page')
  const operations = get(data, 'operations') ?? []
  if (!Array.isArray(operations) || !operations.every(isText)) throw new Error('data.operations are no strings')
  return { domains, next, operations }
}
