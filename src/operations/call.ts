import { internalError, teamNotFound, teamNotLookedUp, teamSuspended } from '../errors/call-errors.ts'
import { type KeyContext, requireScope, type Scope } from '../keys/key-context.ts'
import { type Rules, requireOptions } from '../options.ts'
import type { Team } from '../rules/registration.ts'
import { readSubmitted } from '../rules/submitted.ts'
import { type TraceContext, type TracedStep, trace } from '../runtime/tracing.ts'
import { toTeam } from '../store/arguments.ts'
import type { DomainStore } from '../store/contract.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { CALL_TIME_LIMIT, createDeadline, type Deadline, TimeLimitError, timeLimitRule } from '../time/deadline.ts'
import { readFields } from '../wire/requests.ts'
import type { RegisterDomainsResponse } from '../wire/results.ts'

/** Options of every operation. */
export interface OperationOptions {
  /** How many milliseconds the call may wait for the store in total. Default 30,000. */
  timeLimit?: number | undefined
}

/**
 * How far a call has come. The operation keeps it up to date, so a caller that catches an error can read it, and so can
 * the subscribers of the operation's tracing channel.
 */
export interface CallProgress {
  /** The step that the call has begun, named after the function that performs it. */
  step?: 'findTeam' | 'checkNames' | 'find' | 'register' | 'synchronize' | 'release' | 'list' | 'waiting'
  /** The results, once everything is saved. It stays saved even if the call then fails with 503. */
  saved?: RegisterDomainsResponse
  /** What subscribers get. It contains no hostname. */
  readonly traced: TraceContext
}

export const startProgress = (): CallProgress => ({ traced: {} })

/** A call of an operation. */
export interface OperationCall<Options extends OperationOptions = OperationOptions> {
  readonly keyContext: KeyContext
  /** The parsed body of a POST, or the parameters of a GET. */
  readonly input: unknown
  readonly store: DomainStore
  readonly options: Options
  readonly progress: CallProgress
}

/** An operation: what every call is checked for, and what it does. */
export interface Operation<Answer, Options extends OperationOptions = OperationOptions> {
  readonly scope: Scope
  /** The optional method of a store that the operation needs. */
  readonly needs?: OptionalMethod
  /** The rules of options besides `timeLimit`. */
  readonly rules?: Rules
  /** The step as which its calls are traced. */
  readonly step?: TracedStep
  perform(call: OperationCall<Options>, deadline: Deadline): Promise<Answer>
}

/**
 * Calls an operation with options that are checked here.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 */
export function callOperation<Answer, Options extends OperationOptions>(
  operation: Operation<Answer, Options>,
  call: Omit<OperationCall<Options>, 'progress'>,
): Promise<Answer> {
  requireOptions(call.options, { timeLimit: timeLimitRule, ...operation.rules })
  return runOperation(operation, { ...call, progress: startProgress() })
}

/** Like {@link callOperation}, for adapters, which check the options only once, and read the progress. */
export function runOperation<Answer, Options extends OperationOptions>(
  { step, scope, needs, perform }: Operation<Answer, Options>,
  call: OperationCall<Options>,
): Promise<Answer> {
  async function begin(): Promise<Answer> {
    const deadline = startDeadline(call.options)
    if (needs) requireMethod(call.store, needs)
    requireScope(call.keyContext, scope)
    return perform(call, deadline)
  }
  return step ? trace(step, begin, call.progress.traced) : begin()
}

export const startDeadline = ({ timeLimit = CALL_TIME_LIMIT }: OperationOptions): Deadline => createDeadline(timeLimit)

/** Reads the body of a call on names, and finds the team, which must be active. */
export async function openBatch({ keyContext, input, store, progress }: OperationCall, deadline: Deadline) {
  const { teamId, domains: inputs } = readFields('body', input, keyContext)
  progress.traced.count = inputs.length
  const team = await requireActiveTeam(teamId, keyContext, store, deadline, progress)
  return { team, inputs, submitted: inputs.map(readSubmitted) }
}

/**
 * Finds the team of a call. A team of another organization is treated as if it did not exist.
 *
 * @returns The team as your application returned it, with strings as IDs. Its ID may be spelled differently in the
 *   call.
 * @throws {ApiError} 404 `team_not_found`; 500 `internal_error` if the team cannot be looked up, or is malformed.
 */
export async function requireTeam(
  teamId: string,
  keyContext: KeyContext,
  store: DomainStore,
  deadline: Deadline,
  progress: CallProgress = startProgress(),
): Promise<Team> {
  progress.step = 'findTeam'
  let team: Team | null
  try {
    const found = await deadline.wait(store.findTeam(teamId))
    team = found === null || found === undefined ? null : toTeam(found, 'findTeam returned')
  } catch (cause) {
    throw teamNotLookedUp(store.isInTransaction && cause instanceof TimeLimitError ? waitedInTransaction(cause) : cause)
  }
  if (!team || (keyContext.type === 'organization' && team.organizationId !== keyContext.organizationId)) {
    throw teamNotFound()
  }
  progress.traced.teamId = team.id
  return team
}

/** If transactions that call `findTeam` occupy the whole pool, `findTeam` may never get a connection of its own. */
const waitedInTransaction = (cause: TimeLimitError) =>
  new Error(
    'findTeam did not return in time. Inside your transaction, it must query on the same connection: the pool may ' +
      'have no free one',
    { cause },
  )

/** @throws {ApiError} as for {@link requireTeam}, and also 403 `team_suspended`. */
export async function requireActiveTeam(...question: Parameters<typeof requireTeam>): Promise<Team> {
  const team = await requireTeam(...question)
  if (team.state !== 'active') throw teamSuspended()
  return team
}

/** The methods that a store need not have. */
type OptionalMethod = 'find' | 'release' | 'list' | 'count' | 'import' | 'transfer'

/**
 * Returns an optional method of a store.
 *
 * @throws {TypeError} if the store does not have the method.
 */
export function requireMethod<Name extends OptionalMethod>(
  store: DomainStore,
  name: Name,
): NonNullable<DomainStore[Name]> {
  const method = store?.[name]
  if (typeof method === 'function') return method.bind(store) as NonNullable<DomainStore[Name]>
  throw new TypeError(`The store has no method "${name}"; all bundled stores have it`)
}

/**
 * Calls a store, and turns its failure into an {@link ApiError}.
 *
 * @param failed The message of the error: a sentence that says what could not be done.
 * @throws {ApiError} 500 `internal_error`.
 */
export async function tryStore<T>(failed: string, work: () => Awaitable<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw internalError(failed, cause)
  }
}
