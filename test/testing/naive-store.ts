import { classifyHostname } from '../../src/index.ts'
import type { Name } from '../../src/registry/name.ts'
import type { Below, Found, Registration, RegistrationRequest, Team } from '../../src/registry/store.ts'
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
  finish(request: RegistrationRequest, table: Registration[], saved: Registration[], push: Push): Promise<void> | void
  recover(request: RegistrationRequest, table: Registration[]): void
  /** Calls the push, and marks what went through. */
  deliver(registrations: readonly Registration[], push: Push, mark: Mark, context: DeliveryContext): Promise<void>
  /** How a mark is made: what becomes of a row. */
  mark(table: Registration[], registration: Registration): void
  /** What waits for a sweep is forgotten when its push fails. */
  forgetsFailures: boolean
  sweep(outbox: readonly Registration[], limit: number): readonly Registration[]
  pushesNothing: boolean
  canRelease(row: Registration, teamId: string, domain: string): boolean
  readDomain(domain: string): string | null
  remove(table: Registration[], row: Registration): void
  reportReleased(rows: Registration[]): Registration[]
  forgetReleased: boolean
  isSynchronized(hasPush: boolean, index: number): { returned: boolean; stored: boolean }
}

export interface DeliveryContext {
  readonly table: Registration[]
  /** Whether it is `synchronizePending` that delivers. */
  readonly isSweep: boolean
}
export type Push = (registrations: readonly Registration[]) => unknown
export type Mark = (registrations: readonly Registration[]) => void

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
  finish: () => {},
  recover: () => {},
  async deliver(registrations, push, mark) {
    await push(registrations)
    mark(registrations)
  },
  mark(table, { domainId }) {
    const index = table.findIndex(row => row.domainId === domainId)
    const row = table[index]
    if (row) table[index] = { ...row, synchronized: true }
  },
  forgetsFailures: false,
  sweep: (outbox, limit) => outbox.slice(0, limit),
  pushesNothing: false,
  canRelease: (row, teamId) => row.teamId === teamId,
  readDomain(domain) {
    const hostname = classifyHostname(domain)
    return hostname.valid ? hostname.domain : null
  },
  remove: (table, row) => void table.splice(table.indexOf(row), 1),
  reportReleased: rows => rows,
  forgetReleased: true,
  isSynchronized: hasPush => ({ returned: !hasPush, stored: !hasPush }),
}

/** A store that does everything step by step and pauses in between, as one over a database does. */
export function createNaiveStore({ teams, synchronize: push }: StoreSetup, changes: Partial<Steps> = {}): SuiteStore {
  const steps = { ...soundSteps, ...changes }
  const table = steps.createTable()
  const lock = steps.createLock()
  const outbox = new Map<string, Registration>()
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

  const mark: Mark = registrations => {
    for (const registration of registrations) {
      steps.mark(table, registration)
      outbox.delete(registration.domainId)
    }
  }

  async function deliver(registrations: readonly Registration[], isSweep: boolean): Promise<void> {
    try {
      await steps.deliver(registrations, push ?? (() => {}), mark, { table, isSweep })
    } catch (error) {
      if (steps.forgetsFailures) for (const { domainId } of registrations) outbox.delete(domainId)
      throw error
    }
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
        for (const row of saved) if (!row.synchronized) outbox.set(row.domainId, row)
        await steps.finish(request, table, saved, push ?? (() => {}))
        const returned = saved.map((row, position) => ({ ...row, synchronized: marks[position] ?? row.synchronized }))
        return { found, saved: steps.reportSaved(returned, request, found) }
      } catch (error) {
        steps.recover(request, table)
        throw error
      } finally {
        unlock()
      }
    },

    ...(push && { synchronize: registrations => deliver(registrations, false) }),

    async synchronizePending({ limit = 1000 } = {}) {
      const pending = steps.sweep([...outbox.values()], limit)
      if (pending.length > 0 || steps.pushesNothing) await deliver(pending, true)
      return pending.length
    },

    release(teamId, domains) {
      const released = domains.flatMap(submitted => {
        const domain = steps.readDomain(submitted)
        return table.filter(row => row.domain === domain && steps.canRelease(row, teamId, row.domain))
      })
      for (const row of released) {
        steps.remove(table, row)
        if (steps.forgetReleased) outbox.delete(row.domainId)
      }
      return steps.reportReleased(released)
    },
  }
}
