import {
  emptyBody,
  invalidRequest,
  notDeclaredAsJson,
  notInUtf8,
  notJson,
  notPlain,
  payloadTooLarge,
  requestTimeout,
} from '../errors/call-errors.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { createDeadline, TimeLimitError } from '../time/deadline.ts'
import type { Query } from '../wire/requests.ts'

interface BodyLimits {
  /** The maximum size of a body, in bytes. */
  readonly bodyLimit: number
  /** The time within which the body must arrive, in milliseconds. */
  readonly bodyTimeLimit: number
}

/** The names of the operations that a handler may offer. */
export type OperationName = 'create' | 'preview' | 'delete' | 'list' | 'export' | 'waiting'

/** A request, in the same form from every adapter. */
export interface HandlerRequest {
  /** The requested operation, found by method and path; see {@link HandlerOptions.operations}. Default `create`. */
  readonly operation?: OperationName | undefined
  /** The ID of the request, if the framework assigns one. This ID is passed to `onError`, `onResult` and the log. */
  readonly id?: string | undefined
  /** The decoded query parameters, of a GET. A parameter that is sent several times is an array. */
  readonly query?: Query | undefined
  /**
   * Returns the value of a header.
   *
   * @param name In lower case.
   * @returns The value. Several lines are joined with commas (RFC 9110, section 5.3), as `Headers` does. If there are
   *   several `Authorization` lines, the value must not be just one of them.
   */
  header(name: string): string | null | undefined
  /**
   * Reads the body. Called at most once, after the caller is accepted. If reading takes longer than the time limit, the
   * call gets 408 and the promise is ignored. The adapter should then stop reading, as after a 413.
   *
   * @param limit The maximum size in bytes. If the body is larger, stop reading and throw an {@link ApiError} with the
   *   code `payload_too_large`.
   */
  readBody(limit: number): Awaitable<RequestBody>
}

/** A request from an adapter, with the framework's request. */
export interface AdapterRequest<Raw> extends HandlerRequest {
  /** The framework's request, with its session, user and address. */
  readonly raw: Raw
}

/** The body as it was sent, or as your server's body parser parsed it. */
export type RequestBody = { readonly bytes: Uint8Array } | { readonly text: string } | { readonly json: unknown }

/**
 * Whether a response with this status is sent before the whole request body has arrived. The connection cannot be
 * reused after such a response, unless the rest of the body is read.
 */
export const stopsReading = (status: number): boolean => status === 408 || status === 413

/**
 * How much of a body nobody needs is still read before its connection ends, in bytes and milliseconds. A peer that is
 * still sending when its connection is reset may lose the response (RFC 9112, section 9.6).
 */
export const MOST_DISCARDED_BYTES = 1024 * 1024
export const MOST_DISCARDED_TIME = 1000

/** A mistake of the application, so the call gets 500. */
export const readBefore = () => new Error('The request body has already been read, or is being read')

/** Collects the chunks of a body while it is read. `add` throws 413 `payload_too_large` above the limit. */
export function createChunks(limit: number) {
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    add(chunk: Uint8Array): void {
      length += chunk.byteLength
      if (length > limit) throw payloadTooLarge(limit)
      chunks.push(chunk)
    },
    toBytes(): Uint8Array {
      const bytes = new Uint8Array(length)
      let offset = 0
      for (const chunk of chunks) {
        bytes.set(chunk, offset)
        offset += chunk.byteLength
      }
      return bytes
    },
  }
}

/** Returns a header's value, even from an untyped accessor that returns the header's lines as an array. */
export function readHeader(request: HandlerRequest, name: string): string | undefined {
  const value: unknown = request.header(name)
  if (value === null || value === undefined) return undefined
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/**
 * Reads a JSON body: `application/json` in UTF-8, not compressed.
 *
 * A byte order mark is ignored, as RFC 8259, section 8.1, permits. If an object has duplicate names, the last one wins,
 * as in `JSON.parse`.
 *
 * @throws {ApiError} 415 `unsupported_media_type`, 413 `payload_too_large`, 408 `request_timeout`, 400
 *   `invalid_request`.
 */
export async function readJson(request: HandlerRequest, limits: BodyLimits): Promise<unknown> {
  const limit = limits.bodyLimit
  requireJson(request)
  if (Number(readHeader(request, 'content-length') ?? 0) > limit) throw payloadTooLarge(limit)
  const body = await readWithin(limits, request)
  if (has(body, 'json')) return body.json
  // The application's parser has its own limit; this is the limit of this package.
  const length = has(body, 'text') ? new TextEncoder().encode(body.text).byteLength : body.bytes.byteLength
  if (length > limit) throw payloadTooLarge(limit)
  return parseJson(has(body, 'text') ? body.text : decodeUtf8(body.bytes))
}

/** Like `in`, but ignores properties from a polluted `Object.prototype`. */
const has = <Name extends 'json' | 'text'>(
  body: RequestBody,
  name: Name,
): body is Extract<RequestBody, Record<Name, unknown>> => Object.hasOwn(body, name)

async function readWithin({ bodyLimit, bodyTimeLimit }: BodyLimits, request: HandlerRequest): Promise<RequestBody> {
  try {
    return await createDeadline(bodyTimeLimit).wait(request.readBody(bodyLimit))
  } catch (error) {
    throw error instanceof TimeLimitError ? requestTimeout() : error
  }
}

function requireJson(request: HandlerRequest): void {
  const contentType = readHeader(request, 'content-type') ?? ''
  if (!/^application\/json\s*(?:;|$)/i.test(contentType)) throw notDeclaredAsJson()
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8'
  if (!/^utf-?8$/i.test(charset)) throw notInUtf8()
  if (!/^(?:identity)?$/i.test(readHeader(request, 'content-encoding') ?? '')) throw notPlain()
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw invalidRequest('The request body is not valid UTF-8.', cause)
  }
}

function parseJson(text: string): unknown {
  const json = text.replace(/^\ufeff/, '')
  if (json.trim() === '') throw emptyBody()
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw notJson(cause)
  }
}

/**
 * Reads the path of a request's target, which may be a whole URL (RFC 9112, section 3.2.2). Its host may be anything
 * that a caller sends as `Host`, so a URL parser might reject it.
 */
export const readPath = (url: string): string => /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)/i.exec(url)?.[1] ?? ''

/** Reads the parameters of a URL, from its first question mark to its fragment (RFC 3986, section 3.4). */
export function readQuery(url: string): Query {
  const query = /^[^?#]*\?([^#]*)/.exec(url)?.[1]
  const parameters: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = parameters[name]
    if (Array.isArray(earlier)) earlier.push(value)
    else parameters[name] = earlier === undefined ? value : [earlier, value]
  }
  return parameters
}
