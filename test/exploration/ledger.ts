import type { PendingChange } from '../../src/outbox/contract.ts'
import { findBases, judgeImports } from '../../src/rules/overlap.ts'
import { type Change, NOTHING_BELOW, type Registration } from '../../src/rules/registration.ts'
import type { TransferredRegistrations } from '../../src/store/contract.ts'
import { type Action, type ActionResult, scenarioTeams } from './scenarios.ts'

/** Records the history of a schedule, and checks it. */
export type Ledger = ReturnType<typeof createLedger>

export function createLedger() {
  /** For each ID, the last change that the monitor has accepted. */
  const monitor = new Map<string, Change>()
  const history = createHistory()
  const { saved, gone, rename } = history
  const acknowledged = new Set<string>()
  let violation: string | null = null

  const violate = (what: string) => {
    violation ??= what
  }

  /** Whether a transferred name is still registered, but the monitor watches none of its newer IDs. */
  function isForgotten({ domainId }: Change): boolean {
    const newer = history.newerIds(domainId)
    const isRegistered = newer.length > 0 && !gone.has(newer.at(-1) as string)
    return isRegistered && !newer.some(id => monitor.get(id)?.kind === 'registered')
  }

  return {
    violation: () => violation,
    show: (value: unknown) => rename(JSON.stringify(value, withoutTimes) ?? ''),
    save: history.save,
    release: history.release,
    transfer: history.transfer,

    watch(changes: readonly Change[]): void {
      for (const change of changes) {
        if (monitor.get(change.domainId)?.kind !== 'released') monitor.set(change.domainId, change)
        if (change.kind === 'released' && isForgotten(change))
          violate(`${change.domain} is not watched after a transfer`)
      }
    },

    /** The IDs that have been released. */
    gone: (): ReadonlySet<string> => new Set(gone),

    checkAnswer(
      caller: string,
      { teamId }: Action,
      { registered = [], released = [] }: ActionResult,
      goneBefore: ReadonlySet<string>,
    ) {
      for (const domainId of registered) {
        if (saved.get(domainId)?.teamId !== teamId || goneBefore.has(domainId))
          violate(`${rename(domainId)} is not registered, but ${caller}'s result says it is`)
        if (!monitor.has(domainId)) violate(`${rename(domainId)} is not watched, but ${caller}'s result says it is`)
        acknowledged.add(domainId)
      }
      const kept = released.find(domainId => !gone.has(domainId))
      if (kept) violate(`${rename(kept)} is not released, but ${caller}'s result says it is`)
    },

    /** Records that a step failed although the schedule did not make it fail. */
    checkStep: (says: string, error: unknown): void =>
      violate(`${says} failed although no failure was injected: ${error}`),
    checkFailure(caller: string, { hasFailed }: ActionResult): void {
      if (hasFailed) violate(`${caller} failed, although none of its steps failed: ${hasFailed}`)
    },

    /** Checks the invariants of every state. */
    checkState(rows: readonly Registration[], pending: readonly PendingChange[]): void {
      const what = findWrongRow(rows, { saved, gone }) ?? findUnheard(rows, pending, monitor)
      if (what) violate(rename(what))
    },

    /** Checks the invariants that hold once failures have stopped and a process has swept. */
    checkEnd(rows: readonly Registration[], pending: readonly PendingChange[], refused: ReadonlySet<string>): void {
      const left = pending.find(({ domain }) => !refused.has(domain))
      if (left) violate(`${left.domain} is still pending at the end`)
      const lost = [...acknowledged].find(id => !gone.has(id) && rows.every(({ domainId }) => domainId !== id))
      if (lost) violate(`${rename(lost)} is missing at the end, although a call returned it`)
    },

    /** Returns the part of the history that determines what can happen next. */
    summary: (): unknown => [
      [...monitor.values()].map(({ domainId, kind }) => rename(`${domainId} ${kind}`)).sort(),
      [...acknowledged].map(rename).sort(),
      [...gone].map(rename).sort(),
    ],
  }
}

/** Records all registrations, even those that were released or transferred. */
function createHistory() {
  const saved = new Map<string, Registration>()
  const gone = new Set<string>()
  /** For each transferred registration: its new ID, keyed by its former ID. */
  const successors = new Map<string, string>()
  const names = new Map<string, string>()

  function save(registrations: readonly Registration[]): void {
    for (const registration of registrations) {
      const { domainId, domain } = registration
      const before = [...saved.values()].filter(other => other.domain === domain).length
      if (!saved.has(domainId)) names.set(domainId, `${domain}#${before}`)
      saved.set(domainId, registration)
    }
  }

  return {
    saved,
    gone,
    save,

    release(registrations: readonly Registration[]): void {
      for (const { domainId } of registrations) gone.add(domainId)
    },

    transfer(transferred: TransferredRegistrations): void {
      save(transferred.saved)
      for (const [index, { domainId }] of transferred.saved.entries()) {
        const formerId = transferred.found.registrations[index]?.domainId as string
        gone.add(formerId)
        successors.set(formerId, domainId)
      }
    },

    /** Returns the IDs that later transfers gave the registration. */
    newerIds(domainId: string): readonly string[] {
      const next = successors.get(domainId)
      return next === undefined ? [] : [next, ...this.newerIds(next)]
    },

    /** Replaces IDs with labels that do not depend on the order in which other IDs were created. */
    rename: (text: string) => [...names].reduce((text, [id, name]) => text.replaceAll(id, name), text),
  }
}

/** Omits times, which differ in each run and have no effect, because the schedule chooses when leases expire. */
const withoutTimes = (field: string, value: unknown) => (field === 'at' || field === 'createdAt' ? undefined : value)

interface Facts {
  readonly saved: ReadonlyMap<string, Registration>
  readonly gone: ReadonlySet<string>
}

function findWrongRow(rows: readonly Registration[], { saved, gone }: Facts): string | undefined {
  const below = findBases(rows).map(() => NOTHING_BELOW)
  const verdicts = judgeImports(rows, { registrations: [], takenIds: [], below })
  for (const [index, { domain, domainId, teamId }] of rows.entries()) {
    if (verdicts[index] !== 'imported') return `${domain} overlaps with another registration`
    if ((saved.get(domainId)?.teamId ?? teamId) !== teamId) return `${domainId} changed its team`
    if (gone.has(domainId)) return `${domainId} was released, but is registered`
  }
  const countOf = (id: string) => rows.filter(({ teamId }) => teamId === id).length
  const full = scenarioTeams.find(({ id, maxDomains }) => maxDomains && countOf(id) > maxDomains)
  return full && `team ${full.id} has more names than its limit`
}

/** Finds a change that the monitor does not have and will never get. */
function findUnheard(
  rows: readonly Registration[],
  pending: readonly PendingChange[],
  monitor: ReadonlyMap<string, Change>,
): string | undefined {
  const isPending = ({ domainId }: Registration | Change) => pending.some(change => change.domainId === domainId)
  const isRegistered = ({ domainId }: Change) => rows.some(row => row.domainId === domainId)
  const watched = [...monitor.values()].filter(({ kind }) => kind === 'registered')
  const unheard = rows.find(row => !isPending(row) && !watched.some(({ domainId }) => domainId === row.domainId))
  if (unheard) return `${unheard.domain} is registered, but neither watched nor pending`
  const forgotten = watched.find(change => !isPending(change) && !isRegistered(change))
  return forgotten && `${forgotten.domain} is watched, but neither registered nor pending`
}
