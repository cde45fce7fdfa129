import type { Name } from '../registry/name.ts'
import { unsynchronizedOf } from '../registry/outbox.ts'
import {
  type Below,
  type Found,
  NOTHING_BELOW,
  type Registered,
  type Registration,
  type RegistrationRequest,
} from '../registry/store.ts'
import { createUuidGenerator } from '../uuid.ts'
import type { SqliteOutbox } from './outbox.ts'
import { rangeBelow, toPath } from './path.ts'
import type { NameRow, Statements } from './statements.ts'

/**
 * Makes the function that looks up, decides and saves. To be called in a transaction.
 *
 * @param outbox Where registrations wait to be pushed; `undefined` without a monitor.
 */
export function createRegister(statements: Statements, outbox: SqliteOutbox | undefined) {
  const createId = createUuidGenerator()

  function find({ teamId, names, wildcardBases }: RegistrationRequest): Found {
    return {
      registrations: names.flatMap(name =>
        statements.findName(name.registrableDomain, toPath(name)).map(toRegistration),
      ),
      below: wildcardBases.map(base => findBelow(base, teamId)),
    }
  }

  function findBelow(base: Name, teamId: string): Below {
    const { registrableDomain } = base
    const range = rangeBelow(base)
    const own = [registrableDomain, teamId, ...range] as const
    const [row] = statements.countOwnBelow(...own)
    const ownCount = row?.count ?? 0
    if (ownCount === 0) {
      return { ...NOTHING_BELOW, heldByOthers: statements.findBelow(registrableDomain, ...range).length > 0 }
    }
    return { ownDomains: statements.findOwnBelow(...own).map(({ domain }) => domain), ownCount, heldByOthers: false }
  }

  /**
   * Returns a time after that of the last ID. Since writers take turns, IDs then sort in the order of registration,
   * even if the clocks of several processes disagree.
   */
  function findTime(now: number): number {
    const [row] = statements.findLastId()
    return row?.domain_id ? Math.max(now, timeOf(row.domain_id) + 1) : now
  }

  function save(teamId: string, names: readonly Name[]): Registration[] {
    if (names.length === 0) return []
    const now = Date.now()
    const time = findTime(now)
    const due = outbox ? now + outbox.leaseTime : null
    return names.map(name => {
      const { domain, registrableDomain } = name
      const domainId = createId(time)
      statements.insertName(domainId, domain, registrableDomain, toPath(name), teamId, now, due)
      return { domainId, domain, registrableDomain, teamId, synchronized: due === null }
    })
  }

  return (request: RegistrationRequest): Registered => {
    const found = find(request)
    const saved = save(request.teamId, request.decide(found))
    if (outbox) unsynchronizedOf(request, found).forEach(outbox.lease)
    return { found, saved }
  }
}

/** RFC 9562, section 5.7: a UUID of version 7 begins with the time in milliseconds. */
const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

export const toRegistration = (row: NameRow): Registration => ({
  domainId: row.domain_id,
  domain: row.domain,
  registrableDomain: row.registrable_domain,
  teamId: row.team_id,
  synchronized: row.due === null,
})
