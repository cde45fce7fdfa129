import type { RegistrationStep, StoreBackend } from '../registry/managed-store.ts'
import type { Name } from '../registry/name.ts'
import { rangeBelow, toKey } from '../registry/path.ts'
import type { LookUp, LookUpResult, Registration, SavedRegistrations } from '../registry/store.ts'
import { createUuidGenerator } from '../uuid.ts'
import { toArrayLiteral } from './array-literal.ts'
import { claim } from './claim.ts'
import type { Answer } from './database.ts'
import { type NameRow, toRegistration } from './name-statements.ts'
import { addChanges, leaseWaiting, toIds } from './outbox.ts'
import type { StoreTransaction, Transact } from './transact.ts'

/** Makes {@link StoreBackend.register}: claim, look up, decide, save. */
export function createRegister(transact: Transact) {
  const createId = createUuidGenerator()

  return ({ lease, decide, ...step }: RegistrationStep): Promise<SavedRegistrations> => {
    const { teamId, registrableDomains, timeLimit } = step
    const name = ({ domain, registrableDomain }: Name): Registration => ({
      domainId: createId(),
      domain,
      registrableDomain,
      teamId,
      synchronized: lease === null,
    })
    return transact(
      async transaction => {
        // The look-ups are sent along with the claim, and see what was saved while it waited.
        void claim(transaction, registrableDomains)
        const found = await find(transaction, step)
        const { created, waiting } = decide(found)
        if (created.some(({ registrableDomain }) => !registrableDomains.includes(registrableDomain)))
          throw new TypeError('decide returned a name of a registrable domain that is not locked')
        const saved = created.map(name)
        insert(transaction, teamId, saved)
        if (lease !== null) {
          addChanges(transaction, 'registered', saved, () => lease)
          leaseWaiting(transaction, waiting, lease)
        }
        return { found, saved }
      },
      { timeLimit },
    )
  }
}

/** Makes {@link StoreBackend.find}. Under snapshot isolation, since it locks nothing. */
export const createFind =
  (transact: Transact) =>
  (question: LookUp): Promise<LookUpResult> =>
    transact(transaction => find(transaction, question), { isolation: 'repeatable read' })

/** Makes {@link StoreBackend.release}: look up, claim, look up again, delete, record. */
export const createRelease =
  (transact: Transact): StoreBackend['release'] =>
  async (teamId, { names, domainIds }, lease) => {
    if (names.length + domainIds.length === 0) return []
    return transact(async transaction => {
      const { ask, change, statements } = transaction
      const look = async () => {
        const answers = await Promise.all([
          findNames(
            transaction,
            names.map(({ domain }) => domain),
          ),
          // Citus asks all its shards for them.
          domainIds.length > 0 ? ask(statements.findIds, toArrayLiteral(domainIds)) : { rows: [] },
        ])
        const held = answers.flatMap(({ rows }) => rows).filter(row => row.team_id === teamId)
        return new Map(held.map(toRegistration).map(({ createdAt: _, ...each }) => [each.domainId, each]))
      }
      const seen = await look()
      if (seen.size === 0) return []
      // Those of names that are not held too: one of them could be registered before another is released.
      const locked = [...names, ...seen.values()].map(each => each.registrableDomain)
      void claim(transaction, [...new Set(locked)].sort())
      const asked = await look()
      const ids = toIds([...asked.values()])
      const deleting = change(statements.deleteNames, ...ids)
      const replaced = new Set((await change(statements.finish, ...ids, 'registered')).rows.map(row => row.domain_id))
      const released = (await deleting).rows.flatMap(row => asked.get(row.domain_id) ?? [])
      // The push of a registration that still waits may be under way.
      addChanges(transaction, 'released', released, ({ domainId }) => (replaced.has(domainId) ? lease : 0))
      return released
    })
  }

async function find(transaction: StoreTransaction, { teamId, domains, bases }: LookUp): Promise<LookUpResult> {
  const { ask, statements, engine } = transaction
  const finding = findNames(transaction, domains)
  const together = engine === 'Citus' ? bases.map(base => [base]) : bases.length > 0 ? [bases] : []
  const findingBelow = together.map(some => ask(statements.findBelow, ...toRanges(some), teamId))
  const { rows } = await finding
  const below = (await Promise.all(findingBelow)).flatMap(answer => answer.rows)
  return {
    registrations: rows.map(toRegistration).map(({ createdAt: _, ...registration }) => registration),
    below: below.map(row => ({
      ownDomains: JSON.parse(row.own_domains),
      ownCount: row.own_count,
      heldByOthers: row.held,
      behindSuffixes: JSON.parse(row.behind),
    })),
  }
}

export const findNames = (
  { ask, statements, engine }: StoreTransaction,
  domains: readonly string[],
): Promise<Answer<NameRow>> =>
  ask(statements.findNames, toArrayLiteral(domains), ...(engine === 'Citus' ? toKeys(domains) : []))

function insert({ change, statements }: StoreTransaction, teamId: string, saved: readonly Registration[]): void {
  if (saved.length === 0) return
  const domains = saved.map(({ domain }) => domain)
  void change(
    statements.insertNames(saved.length),
    toArrayLiteral(saved.map(({ domainId }) => domainId)),
    ...toKeys(domains),
    toArrayLiteral(domains),
    toArrayLiteral(saved.map(({ registrableDomain }) => registrableDomain)),
    teamId,
  )
}

function toKeys(domains: readonly string[]): [string, string] {
  const keys = domains.map(toKey)
  return [
    toArrayLiteral(keys.map(({ secondLevelDomain }) => secondLevelDomain)),
    toArrayLiteral(keys.map(({ path }) => path)),
  ]
}

function toRanges(bases: readonly string[]): [string, string, string, string] {
  const ranges = bases.map(rangeBelow)
  return [
    toArrayLiteral(bases.map(base => toKey(base).secondLevelDomain)),
    toArrayLiteral(ranges.map(({ after }) => after)),
    toArrayLiteral(ranges.map(({ before }) => before)),
    toArrayLiteral(bases.map(({ length }) => String(length))),
  ]
}
