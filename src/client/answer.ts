import { toPlainText } from '../errors/plain-text.ts'
import { isText } from '../options.ts'
import type { ReceivedResponse } from '../outgoing/send-request.ts'

/** The outcome of sending a call once. */
export type Attempt<Value> = { readonly value: Value } | { readonly failure: FailedAttempt }

export interface CallFailure {
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly message: string
  readonly cause?: unknown
}

/**
 * The maximum length of a code or message from the service, in UTF-16 code units. Longer codes and messages are
 * shortened, because they are logged and shown on terminals.
 */
const LONGEST_WORDS = 1000

export interface FailedAttempt extends CallFailure {
  /** Whether the same call may succeed later. */
  readonly mayPass: boolean
  /** How long the client must wait before the next attempt, according to the response, in milliseconds. */
  readonly retryAfter?: number | undefined
}

/** What no message may show: the API key, and the values of the headers that the caller adds. */
export interface Secrets {
  readonly apiKey?: string | undefined
  readonly headers?: Headers | undefined
}

/** A shorter value of a header, such as `1` or `en`, is no secret, and replacing it would make messages unreadable. */
const SHORTEST_SECRET = 8

/**
 * Turns text from a response into one line, and replaces secrets in it, because a proxy may have copied the request's
 * headers into the response.
 */
export function takeWords(words: string, { apiKey, headers = new Headers() }: Secrets): string {
  const values = [...headers.values()].flatMap(value => [value, ...value.split(/[\s;,=]+/)])
  const secrets = values.filter(({ length }) => length >= SHORTEST_SECRET)
  const withoutKey = apiKey === undefined ? words : words.replaceAll(apiKey, '[API key]')
  return toPlainText(
    secrets.reduce((text, secret) => text.replaceAll(secret, '[header]'), withoutKey),
    LONGEST_WORDS,
  )
}

/**
 * @param url The URL that was called.
 * @param read Turns the parsed body into the value. Throws an error if the body is wrong; the message says what is
 * wrong.
 */
export function toAttempt<Value>(
  received: ReceivedResponse,
  read: (body: unknown) => Value,
  url: string | URL,
  secrets: Secrets,
): Attempt<Value> {
  const { status, retryAfter, text, isCut } = received
  const body = parse(text)
  if (status === 200) {
    if (isCut) return { failure: { status, message: 'The response is larger than 4 MiB.', mayPass: false } }
    if (body === undefined) return { failure: toFailure(received, secrets) }
    try {
      return { value: read(body) }
    } catch (cause) {
      const message = `The response does not belong to this operation: ${(cause as Error).message}.`
      return { failure: { status, message, mayPass: false } }
    }
  }
  // In browsers, a redirect has the status 0.
  if (status < 200 || (status >= 300 && status < 400)) {
    return { failure: { status: status || undefined, message: describeRedirect(received, url), mayPass: false } }
  }
  const { error, message } = (body ?? {}) as { error?: unknown; message?: unknown }
  return {
    failure: {
      status,
      code: isText(error) ? takeWords(error, secrets) : undefined,
      message: isText(message) ? takeWords(message, secrets) : `The response was HTTP ${status}.`,
      mayPass: status === 408 || status === 429 || status >= 500,
      retryAfter,
    },
  }
}

/** The client follows no redirect: `fetch` could turn the POST into a GET, or send the key to another server. */
function describeRedirect({ location }: ReceivedResponse, url: string | URL): string {
  const { href } = new URL(url)
  const target = location !== undefined && URL.canParse(location, href) ? new URL(location, href).href : undefined
  const isAtSlash = target === undefined ? href.endsWith('/') : `${target}/` === href
  const advice = isAtSlash ? 'use the address without the slash' : 'use the address to which the service redirects'
  return `The call was redirected; ${advice}.`
}

/**
 * If the JSON was cut short, a retry may get the complete response. If the body is a login page, a retry would get the
 * same page.
 */
function toFailure({ status, mediaType, text }: ReceivedResponse, secrets: Secrets): FailedAttempt {
  const isCutShort = /json/i.test(mediaType) && /^\s*(\{|$)/.test(text)
  if (isCutShort) return { status, message: 'The response is not complete JSON.', mayPass: true }
  const type = mediaType === '' ? 'without a content type' : `with the content type "${takeWords(mediaType, secrets)}"`
  const message = `The response is not JSON: HTTP ${status} ${type}. It comes from another service, or from a proxy.`
  return { status, message, mayPass: false }
}

/** @returns The parsed text; `undefined` if the text is not JSON, for instance because it was cut short. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The fields that a result has besides `input`, for each status. All are strings. */
export type FieldsByStatus = Readonly<Record<string, readonly string[]>>

/**
 * Lets the compiler compare such fields with the type of the results. The schemas of `src/wire` would check them too,
 * but zod would make the client of a page six times as large.
 */
export type FieldsOf<Result extends { readonly status: string }> = {
  readonly [Status in Result['status']]: readonly Exclude<
    keyof Extract<Result, { readonly status: Status }>,
    'status' | 'input'
  >[]
}

/**
 * Reads one result for each name that was sent, in the order of the names. Each result is checked, because a 200 may
 * also come from a proxy or another service, or contain the results of another call.
 *
 * @throws {Error} if the body is wrong; the message says what is wrong.
 */
export function readResults<Result>(body: unknown, sent: readonly string[], fields: FieldsByStatus): readonly Result[] {
  const results = get(get(body, 'data'), 'results')
  if (!Array.isArray(results)) throw new Error('it has no data.results')
  if (results.length !== sent.length) throw new Error(`it has ${results.length} results for ${sent.length} names`)
  for (const [index, input] of sent.entries()) requireResult(`results[${index}]`, results[index], input, fields)
  return results
}

function requireResult(path: string, result: unknown, input: string, fields: FieldsByStatus): void {
  const status = get(result, 'status')
  if (!isText(status) || !Object.hasOwn(fields, status)) {
    throw new Error(`${path}.status is not one of ${Object.keys(fields).join(', ')}`)
  }
  if (get(result, 'input') !== input) throw new Error(`${path}.input is not the name that was sent`)
  requireTexts(path, result, fields[status] ?? [])
}

/** @throws {Error} if a field is not a string; the message names the first such field. */
export function requireTexts(path: string, value: unknown, fields: readonly string[]): void {
  const wrong = fields.find(field => !isText(get(value, field)))
  if (wrong !== undefined) throw new Error(`${path}.${wrong} is not a string`)
}

/** Returns a property of a parsed body, or `undefined` if there is none. */
export function get(value: unknown, property: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[property] : undefined
}
