import type { Name } from './name.ts'

/** The registrable domains of names. Names of different registrable domains never overlap. */
export interface RegistrableDomains {
  readonly all: ReadonlySet<string>
  /** The registrable domains of two names or more. */
  readonly shared: ReadonlySet<string>
}

export function findRegistrableDomains(names: readonly Name[]): RegistrableDomains {
  const all = new Set<string>()
  const shared = new Set<string>()
  for (const { registrableDomain } of names) {
    const { size } = all
    if (all.add(registrableDomain).size === size) shared.add(registrableDomain)
  }
  return { all, shared }
}
