import { timeLimitRule } from '../deadline.ts'
import { isFunction, optional, type Rules, requireOptions } from '../options.ts'
import { countTotals, type DomainResult, type RegisterDomainsResponse, type Totals } from '../wire/response.ts'
import { type Attempt, type CallFailure, toAttempt } from './attempt.ts'

export type {
  DomainResult,
  ErrorResponse,
  InvalidCode,
  InvalidResult,
  RegisterDomainsResponse,
  RegisteredResult,
  Totals,
} from '../wire/response.ts'

/** Options of {@link registerAll}. */
export interface RegisterAllOptions {
  /** The URL of the operation: `https://api.example.com/v1/domains`. */
  url: string | URL
  /** Sent as `Authorization: Bearer <API key>`. */
  apiKey: string
  /** The team to register in. Required with an organization key, ignored with a team key. */
  teamId?: string | undefined
  /** Called after each call, for instance to show progress. What it throws ends the work. */
  onProgress?: ((progress: Progress) => void) | undefined
  /**
   * How often a call is sent before {@link registerAll} gives up. Default 8, which takes about two minutes if no answer
   * says when to retry.
   */
  attempts?: number | undefined
  /** Milliseconds to wait for an answer, at most 2,147,483,647. Default 60,000. */
  timeLimit?: number | undefined
  /** Aborts the work, which rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Replaces the global `fetch`, for instance to use a proxy. */
  fetch?: typeof globalThis.fetch | undefined
}

/** The progress of {@link registerAll}. */
export interface Progress {
  /** How many names have a result. */
  readonly done: number
  /** How many names there are. */
  readonly total: number
  /** The results of the last call, in the order of its names. */
  readonly results: readonly DomainResult[]
}

/** The results of all calls. */
export interface RegisterAllResult {
  /** One for each name, in the order of the names. */
  readonly results: readonly DomainResult[]
  readonly totals: Totals
}

/**
 * Why {@link registerAll} gave up. What it registered stays registered: call it again with the same names.
 *
 * @example
 * try {
 *   await registerAll(names, { url, apiKey })
 * } catch (error) {
 *   if (!(error instanceof RegisterAllError)) throw error
 *   console.error(`${error.results.length} of ${names.length} were answered, then: ${error.status} ${error.message}`)
 * }
 */
export class RegisterAllError extends Error {
  override readonly name = 'RegisterAllError'
  /** The HTTP status of the last answer; `undefined` if there was none. */
  readonly status: number | undefined
  /**
   * The code of the last answer, such as `unauthorized`; `undefined` if there was no answer, or none of the service.
   */
  readonly code: string | undefined
  /** The results of the calls that succeeded, which are those of the first names. */
  readonly results: readonly DomainResult[]

  constructor({ status, code, message, cause }: CallFailure, results: readonly DomainResult[]) {
    super(message, { cause })
    this.status = status
    this.code = code
    this.results = results
  }
}

/** The most hostnames that the service takes in one call. */
const NAMES_PER_CALL = 100
const DEFAULT_ATTEMPTS = 8
const DEFAULT_TIME_LIMIT = 60_000

const rules: Rules = {
  url: {
    holds: url => URL.canParse(String(url)),
    expected: 'an address, such as "https://api.example.com/v1/domains"',
  },
  apiKey: {
    holds: key => typeof key === 'string' && /^[\x21-\x7e]+$/.test(key),
    expected: 'an API key, without white space around it',
    isSecret: true,
  },
  teamId: { holds: optional(id => typeof id === 'string'), expected: 'the ID of a team, a string of digits' },
  onProgress: { holds: optional(isFunction), expected: 'a function that takes the progress' },
  attempts: {
    holds: optional(count => Number.isInteger(count) && Number(count) > 0),
    expected: 'a whole number above 0',
  },
  timeLimit: timeLimitRule,
  signal: { holds: optional(signal => signal instanceof AbortSignal), expected: 'an AbortSignal' },
  fetch: { holds: optional(isFunction), expected: 'a function like fetch' },
}

/**
 * Registers any number of hostnames with a service that offers this operation, in calls of 100, one after another.
 *
 * A call is retried if its answer was lost, and after 408, 429 and 5xx: after the seconds of `Retry-After`, or with
 * exponential backoff and jitter, at most 30 s. Retrying is safe: names that were registered before the answer was lost
 * are `existing`, with the same `domainId`.
 *
 * @param domains Hostnames: names, wildcards, public IP addresses. A refused one has a result with the reason.
 * @returns One result for each name, in the same order, and totals.
 * @throws {RegisterAllError} for an answer that a retry would not change, such as 401, and after the last attempt. It
 *   holds the results so far.
 * @throws {TypeError} for an option that is missing, wrong or does not exist; it says what to pass instead.
 *
 * @example
 * const { results, totals } = await registerAll(names, {
 *   url: 'https://api.example.com/v1/domains',
 *   apiKey,
 *   onProgress: ({ done, total }) => console.log(`${done} of ${total}`),
 * })
 * for (const result of results) if (result.status === 'invalid') console.log(result.input, result.message)
 */
export async function registerAll(domains: Iterable<string>, options: RegisterAllOptions): Promise<RegisterAllResult> {
  requireOptions(options, rules)
  const names = [...domains]
  const results: DomainResult[] = []
  for (let start = 0; start < names.length; start += NAMES_PER_CALL) {
    const call = await send(names.slice(start, start + NAMES_PER_CALL), options)
    if ('failure' in call) throw new RegisterAllError(call.failure, results)
    results.push(...call.results)
    options.onProgress?.({ done: results.length, total: names.length, results: call.results })
  }
  return { results, totals: countTotals(results) }
}

/** Sends a call, with retries. */
async function send(domains: readonly string[], options: RegisterAllOptions): Promise<Attempt> {
  const { attempts = DEFAULT_ATTEMPTS, signal } = options
  for (let count = 1; ; count += 1) {
    signal?.throwIfAborted()
    const attempt = await sendOnce(domains, options)
    signal?.throwIfAborted()
    if (!('failure' in attempt) || !attempt.failure.mayPass || count === attempts) return attempt
    await sleep(attempt.failure.retryAfter ?? backOff(count), signal)
  }
}

async function sendOnce(domains: readonly string[], options: RegisterAllOptions): Promise<Attempt> {
  const { url, apiKey, teamId, timeLimit = DEFAULT_TIME_LIMIT, signal, fetch = globalThis.fetch } = options
  const limit = AbortSignal.timeout(timeLimit)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ domains, team_id: teamId }),
      // A redirect would turn the POST into a GET, or send the key to another host.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    const body: unknown = await response.json().catch(() => undefined)
    return toAttempt(response, body as RegisterDomainsResponse, domains.length)
  } catch (cause) {
    return { failure: { message: 'The answer got lost, or none came.', mayPass: true, cause } }
  }
}

/**
 * Exponential backoff in milliseconds, at most 30 s, with jitter so that many callers do not come back at once.
 */
const backOff = (count: number) => Math.min(30_000, 500 * 2 ** count) * (0.5 + Math.random() / 2)

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => resolve(signal?.removeEventListener('abort', onAbort)), milliseconds)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
