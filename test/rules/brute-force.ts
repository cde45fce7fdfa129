/**
 * The overlap rules stated a second time, for the tests of races and of the whole system: by brute force over all
 * registrations, without code from `src`.
 */

/** A hostname with its parts, which are written out here and not computed. */
export interface Known {
  readonly domain: string
  readonly registrableDomain: string
}

export interface HeldName extends Known {
  readonly teamId: string
}

/** Whether a wildcard covers a name or a narrower wildcard. A wildcard covers neither itself nor its base. */
export const covers = (wide: Known, narrow: Known) =>
  wide.registrableDomain === narrow.registrableDomain &&
  wide.domain.startsWith('*.') &&
  narrow.domain.replace('*.', '').endsWith(wide.domain.slice(1))

const overlap = (one: Known, other: Known) => one.domain === other.domain || covers(one, other) || covers(other, one)

/** Whether the registration `held` is a reason to reject the team's `name` with this code. */
function isInTheWay(code: string, name: Known, teamId: string, held: HeldName): boolean {
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
