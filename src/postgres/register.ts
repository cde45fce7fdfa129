import type { RegistrationStep, StoreBackend } from '../registry/managed-store.ts'
import type { Name } from '../registry/name.ts'
import { rangeBelow, toKey } from '../registry/path.ts'
import type { LookUp, LookUpResult, Registration, SavedRegistrations } from '../registry/store.ts'
import type { ReleaseKeys } from '../registry/store-arguments.ts'
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

/**
 * Makes {@link StoreBackend.release}: look up, claim, look up again, delete, record. On Citus the first look-up is a
 * transaction by itself: if a shard is moved between the first statement on it and the claim, a worker of Citus 13.2
 * sends the rest of the transaction to where the shard was, and what it changes there is lost.
 */
export const createRelease =
  (transact: Transact): StoreBackend['release'] =>
  async (teamId, keys, lease) => {
    if (keys.names.length + keys.domainIds.length === 0) return []
    const seenOrReleased = await transact(async transaction => {
      const seen = await findHeld(transaction, teamId, keys)
      if (seen.size === 0) return []
      return transaction.engine === 'Citus' ? seen : releaseSeen(transaction, teamId, keys, lease, seen)
    })
    if (!(seenOrReleased instanceof Map)) return seenOrReleased
    return transact(transaction => releaseSeen(transaction, teamId, keys, lease, seenOrReleased))
  }

type HeldById = Map<string, Registration>

async function findHeld(
  transaction: StoreTransaction,
  teamId: string,
  { names, domainIds }: ReleaseKeys,
): Promise<HeldById> {
  const answers = await Promise.all([
    findNames(
      transaction,
      names.map(({ domain }) => domain),
    ),
    // Citus asks all its shards for them.
    domainIds.length > 0 ? transaction.ask(transaction.statements.findIds, toArrayLiteral(domainIds)) : { rows: [] },
  ])
  const held = answers.flatMap(({ rows }) => rows).filter(row => row.team_id === teamId)
  return new Map(held.map(toRegistration).map(({ createdAt: _, ...each }) => [each.domainId, each]))
}

async function releaseSeen(
  transaction: StoreTransaction,
  teamId: string,
  keys: ReleaseKeys,
  lease: number,
  seen: HeldById,
): Promise<Registration[]> {
  const { change, statements } = transaction
  // Those of names that are not held too: one of them could be registered before another is released.
  const locked = [...keys.names, ...seen.values()].map(each => each.registrableDomain)
  void claim(transaction, [...new Set(locked)].sort())
  const asked = await findHeld(transaction, teamId, keys)
  const ids = toIds([...asked.values()])
  const deleting = change(statements.deleteNames, ...ids)
  const replaced = new Set((await change(statements.finish, ...ids, 'registered')).rows.map(row => row.domain_id))
  const released = (await deleting).rows.flatMap(row => asked.get(row.domain_id) ?? [])
  // The push of a registration that still waits may be under way.
  addChanges(transaction, 'released', released, ({ domainId }) => (replaced.has(domainId) ? lease : 0))
  return released
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
