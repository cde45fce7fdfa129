/**
 * The overlap rules stated a second time: by brute force over all registrations, without code from `src`. This module
 * also contains a set of hostnames, which is so small that callers often submit the same hostname.
 */

/** A hostname with its parts, which are written out here and not computed. */
export interface Known {
  readonly domain: string
  readonly registrableDomain: string
}

export interface HeldName extends Known {
  readonly teamId: string
}

const below = (registrableDomain: string): Known[] =>
  ['', '*.', 'x.', '*.x.', 'y.x.', '*.y.x.', 'z.y.x.', 'w.'].map(labels => ({
    domain: labels + registrableDomain,
    registrableDomain,
  }))
const address = (domain: string): Known => ({ domain, registrableDomain: domain })

/**
 * Groups of names. Names overlap only within their group. The last two groups share `amazonaws.com`, but have different
 * public suffixes.
 */
export const families: readonly (readonly Known[])[] = [
  below('a.com'),
  below('b.co.uk'),
  below('c.github.io'),
  below('xn--bcher-kva.de'),
  [address('8.8.8.8'), address('2606:4700:4700::1111')],
  below('amazonaws.com'),
  below('k.s3.amazonaws.com'),
]

/** Whether a wildcard covers a name or a narrower wildcard. A wildcard covers neither itself nor its base. */
export const covers = (wide: Known, narrow: Known) =>
  wide.registrableDomain === narrow.registrableDomain &&
  wide.domain.startsWith('*.') &&
  narrow.domain.replace('*.', '').endsWith(wide.domain.slice(1))

export const overlap = (one: Known, other: Known) =>
  one.domain === other.domain || covers(one, other) || covers(other, one)

/** Whether the registration `held` is a reason to reject the team's `name` with this code. */
export function isInTheWay(code: string, name: Known, teamId: string, held: HeldName): boolean {
  const isOwn = held.teamId === teamId
  if (code === 'wildcard_conflict') return isOwn && covers(held, name)
  if (code === 'subdomain_conflict') return isOwn && covers(name, held)
  return code === 'domain_already_licensed' && !isOwn && overlap(held, name)
}

/** The status or code of a team's name, given the existing registrations. The first rule that applies decides. */
export function verdictOf(name: Known, teamId: string, held: readonly HeldName[]): string {
  if (held.some(other => other.teamId === teamId && other.domain === name.domain)) return 'existing'
  const codes = ['wildcard_conflict', 'subdomain_conflict', 'domain_already_licensed']
  return codes.find(code => held.some(other => isInTheWay(code, name, teamId, other))) ?? 'created'
}
