import { createBrand } from './brand.ts'

/**
 * The codes with which a whole call can fail, and their HTTP statuses. TypeScript accepts any other code only with a
 * status.
 *
 * Errors of a single hostname are not in this list, because they are results; see {@link InvalidCode}.
 */
export const statusByErrorCode = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  team_suspended: 403,
  domain_limit_reached: 403,
  team_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  internal_error: 500,
  domain_registration_unavailable: 503,
} as const satisfies Record<string, number>

/** The codes of this package in the `error` field of a response; an application may add its own. */
export type ErrorCode = keyof typeof statusByErrorCode

/** Options of {@link ApiError}, besides its code and message. */
export interface ApiErrorOptions {
  /** The HTTP status, 400 to 599. Default: the status of the code. A code of your own needs a status. */
  status?: number | undefined
  /** Headers of the response, with names in their usual spelling: `WWW-Authenticate`, `Retry-After`. */
  headers?: Readonly<Record<string, string>> | undefined
  /** The cause, for the logs of your server; never shown to the caller. */
  cause?: unknown
}

const brand = createBrand<ApiError>('ApiError')

/**
 * The failure of a whole call, ready to be sent as the response. The caller may see the status, code, message and
 * headers of the error; the `cause` is only for the logs of your server.
 *
 * @throws {TypeError} if the error cannot be sent as a response. A code of your own needs a status, and every status
 *   must be from 400 to 599. The headers must be valid in HTTP. Headers that describe how the body is sent are not
 *   allowed, because the server sets them.
 *
 * @example
 * throw new ApiError('payment_required', 'The trial has ended; choose a plan.', { status: 402 })
 *
 * @example
 * try {
 *   await registerDomains(keyContext, body, store)
 * } catch (error) {
 *   if (!isApiError(error)) throw error
 *   reply(error.status, error.headers, { error: error.code, message: error.message })
 * }
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** An {@link ErrorCode} or a code of your own. Stable, for programs. */
  readonly code: ErrorCode | (string & {})
  /** The HTTP status of the response, 400 to 599. */
  readonly status: number
  /** Headers of the response, with names in their usual spelling: `WWW-Authenticate`, `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>

  /** @param message For the caller: what is wrong and what to send instead. Never include a secret. */
  constructor(code: ErrorCode, message: string, options?: ApiErrorOptions)
  constructor(code: string, message: string, options: ApiErrorOptions & { status: number })
  constructor(code: string, message: string, options: ApiErrorOptions = {}) {
    if (typeof options !== 'object' || options === null)
      throw new TypeError('The options of an ApiError must be an object, such as { status: 402 }')
    // Reads only own properties, so options from a polluted Object.prototype are ignored.
    const own: ApiErrorOptions = Object.assign(Object.create(null), options)
    super(message, 'cause' in own ? { cause: own.cause } : undefined)
    this.code = code
    this.status = own.status ?? statusOf(code)
    this.headers = { ...own.headers }
    requireSendable(this)
    brand.put(this)
  }
}

/**
 * Returns whether a caught value is an {@link ApiError}. Unlike `instanceof`, this function also recognizes errors from
 * another copy of this package: a process may load the package both as an ES module and as CommonJS.
 *
 * @example
 * if (isApiError(error)) reply(error.status, error.headers, { error: error.code, message: error.message })
 */
export function isApiError(value: unknown): value is ApiError {
  return brand.isOn(value)
}

/** Returns the default status of a code. An inherited property, such as `constructor`, is not a code. */
function statusOf(code: string): number {
  if (Object.hasOwn(statusByErrorCode, code)) return statusByErrorCode[code as ErrorCode]
  throw new TypeError(`The code ${JSON.stringify(code)} has no default status; pass one, such as { status: 402 }`)
}

/**
 * Checks that an error can be sent as a response.
 *
 * @throws {TypeError} if an argument is invalid; the message is about the first invalid argument.
 */
export function requireSendable({ code, status, message, headers }: ApiError): void {
  if (typeof code !== 'string' || code === '') throw new TypeError('The code of an ApiError must be a non-empty string')
  if (typeof message !== 'string') throw new TypeError('The message of an ApiError must be a string')
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new TypeError(`The status of an ApiError must be an integer from 400 to 599; it is ${String(status)}`)
  }
  for (const [name, value] of Object.entries(headers)) {
    if (/^(?:content-length|content-encoding|transfer-encoding|trailer)$/i.test(name)) {
      throw new TypeError(`An ApiError must not have the header ${name}: the server sets it`)
    }
    // RFC 9110, sections 5.1 and 5.5. A line break in a value would inject another header field.
    const isName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)
    if (!isName || typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new TypeError(`The header ${JSON.stringify(name)} of an ApiError has a name or value that cannot be sent`)
    }
  }
}
