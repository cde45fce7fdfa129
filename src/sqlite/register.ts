import type { Name } from '../registry/name.ts'
import type { Below, Found, Registered, Registration, RegistrationRequest } from '../registry/store.ts'
import { createUuidGenerator } from '../uuid.ts'
import { rangeBelow, toPath } from './path.ts'
import type { NameRow, Statements } from './statements.ts'

/**
 * Looks up, decides and saves. To be called in a transaction.
 *
 * @param synchronized Whether there is nothing to push new registrations to.
 */
export function createRegister(statements: Statements, synchronized: boolean) {
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
    return {
      ownDomains: ownCount === 0 ? [] : statements.findOwnBelow(...own).map(({ domain }) => domain),
      ownCount,
      heldByOthers: ownCount === 0 && statements.findBelow(registrableDomain, ...range).length > 0,
    }
  }

  /**
   * Those who write take turns: so IDs sort in the order of registration, whatever the clocks of several processes say.
   */
  function findTime(now: number): number {
    const [row] = statements.findLastId()
    return row?.domain_id ? Math.max(now, timeOf(row.domain_id) + 1) : now
  }

  function save(teamId: string, names: readonly Name[]): Registration[] {
    if (names.length === 0) return []
    const now = Date.now()
    const time = findTime(now)
    const due = synchronized ? null : now
    return names.map(name => {
      const { domain, registrableDomain } = name
      const domainId = createId(time)
      statements.insertName(domainId, domain, registrableDomain, toPath(name), teamId, now, due, 0)
      return { domainId, domain, registrableDomain, teamId, synchronized }
    })
  }

  return (request: RegistrationRequest): Registered => {
    const found = find(request)
    return { found, saved: save(request.teamId, request.decide(found)) }
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
