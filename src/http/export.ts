import { isApiError } from '../errors/api-error.ts'
import type { ListedDomain } from '../wire/results.ts'

export const exportFormats = {
  /**
   * RFC 4180. No value needs quotation marks, and no spreadsheet reads a value as a formula: names begin with a letter,
   * a digit or `*`.
   */
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    fileName: 'domains.csv',
    head: 'domain,domainId,createdAt\r\n',
    toLine: ({ domain, domainId, createdAt }: ListedDomain) => `${domain},${domainId},${createdAt}\r\n`,
  },
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    fileName: 'domains.ndjson',
    head: '',
    toLine: (listed: ListedDomain) => `${JSON.stringify(listed)}\n`,
  },
} as const

/** An export that has begun: its first page is read, so the response can be a 200. */
export interface Export {
  readonly pages: AsyncIterator<readonly ListedDomain[], void>
  readonly format: (typeof exportFormats)[keyof typeof exportFormats]
}

interface Guard {
  /** Looks up the caller again. @throws if the caller may no longer read. */
  readonly requireCaller: () => Promise<void>
  /** Called if an export fails in the middle of the response, with the error and the step that failed. */
  readonly report: (error: unknown, step: 'authenticate' | 'list') => void
}

/** How long a check of an export's caller stays valid, in milliseconds. */
const CALLER_IS_CURRENT_FOR = 5000

/**
 * Writes an export page by page. Looks up the caller again every few seconds, so an export ends soon after its key is
 * revoked or expires. Throws after a failure, or once the key is no longer valid; the adapter then cuts off the
 * response.
 */
export async function* writeExport(
  { pages, format }: Export,
  { requireCaller, report }: Guard,
): AsyncGenerator<string, void> {
  let checkedAt = performance.now()

  /** A function of its own, so that no array of registrations stays in memory while the caller reads. */
  async function readPage(): Promise<string> {
    let step: 'authenticate' | 'list' = 'authenticate'
    try {
      if (performance.now() - checkedAt > CALLER_IS_CURRENT_FOR) {
        await requireCaller()
        checkedAt = performance.now()
      }
      step = 'list'
      const { done, value } = await pages.next()
      return done ? '' : value.map(format.toLine).join('')
    } catch (error) {
      // If the caller is rejected, for example because its key was revoked, nothing has failed.
      if (!isApiError(error)) report(error, step)
      else if (error.status >= 500) report(error.cause ?? error, step)
      throw error
    }
  }

  try {
    if (format.head !== '') yield format.head
    for (let text = await readPage(); text !== ''; text = await readPage()) yield text
  } finally {
    await pages.return?.()
  }
}

/**
 * Takes the pieces of an export, one each time the caller has read the previous one. `onStall` is called if the caller
 * does not read a piece in time: otherwise a caller that stops reading would keep its connection open, and a page in
 * memory, indefinitely.
 */
export function takePieces(pieces: AsyncIterable<string>, timeLimit: number, onStall: () => void) {
  const iterator = pieces[Symbol.asyncIterator]()
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasEnded = false
  return {
    async next(): Promise<IteratorResult<string, void>> {
      clearTimeout(timer)
      const next = await iterator.next()
      if (!next.done && !hasEnded) timer = setTimeout(onStall, timeLimit)
      return next
    },
    /** Ends the export, whether or not all of it was read. */
    async end(): Promise<void> {
      hasEnded = true
      clearTimeout(timer)
      await iterator.return?.()
    },
  }
}
