import type { Registration } from '../registry/store.ts'
import { type Key, toKey } from './path.ts'
import { CROWD } from './schema.ts'
import type { ZoneRow } from './statements.ts'

interface NewRow extends Key {
  readonly domainId: string
  /** Of the name, where it stands in the row of its registrable domain; else empty. */
  readonly guestPath: string
}

/**
 * Sorts new registrations by what becomes of them. A registrable domain without a row gets one, in which a name below
 * it is the guest unless it is registered itself: first of all, and in order.
 *
 * @param registrableDomains All that are under lock, in order.
 * @param zones The rows that some of them have.
 */
export function planRows(
  registrations: readonly Registration[],
  registrableDomains: readonly string[],
  zones: readonly ZoneRow[],
) {
  const known = new Map(zones.map(zone => [zone.registrable_domain, zone]))
  const fresh = new Map<string, NewRow>()
  const below: NewRow[] = []
  const occupied: NewRow[] = []
  for (const registration of registrations) {
    const { registrableDomain, domainId } = registration
    const { path } = toKey(registration)
    const row: NewRow = { registrableDomain, path, guestPath: '', domainId }
    const head = fresh.get(registrableDomain)
    if (known.has(registrableDomain)) (path === '' ? occupied : below).push(row)
    else if (path !== '' && head) below.push(row)
    else {
      if (head) below.push({ ...head, path: head.guestPath, guestPath: '' })
      fresh.set(registrableDomain, { registrableDomain, path: '', guestPath: path, domainId })
    }
  }
  const heads = registrableDomains.map(zone => fresh.get(zone)).filter(row => row !== undefined)
  if (heads.length < fresh.size)
    throw new TypeError('decide returned a name of a registrable domain that is not locked')
  // Most calls join no registrable domain and fill none.
  if (zones.length === 0 && below.length < CROWD) return { inserted: [...heads, ...below], ...NOTHING_JOINED }

  const left = occupied
    .map(({ registrableDomain }) => registrableDomain)
    .filter(zone => (known.get(zone)?.guest_path ?? null) !== null)
  const zonesBelow = sortDistinct(below.map(({ registrableDomain }) => registrableDomain))
  return {
    inserted: [...heads, ...below],
    occupied,
    /** What guests move out of. */
    left,
    crowded: zonesBelow.filter(zone => known.get(zone)?.crowded === true),
    /** May have become crowded: a call has 100 names at most, but a store may be asked for more. */
    joined: sortDistinct([...left, ...zonesBelow]).filter(zone => {
      const head = known.get(zone)
      return head ? !head.crowded : below.length >= CROWD
    }),
  }
}

export type RowPlan = ReturnType<typeof planRows>

const NOTHING_JOINED = { occupied: [], left: [], crowded: [], joined: [] } as const

export const sortDistinct = (texts: readonly string[]) => [...new Set(texts)].sort()
