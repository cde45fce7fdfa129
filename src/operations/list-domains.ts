import { internalError, invalidRequest } from '../errors/call-errors.ts'
import type { KeyContext } from '../keys/key-context.ts'
import type { Registration } from '../rules/registration.ts'
import type { DomainStore, ListOptions } from '../store/contract.ts'
import { isInvalidCursor } from '../store/contract.ts'
import { type Deadline, waitForStore } from '../time/deadline.ts'
import {
  type ExportDomainsQuery,
  expectedAfter,
  type ListDomainsQuery,
  parseExportQuery,
  parseListQuery,
  type Query,
  requests,
  requireParameters,
} from '../wire/requests.ts'
import { type ListDomainsResponse, type ListedDomain, toListedDomain } from '../wire/results.ts'
import {
  callOperation,
  type Operation,
  type OperationCall,
  type OperationOptions,
  requireMethod,
  requireTeam,
  startDeadline,
} from './call.ts'
import { advance, toCursor } from './each-registration.ts'

/**
 * Lists one team's registrations page by page, even if the team is suspended.
 *
 * @param query `team_id` (required with an organization key), `limit` (1 to 1,000, default 100), `after` (the `next` of
 *   the previous page), `order` (`oldest` or `newest`), `domain` (lists only this name) or `below` (lists only names
 *   below this one, in the order of names).
 * @returns The page. `next` is `null` on the last page.
 * @throws {ApiError} if the whole call fails. Checked in this order: 403 `insufficient_scope`, 400 `invalid_request`,
 *   404 `team_not_found`. 500 `internal_error` if the store failed.
 * @throws {TypeError} if the store has no `list`, or if a parameter is unknown.
 *
 * @example
 * const { data } = await listDomains(keyContext, { limit: 2, order: 'newest' }, store)
 * data.domains // [{ domain: 'www.example.com', domainId: '0199…', createdAt: '2026-11-22T10:00:00.000Z' }, …]
 * data.next // send it as "after" to get the next page
 */
export async function listDomains(
  keyContext: KeyContext,
  query: ListDomainsQuery,
  store: DomainStore,
  options: OperationOptions = {},
): Promise<ListDomainsResponse> {
  requireParameters(query, requests.list)
  return callOperation(listOperation, { keyContext, input: query, store, options })
}

/** {@link listDomains}. */
export const listOperation: Operation<ListDomainsResponse> = { scope: 'domains:read', needs: 'list', perform: listTeam }

async function listTeam(
  { keyContext, input, store, progress }: OperationCall,
  deadline: Deadline,
): Promise<ListDomainsResponse> {
  const { limit, ...page } = parseListQuery(input as Query, keyContext)
  const team = await requireTeam(page.teamId, keyContext, store, deadline, progress)
  progress.step = 'list'

  const question = { ...page, teamId: team.id }
  const listed = await listPage('list', store, { ...question, limit }, deadline)
  const last = listed.length < limit ? undefined : listed.at(-1)
  const cursor = last ? toCursor(last, question) : null
  // A full page may be the last one, so the store is asked for one more registration.
  const hasNext =
    cursor !== null && (await listPage('list', store, { ...question, after: cursor, limit: 1 }, deadline)).length > 0
  return { data: { domains: listed.map(toListedDomain), next: hasNext ? cursor : null } }
}

/**
 * Exports all registrations of one team, oldest first, even if the team is suspended. Only one page is in memory: the
 * next page is read once you have consumed the current one.
 *
 * @param query `team_id` (required with an organization key), and `after`. To resume an incomplete export, pass the
 *   `domainId` of its last line as `after`.
 * @param options `timeLimit`: milliseconds for each page.
 * @returns Pages of registrations. All checks are done before the promise resolves. If the store fails later, the
 *   iterator throws.
 * @throws {ApiError} as for {@link listDomains}.
 * @throws {TypeError} if the store has no `list`, or if a parameter is unknown.
 *
 * @example
 * for await (const page of await exportDomains(keyContext, {}, store)) {
 *   for (const { domain } of page) console.log(domain)
 * }
 */
export async function exportDomains(
  keyContext: KeyContext,
  query: ExportDomainsQuery,
  store: DomainStore,
  options: OperationOptions = {},
): Promise<AsyncIterableIterator<readonly ListedDomain[], void>> {
  requireParameters(query, requests.export)
  return callOperation(exportOperation, { keyContext, input: query, store, options })
}

/** {@link exportDomains}. */
export const exportOperation: Operation<Pages> = { scope: 'domains:read', needs: 'list', perform: startExport }

type Pages = AsyncIterableIterator<readonly ListedDomain[], void>

async function startExport(
  { keyContext, input, store, options, progress }: OperationCall,
  deadline: Deadline,
): Promise<Pages> {
  const { teamId, after } = parseExportQuery(input as Query, keyContext)
  const team = await requireTeam(teamId, keyContext, store, deadline, progress)
  progress.step = 'list'
  const read = (start: string | undefined) =>
    listPage('export', store, { teamId: team.id, after: start, limit: EXPORT_PAGE }, startDeadline(options))
  // The first page is read before the response begins, so the response can be a 500 if the store is down. A store that
  // does not return an array also leads to a 500, because copying the page then fails.
  return toPages([...(await read(after))], read)
}

/** The length of a page. While a reader stalls, one page and the buffers of the reader's connection stay in memory. */
const EXPORT_PAGE = 200

/**
 * Not written as a generator, because a generator would keep the previous page in memory while it reads the next one.
 */
function toPages(first: readonly Registration[], read: (after: string) => Promise<readonly Registration[]>): Pages {
  let begun: readonly Registration[] | undefined = first
  let after: string | undefined
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      const page = begun ?? (after === undefined ? [] : await read(after))
      begun = undefined
      const last = page.length < EXPORT_PAGE ? undefined : page.at(-1)
      after = last && advance(last, { after })
      return page.length === 0 ? { done: true, value: undefined } : { done: false, value: page.map(toListedDomain) }
    },
    async return() {
      begun = undefined
      after = undefined
      return { done: true, value: undefined }
    },
  }
}

/**
 * @throws {ApiError} 500 `internal_error`; 400 `invalid_request` if the store rejects the cursor that the caller sent.
 */
async function listPage(
  name: keyof typeof expectedAfter,
  store: DomainStore,
  page: ListOptions,
  deadline: Deadline,
): Promise<readonly Registration[]> {
  try {
    return await waitForStore(store, requireMethod(store, 'list')(page), deadline)
  } catch (cause) {
    if (isInvalidCursor(cause)) throw invalidRequest(`after ${expectedAfter[name]}`, cause)
    throw internalError('The registrations could not be listed.', cause)
  }
}
