import type { Rule } from '../options.ts'
import { runWithin } from '../time/deadline.ts'

/** A URL that `fetch` can call. The URL is not shown in messages, because it may contain a password. */
export const httpUrlRule = (example: string): Rule => ({
  holds: isHttpUrl,
  expected: `an http: or https: URL without a user name or password in it, such as "${example}"`,
  isSecret: true,
})

function isHttpUrl(value: unknown): boolean {
  if (typeof value !== 'string' && !(value instanceof URL)) return false
  if (!URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** A response whose body was read to its end, or up to the limit. */
export interface ReceivedResponse {
  readonly status: number
  /** The media type without its parameters, such as `application/json`; empty if there is none. */
  readonly mediaType: string
  /** The URL to which the response redirects. Browsers hide this URL, and the status, which is then 0. */
  readonly location: string | undefined
  /** How long to wait before the next request, according to the response: from 0 to one hour, in milliseconds. */
  readonly retryAfter: number | undefined
  readonly text: string
  /** Whether `text` is only the beginning of the body, because the body is longer than its limit. */
  readonly isCut: boolean
}

interface RequestOptions {
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds for the whole exchange. */
  readonly timeLimit: number
  /** The maximum number of bytes to read from the body, counted after decompression. */
  readonly bodyLimit: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a request and reads the response. Returns in time even if `fetch` ignores its signal.
 *
 * @throws {TimeLimitError} after the time limit.
 * @throws The signal's reason, once the signal is aborted.
 */
export function sendRequest(
  url: string | URL,
  init: RequestInit,
  { fetch = globalThis.fetch, timeLimit, bodyLimit, signal }: RequestOptions,
): Promise<ReceivedResponse> {
  const limits = { milliseconds: timeLimit, message: `No response within ${timeLimit} ms`, signal }
  return runWithin(limits, async signal => {
    // A redirect would turn the POST into a GET, or send the key to another server.
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const retryAfter = readRetryAfter(response.headers.get('Retry-After'))
    const [mediaType = ''] = response.headers.get('Content-Type')?.split(';') ?? []
    return {
      status: response.status,
      mediaType: mediaType.trim(),
      location: response.headers.get('Location') ?? undefined,
      retryAfter,
      ...(await readText(response, bodyLimit)),
    }
  })
}

/** A few bytes on the wire may decompress to gigabytes, so the body is read only up to its limit. */
async function readText({ body }: Response, limit: number): Promise<Pick<ReceivedResponse, 'text' | 'isCut'>> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let left = limit; reader; ) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value.subarray(0, left), { stream: true })
    left -= value.byteLength
    if (left >= 0) continue
    // Closes the connection. The response is returned even if closing fails.
    reader.cancel().catch(() => {})
    return { text, isCut: true }
  }
  return { text: text + decoder.decode(), isCut: false }
}

/** One hour. If the response asks for a longer wait, the next request is sent after an hour. */
const LONGEST_RETRY_AFTER = 3_600_000

/**
 * Reads a `Retry-After`: a number of seconds or a date (RFC 9110, section 10.2.3). Returns `undefined` for any other
 * value.
 */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  // Some implementations of `fetch` keep blanks at the end of a header.
  const text = value.trim()
  const wait = /^[0-9]+$/.test(text) ? Number(text) * 1000 : readDate(text) - Date.now()
  return Number.isNaN(wait) ? undefined : Math.min(LONGEST_RETRY_AFTER, Math.max(0, wait))
}

/** `GMT` is required, because `Date.parse` also reads "1.5" and "-5" as dates. */
const readDate = (value: string): number => (value.endsWith(' GMT') ? Date.parse(value) : Number.NaN)
