import { internalError, notSynchronized } from '../errors/call-errors.ts'
import { ignoreErrors } from '../errors/failure-log.ts'
import type { InvalidHostname } from '../hostname/classify.ts'
import type { KeyContext } from '../keys/key-context.ts'
import { isFunction, optional } from '../options.ts'
import type { Registration } from '../rules/registration.ts'
import { isName } from '../rules/submitted.ts'
import type { DomainStore } from '../store/contract.ts'
import { waitingRule } from '../store/waiting.ts'
import type { Deadline } from '../time/deadline.ts'
import { countTotals, type DomainResult, type RegisterDomainsResponse, toInvalidResult } from '../wire/results.ts'
import { callOperation, type Operation, openBatch, requireMethod } from './call.ts'
import { askAboutNames, type CheckedOptions, checkNamesRule } from './check-names.ts'
import { keepWaiting } from './keep-waiting.ts'
import { isInternalError, type Outcome, registerNames } from './register-names.ts'

/** Options of {@link registerDomains}. */
export interface RegisterDomainsOptions extends CheckedOptions {
  /**
   * Called with the cause of `internal_error` results, once for each distinct failure: failures that differ only in
   * numbers and IDs count as one. Use this function for your logs; clients never see the cause. This function is not
   * called if the whole call fails: then the error is thrown, with its `cause`. Errors and rejections of this function
   * are ignored. Default: the causes are not reported.
   */
  onError?: ((cause: unknown) => unknown) | undefined
}

/**
 * Registers 1 to 100 hostnames for one team, each with its own result: the operation `POST /v1/domains` without HTTP.
 *
 * It is always safe to repeat a call, even if its response was lost: names that the first call has registered are then
 * `existing`, with the same `domainId`.
 *
 * @param keyContext The caller; see {@link authenticate}.
 * @param body The parsed JSON body: `{ domains, team_id }`. Any value is accepted, because the body is validated here.
 * @param options Names that are not saved within `timeLimit` get `internal_error`. If names are saved but not
 *   synchronized within this time, the call fails with 503.
 * @returns One result for each submitted hostname, in the submitted order, and totals.
 * @throws {ApiError} if the whole call fails. Checked in this order: 403 `insufficient_scope`, 400 `invalid_request`,
 *   404 `team_not_found`, 403 `team_suspended`, 500 `internal_error` if `checkNames` fails, 403
 *   `domain_limit_reached`. With any of these errors, nothing was saved. 503 `domain_registration_unavailable` if
 *   everything was saved, but not yet synchronized. 500 `internal_error` if the team cannot be looked up, if the store
 *   failed for every hostname, or if the team has a limit and the store cannot count.
 * @throws {TypeError} if the time limit is invalid. The time limit is checked before anything else.
 *
 * @example
 * const keyContext = await authenticate(request.headers.authorization, keys)
 * const { data } = await registerDomains(keyContext, { domains: ['www.example.com', 'localhost'] }, store)
 * data.results[0] // { status: 'created', input: 'www.example.com', domain: 'www.example.com', domainId: '0199…' }
 * data.totals // { created: 1, existing: 0, invalid: 1 }
 */
export async function registerDomains(
  keyContext: KeyContext,
  body: unknown,
  store: DomainStore,
  options: RegisterDomainsOptions = {},
): Promise<RegisterDomainsResponse> {
  return callOperation(registerOperation, { keyContext, input: body, store, options })
}

/** {@link registerDomains}. */
export const registerOperation: Operation<RegisterDomainsResponse, RegisterDomainsOptions> = {
  scope: 'domains:create',
  step: 'register',
  rules: {
    checkNames: checkNamesRule,
    onError: { holds: optional(isFunction), expected: 'a function that takes an error' },
    waiting: waitingRule,
  },
  async perform(call, deadline) {
    const { store, progress } = call
    const { onError, checkNames } = call.options
    if (checkNames) requireMethod(store, 'find')
    const { team, inputs, submitted } = await openBatch(call, deadline)
    const names = await askAboutNames(call, team, submitted.filter(isName), deadline)
    progress.step = 'register'
    const registrar = { store, teamId: team.id, maxDomains: team.maxDomains, deadline }
    const { outcomes, causes } = await registerNames(registrar, names)
    // Some results may be `internal_error`. But if the store could not save any name, the whole call fails.
    if (names.length > 0 && outcomes.every(isInternalError))
      throw internalError('The domains may or may not have been saved.', toOne(causes))
    for (const cause of causes) ignoreErrors(onError)(cause)

    const told = await keepWaiting(call, team.id, names, outcomes, deadline)
    let used = 0
    const results = submitted.map((read, index) =>
      toResult(inputs[index] as string, isName(read) ? (told[used++] as Outcome) : read),
    )
    const totals = countTotals(results)
    const internal = outcomes.filter(isInternalError).length
    progress.traced.totals = { ...totals, invalid: totals.invalid - internal, internal_error: internal }
    if (internal > 0 && totals.created === 0) progress.traced.error = toOne(causes)
    const answer = { data: { results, totals } }
    progress.saved = answer
    progress.step = 'synchronize'
    await synchronize(outcomes, store, deadline)
    return answer
  },
}

async function synchronize(outcomes: Iterable<Outcome>, store: DomainStore, deadline: Deadline): Promise<void> {
  const pending = new Map<string, Registration>()
  let isSaved = false
  for (const outcome of outcomes) {
    if (outcome.status === 'invalid' || outcome.registration.synchronized) continue
    pending.set(outcome.registration.domainId, outcome.registration)
    isSaved ||= outcome.status === 'created'
  }
  if (pending.size === 0 || store.isInTransaction) return
  try {
    if (!store.synchronize) throw new Error(isSaved ? SAVED_WITHOUT_MONITOR : FOUND_WITHOUT_MONITOR)
    await deadline.wait(store.synchronize([...pending.values()]))
  } catch (cause) {
    throw notSynchronized(cause)
  }
}

const SAVED_WITHOUT_MONITOR = 'The store saved unsynchronized registrations, but has no "synchronize"'
const FOUND_WITHOUT_MONITOR =
  'Names of the call were imported or saved for a monitor, but the store has no "synchronize". Set it, or end the ' +
  'pending changes of these names with settlePending'

const toOne = (causes: readonly unknown[]): unknown =>
  causes.length > 1 ? new AggregateError(causes, 'The store failed in several ways') : causes[0]

function toResult(input: string, outcome: Outcome | InvalidHostname): DomainResult {
  if (!('registration' in outcome)) return toInvalidResult(input, outcome)
  const { domain, domainId } = outcome.registration
  return { status: outcome.status, input, domain, domainId }
}
