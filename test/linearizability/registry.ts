import { covers, type HeldName, type Known, verdictOf } from '../rules/brute-force.ts'

/**
 * A linearizability checker for calls that overlap in time. It searches for an order of atomic steps that explains the
 * results: one step for each call, at some moment between the start and the end of the call. The effect of a step is
 * computed by brute force, with the rules of overlap in `test/rules/brute-force.ts`, which share no code with `src`.
 *
 * The algorithm is from Wing & Gong, "Testing and verifying concurrent objects" (1993). Each situation is tried only
 * once, as in Lowe, "Testing for linearizability" (2017).
 */

/** A call with its outcome. */
export type Operation =
  | { readonly kind: 'register'; readonly teamId: string; readonly results: readonly Result[] }
  /** `room`: how many more names the team may register; `null` without a limit. A preview may exceed it. */
  | {
      readonly kind: 'preview'
      readonly teamId: string
      readonly results: readonly Result[]
      readonly room: number | null
    }
  /** A registration that would exceed the limit of the team. */
  | { readonly kind: 'refused'; readonly teamId: string; readonly names: readonly Known[] }
  | {
      readonly kind: 'release'
      readonly teamId: string
      readonly names: readonly Known[]
      readonly released: readonly Held[]
    }
  | {
      readonly kind: 'transfer'
      readonly from: string
      readonly to: string
      readonly names: readonly Known[]
      /** `null` if the names would exceed the limit of the team. */
      readonly transferred: readonly Transferred[] | null
    }
  | { readonly kind: 'import'; readonly rows: readonly ImportedRow[] }
  /** The registrations of one team, or of all. */
  | { readonly kind: 'list'; readonly teamId?: string; readonly listed: readonly Held[] }

/** The verdict on a submitted name: `created`, `existing`, or the code of an invalid result. */
export interface Result extends Known {
  readonly verdict: string
  readonly domainId: string | undefined
}

export interface Held extends HeldName {
  readonly domainId: string
}

/** Registrations that moved to another team, with their new IDs. */
export interface Transferred extends Known {
  readonly formerId: string
  readonly domainId: string
}

/** The verdict on an imported registration: `imported`, `existing`, or the reason for its rejection. */
export interface ImportedRow extends Held {
  readonly verdict: string
}

/** A client's call, with its times and its outcome. */
export interface Deed {
  readonly client: string
  readonly operation: Operation
  readonly startedAt: number
  readonly endedAt: number
}

/** The registrations of a registry, in any order. */
type State = readonly Held[]

/** How many names each team may register, by team ID. */
type Limits = Readonly<Record<string, number>>

/**
 * Searches for an order of all calls that explains their outcomes. The registry is empty at first. Only the names in
 * the given registrable domains are considered. If such an order exists for the names in one domain, the calls behave
 * in this domain as if they ran one after another. If a single order exists for several domains, a call with names in
 * all of them is also one atomic step.
 *
 * @param limits How many names a team may register. Pass limits only together with all registrable domains, because a
 *   limit applies to the names in all of them.
 * @returns `null` if there is such an order, otherwise a readable report.
 */
export function findFault(
  deeds: readonly Deed[],
  registrableDomains: readonly string[],
  limits: Limits = {},
): string | null {
  const isAsked = ({ registrableDomain }: Known) => registrableDomains.includes(registrableDomain)
  const step = (state: State, { operation }: Deed) => takeStep(state, operation, isAsked, limits)
  const numbers = new Map(deeds.map((deed, number) => [deed, number]))
  const tried = new Set<string>()
  /** The longest sequence of calls explained so far: the state after these calls, and the calls that remain. */
  let furthest: { state: State; left: readonly Deed[] } = { state: [], left: deeds }

  /** Whether some order explains the remaining calls. */
  function canEnd(state: State, left: readonly Deed[]): boolean {
    if (left.length === 0) return true
    const key = `${left.map(deed => numbers.get(deed))} ${toText(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    if (left.length < furthest.left.length) furthest = { state, left }

    // A call that ends at the moment when another one starts counts as simultaneous, because the clock may be coarse.
    const firstEnd = Math.min(...left.map(({ endedAt }) => endedAt))
    const next = left.filter(({ startedAt }) => startedAt <= firstEnd)
    // These calls do not change the state, so they come first, and no other order of them is tried.
    const idle = new Set(next.filter(deed => step(state, deed) === state))
    if (idle.size > 0) {
      const others = left.filter(deed => !idle.has(deed))
      return canEnd(state, others)
    }
    return next
      .toSorted((one, other) => one.endedAt - other.endedAt)
      .some(deed => {
        const after = step(state, deed)
        const others = left.filter(other => other !== deed)
        return after !== null && canEnd(after, others)
      })
  }
  if (canEnd([], deeds)) return null
  const toLine = ({ client, startedAt, endedAt, operation }: Deed) =>
    `  ${startedAt} to ${endedAt}  ${client}: ${JSON.stringify(operation)}`
  return [
    `Registered after some of the calls: ${toText(furthest.state) || 'nothing'}`,
    'No order explains the others:',
    ...furthest.left.map(toLine),
  ].join('\n')
}

/** @returns The state after the call, or `null` if its outcome is impossible in this state. */
function takeStep(state: State, operation: Operation, isAsked: (name: Known) => boolean, limits: Limits): State | null {
  const after = tryStep(state, operation, isAsked, limits)
  return after && isSame(after, state) ? state : after
}

function tryStep(state: State, operation: Operation, isAsked: (name: Known) => boolean, limits: Limits): State | null {
  if (operation.kind === 'import') return importRows(state, operation.rows.filter(isAsked))
  if (operation.kind === 'transfer') return transfer(state, operation, isAsked, limits)
  const ofTeam = state.filter(held => operation.teamId === undefined || held.teamId === operation.teamId)
  if (operation.kind === 'list') return isSame(operation.listed.filter(isAsked), ofTeam) ? state : null
  if (operation.kind === 'release') {
    const given = ofTeam.filter(held => operation.names.some(({ domain }) => domain === held.domain))
    return isSame(operation.released.filter(isAsked), given) ? state.filter(held => !given.includes(held)) : null
  }
  const limit = limits[operation.teamId]
  if (operation.kind === 'refused') return limit === undefined || addTo(state, operation) > limit ? state : null
  const after = register(state, operation.teamId, operation.results.filter(isAsked))
  if (operation.kind === 'preview') {
    const hasRoom = limit === undefined || operation.room === limit - ofTeam.length
    return hasRoom && after ? state : null
  }
  const isAbove =
    limit !== undefined && after !== null && after.length > state.length && countOf(after, operation) > limit
  return isAbove ? null : after
}

function register(state: State, teamId: string, results: readonly Result[]): State | null {
  const held = [...state]
  for (const { verdict, domainId = '', ...name } of results) {
    if (verdictOf(name, teamId, held) !== verdict) return null
    if (verdict === 'created') held.push({ ...name, teamId, domainId })
    if (verdict === 'existing' && !held.some(other => other.domain === name.domain && other.domainId === domainId)) {
      return null
    }
  }
  return held
}

function transfer(
  state: State,
  { from, to, names, transferred }: Extract<Operation, { kind: 'transfer' }>,
  isAsked: (name: Known) => boolean,
  limits: Limits,
): State | null {
  const given = state.filter(held => held.teamId === from && names.some(({ domain }) => domain === held.domain))
  const limit = limits[to]
  const isAbove = limit !== undefined && given.length > 0 && countOf(state, { teamId: to }) + given.length > limit
  if (transferred === null) return limit === undefined || isAbove ? state : null
  const taken = transferred.filter(isAsked)
  const former = taken.map(({ formerId, ...name }) => ({ ...name, teamId: from, domainId: formerId }))
  if (isAbove || !isSame(former, given)) return null
  return [
    ...state.filter(held => !given.includes(held)),
    ...taken.map(({ formerId: _, ...name }) => ({ ...name, teamId: to })),
  ]
}

function importRows(state: State, rows: readonly ImportedRow[]): State | null {
  const held = [...state]
  for (const { verdict, ...row } of rows) {
    if (verdictOfImport(row, held) !== verdict) return null
    if (verdict === 'imported') held.push(row)
  }
  return held
}

/** The first rule that applies decides the verdict. Imports ignore limits. */
function verdictOfImport(row: Held, state: State): string {
  const same = state.find(({ domain }) => domain === row.domain)
  if (same && same.teamId !== row.teamId) return 'domain_already_licensed'
  if (same) return same.domainId === row.domainId ? 'existing' : 'domain_has_another_id'
  if (state.some(({ domainId }) => domainId === row.domainId)) return 'id_is_taken'
  const wide = state.find(held => covers(held, row))
  if (wide) return wide.teamId === row.teamId ? 'wildcard_conflict' : 'domain_already_licensed'
  return state.some(held => covers(row, held)) ? 'subdomain_conflict' : 'imported'
}

const countOf = (state: State, { teamId }: { readonly teamId?: string }) =>
  state.filter(held => held.teamId === teamId).length

/**
 * How many names a team would have after registering these, or 0 if none of them is new. Names that the team already
 * has are not counted twice.
 */
function addTo(state: State, { teamId, names }: Extract<Operation, { kind: 'refused' }>): number {
  const held = [...state]
  for (const name of names)
    if (verdictOf(name, teamId, held) === 'created') held.push({ ...name, teamId, domainId: '' })
  return held.length > state.length ? countOf(held, { teamId }) : 0
}

const isSame = (answer: State, truth: State) => toText(answer) === toText(truth)

/** A string that is equal for equal states. */
const toText = (state: State) =>
  state
    .map(({ domain, domainId, teamId }) => `${domain} ${domainId} of team ${teamId}`)
    .sort()
    .join()
