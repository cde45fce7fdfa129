import { classifyHostname } from '../../src/index.ts'
import type { Name } from '../../src/registry/name.ts'
import { createSynchronizer, leaseFor, type Outbox, toChange, unsynchronizedOf } from '../../src/registry/outbox.ts'
import type {
  Below,
  Change,
  Found,
  ListOptions,
  Registration,
  RegistrationRequest,
  SweepOptions,
  SweepResult,
  Team,
} from '../../src/registry/store.ts'
import type { StoreSetup, SuiteStore } from '../../src/testing/domain-store-suite.ts'

/** Waits as for a database, so that calls interleave. */
const pause = () => Promise.resolve()

type Unlock = () => void

/** The steps of a store, each of which can be replaced by a wrong one. */
export interface Steps {
  createTable(): Registration[]
  findTeam(id: string, teams: readonly Team[]): Team | null
  createLock(): (request: RegistrationRequest) => Promise<Unlock>
  /** Which registrations an exact look-up finds. */
  matches(row: Registration, name: Name, request: RegistrationRequest): boolean
  isBelow(row: Registration, base: Name): boolean
  summarize(own: Registration[], others: Registration[], base: Name, table: Registration[]): Below
  /** A last change to what was found, before it is handed to decide. */
  reportFound(found: Found, request: RegistrationRequest, table: Registration[], hasWaited: boolean): Found
  decide(request: RegistrationRequest, found: Found): readonly Name[]
  createId(name: Name, call: number, teamId: string): string
  save(table: Registration[], names: readonly Name[], toRow: (name: Name) => Registration): Registration[]
  /** A last change to what was saved, before it is returned. */
  reportSaved(saved: Registration[], request: RegistrationRequest, found: Found): readonly Registration[]
  /** After everything, unless it failed before. */
  finishCall(
    request: RegistrationRequest,
    table: Registration[],
    saved: Registration[],
    push: Push,
  ): Promise<void> | void
  recover(request: RegistrationRequest, table: Registration[]): void
  /** What the host's push is called with. */
  push(changes: readonly Change[], push: Push): unknown
  /** Does what `synchronize` has to. */
  synchronize(registrations: readonly Registration[], context: SynchronizationContext): Promise<void>
  /** Does what `synchronizePending` has to. */
  sweep(options: SweepOptions, context: SynchronizationContext): Promise<SweepResult>
  /** How a mark is made: what becomes of a row. */
  mark(table: Registration[], change: Change): void
  /** Which changes a sweep takes, of all that wait. */
  choose(waiting: readonly Waiting[], limit: number, now: number): readonly Waiting[]
  /** How long what is taken, saved or found stays with who did so. */
  lease(milliseconds: number, by: 'sweep' | 'save' | 'find'): number
  finish(waiting: Map<string, Waiting>, change: Change): void
  postpone(waiting: Map<string, Waiting>, change: Waiting, wait: number): void
  /** What waits once a registration is released; `before` is what waited for it. */
  recordRelease(row: Registration, before: Waiting | undefined, lease: number): Waiting | null
  count(waiting: ReadonlyMap<string, Waiting>): number
  /** @param positionOf The position of each registration that there has ever been. */
  list(
    table: readonly Registration[],
    options: ListOptions,
    positionOf: (domainId: string) => number,
  ): readonly Registration[]
  canRelease(row: Registration, teamId: string, domain: string): boolean
  readDomain(domain: string): string | null
  remove(table: Registration[], row: Registration): void
  reportReleased(rows: Registration[]): Registration[]
  isSynchronized(hasPush: boolean, index: number): { returned: boolean; stored: boolean }
}

export interface SynchronizationContext {
  readonly table: Registration[]
  readonly waiting: Map<string, Waiting>
  readonly push: Push
  /** Milliseconds for each push; leases and waits follow from it. */
  readonly timeLimit: number
  readonly sound: ReturnType<typeof createSynchronizer>
  readonly outbox: Outbox
}

/** A change that waits. */
export interface Waiting extends Change {
  due: number
  /** When the lease of the call ends that saved it. */
  readonly firstLease?: number
  refusals: number
}
export type Push = (changes: readonly Change[]) => unknown

/** Lets a call begin once it need not wait for any that runs. */
export function lockWhere(mustWait: (one: RegistrationRequest, other: RegistrationRequest) => boolean) {
  return () => {
    const running = new Map<RegistrationRequest, Promise<void>>()
    return async (request: RegistrationRequest): Promise<Unlock> => {
      for (;;) {
        const obstacle = [...running].find(([other]) => mustWait(request, other))
        if (!obstacle) break
        await obstacle[1]
      }
      let end: Unlock = () => {}
      running.set(request, new Promise(resolve => (end = resolve)))
      return () => {
        running.delete(request)
        end()
      }
    }
  }
}

export const shareRegistrableDomain = (one: RegistrationRequest, other: RegistrationRequest) =>
  one.registrableDomains.some(domain => other.registrableDomains.includes(domain))

let lastId = 0

export const soundSteps: Steps = {
  createTable: () => [],
  findTeam: (id, teams) => teams.find(team => team.id === id) ?? null,
  createLock: lockWhere(shareRegistrableDomain),
  matches: (row, { domain }) => row.domain === domain,
  isBelow: (row, base) => row.registrableDomain === base.registrableDomain && row.domain.endsWith(`.${base.domain}`),
  summarize: (own, others) => ({
    ownDomains: own.slice(0, 3).map(({ domain }) => domain),
    ownCount: own.length,
    heldByOthers: others.length > 0,
  }),
  reportFound: found => found,
  decide: (request, found) => request.decide(found),
  createId: () => `id-${++lastId}`,
  save(table, names, toRow) {
    const rows = names.map(toRow)
    table.push(...rows)
    return rows
  },
  reportSaved: saved => saved,
  finishCall: () => {},
  recover: () => {},
  push: (changes, push) => push(changes),
  synchronize: (registrations, { sound }) => sound.synchronize(registrations),
  sweep: (options, { sound }) => sound.synchronizePending(options),
  mark(table, { domainId }) {
    const index = table.findIndex(row => row.domainId === domainId)
    const row = table[index]
    if (row) table[index] = { ...row, synchronized: true }
  },
  choose: (waiting, limit, now) => waiting.filter(({ due }) => due <= now).slice(0, limit),
  lease: milliseconds => milliseconds,
  finish(waiting, { domainId, kind }) {
    const change = waiting.get(domainId)
    if (change?.kind === kind) waiting.delete(domainId)
    else if (change) change.due = performance.now()
  },
  postpone: (_, change, wait) => {
    change.due = performance.now() + wait
  },
  recordRelease: (row, before, lease) => ({
    ...toChange(row, 'released'),
    due: Math.min(before?.due ?? performance.now(), performance.now() + lease),
    refusals: 0,
  }),
  count: waiting => waiting.size,
  list(table, { teamId, after, limit = 1000 }, positionOf) {
    const isListed = (row: Registration) =>
      (teamId === undefined || row.teamId === teamId) &&
      (after === undefined || positionOf(row.domainId) > positionOf(after))
    return table.filter(isListed).slice(0, limit)
  },
  canRelease: (row, teamId) => row.teamId === teamId,
  readDomain(domain) {
    const hostname = classifyHostname(domain)
    return hostname.valid ? hostname.domain : null
  },
  remove: (table, row) => void table.splice(table.indexOf(row), 1),
  reportReleased: rows => rows,
  isSynchronized: hasPush => ({ returned: !hasPush, stored: !hasPush }),
}

/** A store that does everything step by step and pauses in between, as one over a database does. */
export function createNaiveStore(setup: StoreSetup, changes: Partial<Steps> = {}): SuiteStore {
  const { teams, synchronize: push, onError, synchronizeTimeLimit: timeLimit = 30_000 } = setup
  const steps = { ...soundSteps, ...changes }
  const table = steps.createTable()
  const lock = steps.createLock()
  const waiting = new Map<string, Waiting>()
  const positions = new Map<string, number>()
  const outbox = createOutbox(steps, table, waiting)
  const pushChanged = (batch: readonly Change[]) => steps.push(batch, push ?? (() => {}))
  const sound = createSynchronizer({ push: pushChanged, timeLimit, onError }, outbox)
  const context: SynchronizationContext = { table, waiting, push: pushChanged, timeLimit, sound, outbox }
  const leaseEnd = (by: 'save' | 'find') => performance.now() + steps.lease(leaseFor(timeLimit), by)
  let calls = 0

  function look(request: RegistrationRequest, hasWaited: boolean): Found {
    const { names, wildcardBases, teamId } = request
    const found = {
      registrations: table.filter(row => names.some(name => steps.matches(row, name, request))),
      below: wildcardBases.map(base => {
        const below = table.filter(row => steps.isBelow(row, base))
        const own = below.filter(row => row.teamId === teamId)
        const others = below.filter(row => row.teamId !== teamId)
        return steps.summarize(own, others, base, table)
      }),
    }
    return steps.reportFound(found, request, table, hasWaited)
  }

  return {
    findTeam: id => steps.findTeam(id, teams),

    async register(request) {
      const call = ++calls
      const before = table.length
      const unlock = await lock(request)
      try {
        const found = look(request, table.length > before)
        await pause()
        const names = steps.decide(request, found)
        await pause()
        let index = 0
        const marks: boolean[] = []
        const saved = steps.save(table, names, ({ domain, registrableDomain }) => {
          const { returned, stored } = steps.isSynchronized(push !== undefined, index++)
          const domainId = steps.createId({ domain, registrableDomain }, call, request.teamId)
          marks.push(returned)
          return { domainId, domain, registrableDomain, teamId: request.teamId, synchronized: stored }
        })
        for (const row of saved) {
          positions.set(row.domainId, positions.size)
          if (row.synchronized) continue
          const due = leaseEnd('save')
          waiting.set(row.domainId, { ...toChange(row, 'registered'), due, firstLease: due, refusals: 0 })
        }
        for (const { domainId } of unsynchronizedOf(request, found)) {
          const change = waiting.get(domainId)
          if (change) change.due = Math.max(change.due, leaseEnd('find'))
        }
        await steps.finishCall(request, table, saved, push ?? (() => {}))
        const returned = saved.map((row, position) => ({ ...row, synchronized: marks[position] ?? row.synchronized }))
        return { found, saved: steps.reportSaved(returned, request, found) }
      } catch (error) {
        steps.recover(request, table)
        throw error
      } finally {
        unlock()
      }
    },

    ...(push && { synchronize: registrations => steps.synchronize(registrations, context) }),
    synchronizePending: async (options = {}) => steps.sweep(options, context),
    countPending: () => steps.count(waiting),
    list: (options = {}) => steps.list(table, options, domainId => positions.get(domainId) ?? -1),

    release(teamId, domains) {
      const released = domains.flatMap(submitted => {
        const domain = steps.readDomain(submitted)
        return table.filter(row => row.domain === domain && steps.canRelease(row, teamId, row.domain))
      })
      for (const row of released) {
        steps.remove(table, row)
        if (!push) continue
        const change = steps.recordRelease(row, waiting.get(row.domainId), leaseFor(timeLimit))
        if (change) waiting.set(row.domainId, change)
        else waiting.delete(row.domainId)
      }
      return steps.reportReleased(released)
    },
  }
}

function createOutbox(steps: Steps, table: Registration[], waiting: Map<string, Waiting>): Outbox {
  return {
    async take(limit, milliseconds) {
      await pause()
      const taken = steps.choose([...waiting.values()], limit, performance.now())
      for (const change of taken) change.due = performance.now() + steps.lease(milliseconds, 'sweep')
      return taken.map(change => ({ ...change, lease: change.due }))
    },
    async finish(changes) {
      await pause()
      for (const change of changes) {
        steps.mark(table, change)
        steps.finish(waiting, change)
      }
    },
    async postpone(postponements) {
      await pause()
      for (const { change, lease, wait, isRefusal } of postponements) {
        const row = waiting.get(change.domainId)
        if (row?.kind !== change.kind || row.due !== (lease ?? row.firstLease)) continue
        if (isRefusal) row.refusals += 1
        steps.postpone(waiting, row, wait)
      }
    },
  }
}
