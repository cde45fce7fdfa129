/** A canonical hostname and its registrable domain. */
export interface Name {
  /** The form that {@link classifyHostname} returns as `domain`: `www.example.com`, `*.example.com` or `192.0.43.8`. */
  readonly domain: string
  /**
   * The registrable domain, `example.com`; for an IP address, the address itself. This domain depends on the Public
   * Suffix List, which changes over time, so it is not part of the key of a name. Calls lock the registrable domains of
   * their names.
   */
  readonly registrableDomain: string
}

/** A canonical name has an asterisk only as its first label. */
export const isWildcard = (domain: string): boolean => domain.startsWith('*.')

/** Returns the base of a wildcard: `example.com` for `*.example.com`. Any other name is its own base. */
export const baseOf = (domain: string): string => (isWildcard(domain) ? domain.slice(2) : domain)

export const wildcardOver = (base: string): string => `*.${base}`

/**
 * Returns the wildcards above a name, nearest first: those that cover the name, unless a public suffix separates them.
 *
 * @example
 * wildcardsAbove('a.b.example.com') // ['*.b.example.com', '*.example.com']
 */
export const wildcardsAbove = (domain: string): string[] => ancestorsOf(domain).map(wildcardOver)

/**
 * Whether a hostname is an IP address. A hostname with a colon, or with a number as its last label, cannot be a name
 * (RFC 3696, section 2).
 */
export const isAddress = (domain: string): boolean => /:|\.\d+$/.test(domain)

/**
 * Returns the names above a name or a wildcard, from the nearest one to the one with two labels. For example,
 * `b.example.com` and `example.com` are above both `a.b.example.com` and `*.a.b.example.com`. The base of a wildcard
 * does not count as a name above the wildcard. There are no names above an IP address.
 *
 * The result includes names above a public suffix: an older suffix list may have allowed a wildcard over a name that is
 * a public suffix today.
 */
export function ancestorsOf(domain: string): readonly string[] {
  if (isAddress(domain)) return []
  const last = domain.lastIndexOf('.')
  const ancestors: string[] = []
  let dot = domain.indexOf('.', isWildcard(domain) ? 2 : 0)
  for (; dot !== -1 && dot < last; dot = domain.indexOf('.', dot + 1)) ancestors.push(domain.slice(dot + 1))
  return ancestors
}
