import type { Activity, FailureContext, HandlerOptions } from './options.ts'
import type { HandlerRequest } from './request.ts'

/**
 * Makes what tells the host of the failures of one call, each distinct one once: a store that is down fails for every name,
 * with an error that says the same.
 */
export function createReporter<Request extends HandlerRequest>(
  onError: HandlerOptions<Request>['onError'] = logFailure,
  contextOf: (during: Activity) => FailureContext<Request>,
): (error: unknown, during: Activity) => void {
  let told: Set<string> | undefined
  return (error, during) => {
    const kind = kindOf(error, during)
    told ??= new Set()
    if (told.has(kind)) return
    told.add(kind)
    try {
      ignoreRejection(onError(error, contextOf(during)))
    } catch {
      // What the host's logger throws must change no answer.
    }
  }
}

function kindOf(error: unknown, during: Activity): string {
  try {
    return `${during}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`
  } catch {
    return during // A revoked proxy throws whatever it is asked.
  }
}

/** A rejected promise that nobody holds would end the process. */
function ignoreRejection(answer: unknown): void {
  Promise.resolve(answer).catch(() => {})
}

const logFailure = (error: unknown, { during }: { during: Activity }): void =>
  // biome-ignore lint/suspicious/noConsole: without onError this is where the host looks
  console.error(`POST /v1/domains failed, ${describeActivity(during)}:`, error)

/** Completes "POST /v1/domains failed". */
export const describeActivity = (during: Activity): string => activities[during]

const activities: Readonly<Record<Activity, string>> = {
  authenticate: 'finding out who is calling',
  consume: 'asking the rate limiter',
  readBody: 'reading the body',
  findTeam: 'looking up the team',
  register: 'registering names',
  synchronize: 'synchronizing what was saved',
}
