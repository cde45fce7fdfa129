import { createDeadline } from '../deadline.ts'
import { classifyHostname } from '../hostname/classify.ts'
import type { Name } from '../registry/name.ts'
import { createRegistrationRequest } from '../registry/request.ts'
import { toArrayLiteral } from './array-literal.ts'
import type { Database } from './connection.ts'
import { type Key, toKey } from './path.ts'
import type { EmptyZoneRow, NameRow, Statements } from './statements.ts'
import { inZones, nameKeyOf, read, toRegistration } from './zone-transaction.ts'

/** What a newer Public Suffix List has changed. */
export interface Reclassification {
  /** How many registrations were looked at; one that moved ahead of the walk is looked at twice. */
  readonly examined: number
  /** How many have another registrable domain now, and were moved there. */
  readonly moved: number
  /**
   * Registrations that were left as they are, for you to decide about: what is no hostname that can be registered any
   * longer, such as a name that has become a public suffix; or what is registered a second time, since nobody found it.
   */
  readonly left: readonly { readonly domain: string; readonly domainId: string; readonly teamId: string }[]
}

const ROWS_AT_ONCE = 1000

/** Makes {@link PostgresStore.reclassify}. */
export function createReclassifier(database: Database, statements: Statements, timeLimit: number) {
  return async (): Promise<Reclassification> => {
    let examined = 0
    let moved = 0
    const left: { domain: string; domainId: string; teamId: string }[] = []
    for await (const row of walk()) {
      if (row.domain_id === null) continue
      examined += 1
      const { domain } = toRegistration(row)
      const hostname = classifyHostname(domain)
      if (hostname.valid && hostname.registrableDomain === row.registrable_domain) continue
      if (hostname.valid && (await move(row, hostname))) moved += 1
      else left.push({ domain, domainId: row.domain_id, teamId: row.team_id })
    }
    return { examined, moved, left }
  }

  async function* walk() {
    for (let last: Key = { registrableDomain: '', path: '' }; ; ) {
      const { registrableDomain, path } = last
      const rows = await read(
        database,
        createDeadline(timeLimit),
        statements.walk,
        registrableDomain,
        path,
        ROWS_AT_ONCE,
      )
      yield* rows
      const end = rows.at(-1)
      if (!end) return
      last = keyOf(end)
    }
  }

  /** Moves a row under its new registrable domain, unless it has been released or something stands in its way there. */
  async function move(row: NameRow, name: Name): Promise<boolean> {
    const [from, to] = [nameKeyOf(row), toKey(name)]
    const request = createRegistrationRequest(row.team_id, [name])
    const question = {
      registrableDomains: [from.registrableDomain, to.registrableDomain].sort(),
      names: [from, ...request.names.map(toKey)],
      bases: request.wildcardBases.map(toKey),
      teamId: row.team_id,
    }
    return inZones(database, statements, createDeadline(timeLimit), question, ({ names, zones, below }, send) => {
      const [[old], others] = [names.filter(isIn(from)), names.filter(isIn(to))]
      if (old?.domain_id !== row.domain_id) return false
      if (request.decide({ registrations: others.map(toRegistration), below }).length === 0) return false

      const zone = zones.find(isIn(to))
      const { registrableDomain } = to
      const isIntoZone = to.path === '' && zone !== undefined
      if (isIntoZone) void send(statements.moveGuestsOut, toArrayLiteral([registrableDomain]))
      void send(
        isIntoZone ? statements.copyIntoZone : statements.copyName,
        old.registrable_domain,
        old.path,
        registrableDomain,
        zone ? to.path : '',
        zone ? '' : to.path,
        zone?.crowded ?? false,
      )
      if (old.path === '') void send(statements.vacateZone, old.registrable_domain, old.domain_id)
      else void send(statements.deleteName, old.registrable_domain, old.path, old.domain_id)
      void send(statements.markCrowds, toArrayLiteral([registrableDomain]))
      return true
    })
  }
}

const keyOf = ({ registrable_domain, path }: NameRow | EmptyZoneRow): Key => ({
  registrableDomain: registrable_domain,
  path,
})

const isIn =
  ({ registrableDomain }: Key) =>
  (row: { registrable_domain: string }) =>
    row.registrable_domain === registrableDomain
