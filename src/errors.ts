/**
 * Every way a whole call can fail, and the HTTP status that says so. A code that is not in this table does not compile.
 *
 * Failures of a single hostname are not here: they are results, see {@link InvalidCode}.
 */
export const statusByErrorCode = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  team_suspended: 403,
  team_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  internal_error: 500,
  domain_registration_unavailable: 503,
} as const satisfies Record<string, number>

/** The `error` field of an error answer, where it is one of this package's own. */
export type ErrorCode = keyof typeof statusByErrorCode

/** What an {@link ApiError} may be made with beside its code and message. */
export interface ApiErrorOptions {
  /** The HTTP status, 400 to 599. Default: the status of the code; a code of the host's own has none and needs one. */
  status?: number | undefined
  /** Header fields of the answer, names in their usual spelling: `WWW-Authenticate`, `Retry-After`. */
  headers?: Readonly<Record<string, string>> | undefined
  /** What went wrong inside. For the host's logs; the caller never sees it. */
  cause?: unknown
}

const brand = Symbol.for('domain-registration.ApiError')

/**
 * The failure of a whole call, ready to be sent: status, code, message and headers are what the caller may see.
 * What went wrong inside is in `cause` and is for the host's logs only.
 *
 * @throws {TypeError} for an error that could not be sent: a code of the host's own without a status, a status that is
 *   no error, a header field that HTTP does not allow.
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
  /** One of the codes of {@link ErrorCode}, or the host's own; stable, made for programs. */
  readonly code: ErrorCode | (string & {})
  /** The HTTP status of the answer, 400 to 599. */
  readonly status: number
  /** Headers that the answer must carry, names in their usual spelling: `WWW-Authenticate`, `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>

  /** @param message For the caller: what was wrong and what to send instead. Never holds a secret. */
  constructor(code: ErrorCode, message: string, options?: ApiErrorOptions)
  constructor(code: string, message: string, options: ApiErrorOptions & { status: number })
  constructor(code: string, message: string, options: ApiErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.status = options.status ?? statusOf(code)
    this.headers = { ...options.headers }
    requireSendable(this)
    Object.defineProperty(this, brand, { value: true })
  }
}

/**
 * Whether a caught value is an {@link ApiError}, also when it comes from the other copy of a package that was loaded
 * both as an ES module and as CommonJS, where `instanceof` says no.
 *
 * @example
 * if (isApiError(error)) reply(error.status, error.headers, { error: error.code, message: error.message })
 */
export function isApiError(value: unknown): value is ApiError {
  try {
    return typeof value === 'object' && value !== null && brand in value
  } catch {
    return false // A revoked proxy throws whatever it is asked.
  }
}

/** A code such as `constructor` is none of the table's, though every object answers to it. */
function statusOf(code: string): number {
  if (Object.hasOwn(statusByErrorCode, code)) return statusByErrorCode[code as ErrorCode]
  throw new TypeError(
    `The code ${JSON.stringify(code)} has no status of its own; pass one: new ApiError(code, message, { status: 402 })`,
  )
}

/**
 * Checks that an error can be answered as it stands.
 *
 * @throws {TypeError} that says what is wrong.
 */
export function requireSendable({ code, status, message, headers }: ApiError): void {
  if (typeof code !== 'string' || code === '') throw new TypeError('The code of an ApiError must be a text')
  if (typeof message !== 'string') throw new TypeError('The message of an ApiError must be a text')
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new TypeError(`The status of an ApiError must be a whole number from 400 to 599; it is ${String(status)}`)
  }
  for (const [name, value] of Object.entries(headers)) {
    // RFC 9110, sections 5.1 and 5.5. A line break in a value would begin a header field that nobody meant.
    if (
      typeof value === 'string' &&
      /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) &&
      /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    )
      continue
    throw new TypeError(
      `The header field ${JSON.stringify(name)} of an ApiError has a name or value that cannot be sent`,
    )
  }
}
