import { classifyHostname } from '../../src/hostname/classify.ts'
import type { Name } from '../../src/registry/name.ts'
import { createRegistrationRequest } from '../../src/registry/request.ts'
import type { Below, Registered, Registration, RegistrationRequest } from '../../src/registry/store.ts'
import type { Random } from '../simulation/random.ts'
import { covers } from '../simulation/rules.ts'
import type { Monitor, RacedStore } from './race.ts'

/** What a store may get wrong about calls that run at the same time. */
export type Flaw =
  | 'has no row locks'
  | 'looks up outside the locks'
  | 'deletes without an ID'
  | 'releases one name at a time'
  | 'upserts in reclassify'
  | 'marks by name'
  | 'marks before the push'
  | 'releases one registrable domain at a time'

/** A row, under the registrable domain that it is kept under. */
interface Row extends Registration {
  readonly registrableDomain: string
}

/**
 * A store whose every step is followed by a pause in which others do theirs, as with a database: sound by its locks on
 * registrable domains, or with one flaw. The random numbers decide everything, so that a seed can be replayed.
 *
 * @returns The store as one client sees it, who has a way of his own to push.
 */
export function createStepwiseStores(random: Random, flaw?: Flaw): (push: Monitor['push']) => RacedStore {
  let rows: Row[] = []
  let ids = 0
  const locked = new Map<string, Promise<void>>()

  async function pause(): Promise<void> {
    for (let ticks = random.integer(0, 6); ticks > 0; ticks -= 1) await undefined
  }

  /** Runs work while nobody else has any of the registrable domains. */
  async function underLock<T>(registrableDomains: readonly string[], work: () => Promise<T>): Promise<T> {
    if (flaw === 'has no row locks') return work()
    const unlocks: (() => void)[] = []
    for (const registrableDomain of [...new Set(registrableDomains)].sort()) {
      for (;;) {
        const holder = locked.get(registrableDomain)
        if (!holder) break
        await holder
      }
      locked.set(registrableDomain, new Promise(resolve => unlocks.push(resolve)))
    }
    try {
      return await work()
    } finally {
      for (const registrableDomain of new Set(registrableDomains)) locked.delete(registrableDomain)
      for (const unlock of unlocks) unlock()
    }
  }

  const isAt = (row: Row, { domain, registrableDomain }: Name) =>
    row.domain === domain && row.registrableDomain === registrableDomain

  function lookUp({ names, wildcardBases, teamId }: RegistrationRequest) {
    return {
      registrations: rows.filter(row => names.some(name => isAt(row, name))),
      below: wildcardBases.map((base): Below => {
        const below = rows.filter(row => covers({ ...base, domain: `*.${base.domain}` }, row))
        const own = below.filter(row => row.teamId === teamId && row.domain !== `*.${base.domain}`)
        return {
          ownDomains: own.map(row => row.domain).slice(0, 3),
          ownCount: own.length,
          heldByOthers: own.length < below.length,
        }
      }),
    }
  }

  async function register(request: RegistrationRequest): Promise<Registered> {
    const early = flaw === 'looks up outside the locks' ? lookUp(request) : null
    await pause()
    return underLock(request.registrableDomains, async () => {
      await pause()
      const found = early ?? lookUp(request)
      const saved = request.decide(found).map((name): Row => {
        ids += 1
        return { ...name, domainId: `id-${ids}`, teamId: request.teamId, synchronized: false }
      })
      await pause()
      rows = [...rows, ...saved]
      return { found, saved }
    })
  }

  /** In one step, or in several where that is the flaw. */
  async function release(teamId: string, domains: readonly string[]): Promise<readonly Registration[]> {
    const names = domains.map(classifyHostname).filter(hostname => hostname.valid)
    const parts = new Map<string, Name[]>()
    for (const name of names) {
      const part = {
        'releases one name at a time': name.domain,
        'releases one registrable domain at a time': name.registrableDomain,
      }
      const key = part[flaw as keyof typeof part] ?? ''
      parts.set(key, [...(parts.get(key) ?? []), name])
    }
    const released: Registration[] = []
    for (const part of parts.values()) released.push(...(await releaseAtOnce(teamId, part)))
    return released
  }

  async function releaseAtOnce(teamId: string, names: readonly Name[]): Promise<readonly Registration[]> {
    const find = () => rows.filter(row => row.teamId === teamId && names.some(name => isAt(row, name)))
    const early = flaw === 'deletes without an ID' ? find() : null
    await pause()
    return underLock(
      names.map(({ registrableDomain }) => registrableDomain),
      async () => {
        await pause()
        const released = early ?? find()
        await pause()
        rows = rows.filter(row => !released.some(given => isAt(row, given)))
        return released
      },
    )
  }

  function mark(registrations: readonly { readonly domainId: string; readonly domain?: string }[]): void {
    const isPushed = (row: Row) =>
      registrations.some(({ domainId, domain }) =>
        flaw === 'marks by name' ? row.domain === domain : row.domainId === domainId,
      )
    rows = rows.map(row => (isPushed(row) ? { ...row, synchronized: true } : row))
  }

  async function synchronize(registrations: readonly Registration[], push: Monitor['push']): Promise<void> {
    if (flaw === 'marks before the push') mark(registrations)
    await push(registrations)
    await pause()
    mark(registrations)
  }

  /** Moves a row under its registrable domain, if it is still there and nothing stands in its way. */
  async function move(row: Row, name: Name): Promise<boolean> {
    const request = createRegistrationRequest(row.teamId, [name])
    const isFree = () => request.decide(lookUp(request)).length > 0
    const early = flaw === 'upserts in reclassify' ? isFree() : null
    await pause()
    return underLock([row.registrableDomain, name.registrableDomain], async () => {
      await pause()
      const old = rows.find(other => other.domainId === row.domainId && isAt(other, row))
      if (!old || !(early ?? isFree())) return false
      await pause()
      const { domain, registrableDomain } = name
      rows = rows.filter(other => other !== old && !isAt(other, name))
      rows = [...rows, { ...old, domain, registrableDomain }]
      return true
    })
  }

  return push => ({
    register,
    release,
    synchronize: registrations => synchronize(registrations, push),

    async synchronizePending({ limit = 1000 } = {}) {
      await pause()
      const pending = rows.filter(row => !row.synchronized).slice(0, limit)
      if (pending.length > 0) await synchronize(pending, push)
    },

    async reclassify() {
      const left: Row[] = []
      await pause()
      for (const row of rows) {
        const hostname = classifyHostname(row.domain)
        if (!hostname.valid || hostname.registrableDomain === row.registrableDomain) continue
        if (!(await move(row, hostname))) left.push(row)
        await pause()
      }
      return { left }
    },
  })
}
