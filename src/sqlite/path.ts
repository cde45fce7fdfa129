import type { Name } from '../registry/name.ts'
import { reverseLabels } from '../reverse-labels.ts'

/**
 * Returns the labels below the registrable domain from right to left, so that the names below a name are neighbours in
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
 * Returns the open range of the paths of all names below a base. `/` follows `.` in ASCII, so the range holds exactly
 * the paths that continue the base's with a dot. All paths but `''` are below a registrable domain.
 */
export function rangeBelow(base: Name): readonly [after: string, before: string] {
  const path = toPath(base)
  return path === '' ? ['', HIGHEST] : [`${path}.`, `${path}/`]
}

/** The last code point of Unicode; every path sorts before it. */
const HIGHEST = '\u{10ffff}'
