import { isAddress } from '../rules/name.ts'

/**
 * The key of a name in a sorted table. Updates of the suffix list do not change the key, because it depends only on the
 * name.
 */
export interface NameKey {
  /** The last two labels, `example.com`; for an IP address, the address. Tables can be partitioned by this domain. */
  readonly secondLevelDomain: string
  /**
   * The other labels from right to left, each after a dot: `.b.a` for `a.b.example.com`, `.*` for `*.example.com`,
   * nothing for `example.com`.
   */
  readonly path: string
}

/**
 * Returns the key of a canonical name. When keys are sorted by code units (COLLATE "C" in PostgreSQL, BINARY in
 * SQLite), all names below a name are adjacent.
 *
 * @example
 * toKey('a.b.example.com') // { secondLevelDomain: 'example.com', path: '.b.a' }
 */
export function toKey(domain: string): NameKey {
  if (isAddress(domain)) return { secondLevelDomain: domain, path: '' }
  let dot = domain.lastIndexOf('.', domain.lastIndexOf('.') - 1)
  const secondLevelDomain = domain.slice(dot + 1)
  let path = ''
  while (dot > 0) {
    const before = domain.lastIndexOf('.', dot - 1)
    path += `.${domain.slice(before + 1, dot)}`
    dot = before
  }
  return { secondLevelDomain, path }
}

/**
 * Returns the range that contains the paths of all names below a base, within its second-level domain. Both ends are
 * excluded. `/` follows `.` in ASCII, so the range contains exactly the paths that continue the base's path with a dot.
 *
 * @example
 * rangeBelow('b.example.com') // { after: '.b.', before: '.b/' }
 */
export function rangeBelow(base: string): { readonly after: string; readonly before: string } {
  const { path } = toKey(base)
  return { after: `${path}.`, before: `${path}/` }
}

/**
 * Returns the key range of all names below a base. If `start` is one of these names, the range contains only the names
 * after it.
 */
export function keysBelow(base: string, start?: string) {
  const { after, before } = rangeBelow(base)
  const startPath = start === undefined ? '' : toKey(start).path
  return {
    secondLevelDomain: toKey(base).secondLevelDomain,
    after: startPath > after ? startPath : after,
    before,
  }
}
