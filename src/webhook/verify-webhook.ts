import { isText, optional, type Rules, requireOptions } from '../options.ts'
import type { WebhookBody } from './create-webhook.ts'
import { hasValidSignature, ID, readSecrets, SIGNATURE, TIMESTAMP } from './signature.ts'

/** Options of {@link verifyWebhook}. */
export interface VerifyWebhookOptions {
  /**
   * The largest allowed difference between `webhook-timestamp` and this machine's clock, in milliseconds, in either
   * direction. The value of the header is in whole seconds. Default 300,000.
   */
  tolerance?: number | undefined
}

const DEFAULT_TOLERANCE = 300_000

const verifyRules: Rules = {
  tolerance: {
    holds: optional(tolerance => Number.isSafeInteger(tolerance) && Number(tolerance) >= 1000),
    expected: 'an integer of at least 1,000 (milliseconds)',
  },
}

/** The headers of a request, in the form of `fetch` or of Node's `http`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Thrown if a request fails verification. Respond with 401.
 *
 * @example
 * if (error instanceof WebhookVerificationError) reply(401, {}, { message: error.message })
 */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/**
 * Checks that the sender of a request has the secret, and that the request is unaltered (Standard Webhooks 1.0, section
 * "Verifying signatures"). Also checks that the timestamp of the request is within the `tolerance`, five minutes by
 * default. Does not detect a repeated request, so make sure that receiving the same change twice does no harm.
 *
 * @param headers The headers of the request.
 * @param body The body as received, before any parsing.
 * @param secret The secret that {@link createWebhook} signs with, or an array of secrets during a rotation.
 * @returns The parsed body.
 * @throws {WebhookVerificationError} if the request fails verification.
 * @throws {TypeError} if the secret is invalid, if the body was already parsed, or if an option is invalid or unknown.
 *
 * @example
 * export async function POST(request: Request): Promise<Response> {
 *   const body = await request.text()
 *   try {
 *     const { data } = await verifyWebhook(request.headers, body, secret)
 *     for (const change of data.changes) console.log(change.kind, change.domainId, change.domain)
 *     return new Response(null, { status: 204 })
 *   } catch (error) {
 *     if (!(error instanceof WebhookVerificationError)) throw error
 *     return new Response(error.message, { status: 401 })
 *   }
 * }
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string | readonly string[],
  options: VerifyWebhookOptions = {},
): Promise<WebhookBody> {
  requireOptions(options, verifyRules)
  const { tolerance = DEFAULT_TOLERANCE } = options
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('The body must be the string or bytes as received, before any parsing')
  }
  // Copies the bytes, because the application may reuse its buffer while the signature is checked.
  const received = typeof body === 'string' ? body : Uint8Array.from(body)
  const keys = await readSecrets(secret)
  const [id, timestamp, signature] = [ID, TIMESTAMP, SIGNATURE].map(name => readWebhookHeader(headers, name))
  if (!id || !timestamp || !signature) {
    throw new WebhookVerificationError(`The headers ${ID}, ${TIMESTAMP} and ${SIGNATURE} are required`)
  }
  if (!/^[0-9]{1,12}$/.test(timestamp) || id.includes('.')) {
    throw new WebhookVerificationError(`${TIMESTAMP} or ${ID} cannot be read`)
  }
  if (Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) * 1000 > tolerance) {
    throw new WebhookVerificationError(
      `The request was not sent in the last ${tolerance / 1000} seconds, or a clock is wrong`,
    )
  }
  if (!(await hasValidSignature(signature, { id, timestamp, body: received }, keys))) {
    throw new WebhookVerificationError('No signature matches')
  }
  return parseBody(received)
}

function readWebhookHeader(headers: WebhookHeaders, name: string): string | undefined {
  const value: unknown = isFetchHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([field]) => field.toLowerCase() === name)?.[1]
  if (Array.isArray(value)) return value.join(', ')
  return isText(value) ? value : undefined
}

/** Recognizes `Headers` objects, whether they come from the runtime or from a package. */
const isFetchHeaders = (headers: WebhookHeaders): headers is Headers => typeof headers.get === 'function'

function parseBody(body: string | Uint8Array): WebhookBody {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))
  } catch {
    throw new WebhookVerificationError('The body is not JSON')
  }
}
