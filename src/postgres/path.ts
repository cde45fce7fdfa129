import type { Name } from '../registry/name.ts'
import { reverseLabels } from '../reverse-labels.ts'

/** The key of a name: the names below a name are neighbours in an index, and no registrable domain is stored twice. */
export interface Key {
  readonly registrableDomain: string
  /**
   * The labels below the registrable domain from right to left, each after a dot: `.b.a` for `a.b.example.com`, `''`
   * for `example.com`.
   */
  readonly path: string
}

export function toKey({ domain, registrableDomain }: Name): Key {
  if (domain === registrableDomain) return { registrableDomain, path: '' }
  if (!domain.endsWith(`.${registrableDomain}`)) {
    throw new TypeError(`"${registrableDomain}" is not the registrable domain of "${domain}"`)
  }
  return { registrableDomain, path: `.${reverseLabels(domain.slice(0, -registrableDomain.length - 1))}` }
}

export const toDomain = ({ registrableDomain, path }: Key) =>
  path === '' ? registrableDomain : `${reverseLabels(path.slice(1))}.${registrableDomain}`

/**
 * Returns the open range of the paths of all names below a base. `/` follows `.` in ASCII, so the range holds exactly
 * the paths that continue the base's with a dot.
 */
export const rangeBelow = ({ path }: Key): Range => ({ after: `${path}.`, before: `${path}/` })

interface Range {
  readonly after: string
  readonly before: string
}

export const isInRange = (path: string, { after, before }: Range) => path > after && path < before
