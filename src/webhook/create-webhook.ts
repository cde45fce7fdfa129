import { toPlainText } from '../errors/plain-text.ts'
import { countRule, isFunction, isText, optional, type Rules, requireOptions } from '../options.ts'
import { MonitorUnavailableError, toChange } from '../outbox/contract.ts'
import { httpUrlRule, type ReceivedResponse, sendRequest } from '../outgoing/send-request.ts'
import type { Change } from '../rules/registration.ts'
import { sha256 } from '../runtime/sha256.ts'
import { TimeLimitError, timeLimitRule } from '../time/deadline.ts'
import { ID, readSecrets, SIGNATURE, sign, TIMESTAMP } from './signature.ts'

/** Options of {@link createWebhook}. */
export interface WebhookOptions {
  /** The URL of the monitor: `https://monitor.example.com/changes`. Redirects are not followed. */
  url: string | URL
  /**
   * `whsec_` and 24 to 64 random bytes in base64. During a rotation, pass an array of the new secret and the old one:
   * each request is then signed with both, and the monitor accepts either.
   */
  secret: string | readonly string[]
  /** The maximum number of changes in one request, 1 or more; 100 are about 20 kB. Default 100. */
  batchSize?: number | undefined
  /** Milliseconds to wait for the response to a request. Default 15,000. */
  timeLimit?: number | undefined
  /** Replaces the global `fetch`, for instance to use a proxy. */
  fetch?: typeof globalThis.fetch | undefined
}

/** A {@link Change} as JSON: `at` is a time in ISO 8601, such as `2026-01-02T03:04:05.678Z`. */
export type WebhookChange = Omit<Change, 'at'> & { readonly at: string }

/** The body of a request. */
export interface WebhookBody {
  readonly type: 'domains.changed'
  readonly data: { readonly changes: readonly WebhookChange[] }
}

/** Pushes changes to the monitor. Pass this function to a store as the option `synchronize`. */
export interface Webhook {
  (changes: readonly Change[], context?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  /** The maximum number of changes in one request. The store never passes more changes than this in one push. */
  readonly batchSize: number
}

const DEFAULT_BATCH_SIZE = 100
/** Standard Webhooks, section "Request timeouts", recommends 15 s to 30 s. */
const RESPONSE_TIME_LIMIT = 15_000
/**
 * How many bytes of a response are read, counted after decompression. The body is needed only for the excerpt in a
 * message.
 */
const BODY_LIMIT = 16 * 1024
/** How many characters of the monitor's response a message shows. */
const LONGEST_EXCERPT = 200

const webhookRules: Rules = {
  url: httpUrlRule('https://monitor.example.com/changes'),
  secret: {
    holds: secret => isText(secret) || Array.isArray(secret),
    expected: 'a string that begins with "whsec_", or an array of them',
    isSecret: true,
  },
  batchSize: countRule,
  timeLimit: timeLimitRule,
  fetch: { holds: optional(isFunction), expected: 'a function like fetch' },
}

/**
 * Creates the function that pushes changes to a monitor over HTTP. The function sends POST requests, signed according
 * to Standard Webhooks 1.0 (https://github.com/standard-webhooks/standard-webhooks). The receiver checks the signatures
 * with {@link verifyWebhook} or a library for that standard.
 *
 * Changes are sent in batches, one request after another. The `webhook-id` is derived from the changes in the request,
 * so it stays the same if the same changes are sent again.
 *
 * | response | meaning |
 * | --- | --- |
 * | 2xx | the monitor has accepted the changes |
 * | 500, 501, 505, or any 4xx other than 408, 425 and 429 | the monitor refuses a change; the store finds out which |
 * | any other response, an incomplete or late one, or none | the monitor is unavailable; the store retries later |
 *
 * The function reads at most 16 KiB of a response's body, counted after decompression.
 *
 * @returns A function whose promise resolves when the monitor has accepted all changes. The promise rejects with a
 *   {@link MonitorUnavailableError} if the monitor is unavailable; the error's `retryAfter` comes from `Retry-After`.
 *   The promise rejects with an `Error` if the monitor refuses a change, and with the signal's reason once the signal
 *   is aborted.
 * @throws {TypeError} if an option is missing, invalid or unknown. The message shows neither the secret nor the URL.
 *
 * @example
 * const synchronize = createWebhook({ url: 'https://monitor.example.com/changes', secret })
 * const store = createMemoryStore({ teams, synchronize })
 */
export function createWebhook(options: WebhookOptions): Webhook {
  requireOptions(options, webhookRules)
  const { url, secret, batchSize = DEFAULT_BATCH_SIZE, timeLimit = RESPONSE_TIME_LIMIT, fetch } = options
  const keys = readSecrets(secret)
  const target = new URL(url)

  async function push(changes: readonly Change[], signal: AbortSignal | undefined): Promise<void> {
    const body = JSON.stringify(toBody(changes))
    const id = await toId(changes)
    const timestamp = String(Math.floor(Date.now() / 1000))
    const headers = {
      'Content-Type': 'application/json',
      [ID]: id,
      [TIMESTAMP]: timestamp,
      [SIGNATURE]: await sign({ id, timestamp, body }, await keys),
    }
    const limits = { fetch, timeLimit, bodyLimit: BODY_LIMIT, signal }
    requireSuccess(await sendRequest(target, { method: 'POST', headers, body }, limits).catch(fail), target)

    function fail(cause: unknown): never {
      signal?.throwIfAborted()
      const isLate = cause instanceof TimeLimitError
      const message = isLate ? `The monitor did not respond within ${timeLimit} ms` : 'The monitor cannot be reached'
      throw withHost(new MonitorUnavailableError(message, { cause }), target)
    }
  }

  async function pushAll(changes: readonly Change[], { signal }: { signal?: AbortSignal | undefined } = {}) {
    for (let start = 0; start < changes.length; start += batchSize) {
      await push(changes.slice(start, start + batchSize), signal)
    }
  }
  return Object.assign(pushAll, { batchSize })
}

/** Client errors after which the same request may succeed: Request Timeout, Too Early, Too Many Requests. */
export const TRY_AGAIN = [408, 425, 429]
/**
 * Server errors that a framework returns if it cannot handle the request. Gateways return server errors with other
 * statuses.
 */
export const CANNOT_HANDLE = [500, 501, 505]

/** @throws {Error} unless the status is 2xx. */
function requireSuccess({ status, retryAfter, text }: ReceivedResponse, target: URL): void {
  if (status >= 200 && status < 300) return
  const excerpt = toPlainText(text, LONGEST_EXCERPT)
  const message = `The monitor returned ${status}${excerpt && `: ${excerpt}`}`
  const isClientError = status >= 400 && status < 500 && !TRY_AGAIN.includes(status)
  if (isClientError || CANNOT_HANDLE.includes(status)) throw withHost(new Error(message), target)
  throw withHost(new MonitorUnavailableError(message, { retryAfter }), target)
}

/** Adds the host of the monitor to an error, for the log, but not the rest of the URL, which may contain a password. */
const withHost = (error: Error, { host }: URL): Error => Object.assign(error, { monitor: host })

const toBody = (changes: readonly Change[]): WebhookBody => ({
  type: 'domains.changed',
  data: { changes: changes.map(change => ({ ...toChange(change), at: change.at.toISOString() })) },
})

/**
 * Derives a request's ID from the kinds and IDs of its changes, so a repeated request has the same ID. The ID is a
 * digest, because a digest contains no full stop. A full stop would end the ID in the signed content.
 */
async function toId(changes: readonly Change[]): Promise<string> {
  const digest = await sha256(JSON.stringify(changes.map(({ kind, domainId }) => [kind, domainId])))
  return `msg_${digest.slice(0, 32)}`
}
