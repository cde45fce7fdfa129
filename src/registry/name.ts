/** A canonical hostname and its registrable domain. Names can overlap only if they share their registrable domain. */
export interface Name {
  /** `www.example.com`, `*.example.com`, `192.0.43.8`: the form that {@link classifyHostname} calls `domain`. */
  readonly domain: string
  /** `example.com`; of an IP address, the address itself. */
  readonly registrableDomain: string
}

/** A canonical name has an asterisk only as its first label. */
export const isWildcard = ({ domain }: Name) => domain.charCodeAt(0) === ASTERISK

const ASTERISK = 0x2a

/** Returns the base of a wildcard: `example.com` for `*.example.com`. */
export const baseOf = ({ domain }: Name) => domain.slice(2)

export const wildcardOver = (base: string) => `*.${base}`

/**
 * Returns the names above a name or a wildcard, nearest first, up to its registrable domain: `b.example.com` and
 * `example.com` for both `a.b.example.com` and `*.a.b.example.com`. The base of a wildcard is not above it.
 */
export function ancestorsOf(name: Name): readonly string[] {
  const { domain, registrableDomain } = name
  const last = domain.length - registrableDomain.length
  let start = isWildcard(name) ? 2 : 0
  if (start >= last) return NONE
  start = domain.indexOf('.', start) + 1
  // Most names have one label before their registrable domain.
  if (start === last) return [registrableDomain]
  const ancestors: string[] = []
  for (; start < last; start = domain.indexOf('.', start) + 1) ancestors.push(domain.slice(start))
  return [...ancestors, registrableDomain]
}

const NONE: readonly never[] = []

/** Tells whether the wildcard over `base` would cover a name of the same registrable domain. */
export const isBelow = (name: Name, base: Name) =>
  name.domain.endsWith(`.${base.domain}`) && !(isWildcard(name) && name.domain.length === base.domain.length + 2)
