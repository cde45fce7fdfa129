/**
 * An example of your own store, on LevelDB. Copy this file, change it, and test it with `domain-registration/testing`.
 *
 * LevelDB is a sorted map. Each registration has three entries, so every lookup reads single keys or a range. Each
 * pending change has one entry. Registering a wildcard scans the names below it, and a sweep scans the pending changes.
 * Only one process at a time can open a folder.
 */
import { type BatchOperation, ClassicLevel } from 'classic-level'
import {
  createManagedStore,
  createUuidGenerator,
  inTurns,
  type ListPage,
  type LookUp,
  type LookUpResult,
  lineOf,
  type ManagedStore,
  type ManagedStoreOptions,
  type NamesBelow,
  type Outbox,
  type PendingChange,
  type Registration,
  type RegistrationStep,
  rangeBelow,
  type SavedRegistrations,
  type StoreBackend,
  toKey,
  wildcardsAbove,
} from 'domain-registration/store'

export interface LevelStoreOptions extends ManagedStoreOptions {
  /** A folder, which is created if it does not exist. */
  folder: string
}

/** A registration as stored. A registration without a pending change is `synchronized`. */
type StoredRegistration = Omit<Registration, 'synchronized' | 'createdAt'> & { readonly createdAt: string }
/** A change as stored. Times are milliseconds since 1970. */
type Waiting = Omit<PendingChange, 'at' | 'nextAttempt' | 'line'> & {
  readonly at: number
  readonly due: number
  /** How many sweeps have taken the change. */
  readonly sweeps: number
}
/** `true` is stored once there is a monitor. */
type Entry = StoredRegistration | Waiting | true

/**
 * If a change is due in more than an hour plus one lease, it was saved while the clock was wrong, and counts as due
 * now.
 */
const HOUR = 3_600_000

export async function createLevelStore({ folder, ...options }: LevelStoreOptions) {
  const backend = await createLevelBackend(folder)
  const store: ManagedStore = createManagedStore(backend, options)
  return { ...store, close: backend.close }
}

/** A separate function, so that a test can explore the backend. */
export async function createLevelBackend(folder: string) {
  const database = new ClassicLevel<string, Entry>(folder, { valueEncoding: 'json' })
  await database.open()
  const createId = createUuidGenerator()

  type Operation = BatchOperation<typeof database, string, Entry>
  const put = (keys: readonly string[], value: Entry): Operation[] => keys.map(key => ({ type: 'put', key, value }))
  const remove = (keys: readonly string[]): Operation[] => keys.map(key => ({ type: 'del', key }))

  /**
   * LevelDB has no transactions, so steps run one after another. Each step ends with one batch, which is saved
   * completely or not at all.
   */
  let turns: Promise<unknown> = Promise.resolve()
  function takeTurn<T>(work: (operations: Operation[]) => Promise<T>): Promise<T> {
    const turn = turns.then(async () => {
      const operations: Operation[] = []
      const result = await work(operations)
      if (operations.length > 0) await database.batch(operations, { sync: true })
      return result
    })
    turns = turn.catch(() => {})
    return turn
  }

  const get = async <T>(keys: readonly string[]) =>
    (await database.getMany([...keys])).filter(value => value !== undefined) as T[]
  const range = async <T>(from: string, before: string, limit = -1, reverse = false) =>
    (await database.values({ gt: from, lt: before, limit, reverse }).all()) as T[]
  const allWaiting = () => range<Waiting>('waiting ', 'waiting!')

  /** Adds `synchronized` to registrations: `true` if the registration has no pending change. */
  async function toRegistrations(stored: readonly StoredRegistration[]): Promise<Registration[]> {
    const waiting = new Set((await get<Waiting>(stored.map(waitingKey))).map(({ domainId }) => domainId))
    return stored.map(({ createdAt, ...registration }) => ({
      ...registration,
      synchronized: !waiting.has(registration.domainId),
      createdAt: new Date(createdAt),
    }))
  }

  const prefixOf = (teamId: string | undefined) => (teamId === undefined ? 'id ' : `team ${teamId} `)
  const count = async (teamId: string | undefined) =>
    (await database.keys({ gt: prefixOf(teamId), lt: `${prefixOf(teamId)}~` }).all()).length

  async function find({ teamId, domains, covered = [], bases, needsCount }: LookUp): Promise<LookUpResult> {
    const names = new Set([...domains, ...covered.flatMap(wildcardsAbove)])
    const registrations = await toRegistrations(await get<StoredRegistration>([...names].map(nameKey)))
    const below = await Promise.all(bases.map(base => findBelow(base, teamId)))
    return { registrations, below, ...(needsCount && { teamCount: await count(teamId) }) }
  }

  async function findBelow(base: string, teamId: string): Promise<NamesBelow> {
    const [from, before] = belowKeys(base)
    const below = await range<StoredRegistration>(from, before)
    const isBehind = ({ registrableDomain }: StoredRegistration) => registrableDomain.length > base.length
    const own = below.filter(stored => stored.teamId === teamId && !isBehind(stored))
    return {
      ownDomains: own.slice(0, 3).map(({ domain }) => domain),
      ownCount: own.length,
      heldByOthers: below.some(stored => stored.teamId !== teamId && !isBehind(stored)),
      behindSuffixes: below.filter(isBehind),
    }
  }

  const register = (step: RegistrationStep): Promise<SavedRegistrations> => {
    const end = performance.now() + step.timeLimit
    return takeTurn(async operations => {
      const found = await find(step)
      const { created, waiting } = step.decide(found)
      const createdAt = new Date()
      const saved = created.map(({ domain, registrableDomain }) => {
        const domainId = createId(createdAt.getTime())
        const registration = { domainId, domain, registrableDomain, teamId: step.teamId, createdAt }
        operations.push(...put(keysOf(registration), { ...registration, createdAt: createdAt.toISOString() }))
        if (step.lease !== null) operations.push(...wait(registration, 'registered', step.lease))
        return { ...registration, synchronized: step.lease === null }
      })
      for (const change of await get<Waiting>(waiting.map(waitingKey))) {
        const due = Math.max(change.due, Date.now() + (step.lease ?? 0))
        operations.push(...put([waitingKey(change)], { ...change, due }))
      }
      if (performance.now() >= end) throw new Error('No time is left')
      return { found, saved }
    })
  }

  const wait = (registration: Omit<Registration, 'synchronized'>, kind: Waiting['kind'], milliseconds: number) => {
    const { domainId, domain, registrableDomain, teamId, createdAt } = registration
    const [now, due] = [Date.now(), Date.now() + milliseconds]
    const at = kind === 'registered' ? createdAt.getTime() : now
    const change = {
      kind,
      domainId,
      domain,
      registrableDomain,
      teamId,
      at,
      due,
      sweeps: 0,
      refusals: 0,
      lastFailure: null,
    }
    return put([waitingKey(change)], change)
  }

  async function list({ teamId, after, limit, order, domain, below }: ListPage): Promise<readonly Registration[]> {
    const isListed = (stored: StoredRegistration) => teamId === undefined || stored.teamId === teamId
    const isAfter = ({ domainId }: StoredRegistration) =>
      after === undefined || (order === 'newest' ? domainId < after : domainId > after)
    if (domain !== undefined) {
      const stored = await get<StoredRegistration>([nameKey(domain)])
      return toRegistrations(stored.filter(each => isListed(each) && isAfter(each)).slice(0, limit))
    }
    if (below !== undefined) {
      const [from, before] = belowKeys(below)
      const start = after === undefined ? from : nameKey(after)
      return toRegistrations(
        (await range<StoredRegistration>(start > from ? start : from, before)).filter(isListed).slice(0, limit),
      )
    }
    const prefix = prefixOf(teamId)
    const [from, before] = order === 'newest' ? [prefix, after] : [prefix + (after ?? ''), undefined]
    const end = before === undefined ? `${prefix}~` : prefix + before
    return toRegistrations(await range<StoredRegistration>(from, end, limit, order === 'newest'))
  }

  const toPending = ({ at, due, sweeps, ...change }: Waiting) => {
    return { ...change, line: lineOf({ ...change, sweeps }), at: new Date(at), nextAttempt: new Date(due) }
  }

  const outbox: Outbox = {
    take: ({ lines, lease, lot }) =>
      takeTurn(async operations => {
        operations.push(...put(['monitor'], true))
        const now = Date.now()
        const due = (await allWaiting()).filter(change => change.due <= now || change.due > now + HOUR + lease)
        due.sort((one, other) => one.due - other.due)
        for (const { line, limit } of lines) {
          const taken = inTurns(
            due.filter(change => lineOf(change) === line),
            limit,
            lot,
          )
          for (const change of taken)
            operations.push(...put([waitingKey(change)], { ...change, due: now + lease, sweeps: change.sweeps + 1 }))
          if (taken.length > 0) return taken.map(toPending)
        }
        return []
      }),
    finish: changes =>
      takeTurn(async operations => {
        operations.push(...put(['monitor'], true))
        const kinds = new Map(changes.map(({ domainId, kind }) => [domainId, kind]))
        for (const change of await get<Waiting>(changes.map(waitingKey))) {
          if (kinds.get(change.domainId) === change.kind) operations.push(...remove([waitingKey(change)]))
          else operations.push(...put([waitingKey(change)], { ...change, due: Date.now() }))
        }
      }),
    postpone: postponements =>
      takeTurn(async operations => {
        for (const { change, wait, failure, refusals } of postponements) {
          const [waiting] = await get<Waiting>([waitingKey(change)])
          if (waiting?.kind !== change.kind) continue
          const said = { refusals: Math.max(waiting.refusals, refusals), lastFailure: failure ?? waiting.lastFailure }
          operations.push(...put([waitingKey(change)], { ...waiting, due: Date.now() + wait, ...said }))
        }
      }),
    retry: domainIds =>
      takeTurn(async operations => {
        const now = Date.now()
        const waiting = await (domainIds ? get<Waiting>(domainIds.map(id => `waiting ${id}`)) : allWaiting())
        const failed = waiting.filter(({ due, lastFailure }) => due > now && lastFailure !== null)
        for (const change of failed) operations.push(...put([waitingKey(change)], { ...change, due: now }))
        return failed.length
      }),
    settle: domainIds =>
      takeTurn(async operations => {
        const settled = await get<Waiting>(domainIds.map(id => `waiting ${id}`))
        operations.push(...remove(settled.map(waitingKey)))
        return settled.length
      }),
    async stats() {
      const waiting = (await allWaiting()).sort((one, other) => one.at - other.at)
      const refused = waiting.filter(({ refusals }) => refusals > 0)
      return {
        count: waiting.length,
        refused: refused.length,
        oldest: waiting[0] ? new Date(waiting[0].at) : null,
        longestRefused: refused[0] ? toPending(refused[0]) : null,
      }
    },
    list: async (after = '', limit) => (await range<Waiting>(`waiting ${after}`, 'waiting!', limit)).map(toPending),
  }

  const backend: StoreBackend = {
    register,
    find,
    get: async id => (await toRegistrations(await get<StoredRegistration>([`id ${id}`])))[0] ?? null,
    release: (teamId, { names, domainIds }, { lease, isPushed }) =>
      takeTurn(async operations => {
        const keys = [...names.map(({ domain }) => nameKey(domain)), ...domainIds.map(id => `id ${id}`)]
        const stored = (await get<StoredRegistration>(keys)).filter(each => each.teamId === teamId)
        const released = await toRegistrations([...new Map(stored.map(each => [each.domainId, each])).values()])
        const isMonitored = isPushed || (await get(['monitor'])).length > 0
        for (const registration of released) {
          operations.push(...remove(keysOf(registration)))
          if (!registration.synchronized) operations.push(...wait(registration, 'released', lease))
          else if (isMonitored) operations.push(...wait(registration, 'released', 0))
        }
        return released
      }),
    list,
    count,
    outbox,
  }
  return { ...backend, close: () => database.close() }
}

/** The labels of a name from right to left, so the names below it have adjacent keys. No hostname contains \0. */
function nameKey(domain: string): string {
  const { secondLevelDomain, path } = toKey(domain)
  return `name ${secondLevelDomain}\0${path}`
}
function belowKeys(base: string): readonly [after: string, before: string] {
  const prefix = `name ${toKey(base).secondLevelDomain}\0`
  const { after, before } = rangeBelow(base)
  return [prefix + after, prefix + before]
}
/** IDs sort in the order of registration. */
const keysOf = ({ domain, domainId, teamId }: Omit<Registration, 'synchronized'>) => [
  nameKey(domain),
  `id ${domainId}`,
  `team ${teamId} ${domainId}`,
]
const waitingKey = ({ domainId }: { readonly domainId: string }) => `waiting ${domainId}`
