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
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  internal_error: 500,
  domain_registration_unavailable: 503,
} as const satisfies Record<string, number>

/** The `error` field of an error answer. */
export type ErrorCode = keyof typeof statusByErrorCode

const brand = Symbol.for('domain-registration.ApiError')

/**
 * The failure of a whole call, ready to be sent: status, code, message and headers are what the caller may see.
 * What went wrong inside is in `cause` and is for the host's logs only.
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
  /** One of the codes of {@link ErrorCode}; stable, made for programs. */
  readonly code: ErrorCode
  /** The HTTP status that belongs to the code. */
  readonly status: number
  /** Headers that the answer must carry, names in their usual spelling: `WWW-Authenticate`, `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>

  /** @param message For the caller: what was wrong and what to send instead. Never holds a secret. */
  constructor(code: ErrorCode, message: string, options: { headers?: Record<string, string>; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.status = statusByErrorCode[code]
    this.headers = options.headers ?? {}
    Object.defineProperty(this, brand, { value: true })
  }
}

/**
 * Whether a caught value is an {@link ApiError}, also when it comes from the other copy of a package that was loaded
 * both as an ES module and as CommonJS, where `instanceof` says no.
 */
export function isApiError(value: unknown): value is ApiError {
  return typeof value === 'object' && value !== null && brand in value
}
