import { isText, optional, type Rules, requireOptions } from '../options.ts'
import type { ListDomainsResponse, ListedDomain } from '../wire/response.ts'
import { get, requireTexts } from './answer.ts'
import { type CallOptions, callRules, onProgressRule, send } from './call.ts'

/** Options of {@link listAll}. */
export interface ListAllOptions extends CallOptions {
  /** Default `oldest`, the order of registration. */
  order?: 'newest' | 'oldest' | undefined
  /** Lists only this name. */
  domain?: string | undefined
  /** Lists only names below this one. */
  below?: string | undefined
  /** Resumes after a page: the `next` of the last {@link ListProgress}. */
  after?: string | undefined
  /** Called after each page, for instance to show progress. What it throws ends the work. */
  onProgress?: ((progress: ListProgress) => void) | undefined
}

/** The progress of {@link listAll}. */
export interface ListProgress {
  /** How many registrations have been read. */
  readonly done: number
  /** To resume later, as `after`; `null` at the end. */
  readonly next: string | null
}

/** The most registrations that the service returns at once. */
const PAGE_SIZE = '1000'

const rules: Rules = {
  ...callRules,
  order: { holds: optional(order => order === 'newest' || order === 'oldest'), expected: '"newest" or "oldest"' },
  domain: { holds: optional(isText), expected: 'a hostname' },
  below: { holds: optional(isText), expected: 'a hostname' },
  after: { holds: optional(isText), expected: 'the "next" of a page' },
  onProgress: onProgressRule,
}

/**
 * Lists all registrations of one team with a service that offers this operation (`GET {url}`), page by page; the next
 * page is requested once the previous one is read. The key needs the scope `domains:read`. Retries are those of
 * {@link registerAll}.
 *
 * @returns The registrations in the requested order; with `below`, sorted by name.
 * @throws {CallError} from the iterator, for a response that a retry would not change, such as 403, and as
 *   {@link registerAll} when calls keep failing.
 * @throws {TypeError} at once, for an option that is missing, wrong or does not exist.
 *
 * @example
 * for await (const { domain, createdAt } of listAll({ url: 'https://api.example.com/v1/domains', apiKey })) {
 *   console.log(domain, createdAt)
 * }
 */
export function listAll(options: ListAllOptions): AsyncGenerator<ListedDomain, void, undefined> {
  requireOptions(options, rules)
  return readPages(options)
}

async function* readPages(options: ListAllOptions): AsyncGenerator<ListedDomain, void, undefined> {
  const { teamId, order, domain, below, onProgress } = options
  let { after } = options
  // Brent's algorithm finds a cycle of cursors, however long, with one cursor kept.
  let kept = after
  for (let [done, pages] = [0, 1]; ; pages += 1) {
    const url = new URL(options.url)
    const query = { team_id: teamId, limit: PAGE_SIZE, after, order, domain, below }
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
    const { domains, next } = await send({ url, read: body => readPage(body, kept) }, options)
    done += domains.length
    onProgress?.({ done, next })
    yield* domains
    if (next === null) return
    after = next
    const isPowerOfTwo = (pages & (pages - 1)) === 0
    if (isPowerOfTwo) kept = next
  }
}

/** @throws {Error} that says what is wrong. With a cursor that came before, the pages would never end. */
function readPage(body: unknown, earlier: string | undefined): ListDomainsResponse['data'] {
  const data = get(body, 'data')
  const [domains, next] = [get(data, 'domains'), get(data, 'next')]
  if (!Array.isArray(domains)) throw new Error('it has no data.domains')
  for (const [index, listed] of domains.entries())
    requireTexts(`domains[${index}]`, listed, ['domain', 'domainId', 'createdAt'])
  if (next !== null && !isText(next)) throw new Error('data.next is neither a string nor null')
  if (next !== null && domains.length === 0) throw new Error('data.domains is empty, but data.next is not null')
  if (next !== null && next === earlier) throw new Error('data.next is that of an earlier page')
  return { domains, next }
}
