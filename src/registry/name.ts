/** A canonical hostname and the registrable domain that everything which can overlap with it shares. */
export interface Name {
  /** `www.example.com`, `*.example.com`, `192.0.43.8`: the form that {@link classifyHostname} calls `domain`. */
  readonly domain: string
  /** `example.com`; of an IP address, the address itself. */
  readonly registrableDomain: string
}

export const isWildcard = ({ domain }: Name) => domain.startsWith('*.')

/** The name that a wildcard stands below: `example.com` for `*.example.com`. */
export const baseOf = ({ domain }: Name) => domain.slice(2)

/**
 * The wildcards that cover a name or a narrower wildcard, nearest first: `*.b.example.com` and `*.example.com` for
 * `a.b.example.com`. A wildcard does not cover its own base, nor anything in another registrable domain: where a public
 * suffix lies between, the names below it belong to somebody else.
 */
export function coveringWildcards(name: Name): string[] {
  const { registrableDomain } = name
  const wildcards: string[] = []
  let ancestor = isWildcard(name) ? baseOf(name) : name.domain
  while (ancestor.length > registrableDomain.length) {
    ancestor = ancestor.slice(ancestor.indexOf('.') + 1)
    wildcards.push(`*.${ancestor}`)
  }
  return wildcards
}
