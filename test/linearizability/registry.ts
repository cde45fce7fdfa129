import { type HeldName, type Known, verdictOf } from '../simulation/rules.ts'
import { type Event, explain, type Specification } from './checker.ts'

/**
 * What a registry should do, stated by brute force: the specification that races are held against. It knows the rules
 * of overlap from `test/simulation/rules.ts`, which shares no code with `src`.
 */

/** A call, with its answer. */
export type Operation =
  | { readonly kind: 'register' | 'preview'; readonly teamId: string; readonly results: readonly Result[] }
  | {
      readonly kind: 'release'
      readonly teamId: string
      readonly names: readonly Known[]
      readonly released: readonly Held[]
    }
  /** Of one team, or of all. */
  | { readonly kind: 'list'; readonly teamId?: string; readonly listed: readonly Held[] }

/** What became of a submitted name: `created`, `existing`, or the code of its refusal. */
export interface Result extends Known {
  readonly verdict: string
  readonly domainId: string | undefined
}

export interface Held extends HeldName {
  readonly domainId: string
}

/** What a client did, and what was answered. */
export interface Deed extends Event<Operation> {
  readonly client: string
}

/** In no particular order. */
type State = readonly Held[]

const specification: Specification<State, Operation> = {
  step(state, operation) {
    switch (operation.kind) {
      case 'register':
        return register(state, operation.teamId, operation.results)
      case 'preview':
        return register(state, operation.teamId, operation.results) && state
      case 'release': {
        const { teamId, names, released } = operation
        const given = state.filter(held => held.teamId === teamId && names.some(({ domain }) => domain === held.domain))
        return isSame(released, given) ? state.filter(held => !given.includes(held)) : null
      }
      case 'list': {
        const { teamId, listed } = operation
        const given = state.filter(held => teamId === undefined || held.teamId === teamId)
        return isSame(listed, given) ? state : null
      }
    }
  },
  toText: state => state.map(toText).sort().join(),
  isObservation(operation) {
    if (operation.kind === 'register') return operation.results.every(({ verdict }) => verdict !== 'created')
    return operation.kind !== 'release' || operation.released.length === 0
  },
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

const isSame = (answer: readonly Held[], truth: readonly Held[]) =>
  specification.toText(answer) === specification.toText(truth)
const toText = ({ domain, domainId, teamId }: Held) => `${domain} ${domainId} of team ${teamId}`

/**
 * Looks for an order of all calls on an empty registry, and leaves out of every call what is in other registrable
 * domains. With one, this proves that calls for each by itself behave as if they came one after another; with several,
 * that a call over all of them is one step.
 *
 * @returns A report for a reader where there is no such order.
 */
export function findFault(deeds: readonly Deed[], registrableDomains: readonly string[]): string | null {
  const isAsked = ({ registrableDomain }: Known) => registrableDomains.includes(registrableDomain)
  const projected = deeds.map(deed => ({ ...deed, operation: project(deed.operation, isAsked) }))
  const furthest = explain(specification, [], projected)
  if (!furthest) return null
  const toLine = ({ client, startedAt, endedAt, operation }: Deed) =>
    `  ${startedAt} to ${endedAt}  ${client}: ${JSON.stringify(operation)}`
  return [
    `Held, after some of the calls: ${specification.toText(furthest.state) || 'nothing'}`,
    'No order explains the others:',
    ...furthest.left.map(toLine),
  ].join('\n')
}

function project(operation: Operation, isAsked: (name: Known) => boolean): Operation {
  switch (operation.kind) {
    case 'register':
    case 'preview':
      return { ...operation, results: operation.results.filter(isAsked) }
    case 'release':
      return { ...operation, names: operation.names.filter(isAsked), released: operation.released.filter(isAsked) }
    case 'list':
      return { ...operation, listed: operation.listed.filter(isAsked) }
  }
}
