import { internalError } from '../errors/call-errors.ts'
import type { KeyContext } from '../keys/key-context.ts'
import { isFunction, isText, optional, type Rule } from '../options.ts'
import { isAddress, isWildcard } from '../rules/name.ts'
import { createHoldings, findBases, judge } from '../rules/overlap.ts'
import type { Team } from '../rules/registration.ts'
import { type NameRefusal, readDnsRecord, type Submitted } from '../rules/submitted.ts'
import type { WaitingStore } from '../store/waiting.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { type Deadline, runWithin, waitForStore } from '../time/deadline.ts'
import { invalidCodes } from '../wire/results.ts'
import { type OperationCall, type OperationOptions, requireMethod, tryStore } from './call.ts'
import { createLookUp } from './create-request.ts'

/** A name that a call would newly register. */
export interface ProposedName {
  /** The hostname exactly as it was submitted; if the call contains it several times, the first spelling. */
  readonly input: string
  /** The hostname in canonical form, as it would be registered. */
  readonly domain: string
  readonly kind: 'name' | 'wildcard' | 'ip'
  /** The registrable domain, `example.com`; for an IP address, the address itself. */
  readonly registrableDomain: string
}

/**
 * Decides which names a team may newly register: your own rules, beside the rules of overlap. It is called at most once
 * for each call, before anything is saved, with all names that the call may newly register, at most 100. It is never
 * called about names that the team has registered already, so every call can be sent again, nor about names that are
 * invalid anyway.
 *
 * If it throws, does not answer within the time limit of the call, or returns anything but an array with one entry for
 * each name, the call fails with 500 `internal_error`, and nothing is saved.
 *
 * @param names The names, each once, in the submitted order. The array and its elements are frozen.
 * @param context The team and the caller, as frozen copies. `signal` is aborted when the call stops waiting.
 * @returns For each name, in the same order: `null` if the team may register it, otherwise the result for the caller.
 *
 * @example
 * const checkNames: CheckNames = names =>
 *   names.map(({ kind }) =>
 *     kind === 'wildcard' ? { code: 'invalid_domain', message: 'Your plan has no wildcards.' } : null,
 *   )
 */
export type CheckNames = (
  names: readonly ProposedName[],
  context: { readonly team: Team; readonly keyContext: KeyContext; readonly signal: AbortSignal },
) => Awaitable<readonly (NameRefusal | null)[]>

/** Options of an operation that may ask about names. */
export interface CheckedOptions extends OperationOptions {
  /**
   * Decides which names the team may newly register; see {@link CheckNames}. Needs a store with `find`, and costs one
   * lookup more. Default: the rules of overlap alone decide.
   */
  checkNames?: CheckNames | undefined
  /**
   * Keeps the names that `checkNames` refuses with `waits`, until {@link startRetrying} registers them. Default: a name
   * that is refused is forgotten.
   */
  waiting?: WaitingStore | undefined
}

export const checkNamesRule: Rule = {
  holds: optional(isFunction),
  expected: 'a function that takes an array of names',
}

/** Completes a refusal that may end without being kept. */
export const toSend = (message: string) => `${message} Send it again later.`

/**
 * Asks the application about the names of a call that may be newly registered: all that are valid, not registered by
 * the team, and without a conflict. Two new names of the call that conflict with each other are both asked about,
 * because the answer decides which of them is registered.
 *
 * @returns The names with the application's answers; the given names if the application has no `checkNames`. A name
 *   that was not asked about is marked, and is not registered even if it becomes free before the call saves.
 */
export async function askAboutNames(
  { keyContext, store, options: { checkNames, waiting }, progress }: OperationCall<CheckedOptions>,
  team: Team,
  names: readonly Submitted[],
  deadline: Deadline,
): Promise<readonly Submitted[]> {
  if (!checkNames) return names
  progress.step = 'find'
  const isNew = await tryStore('The registrations could not be looked up.', async () => {
    const lookUp = createLookUp(team.id, names)
    const found = await waitForStore(store, requireMethod(store, 'find')(lookUp), deadline)
    const holdings = createHoldings(team.id, findBases(names), found)
    return (name: Submitted) => judge(name, team.id, holdings).status === 'created'
  })
  const proposed = new Map<string, ProposedName>()
  for (const name of names) {
    const { domain, registrableDomain, input = domain } = name
    const kind = isAddress(domain) ? 'ip' : isWildcard(domain) ? 'wildcard' : 'name'
    if (!proposed.has(domain) && isNew(name))
      proposed.set(domain, Object.freeze({ input, domain, kind, registrableDomain }))
  }
  const answers = new Map<string, NameRefusal | null>()
  if (proposed.size > 0) {
    progress.step = 'checkNames'
    try {
      const message = `"checkNames" did not answer within the time limit of ${deadline.timeLimit} ms`
      const asked = Object.freeze([...proposed.values()])
      const given = await runWithin({ milliseconds: deadline.remaining(), message }, signal =>
        checkNames(asked, { team: Object.freeze({ ...team }), keyContext: freeze(keyContext), signal }),
      )
      if (!Array.isArray(given) || given.length !== asked.length) throw wrongAnswer()
      for (const [index, { domain }] of asked.entries()) {
        const answer: unknown = given[index]
        if (!isAnswer(answer)) throw wrongAnswer()
        answers.set(domain, answer)
      }
    } catch (cause) {
      throw internalError('The names could not be checked; nothing was saved.', cause)
    }
  }
  return names.map(name => {
    const answer = answers.get(name.domain)
    if (answer === null) return name
    if (!answer) return { ...name, answer: 'not asked' }
    const { code, message, reason = 'not_allowed', record } = answer
    const waits = answer.waits === true && waiting !== undefined
    const more = { ...(record && { record: readDnsRecord(record) }), ...(waits && { waits }) }
    return { ...name, answer: { code, message: answer.waits && !waits ? toSend(message) : message, reason, ...more } }
  })
}

const freeze = (keyContext: KeyContext): KeyContext =>
  Object.freeze({ ...keyContext, scopes: Object.freeze([...keyContext.scopes]) })

const listCodes = () => Object.keys(invalidCodes).filter(code => code !== 'internal_error')

function isAnswer(answer: unknown): answer is NameRefusal | null {
  if (answer === null) return true
  const { code, message, reason, record, waits } = (answer ?? {}) as Partial<Record<keyof NameRefusal, unknown>>
  const isReason = reason === undefined || isWord(reason)
  const isRecord = record === undefined || readDnsRecord(record) !== undefined
  if (waits !== undefined && typeof waits !== 'boolean') return false
  return listCodes().includes(code as string) && isWord(message) && isReason && isRecord
}

const isWord = (value: unknown): value is string => isText(value) && value !== ''

const wrongAnswer = () =>
  new TypeError(
    '"checkNames" must return an array with one entry for each name: null, or an object with a "code" ' +
      `(${listCodes().join(', ')}), a "message", and perhaps a "reason", a "record" and "waits"`,
  )
