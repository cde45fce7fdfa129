import type { KeyContext } from '../keys/key-context.ts'
import type { CallingKey } from '../keys/key-record.ts'
import type { HandlerRequest } from './request.ts'

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
}

/** A step of a call, by the name of the function: of the key store, the limiter, the adapter or the store. */
export type Step = keyof typeof steps

/** Completes "A call for domains failed". */
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

export const describeStep = (step: Step): string => `A call for domains failed, ${steps[step]}`

/** Logs a failure where the application sets no `onError`. */
export const logFailure = (error: unknown, { step }: { readonly step: Step }): void =>
  // biome-ignore lint/suspicious/noConsole: the adapter has no other log
  console.error(`${describeStep(step)}:`, error)
