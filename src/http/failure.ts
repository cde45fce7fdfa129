import { createFailureLog, type FailureRecord, writeToConsole } from '../errors/failure-log.ts'
import type { KeyContext } from '../keys/key-context.ts'
import type { CallingKey } from '../keys/key-record.ts'
import type { HandlerRequest, OperationName } from './request.ts'

/** The circumstances of a failure. */
export interface FailureContext<Request extends HandlerRequest = HandlerRequest> {
  /** The call; with an adapter, `request.raw` is the framework's own. */
  readonly request: Request
  /** Who is calling; `undefined` if the failure came before that was known. */
  readonly keyContext: KeyContext | undefined
  /** Which key called; `undefined` before that is known, and where your application authenticates. */
  readonly key: CallingKey | undefined
  /** What was being done when it failed. */
  readonly step: Step
  readonly operation: OperationName
  /** The team of the call, as far as it is known. */
  readonly teamId: string | undefined
  /** How many names were submitted; `undefined` before the body is read. */
  readonly count: number | undefined
  /** The ID of the request in the framework, the same as for `onResult`; see {@link HandlerRequest.id}. */
  readonly requestId: string | undefined
}

/** A step of a call, by the name of the function: of the key store, the limiter, the adapter or the store. */
export type Step = keyof typeof steps

/** What failed, in the log. */
const steps = {
  authenticate: 'finding out who is calling',
  consume: 'asking the rate limiter',
  readBody: 'reading the body',
  findTeam: 'looking up the team',
  register: 'registering names',
  synchronize: 'synchronizing what was saved',
  find: 'looking names up',
  release: 'deleting names',
  list: 'listing registrations',
} as const

/** Makes the `onError` of an application that sets none. `write` returns where the failure of a request goes. */
export function createDefaultOnError<Request extends HandlerRequest>(
  write: (request: Request) => (record: FailureRecord) => void = () => writeToConsole,
): (error: unknown, context: FailureContext<Request>) => void {
  const log = createFailureLog()
  return (error, { request, step, operation, teamId, count, requestId }) =>
    log(error, { step: steps[step], operation, requestId, teamId, count }, { write: write(request) })
}
