import type { Name } from '../registry/name.ts'
import { reverseLabels } from '../reverse-labels.ts'

/** How a name is kept: what is below a name stands together, and the registrable domain is not stored twice. */
export interface Key {
  readonly registrableDomain: string
  /**
   * The labels below it from right to left, a dot before each: `.b.a` for `a.b.example.com`, `''` for `example.com`.
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
 * The paths of what is below a base, without the ends: `.` and `/` are neighbours in ASCII, so that the range holds
 * what goes on after a dot, and nothing else.
 */
export const rangeBelow = ({ path }: Key): Range => ({ after: `${path}.`, before: `${path}/` })

interface Range {
  readonly after: string
  readonly before: string
}

export const isInRange = (path: string, { after, before }: Range) => path > after && path < before
