/** A store of your own, here over LevelDB: copy it, and let `domain-registration/testing` prove what you make of it. */
import { type BatchOperation, ClassicLevel } from 'classic-level'
import {
  type Awaitable,
  type Below,
  type Change,
  classifyHostname,
  type DomainStore,
  type Name,
  type Registered,
  type Registration,
  type RegistrationRequest,
  type Team,
} from 'domain-registration'

export interface LevelStoreOptions {
  /** A folder, which is made if it is not there. One process at a time may open it. */
  folder: string
  /** Teams are yours: look them up where you keep them. */
  findTeam: (teamId: string) => Awaitable<Team | null>
  /** Pushes registrations to what does the monitoring; must be idempotent on `domainId`. */
  synchronize?: ((changes: readonly Change[]) => Awaitable<unknown>) | undefined
}

export async function createLevelStore({ folder, findTeam, synchronize: push }: LevelStoreOptions) {
  const database = new ClassicLevel<string, Registration>(folder, { valueEncoding: 'json' })
  await database.open()

  /** LevelDB has no transactions: work takes turns, and writes one batch, which is saved as a whole. */
  let turns: Promise<unknown> = Promise.resolve()
  function takeTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = turns.then(work)
    turns = turn.catch(() => {})
    return turn
  }
  type Operation = BatchOperation<typeof database, string, Registration>
  const save = (operations: Operation[]) => database.batch(operations, { sync: true })

  async function findBelow(base: Name, teamId: string): Promise<Below> {
    const own = await database.values({ ...rangeBelow(ownKeyOf(base, teamId)), limit: 1000 }).all()
    const any = own.length > 0 ? [] : await database.keys({ ...rangeBelow(keyOf(base)), limit: 1 }).all()
    return {
      ownDomains: own.slice(0, 3).map(({ domain }) => domain),
      ownCount: own.length,
      heldByOthers: any.length > 0,
    }
  }

  async function register({ teamId, names, wildcardBases, decide }: RegistrationRequest): Promise<Registered> {
    const registrations = (await database.getMany(names.map(keyOf))).filter(registration => registration !== undefined)
    const below = await Promise.all(wildcardBases.map(base => findBelow(base, teamId)))
    const found = { registrations, below }
    const saved = decide(found).map(({ domain, registrableDomain }) => {
      const domainId = crypto.randomUUID()
      return { domainId, domain, registrableDomain, teamId, synchronized: push === undefined }
    })
    await save(saved.flatMap(put))
    return { found, saved }
  }

  async function synchronize(registrations: readonly Registration[]): Promise<void> {
    await push?.(registrations.map(({ synchronized, ...rest }) => ({ ...rest, kind: 'registered' })))
    await takeTurn(async () => {
      const held = await database.getMany(registrations.map(keyOf))
      const pushed = new Set(registrations.map(({ domainId }) => domainId))
      const marked = held.flatMap(each => (each && pushed.has(each.domainId) ? [{ ...each, synchronized: true }] : []))
      await save(marked.flatMap(put))
    })
  }

  /** Gives up names of a team, so that they are free again. */
  async function release(teamId: string, domains: readonly string[]): Promise<Registration[]> {
    const hostnames = new Map(domains.map(classifyHostname).flatMap(each => (each.valid ? [[each.domain, each]] : [])))
    const held = await database.getMany([...hostnames.values()].map(keyOf))
    const released = held.filter(registration => registration?.teamId === teamId) as Registration[]
    await save(released.flatMap(each => keysOf(each).map(key => ({ type: 'del' as const, key }))))
    return released
  }

  return {
    findTeam,
    register: request => takeTurn(() => register(request)),
    ...(push && { synchronize }),
    release: (teamId: string, domains: readonly string[]) => takeTurn(() => release(teamId, domains)),
    close: () => database.close(),
  } satisfies DomainStore & Record<string, unknown>
}

/** The labels from right to left, so that what is below a name stands together. No hostname has a \0 in it. */
const pathOf = ({ domain }: Name) => domain.split('.').reverse().join('.')
const keyOf = (name: Name) => `any\0${name.registrableDomain}\0${pathOf(name)}`
/** Once more by team, to count its own without walking past those of others. */
const ownKeyOf = (name: Name, teamId: string) => `own\0${name.registrableDomain}\0${teamId}\0${pathOf(name)}`

const keysOf = (registration: Registration) => [keyOf(registration), ownKeyOf(registration, registration.teamId)]
const put = (value: Registration) => keysOf(value).map(key => ({ type: 'put' as const, key, value }))

/** "." and "/" are neighbours: the range holds what goes on after a dot, and nothing else. */
const rangeBelow = (key: string) => ({ gt: `${key}.`, lt: `${key}/` })
