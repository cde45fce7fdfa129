import type { Awaitable } from '../awaitable.ts'
import { timeLimitRule } from '../deadline.ts'
import { keyPrefixRule } from '../keys/api-key.ts'
import type { KeyContext } from '../keys/key-context.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { hasMethods, isFunction, optional, type Rule, type Rules } from '../options.ts'
import type { DomainStore } from '../registry/store.ts'
import { DEFAULT_PATH } from './defaults.ts'
import type { RateLimiter, RateLimiterFailure } from './rate-limiter.ts'
import type { HandlerRequest } from './request.ts'

/** What every adapter takes: a store, and either `keys` or `authenticate`. */
export interface HandlerOptions<Request extends HandlerRequest = HandlerRequest> {
  /** Where teams and registrations live, such as {@link createMemoryStore} makes. */
  store: DomainStore
  /** Where API keys are looked up; or pass `authenticate` in its place, never both. */
  keys?: KeyStore | undefined
  /**
   * A way of the host's own to tell who is calling, in place of `keys`. With an adapter, `request.raw` is the
   * framework's own request: a session, a user, an address.
   *
   * @returns Who is calling, or throws an {@link ApiError}: `new ApiError('unauthorized', …)`.
   */
  authenticate?: ((request: Request) => Awaitable<KeyContext>) | undefined
  /** The word that API keys begin with: ASCII letters and digits. Default `svc`. */
  keyPrefix?: string | undefined
  /** Called with one point for each authenticated call, keyed by API key. Default: no limit. */
  rateLimiter?: RateLimiter | undefined
  /**
   * Whether a call whose rate limit could not be checked is refused with 500 `internal_error`, or let through. Default
   * `refuse`: a limit that cannot be checked must not be passed. A limiter that does not answer counts as failed after
   * the time limit; to learn of it sooner, give the limiter a time limit of its own.
   */
  rateLimiterFailure?: RateLimiterFailure | undefined
  /** Bytes in a request body. Default 262,144, which holds 100 hostnames of any length. */
  bodyLimit?: number | undefined
  /**
   * Milliseconds for the request body to come, at most 2,147,483,647. Default 10,000. Later, the call is answered 408
   * `request_timeout` and the connection is closed. A body that a parser of the host's reads is not ours to wait for.
   */
  bodyTimeLimit?: number | undefined
  /**
   * Milliseconds that a call may wait, at most 2,147,483,647: for the key store and the limiter together, and after
   * that for the store. Default 30,000.
   */
  timeLimit?: number | undefined
  /**
   * Learns what went wrong inside, once for each distinct failure of a call: the cause of an `internal_error`, of a
   * 503, and of a rate limit that could not be checked. The caller is not told. Default: the failure is logged, by
   * Fastify's `request.log.error` or else by `console.error`. What it throws is ignored, and so is a promise of it that
   * is rejected.
   *
   * @example
   * onError: (error, { request, keyContext, during }) => log.error({ error, keyContext, during, ip: request.raw.ip })
   */
  onError?: ((error: unknown, context: FailureContext<Request>) => void) | undefined
}

/** The circumstances of a failure. */
export interface FailureContext<Request extends HandlerRequest = HandlerRequest> {
  /** The call; with an adapter, `request.raw` is the framework's own. */
  readonly request: Request
  /** Who is calling; `undefined` where the failure came before that was known. */
  readonly keyContext: KeyContext | undefined
  /** What was being done when it failed. */
  readonly during: Activity
}

/**
 * What was being done, by the name of the function that did it: of the key store, the limiter, the adapter, the store.
 */
export type Activity = 'authenticate' | 'consume' | 'readBody' | 'findTeam' | 'register' | 'synchronize'

/** Where an adapter that routes answers, below where the host mounts it. */
export interface PathOption {
  /** The path below where it is mounted. With and without a trailing slash. Default `/v1/domains`. */
  path?: string | undefined
}

export const handlerRules = {
  store: {
    holds: store => hasMethods(store, 'findTeam', 'register'),
    expected: 'a DomainStore, such as createMemoryStore({ teams }) makes',
  },
  keys: {
    holds: (keys, { authenticate }) => (authenticate === undefined ? hasMethods(keys, 'findKey') : keys === undefined),
    expected: 'a KeyStore, such as createMemoryKeyStore() makes; or pass "authenticate" in its place, never both',
  },
  authenticate: { holds: optional(isFunction), expected: 'a function from a request to a KeyContext' },
  keyPrefix: keyPrefixRule,
  rateLimiter: {
    holds: optional(limiter => hasMethods(limiter, 'consume')),
    expected: 'an object with a method "consume", such as a limiter of rate-limiter-flexible',
  },
  rateLimiterFailure: {
    holds: optional(failure => failure === 'refuse' || failure === 'allow'),
    expected: '"refuse" or "allow"',
  },
  bodyLimit: {
    holds: optional(limit => Number.isSafeInteger(limit) && Number(limit) > 0),
    expected: 'a whole number of bytes above 0, such as 262144',
  },
  bodyTimeLimit: timeLimitRule,
  timeLimit: timeLimitRule,
  onError: { holds: optional(isFunction), expected: 'a function that takes an error and its circumstances' },
} as const satisfies Rules

export const pathRule: Rule = {
  holds: optional(path => typeof path === 'string' && path.startsWith('/')),
  expected: `a path that begins with "/", such as "${DEFAULT_PATH}"`,
}

export const toPath = ({ path = DEFAULT_PATH }: PathOption): string => withoutTrailingSlash(path)

export const withoutTrailingSlash = (path: string): string => path.replace(/\/$/, '')
