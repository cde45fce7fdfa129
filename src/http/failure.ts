import { createFailureLog, type FailureRecord, writeToConsole } from '../errors/failure-log.ts'
import type { KeyContext } from '../keys/key-context.ts'
import type { CallingKey } from '../keys/key-record.ts'
import type { HandlerRequest, OperationName } from './request.ts'

/** What is known of a call: the same for `onError` and `onResult`. */
export interface CallContext<Request extends HandlerRequest = HandlerRequest> {
  /** The call; with an adapter, `request.raw` is the framework's request. */
  readonly request: Request
  readonly operation: OperationName
  /** The caller; `undefined` if the call failed before the caller was known. */
  readonly keyContext: KeyContext | undefined
  /** The key of the call; `undefined` if the key was not yet known, or if you pass your own `authenticate`. */
  readonly key: CallingKey | undefined
  /** The team that the call acts on: the key's own, or the one that an organization's key names; if it is known. */
  readonly teamId: string | undefined
  /** How many names were submitted; `undefined` before the body is read, and for calls that submit none. */
  readonly count: number | undefined
  /** The ID of the request in the framework; see {@link HandlerRequest.id}. */
  readonly requestId: string | undefined
}

/** The circumstances of a failure. */
export interface FailureContext<Request extends HandlerRequest = HandlerRequest> extends CallContext<Request> {
  /** The step that failed. */
  readonly step: Step
}

/** A step of a call, named after the function that performs it. */
export type Step = keyof typeof steps

/** How the log describes each step. */
const steps = {
  authenticate: 'identifying the caller',
  consume: 'calling the rate limiter',
  readBody: 'reading the body',
  findTeam: 'looking up the team',
  checkNames: 'asking the application about new names',
  register: 'registering names',
  synchronize: 'synchronizing saved names',
  find: 'looking up names',
  release: 'deleting names',
  list: 'listing registrations',
  waiting: 'calling the store of names that wait',
} as const

/**
 * Creates the `onError` for an application that sets none. `write` returns the function that logs the failures of a
 * request.
 */
export function createDefaultOnError<Request extends HandlerRequest>(
  write: (request: Request) => (record: FailureRecord) => void = () => writeToConsole,
): (error: unknown, context: FailureContext<Request>) => void {
  const log = createFailureLog()
  return (error, { request, step, operation, teamId, count, requestId }) =>
    log(error, { step: steps[step], operation, requestId, teamId, count }, { write: write(request) })
}
