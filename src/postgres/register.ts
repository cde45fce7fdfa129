import type { Name } from '../registry/name.ts'
import { unsynchronizedOf } from '../registry/outbox.ts'
import {
  type Found,
  NOTHING_BELOW,
  type Registered,
  type Registration,
  type RegistrationRequest,
} from '../registry/store.ts'
import { createUuidGenerator } from '../uuid.ts'
import { type Claim, insert } from './claim.ts'
import { claimAndFind } from './find.ts'
import { leaseFound } from './outbox.ts'
import { takeBack } from './remove.ts'
import { toRegistration } from './rows.ts'
import type { Transact } from './transaction.ts'

/**
 * Makes the function that registers: claim, look, decide, save. A claim inserts the head row of each registrable domain
 * that has none, and locks the existing ones. It inserts the names that `decide` would save if nothing were held, so
 * that the claim itself writes new names. If the look-up then finds anything, `decide` is asked again, and names that
 * the claim should not have written are removed in the same transaction.
 *
 * @param lease Milliseconds until a sweep may push the registrations; 0 if the call does not push them; `null` without
 *   a monitor.
 */
export function createRegister(transact: Transact, lease: number | null) {
  const createId = createUuidGenerator()

  return async (request: RegistrationRequest): Promise<Registered> => {
    const { teamId, registrableDomains, names, wildcardBases, decide } = request
    const owner = { teamId, lease }
    const nothing: Found = { registrations: [], below: wildcardBases.map(() => NOTHING_BELOW) }
    const name = ({ domain, registrableDomain }: Name): Registration => ({
      domainId: createId(),
      domain,
      registrableDomain,
      teamId,
      synchronized: lease === null,
    })

    return transact({
      async find(transaction) {
        const expected = decide(nothing).map(name)
        const claims = toClaims(registrableDomains, expected, name)
        return { expected, ...(await claimAndFind(transaction, claims, { names, wildcardBases, ...owner })) }
      },

      leavesNothing: ({ fresh }) => fresh.length === 0,

      save({ expected, heads, fresh, names: rows, below }, transaction) {
        const found = { registrations: rows.map(toRegistration), below }
        const known = new Map(expected.map(registration => [registration.domain, registration]))
        const saved = heads.length === 0 ? expected : decide(found).map(each => known.get(each.domain) ?? name(each))
        const claimed = new Set(fresh.map(({ domainId }) => domainId))
        const rest = saved.filter(({ domainId }) => !claimed.has(domainId))
        if (rest.some(({ registrableDomain }) => !registrableDomains.includes(registrableDomain)))
          throw new TypeError('decide returned a name of a registrable domain that is not locked')
        insert(transaction, rest, heads, owner)
        takeBack(transaction, fresh, saved)
        if (lease) leaseFound(transaction, unsynchronizedOf(request, found), lease)
        return { found, saved }
      },
    })
  }
}

/**
 * Chooses one name for each registrable domain: one that is expected to be saved, preferably the registrable domain
 * itself. If there is none, a placeholder, which is removed later.
 */
function toClaims(
  registrableDomains: readonly string[],
  expected: readonly Registration[],
  name: (name: Name) => Registration,
): readonly Claim[] {
  const claims = new Map<string, Registration>()
  for (const each of expected) {
    const { domain, registrableDomain } = each
    if (!claims.has(registrableDomain) || domain === registrableDomain) claims.set(registrableDomain, each)
  }
  return registrableDomains.map(
    registrableDomain => claims.get(registrableDomain) ?? name({ domain: registrableDomain, registrableDomain }),
  )
}
