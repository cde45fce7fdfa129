import { keyPrefixRule } from '../keys/api-key.ts'
import type { KeyContext } from '../keys/key-context.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { type CheckNames, checkNamesRule } from '../operations/check-names.ts'
import { type ClaimRecord, claimRecordRule } from '../operations/preview-domains.ts'
import { hasMethods, isFunction, matches, optional, type Rule, type Rules } from '../options.ts'
import type { DomainStore } from '../store/contract.ts'
import { type WaitingStore, waitingRule } from '../store/waiting.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { timeLimitRule } from '../time/deadline.ts'
import type { CallContext, FailureContext } from './failure.ts'
import type { RateLimiter } from './limits.ts'
import type { HandlerRequest, OperationName } from './request.ts'
import { type OperationResult, operationNames, operations } from './routes.ts'

export const DEFAULT_PATH = '/v1/domains'

/** The maximum size of a request body, in bytes. 100 hostnames of the maximum length fit. */
export const DEFAULT_BODY_LIMIT = 256 * 1024

/** The time within which the request body must arrive, in milliseconds. */
export const DEFAULT_BODY_TIME_LIMIT = 10_000

/** The time within which the caller must read a page of an export, in milliseconds. */
export const DEFAULT_PAGE_TIME_LIMIT = 30_000

/** The options of every adapter: a store, either `keys` or `authenticate`, and settings. */
export type HandlerOptions<Request extends HandlerRequest = HandlerRequest> = HandlerSettings<Request> &
  (CallersByKey | CallersByApplication<Request>)

/** Callers send API keys. */
export interface CallersByKey {
  /** Finds API keys. */
  keys: KeyStore
  authenticate?: undefined
}

/** Your application identifies its callers, by sessions, tokens or addresses. */
export interface CallersByApplication<Request extends HandlerRequest = HandlerRequest> {
  keys?: undefined
  /**
   * Identifies the caller in your own way. In an adapter, `request.raw` is the framework's request, with its
   * session, user and address.
   *
   * @returns The caller.
   * @throws {ApiError} to reject the caller: `new ApiError('unauthorized', …)`.
   */
  authenticate: (request: Request) => Awaitable<KeyContext>
}

/** The options of an adapter, except those that identify callers. */
export interface HandlerSettings<Request extends HandlerRequest = HandlerRequest> {
  /** The store of teams and registrations, such as one from {@link createMemoryStore}. */
  store: DomainStore
  /**
   * The operations to offer. All operations except `create` are off until you enable them. Deleting needs the scope
   * `domains:delete`; listing and exporting need the scope `domains:read`. Default `['create']`.
   *
   * | operation | call |
   * | --- | --- |
   * | `create` | `POST /v1/domains` |
   * | `preview` | `POST /v1/domains/preview`: what `create` would return now |
   * | `delete` | `POST /v1/domains/delete` |
   * | `list` | `GET /v1/domains` |
   * | `export` | `GET /v1/domains/export` |
   * | `waiting` | `GET /v1/domains/waiting`: the names that wait to be registered |
   */
  operations?: readonly OperationName[] | undefined
  /**
   * Decides which names a team may newly register: your own rules, beside the rules of overlap; see {@link CheckNames}.
   * `create` and `preview` ask it; imports and transfers do not. Needs a store with `find`. Default: the
   * rules of overlap alone decide.
   */
  checkNames?: CheckNames | undefined
  /**
   * Keeps names that `checkNames` refuses with `waits`. Also run {@link startRetrying}, which registers them once
   * `checkNames` allows that. Default: a name that is refused is forgotten.
   */
  waiting?: WaitingStore | undefined
  /**
   * Returns the record that a preview shows beside a name that another team has, such as `verification.record`: a
   * promise that you look at claims. Default: no record.
   */
  claimRecord?: ClaimRecord | undefined
  /** The prefix of API keys: ASCII letters and digits. Default `svc`. */
  keyPrefix?: string | undefined
  /** Limits how often each API key may call: consumes a point for each authenticated call. Default: no limit. */
  rateLimiter?: RateLimiter | undefined
  /** The maximum size of a request body, in bytes: by default, 100 hostnames of any length fit. Default 262,144. */
  bodyLimit?: number | undefined
  /**
   * The time within which the request body must arrive, in milliseconds, at most 2,147,483,647. Default 10,000. If the
   * body takes longer, the call gets 408 `request_timeout` and the connection is closed. This limit does not apply to
   * your server's body parser.
   */
  bodyTimeLimit?: number | undefined
  /**
   * The time within which the caller must read a page of an export (about 20 kB), in milliseconds, at most
   * 2,147,483,647. Default 30,000. After that, the response is cut off.
   */
  pageTimeLimit?: number | undefined
  /**
   * The time limit in milliseconds, at most 2,147,483,647. Default 30,000. During a call, the limit applies separately
   * to each of two waits: for the key store and the limiter together, and for the store.
   */
  timeLimit?: number | undefined
  /**
   * Called once for each distinct failure in a call, with the cause of an `internal_error` or a 503, or the reason why
   * a rate limit could not be checked. The caller never sees this error. Default: logs each kind of failure at most
   * once per minute, with Fastify's `request.log.error` if there is a logger, otherwise with `console.error`. The first
   * line about each kind of failure has a stack. Errors and rejections of this function are ignored.
   *
   * @example
   * domainsRouter({
   *   store,
   *   keys,
   *   onError(error, { request, keyContext, step }) {
   *     log.error({ error, keyContext, step, ip: request.raw.ip })
   *   },
   * })
   */
  onError?: ((error: unknown, context: FailureContext<Request>) => void) | undefined
  /**
   * Called with each 200 response, and with each 503 response to a call that saved names but did not yet synchronize
   * them. Use this function for an audit log, or to count usage: each registration is `created` once. The response does
   * not wait for this function, and its errors and rejections are ignored.
   *
   * @example
   * domainsRouter({
   *   store,
   *   keys,
   *   onResult({ request, key, operation, status, data, duration }) {
   *     log.info({ key, operation, status, data, duration, ip: request.raw.ip })
   *   },
   * })
   */
  onResult?: ((result: ResultContext<Request>) => void) | undefined
}

/**
 * A call that has returned 200, or 503 after its names were saved. The type of `data` depends on `operation`. After a
 * 503, `data` contains the saved results.
 */
export type ResultContext<Request extends HandlerRequest = HandlerRequest> = OperationResult &
  CallContext<Request> & {
    readonly keyContext: KeyContext
    readonly teamId: string
    readonly status: 200 | 503
    /** Milliseconds from the call to its response; for an export, to the start of the response. */
    readonly duration: number
  }

/** The path of the operations, for adapters that do their own routing. */
export interface PathOption {
  /** The path below the mount point; it matches with and without a trailing slash. Default `/v1/domains`. */
  path?: string | undefined
}

export const handlerRules = {
  store: {
    holds: store => hasMethods(store, 'findTeam', 'register'),
    expected: 'a DomainStore, such as createMemoryStore({ teams })',
  },
  operations: {
    holds: optional(
      names => Array.isArray(names) && names.length > 0 && names.every(name => operationNames.includes(name)),
    ),
    expected: `an array with some of ${operationNames.map(name => `"${name}"`).join(', ')}`,
  },
  keys: {
    holds: (keys, { authenticate }) => (authenticate === undefined ? hasMethods(keys, 'findKey') : keys === undefined),
    expected: 'a KeyStore, such as createMemoryKeyStore(); or pass "authenticate" instead, never both',
    isSecret: true,
  },
  authenticate: { holds: optional(isFunction), expected: 'a function from a request to a KeyContext' },
  checkNames: checkNamesRule,
  claimRecord: claimRecordRule,
  waiting: waitingRule,
  keyPrefix: keyPrefixRule,
  rateLimiter: {
    holds: optional(limiter => hasMethods(limiter, 'consume')),
    expected: 'an object with a method "consume", such as a limiter from rate-limiter-flexible',
  },
  bodyLimit: {
    holds: optional(limit => Number.isSafeInteger(limit) && Number(limit) > 0),
    expected: 'an integer number of bytes above 0, such as 262144',
  },
  bodyTimeLimit: timeLimitRule,
  pageTimeLimit: timeLimitRule,
  timeLimit: timeLimitRule,
  onError: { holds: optional(isFunction), expected: 'a function that takes an error and its circumstances' },
  onResult: { holds: optional(isFunction), expected: 'a function that takes a result and its circumstances' },
} as const satisfies Rules

/** @throws {TypeError} if the store lacks a method that an operation needs. */
export function requireOffer({
  store,
  operations: offered = DEFAULT_OPERATIONS,
  checkNames,
  waiting,
}: HandlerSettings): void {
  if (checkNames && !hasMethods(store, 'find'))
    throw new TypeError('The option "checkNames" needs a method "find", which the store does not have')
  if (offered.includes('waiting') && !waiting) throw new TypeError('The operation "waiting" needs the option "waiting"')
  for (const name of offered) {
    const { needs } = operations[name]
    if (needs && !hasMethods(store, needs))
      throw new TypeError(`The operation "${name}" needs a method "${needs}", which the store does not have`)
  }
}

export const DEFAULT_OPERATIONS: readonly OperationName[] = ['create']

export const pathRule: Rule = {
  holds: optional(path => matches(/^\/[^:;*(){}]*$/)(path) && new URL(`http://x${path}`).pathname === path),
  expected: `a path that begins with "/" and has no parameters, spelled as in a URL, such as "${DEFAULT_PATH}"`,
}

export const withoutTrailingSlash = (path: string): string => path.replace(/\/$/, '')
