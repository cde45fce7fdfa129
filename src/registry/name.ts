/** A canonical hostname and its registrable domain. */
export interface Name {
  /** `www.example.com`, `*.example.com`, `192.0.43.8`: the form that {@link classifyHostname} calls `domain`. */
  readonly domain: string
  /**
   * `example.com`; for an IP address, the address itself. It depends on the suffix list, which changes: calls lock it,
   * and no key contains it.
   */
  readonly registrableDomain: string
}

/** A canonical name has an asterisk only as its first label. */
export const isWildcard = (domain: string): boolean => domain.startsWith('*.')

/** Returns the base of a wildcard: `example.com` for `*.example.com`. */
export const baseOf = (wildcard: string): string => wildcard.slice(2)

export const wildcardOver = (base: string): string => `*.${base}`

/** Tells an IP address from a name: no top-level label is a number (RFC 3696, section 2), and no name has a colon. */
export const isAddress = (domain: string): boolean => /:|\.\d+$/.test(domain)

/**
 * Returns the names above a name or a wildcard, nearest first, down to two labels: `b.example.com` and `example.com`
 * for both `a.b.example.com` and `*.a.b.example.com`. The base of a wildcard is not above it. No name is above an
 * address.
 *
 * It does not use the suffix list: an older one may have allowed a wildcard where today's has a public suffix.
 */
export function ancestorsOf(domain: string): readonly string[] {
  if (isAddress(domain)) return []
  const last = domain.lastIndexOf('.')
  const ancestors: string[] = []
  let dot = domain.indexOf('.', isWildcard(domain) ? 2 : 0)
  for (; dot !== -1 && dot < last; dot = domain.indexOf('.', dot + 1)) ancestors.push(domain.slice(dot + 1))
  return ancestors
}
