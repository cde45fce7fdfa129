import type { Registration } from '../registry/store.ts'
import { type Key, toDomain } from './path.ts'

/**
 * The row of a name. Each registrable domain with a name has a head row, whose path is empty, and which calls lock. It
 * holds the registrable domain itself if that is registered. Otherwise another name may be inlined in it, so that most
 * registrable domains have one row.
 */
export interface NameRow {
  readonly registrable_domain: string
  readonly path: string
  /** In a head row, the path of the inlined name. */
  readonly inlined_path: string | null
  readonly domain_id: string
  readonly team_id: string
  readonly synchronized: boolean
}

/** A head row without a name. */
export interface EmptyHeadRow {
  readonly registrable_domain: string
  readonly path: ''
  readonly inlined_path: null
  readonly domain_id: null
}

export type HeadRow = NameRow | EmptyHeadRow

export const isHead = ({ path }: HeadRow) => path === ''

export const holdsName = (row: HeadRow): row is NameRow => row.domain_id !== null

/** Returns the key of the name in a row, inlined or not. */
export const nameKeyOf = (row: NameRow): Key => ({
  registrableDomain: row.registrable_domain,
  path: row.inlined_path ?? row.path,
})

export function toRegistration(row: NameRow): Registration {
  const key = nameKeyOf(row)
  const { domain_id: domainId, team_id: teamId, synchronized } = row
  return { domainId, domain: toDomain(key), registrableDomain: key.registrableDomain, teamId, synchronized }
}
