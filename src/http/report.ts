import type { Activity } from './options.ts'

/** Logs a failure if the host sets no `onError`. */
export const logFailure = (error: unknown, { during }: { readonly during: Activity }): void =>
  // biome-ignore lint/suspicious/noConsole: the adapter has no other log
  console.error(`${describeFailure(during)}:`, error)

export const describeFailure = (during: Activity): string => `POST /v1/domains failed, ${activities[during]}`

/** Completes "POST /v1/domains failed". */
const activities: Readonly<Record<Activity, string>> = {
  authenticate: 'finding out who is calling',
  consume: 'asking the rate limiter',
  readBody: 'reading the body',
  findTeam: 'looking up the team',
  register: 'registering names',
  synchronize: 'synchronizing what was saved',
}
