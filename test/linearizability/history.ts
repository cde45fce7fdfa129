import type { Event, Inexplicable } from './checker.ts'
import { explain } from './checker.ts'
import { type Held, type Operation, type Seen, type State, specification } from './registry.ts'

/** What a client of a store did, and what was answered. */
export interface Deed extends Event<Operation> {
  readonly client: string
}

/** Everything that happened in one race. */
export interface History {
  /** What was there before. */
  readonly initial: readonly Held[]
  readonly deeds: readonly Deed[]
}

/**
 * Looks for an order of all that touches some registrable domains, and leaves the others out of every call.
 *
 * With one registrable domain this proves that each of them by itself behaves as if calls came one after another. It
 * does not prove that a call over several of them is one step: another could see the first half of it. With all that
 * the calls of a history touch, it proves that too.
 *
 * @returns A report for a reader where there is no such order.
 */
export function findFault({ initial, deeds }: History, registrableDomains: readonly string[]): string | null {
  const isAsked = ({ registrableDomain }: { registrableDomain: string }) =>
    registrableDomains.includes(registrableDomain)
  const before = initial.filter(isAsked)
  const ids = new Set([
    ...before.map(({ domainId }) => domainId),
    ...deeds.flatMap(({ operation }) =>
      operation.kind === 'register' ? operation.saved.filter(isAsked).map(({ domainId }) => domainId) : [],
    ),
  ])
  const domains = new Set(before.map(({ domain }) => domain))
  const project = (operation: Operation): Operation | null => {
    switch (operation.kind) {
      case 'register': {
        const { submitted, verdicts, names, found, bases, below, saved } = operation
        const projected = {
          ...operation,
          submitted: submitted.filter(isAsked),
          verdicts: verdicts.filter((_, index) => isAsked(submitted[index] as Seen)),
          names: names.filter(isAsked),
          found: found.filter(isAsked),
          bases: bases.filter(isAsked),
          below: below.filter((_, index) => isAsked(bases[index] as Seen)),
          saved: saved.filter(isAsked),
        }
        return projected.names.length > 0 ? projected : null
      }
      case 'release': {
        const names = operation.names.filter(isAsked)
        return names.length > 0 ? { ...operation, names, released: operation.released.filter(isAsked) } : null
      }
      case 'look': {
        const names = operation.names?.filter(isAsked) ?? null
        // What is misplaced is known by its name; see below.
        const found = operation.found.filter(seen => isAsked(seen) || domains.has(seen.domain))
        return names?.length === 0 ? null : { ...operation, names, found }
      }
      default:
        return ids.has(operation.domainId) ? operation : null
    }
  }
  const projected = deeds.flatMap(deed => {
    const operation = project(deed.operation)
    return operation ? [{ ...deed, operation }] : []
  })
  const fault = explain(specification, { held: before, ended: [] }, projected)
  return fault && toReport(fault as Fault)
}

interface Fault extends Inexplicable<State, Operation> {
  readonly events: readonly Deed[]
}

function toReport({ before, events }: Fault): string {
  const aliases = new Map<string, string>()
  const aliasOf = (domainId: string) => {
    if (!aliases.has(domainId)) aliases.set(domainId, `#${aliases.size + 1}`)
    return aliases.get(domainId) as string
  }
  const show = ({ domain, domainId, teamId, synchronized }: Seen) =>
    `${domain} ${aliasOf(domainId)} of team ${teamId}${synchronized ? ', synchronized' : ''}`
  const showAll = (seen: readonly Seen[]) => (seen.length === 0 ? 'nothing' : seen.map(show).join('; '))
  const showHeld = (held: Held) => `${show(held)}${held.isMisplaced ? ', misplaced' : ''}`
  const states = before.map(({ held }) => `  ${held.length === 0 ? 'nothing' : held.map(showHeld).join('; ')}`)
  const start = Math.min(...events.map(({ startedAt }) => startedAt))
  const lines = events.map(({ client, startedAt, endedAt, operation }) => {
    const time = `${startedAt - start} to ${endedAt === Number.POSITIVE_INFINITY ? 'later' : endedAt - start}`.padStart(
      16,
    )
    return `  ${time}  ${client}: ${toLine(operation, showAll, aliasOf)}`
  })
  return ['Held before, possibly:', ...states, 'Then, and no order explains it:', ...lines].join('\n')
}

function toLine(
  operation: Operation,
  show: (seen: readonly Seen[]) => string,
  aliasOf: (domainId: string) => string,
): string {
  switch (operation.kind) {
    case 'register': {
      const { teamId, submitted, verdicts, found, saved } = operation
      const results = submitted.map(({ domain }, index) => `${domain} ${verdicts[index]}`).join(', ')
      return `team ${teamId} registers: ${results}; found ${show(found)}; saved ${show(saved)}`
    }
    case 'release': {
      const { teamId, names, released } = operation
      return `team ${teamId} releases ${names.map(({ domain }) => domain).join(', ')}: ${show(released)}`
    }
    case 'look': {
      const names = operation.names?.map(({ domain }) => domain).join(', ') ?? 'everything'
      return `looks at ${names}: ${show(operation.found)}`
    }
    case 'put right':
      return `puts ${aliasOf(operation.domainId)} right: ${operation.isLeft ? 'left as it is' : 'not left as it is'}`
    default:
      return `${operation.kind} ${aliasOf(operation.domainId)}`
  }
}
