import { ancestorsOf, baseOf, isAddress } from '../rules/name.ts'

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

/**
 * Returns the lengths of a base and of the names above it, which are ends of it. If no public suffix separates a name
 * from the base, one of them is the registrable domain of the name.
 */
export const lengthsWithin = (base: string): readonly number[] =>
  [base, ...ancestorsOf(base)].map(({ length }) => length)

/** A name, and where to cut its path to get the paths of wildcards above it, which end in `.*`. */
interface WildcardKeys extends NameKey {
  readonly domain: string
  readonly cuts: readonly number[]
}

/**
 * Returns the keys of all wildcards above some names, each once. A name may have 125 of them, so texts of their own
 * would grow with the square of its labels. For `a.b.example.com`, the cuts of the path `.b.a` are 0 and 2: the
 * wildcards above it have the paths `.*` and `.b.*`.
 */
export function toWildcardKeys(domains: readonly string[]): readonly WildcardKeys[] {
  const bases = domains.map(domain => {
    const base = baseOf(domain)
    return { domain: base, key: toKey(base) }
  })
  bases.sort((one, other) => compare(one.key, other.key))
  const found: WildcardKeys[] = []
  let before: NameKey | undefined
  for (const { domain, key } of bases) {
    // In this order, what a path shares with any path before it, it shares with the one just before it.
    const cuts = dotsOf(key.path, before ? sharedLength(before, key) : 0)
    if (cuts.length > 0) found.push({ domain, secondLevelDomain: key.secondLevelDomain, path: key.path, cuts })
    before = key
  }
  return found
}

function compare(one: NameKey, other: NameKey): number {
  if (one.secondLevelDomain !== other.secondLevelDomain) return one.secondLevelDomain < other.secondLevelDomain ? -1 : 1
  return one.path < other.path ? -1 : 1
}

/** How many characters at the beginning of two paths are the same, within one second-level domain. */
function sharedLength(before: NameKey, { secondLevelDomain, path }: NameKey): number {
  if (before.secondLevelDomain !== secondLevelDomain) return 0
  let length = 0
  while (length < path.length && path[length] === before.path[length]) length += 1
  return length
}

function dotsOf(path: string, start: number): readonly number[] {
  const dots: number[] = []
  for (let dot = path.indexOf('.', start); dot !== -1; dot = path.indexOf('.', dot + 1)) dots.push(dot)
  return dots
}
