import type { Name } from '../registry/name.ts'
import { reverseLabels } from '../reverse-labels.ts'

/**
 * The labels of a name below its registrable domain from right to left, so that what is below a name stands together in
 * an index: `b.a` for `a.b.example.com`, and `''` for `example.com`.
 */
export function toPath({ domain, registrableDomain }: Name): string {
  if (domain === registrableDomain) return ''
  if (!domain.endsWith(`.${registrableDomain}`)) {
    throw new TypeError(`"${registrableDomain}" is not the registrable domain of "${domain}"`)
  }
  return reverseLabels(domain.slice(0, -registrableDomain.length - 1))
}

/**
 * The paths of what is below a base, without the ends: `.` and `/` are neighbours in ASCII, so that the range holds
 * what goes on after a dot, and nothing else. Below a registrable domain is everything but itself.
 */
export function rangeBelow(base: Name): readonly [after: string, before: string] {
  const path = toPath(base)
  return path === '' ? ['', HIGHEST] : [`${path}.`, `${path}/`]
}

/** The last character of Unicode, which no path begins with. */
const HIGHEST = '\u{10ffff}'
