import type { Below, Registration } from '../../src/registry/store.ts'
import { covers, type HeldName, type Known, verdictOf } from '../simulation/rules.ts'
import type { Specification } from './checker.ts'

/**
 * What a registry should do, stated by brute force: the specification that histories are held against. It knows the
 * rules of overlap from `test/simulation/rules.ts`, which shares no code with `src`.
 */

/** A step that a call of a store does, with its answer; see {@link toSteps}. */
export type Operation =
  | Register
  | Release
  /** Answers what is there under these names, or, without names, everything, wherever it is kept. */
  | { readonly kind: 'look'; readonly names: readonly Known[] | null; readonly found: readonly Seen[] }
  /** A push went through: what is still there under this ID is marked. */
  | { readonly kind: 'mark'; readonly domainId: string }
  /** A push said that a registration was released. */
  | { readonly kind: 'tell of a release'; readonly domainId: string }
  /** A walk that puts registrations right came by this one, and moved it, or left it where it was. */
  | { readonly kind: 'put right'; readonly domainId: string; readonly isLeft: boolean }

interface Register {
  readonly kind: 'register'
  readonly teamId: string
  readonly submitted: readonly Known[]
  /** Of each submitted name what became of it: `created`, `existing`, or the code of the refusal. */
  readonly verdicts: readonly string[]
  /** What was there under the names that were looked up. */
  readonly names: readonly Known[]
  readonly found: readonly Seen[]
  readonly bases: readonly Known[]
  readonly below: readonly Below[]
  readonly saved: readonly Seen[]
}

interface Release {
  readonly kind: 'release'
  readonly teamId: string
  readonly names: readonly Known[]
  readonly released: readonly Seen[]
}

/** A registration, as an answer shows it. */
export type Seen = Registration

/** A registration, as the registry holds it. */
export interface Held extends Registration {
  /** Kept under another registrable domain than it has, so that nobody finds it until it is put right. */
  readonly isMisplaced: boolean
}

export interface State {
  /** In no particular order. */
  readonly held: readonly Held[]
  /** The IDs of what was released, which never come back. */
  readonly ended: readonly string[]
}

export const specification: Specification<State, Operation> = {
  step(state, operation) {
    switch (operation.kind) {
      case 'register':
        return register(state, operation)
      case 'release':
        return release(state, operation)
      case 'look':
        return isSame(operation.found, operation.names ? pick(state, operation.names) : state.held) ? state : null
      case 'mark':
        return change(state, operation.domainId, { synchronized: true })
      case 'tell of a release':
        return state.ended.includes(operation.domainId) ? state : null
      case 'put right':
        return putRight(state, operation.domainId, operation.isLeft)
    }
  },
  toText: ({ held, ended }) => `${held.map(toText).sort()} ${ended.toSorted()}`,
  isObservation,
  isIdle: ({ held, ended }, operation) =>
    isObservation(operation) ||
    ('domainId' in operation && ended.includes(operation.domainId)) ||
    (operation.kind === 'mark' && held.some(other => other.domainId === operation.domainId && other.synchronized)) ||
    (operation.kind === 'put right' && held.some(other => other.domainId === operation.domainId && !other.isMisplaced)),
}

function isObservation(operation: Operation): boolean {
  switch (operation.kind) {
    case 'register':
      return operation.saved.length === 0
    case 'release':
      return operation.released.length === 0
    case 'put right':
      return operation.isLeft
    default:
      return operation.kind !== 'mark'
  }
}

const isPlaced = ({ isMisplaced }: Held) => !isMisplaced

function pick({ held }: State, names: readonly Known[]): readonly Held[] {
  const domains = new Set(names.map(({ domain }) => domain))
  return held.filter(other => isPlaced(other) && domains.has(other.domain))
}

const change = ({ held, ended }: State, domainId: string, changed: Partial<Held>): State => ({
  held: held.map(other => (other.domainId === domainId ? { ...other, ...changed } : other)),
  ended,
})

function register(state: State, operation: Register): State | null {
  const { teamId, submitted, verdicts, names, found, bases, below, saved } = operation
  const placed = state.held.filter(isPlaced)
  if (!isSame(found, pick(state, names))) return null
  if (!bases.every((base, index) => isBelow(placed, base, teamId, below[index]))) return null
  const model: HeldName[] = [...placed]
  const created: Known[] = []
  for (const [index, name] of submitted.entries()) {
    const verdict = verdictOf(name, teamId, model)
    if (verdict !== verdicts[index]) return null
    if (verdict !== 'created') continue
    model.push({ ...name, teamId })
    created.push(name)
  }
  const isAsDecided = created.length === saved.length && created.every(({ domain }, at) => domain === saved[at]?.domain)
  const isOwn = saved.every(registration => registration.teamId === teamId)
  if (!isAsDecided || !isOwn) return null
  return { ...state, held: [...state.held, ...saved.map(seen => ({ ...seen, isMisplaced: false }))] }
}

/**
 * A store need not look for names of others where there are own; whether the wildcard over the base counts is all the
 * same.
 */
function isBelow(placed: readonly Held[], base: Known, teamId: string, answer: Below | undefined): boolean {
  const wildcard = { ...base, domain: `*.${base.domain}` }
  if (placed.some(({ domain }) => domain === wildcard.domain)) return true
  const covered = placed.filter(held => covers(wildcard, held))
  const own = covered.filter(held => held.teamId === teamId)
  if (answer?.ownCount !== own.length) return false
  return own.length > 0 || answer.heldByOthers === covered.length > 0
}

function release(state: State, { teamId, names, released }: Release): State | null {
  const given = pick(state, names).filter(held => held.teamId === teamId)
  if (!isSame(released, given)) return null
  return {
    held: state.held.filter(held => !given.includes(held)),
    ended: [...state.ended, ...given.map(({ domainId }) => domainId)],
  }
}

function putRight(state: State, domainId: string, isLeft: boolean): State | null {
  const held = state.held.find(other => other.domainId === domainId)
  // Released, or put right by another walk, since this one read it.
  if (!held || isPlaced(held)) return state
  const isFree = verdictOf(held, held.teamId, state.held.filter(isPlaced)) === 'created'
  if (isFree === isLeft) return null
  return isFree ? change(state, domainId, { isMisplaced: false }) : state
}

const isSame = (answer: readonly Seen[], truth: readonly Seen[]) =>
  answer.length === truth.length && new Set([...answer, ...truth].map(toSeenText)).size === truth.length

const toSeenText = ({ domain, domainId, teamId, synchronized }: Seen) =>
  `${domain} ${domainId} ${teamId} ${synchronized}`
const toText = (held: Held) => `${toSeenText(held)} ${held.isMisplaced}`
