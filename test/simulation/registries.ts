import { createHolding, type Holding, toRegistration } from '../../src/memory/holding.ts'
import { createWaitingChanges } from '../../src/memory/waiting-changes.ts'
import type { Outbox } from '../../src/registry/outbox.ts'
import type { Found, Registration } from '../../src/registry/store.ts'
import { toDriver } from '../../src/sqlite/database.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { createOutbox } from '../../src/sqlite/outbox.ts'
import { prepareAll } from '../../src/sqlite/statements.ts'
import { createRequest, toName } from '../../src/testing/calls.ts'
import { openDatabase } from '../sqlite/open-database.ts'

/** Registrations whose changes wait in an outbox of `src`. Each call is one step, and is answered at once. */
export interface Registry {
  readonly outbox: Outbox
  count(): number
  list(): readonly Registration[]
  /** @returns What was saved, or found unsynchronized: what a call pushes. */
  register(teamId: string, domains: readonly string[]): readonly Registration[]
  release(teamId: string, domain: string): readonly Registration[]
  close(): void
}

export interface RegistryOptions {
  /** Milliseconds for a push. */
  readonly timeLimit: number
  /** Milliseconds for which a call has what it saves. */
  readonly lease: number
}

/** @param create May be a mutation. */
export const openInMemory =
  (create = createWaitingChanges) =>
  ({ lease }: RegistryOptions): Registry => {
    const outbox = create(lease)
    /** By domain. */
    const held = new Map<string, Holding>()
    let ids = 0

    function register(teamId: string, domain: string): readonly Registration[] {
      const found = held.get(domain)
      if (found) {
        if (found.teamId !== teamId || found.synchronized) return []
        outbox.lease(found.domainId)
        return [toRegistration(found)]
      }
      ids += 1
      const holding = createHolding(toName(domain), `id-${ids}`, teamId, false)
      held.set(domain, holding)
      outbox.addRegistered(holding)
      return [toRegistration(holding)]
    }

    return {
      outbox,
      count: outbox.count,
      list: () => [...held.values()].map(toRegistration),
      register: (teamId, domains) => domains.flatMap(domain => register(teamId, domain)),
      release(teamId, domain) {
        const holding = held.get(domain)
        if (holding?.teamId !== teamId) return []
        held.delete(domain)
        outbox.addReleased(holding)
        return [toRegistration(holding)]
      },
      close() {},
    }
  }

export function openInSqlite({ timeLimit, lease }: RegistryOptions): Registry {
  const database = openDatabase()
  const driver = toDriver(database)
  const synchronize = () => {}
  const store = createSqliteStore({ database, findTeam: () => null, synchronize, synchronizeTimeLimit: timeLimit })
  const isFree = (domain: string, { registrations }: Found) => !registrations.some(held => held.domain === domain)
  return {
    outbox: createOutbox(prepareAll(driver), work => driver.transact(work), lease),
    count: () => store.countPending() as number,
    list: () => store.list() as Registration[],
    register(teamId, domains) {
      const names = domains.map(toName)
      const decide = (found: Found) => names.filter(({ domain }) => isFree(domain, found))
      const answer = store.register(createRequest(teamId, names, [], decide))
      const { found, saved } = answer as Awaited<typeof answer>
      return [...saved, ...found.registrations.filter(each => each.teamId === teamId && !each.synchronized)]
    },
    release: (teamId, domain) => store.release(teamId, [domain]) as Registration[],
    close: () => void database.close(),
  }
}
