import {
  changeOf,
  LONGEST_WAIT,
  lineOf,
  type Outbox,
  type Postponement,
  type Push,
  type TakeRequest,
} from '../../src/outbox/contract.ts'
import { ancestorsOf, type Name, wildcardsAbove } from '../../src/rules/name.ts'
import { isSeparated } from '../../src/rules/overlap.ts'
import type { Change, LookUpResult, NamesBelow, Registration, Team } from '../../src/rules/registration.ts'
import type { ListPage } from '../../src/store/arguments.ts'
import type { LookUp } from '../../src/store/contract.ts'
import {
  createManagedStore,
  type Decision,
  type RegistrationStep,
  type StoreBackend,
} from '../../src/store/managed-store.ts'
import { toKey } from '../../src/store/name-key.ts'
import type { StoreSetup, SuiteStore } from '../../src/testing/index.ts'

/** Waits as a call of a database would, so the steps of different calls interleave. */
const pause = () => Promise.resolve()

type Unlock = () => void
export type Row = Omit<Registration, 'synchronized'>

/** A pending change. */
export interface Waiting {
  readonly change: Change
  due: number
  /** How many sweeps have taken the change. */
  sweeps: number
  refusals: number
  lastFailure: string | null
  /** Only for a release: the ID whose registration must be pushed first. */
  follows?: string | undefined
}

export interface Tables {
  readonly rows: Row[]
  /** The pending changes, by `domainId`. */
  readonly waiting: Map<string, Waiting>
}

/** The part of a request of a sweep that is about one line. */
type LineRequest = TakeRequest['lines'][number] & Pick<TakeRequest, 'lease' | 'lot'>

/** The steps of a store, each of which a test can replace with a wrong one. */
export interface Steps {
  createRows(): Row[]
  /** What a new process finds. */
  reopen(tables: Tables): Tables
  findTeam(id: string, teams: readonly Team[]): Team | null
  createLock(): (step: RegistrationStep) => Promise<Unlock>
  /** Whether a lookup of exactly this name finds the row. */
  matches(row: Row, domain: string, question: LookUp): boolean
  isBelow(row: Row, base: string): boolean
  /** How many registrations a team has; only some calls need this count. */
  count(rows: readonly Row[], teamId: string): number
  summarize(own: readonly Row[], others: readonly Row[], behind: readonly Row[], base: string): NamesBelow
  toRegistration(row: Row, tables: Tables): Registration
  /** May change the findings before they are returned. */
  reportFound(found: LookUpResult, question: LookUp, tables: Tables, hasWaited: boolean): LookUpResult
  decide(step: RegistrationStep, found: LookUpResult): Decision
  createId(name: Name, call: number): string
  /** Returns the text if it is an ID, otherwise `null`. */
  toDomainId(text: string): string | null
  save(rows: Row[], names: readonly Name[], toRow: (name: Name) => Row): Row[]
  /** May change the saved registrations before they are returned. */
  reportSaved(saved: Registration[], step: RegistrationStep, found: LookUpResult): readonly Registration[]
  /** Called at the end of a call that succeeded. */
  finishCall(step: RegistrationStep, tables: Tables, saved: Row[]): unknown
  recover(step: RegistrationStep, tables: Tables): void
  /** How long a sweep leases changes, or a call leases the changes that it saves or finds. */
  lease(milliseconds: number, by: 'sweep' | 'save' | 'find'): number
  /** The pending changes that a sweep leases. */
  choose(waiting: readonly Waiting[], request: LineRequest, now: number): readonly Waiting[]
  /** Counts a sweep that has taken the change. */
  countSweep(taken: Waiting): void
  /** Whether a release must wait for the registration that it follows. */
  mustFollow(followed: Waiting | undefined): boolean
  /** Makes releases that wait for the registration `domainId` wait for the registration `next` instead. */
  follow(waiting: Iterable<Waiting>, domainId: string, next: string): void
  finish(tables: Tables, change: Change): void
  postpone(tables: Tables, postponement: Postponement): void
  canRelease(row: Row, teamId: string): boolean
  remove(rows: Row[], row: Row): unknown
  /** The pending change that a release leaves; `before` is the pending change that it replaces. */
  recordRelease(row: Row, before: Waiting | undefined, lease: number): Waiting | undefined
  /** Whether a release is recorded by a store that does not push; `before` is the pending change before the release. */
  isRecorded(before: Waiting | undefined): boolean
  list(rows: readonly Row[], page: ListPage): readonly Row[]
  batchSize(push: Push): number | undefined
  /** Calls `push`, which is the application's `synchronize`. */
  push(changes: readonly Change[], context: Parameters<Push>[1], push: Push): unknown
  /** Changes the finished store. */
  wrap(store: SuiteStore, tables: Tables, setup: StoreSetup): SuiteStore
}

/** Delays a call until no other call is running for which it must wait. */
export function lockWhere(mustWait: (one: RegistrationStep, other: RegistrationStep) => boolean) {
  return () => {
    const running = new Map<RegistrationStep, Promise<void>>()
    return async (step: RegistrationStep): Promise<Unlock> => {
      for (;;) {
        const obstacle = [...running].find(([other]) => mustWait(step, other))
        if (!obstacle) break
        await obstacle[1]
      }
      let end: Unlock = () => {}
      running.set(step, new Promise(resolve => (end = resolve)))
      return () => {
        running.delete(step)
        end()
      }
    }
  }
}

export const shareRegistrableDomain = (one: RegistrationStep, other: RegistrationStep) =>
  one.registrableDomains.some(domain => other.registrableDomains.includes(domain))

const shareLimit = (one: RegistrationStep, other: RegistrationStep) =>
  one.needsCount === true && other.needsCount === true && one.teamId === other.teamId

export const mustTakeTurns = (one: RegistrationStep, other: RegistrationStep) =>
  shareRegistrableDomain(one, other) || shareLimit(one, other)

export const toWaiting = (row: Row, kind: Change['kind'], wait: number): Waiting => ({
  change: changeOf({ ...row, synchronized: false }, kind),
  due: performance.now() + wait,
  sweeps: 0,
  refusals: 0,
  lastFailure: null,
})

let lastId = 0

export const soundSteps: Steps = {
  createRows: () => [],
  reopen: tables => tables,
  findTeam: (id, teams) => teams.find(team => team.id === id) ?? null,
  createLock: lockWhere(mustTakeTurns),
  count: (rows, teamId) => rows.filter(row => row.teamId === teamId).length,
  matches: (row, domain) => row.domain === domain,
  isBelow: (row, base) => ancestorsOf(row.domain).includes(base),
  summarize: (own, others, behind) => ({
    ownDomains: own.slice(0, 3).map(({ domain }) => domain),
    ownCount: own.length,
    heldByOthers: others.length > 0,
    behindSuffixes: behind,
  }),
  toRegistration: (row, { waiting }) => ({ ...row, synchronized: !waiting.has(row.domainId) }),
  reportFound: found => found,
  decide: (step, found) => step.decide(found),
  createId: () => `00000000-0000-7000-8000-${String(++lastId).padStart(12, '0')}`,
  toDomainId: text => text,
  save(rows, names, toRow) {
    const saved = names.map(toRow)
    rows.push(...saved)
    return saved
  },
  reportSaved: saved => saved,
  finishCall: () => {},
  recover: () => {},
  lease: milliseconds => milliseconds,
  choose(waiting, { line, limit, lease, lot }, now) {
    const due = waiting.filter(({ due }) => due <= now || due > now + LONGEST_WAIT + lease)
    const ofLine = due.filter(each => lineOf(each) === line).sort((one, other) => one.due - other.due)
    const teams = [...new Set(ofLine.map(({ change }) => change.teamId))]
    const chosen: Waiting[] = []
    for (let turn = Math.floor(lot * teams.length); chosen.length < Math.min(limit, ofLine.length); turn += 1) {
      const teamId = teams[turn % teams.length]
      const next = ofLine.find(each => each.change.teamId === teamId && !chosen.includes(each))
      if (next) chosen.push(next)
    }
    return chosen.sort((one, other) => (one.change.teamId < other.change.teamId ? -1 : 0))
  },
  countSweep(taken) {
    taken.sweeps += 1
  },
  mustFollow: followed => followed?.change.kind === 'registered',
  follow(waiting, domainId, next) {
    for (const each of waiting) if (each.follows === domainId) each.follows = next
  },
  finish({ waiting }, { domainId, kind }) {
    const found = waiting.get(domainId)
    if (found?.change.kind === kind) waiting.delete(domainId)
    else if (found) found.due = performance.now()
  },
  postpone({ waiting }, { change, wait, failure, refusals }) {
    const found = waiting.get(change.domainId)
    if (found?.change.kind !== change.kind) return
    found.due = performance.now() + wait
    found.refusals = Math.max(found.refusals, refusals)
    found.lastFailure = failure ?? found.lastFailure
  },
  canRelease: (row, teamId) => row.teamId === teamId,
  remove: (rows, row) => void rows.splice(rows.indexOf(row), 1),
  recordRelease: (row, before, lease) => toWaiting(row, 'released', before ? lease : 0),
  isRecorded: before => before !== undefined,
  list(rows, { teamId, after, limit, order, domain, below }) {
    const keyOf = (row: Row) => (below === undefined ? row.domainId : toKey(row.domain).path)
    const start = after !== undefined && below !== undefined ? toKey(after).path : after
    const direction = order === 'newest' ? -1 : 1
    return rows
      .filter(row => teamId === undefined || row.teamId === teamId)
      .filter(row => domain === undefined || row.domain === domain)
      .filter(row => below === undefined || row.domain.endsWith(`.${below}`))
      .filter(row => start === undefined || direction * (keyOf(row) > start ? 1 : -1) > 0)
      .filter(row => row.domainId !== after)
      .toSorted((one, other) => direction * (keyOf(one) < keyOf(other) ? -1 : 1))
      .slice(0, limit)
  },
  batchSize: push => push.batchSize,
  push: (changes, context, push) => push(changes, context),
  wrap: store => store,
}

const tablesOf = new WeakMap<SuiteStore, Tables>()

/** Opens another store over the data of a store. */
export const reopenNaiveStore = (store: SuiteStore, setup: StoreSetup, changes: Partial<Steps> = {}) =>
  createNaiveStore(setup, changes, { ...soundSteps, ...changes }.reopen(tablesOf.get(store) as Tables))

/** A store that works in steps and pauses in between, like a store on a database. */
export function createNaiveStore(setup: StoreSetup, changes: Partial<Steps> = {}, found?: Tables): SuiteStore {
  const steps = { ...soundSteps, ...changes }
  const tables = found ?? { rows: steps.createRows(), waiting: new Map() }
  const { rows, waiting } = tables
  const lock = steps.createLock()
  let calls = 0

  function look(question: LookUp, hasWaited = false): LookUpResult {
    const { domains, covered = [], bases, teamId, needsCount } = question
    const asked = [...domains, ...covered.flatMap(wildcardsAbove)]
    const found = {
      ...(needsCount && { teamCount: steps.count(rows, teamId) }),
      registrations: rows
        .filter(row => asked.some(domain => steps.matches(row, domain, question)))
        .map(row => steps.toRegistration(row, tables)),
      below: bases.map(base => {
        const below = rows.filter(row => steps.isBelow(row, base))
        const [behind, inside] = [true, false].map(parted => below.filter(row => isSeparated(row, base) === parted))
        const [own = [], others = []] = [true, false].map(isOwn =>
          inside?.filter(row => (row.teamId === teamId) === isOwn),
        )
        return steps.summarize(own, others, behind ?? [], base)
      }),
    }
    return steps.reportFound(found, question, tables, hasWaited)
  }

  async function register(step: RegistrationStep) {
    const call = ++calls
    const before = rows.length
    const end = performance.now() + step.timeLimit
    const unlock = await lock(step)
    try {
      if (performance.now() >= end) throw new Error('No time is left')
      const found = look(step, rows.length > before)
      await pause()
      const { created, waiting: leased } = steps.decide(step, found)
      await pause()
      const saved = steps.save(rows, created, ({ domain, registrableDomain }) => ({
        domainId: steps.createId({ domain, registrableDomain }, call),
        domain,
        registrableDomain,
        teamId: step.teamId,
        createdAt: new Date(),
      }))
      if (step.lease !== null) {
        for (const row of saved)
          waiting.set(row.domainId, toWaiting(row, 'registered', steps.lease(step.lease, 'save')))
        for (const { domainId } of leased) {
          const found = waiting.get(domainId)
          if (found) found.due = Math.max(found.due, performance.now() + steps.lease(step.lease, 'find'))
        }
      }
      const registrations = saved.map(row => steps.toRegistration(row, tables))
      steps.finishCall(step, tables, saved)
      return { found, saved: steps.reportSaved(registrations, step, found) }
    } catch (error) {
      steps.recover(step, tables)
      throw error
    } finally {
      unlock()
    }
  }

  const backend: StoreBackend = {
    register,
    find: question => look(question),
    get(domainId) {
      const row = rows.find(each => each.domainId === domainId)
      return row ? steps.toRegistration(row, tables) : null
    },
    release(teamId, { names, domainIds }, { lease, isPushed }) {
      const isAsked = (row: Row) => domainIds.includes(row.domainId) || names.some(name => name.domain === row.domain)
      const released = rows.filter(row => isAsked(row) && steps.canRelease(row, teamId))
      const registrations = released.map(row => steps.toRegistration(row, tables))
      for (const row of released) {
        steps.remove(rows, row)
        if (!isPushed && !steps.isRecorded(waiting.get(row.domainId))) continue
        const change = steps.recordRelease(row, waiting.get(row.domainId), lease)
        if (change) waiting.set(row.domainId, change)
        else waiting.delete(row.domainId)
      }
      return registrations
    },
    async transfer({ from, to, needsCount, decide }, { names, domainIds }, { lease, isPushed }) {
      const isAsked = (row: Row) => domainIds.includes(row.domainId) || names.some(name => name.domain === row.domain)
      const findHeld = () => rows.filter(row => isAsked(row) && row.teamId === from)
      const registrableDomains = [...names, ...findHeld()].map(({ registrableDomain }) => registrableDomain)
      const unlock = await lock({ teamId: to, needsCount, registrableDomains, from } as unknown as RegistrationStep)
      try {
        const held = findHeld()
        const registrations = held.map(row => steps.toRegistration(row, tables))
        const found = { registrations, ...(needsCount && { teamCount: steps.count(rows, to) }) }
        await pause()
        if (!decide(found)) return { found, saved: [] }
        await pause()
        const created = held.map(row => ({
          ...row,
          domainId: steps.createId(row, 0),
          teamId: to,
          createdAt: new Date(),
        }))
        for (const [index, former] of held.entries()) {
          const row = created[index] as Row
          rows.splice(rows.indexOf(former), 1, row)
          const before = waiting.get(former.domainId)
          if (!isPushed && !steps.isRecorded(before)) continue
          if (before) steps.follow(waiting.values(), former.domainId, row.domainId)
          const release = toWaiting(former, 'released', before ? lease : 0)
          waiting.set(former.domainId, { ...release, follows: row.domainId })
          waiting.set(row.domainId, toWaiting(row, 'registered', 0))
        }
        return { found, saved: created.map(row => steps.toRegistration(row, tables)) }
      } finally {
        unlock()
      }
    },
    async import({ domainIds, decide, ...question }) {
      const unlock = await lock({ ...question, decide, domainIds } as unknown as RegistrationStep)
      try {
        const isTaken = (id: string) => waiting.has(id) || rows.some(row => row.domainId === id)
        const found = { ...look(question), takenIds: domainIds.filter(isTaken) }
        await pause()
        const imported = decide(found)
        await pause()
        for (const { synchronized, ...row } of imported) {
          rows.push(row)
          if (!synchronized) waiting.set(row.domainId, toWaiting(row, 'registered', 0))
        }
        return found
      } finally {
        unlock()
      }
    },
    toDomainId: text => steps.toDomainId(text),
    list: page =>
      steps.list(rows, page).map(row => ({ ...steps.toRegistration(row, tables), createdAt: row.createdAt })),
    count: teamId => rows.filter(row => teamId === undefined || row.teamId === teamId).length,
    outbox: createOutbox(steps, tables),
  }

  const { teams, synchronize: push, onError, synchronizeTimeLimit } = setup
  const synchronize: Push | undefined =
    push &&
    Object.assign((...[changes, context]: Parameters<Push>) => steps.push(changes, context, push), {
      batchSize: steps.batchSize(push),
    })
  const findTeam = (id: string) => steps.findTeam(id, teams)
  const store = createManagedStore(backend, { findTeam, synchronize, onError, synchronizeTimeLimit })
  const finished = steps.wrap(store, tables, setup)
  tablesOf.set(finished, tables)
  return finished
}

function createOutbox(steps: Steps, tables: Tables): Outbox {
  const { waiting } = tables
  return {
    async take({ lines, ...request }) {
      await pause()
      const isFree = ({ follows }: Waiting) => follows === undefined || !steps.mustFollow(waiting.get(follows))
      const free = [...waiting.values()].filter(isFree)
      for (const line of lines) {
        const chosen = steps.choose(free, { ...request, ...line }, performance.now())
        const taken = chosen.map(each => ({ ...each.change, line: lineOf(each), refusals: each.refusals }))
        for (const each of chosen) {
          each.due = performance.now() + steps.lease(request.lease, 'sweep')
          steps.countSweep(each)
        }
        if (taken.length > 0) return taken
      }
      return []
    },
    async finish(changes) {
      await pause()
      for (const change of changes) steps.finish(tables, change)
    },
    async postpone(postponements) {
      await pause()
      for (const postponement of postponements) steps.postpone(tables, postponement)
    },
    async retry(domainIds = [...waiting.keys()]) {
      await pause()
      const now = performance.now()
      const found = domainIds.flatMap(domainId => waiting.get(domainId) ?? [])
      const retried = found.filter(({ due, lastFailure }) => due > now && lastFailure !== null)
      for (const each of retried) each.due = now
      return retried.length
    },
    stats() {
      const all = [...waiting.values()]
      const oldest = Math.min(...all.map(({ change }) => change.at.getTime()))
      const refused = all.filter(({ refusals }) => refusals > 0)
      const [longest] = refused.toSorted((one, other) => one.change.at.getTime() - other.change.at.getTime())
      return {
        count: all.length,
        refused: refused.length,
        oldest: all.length === 0 ? null : new Date(oldest),
        longestRefused: longest ? toPending(longest) : null,
      }
    },
    settle: domainIds => domainIds.filter(domainId => waiting.delete(domainId)).length,
    list: (after = '', limit) =>
      [...waiting.values()]
        .filter(({ change }) => change.domainId > after)
        .toSorted((one, other) => (one.change.domainId < other.change.domainId ? -1 : 1))
        .slice(0, limit)
        .map(toPending),
  }
}

const toPending = (waiting: Waiting) => ({
  ...waiting.change,
  line: lineOf(waiting),
  refusals: waiting.refusals,
  lastFailure: waiting.lastFailure,
  nextAttempt: new Date(Date.now() + waiting.due - performance.now()),
})
