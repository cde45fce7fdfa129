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

/**
 * Turns text from a response into one line, and replaces the API key in it, because a proxy may have copied the
 * request's headers into the response.
 *
 * @param apiKey The key of the client.
 */
export const takeWords = (words: string, apiKey: string): string =>
  toPlainText(words.replaceAll(apiKey, '[API key]'), LONGEST_WORDS)

/**
 * @param read Turns the parsed body into the value. Throws an error if the body is wrong; the message says what is
 * wrong.
 */
export function toAttempt<Value>(
  received: ReceivedResponse,
  read: (body: unknown) => Value,
  apiKey: string,
): Attempt<Value> {
  const { status, retryAfter, text, isCut } = received
  const body = parse(text)
  if (status === 200) {
    if (isCut) return { failure: { status, message: 'The response is larger than 4 MiB.', mayPass: false } }
    if (body === undefined) return { failure: toFailure(received, apiKey) }
    try {
      return { value: read(body) }
    } catch (cause) {
      const message = `The response does not belong to this operation: ${(cause as Error).message}.`
      return { failure: { status, message, mayPass: false } }
    }
  }
  const { error, message } = (body ?? {}) as { error?: unknown; message?: unknown }
  return {
    failure: {
      status,
      code: isText(error) ? takeWords(error, apiKey) : undefined,
      message: isText(message) ? takeWords(message, apiKey) : `The response was HTTP ${status}.`,
      mayPass: status === 408 || status === 429 || status >= 500,
      retryAfter,
    },
  }
}

/**
 * If the JSON was cut short, a retry may get the complete response. If the body is a login page, a retry would get the
 * same page.
 */
function toFailure({ status, mediaType, text }: ReceivedResponse, apiKey: string): FailedAttempt {
  const isCutShort = /json/i.test(mediaType) && /^\s*(\{|$)/.test(text)
  if (isCutShort) return { status, message: 'The response is not complete JSON.', mayPass: true }
  const type = mediaType === '' ? 'without a content type' : `with the content type "${takeWords(mediaType, apiKey)}"`
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
