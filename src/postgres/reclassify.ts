import { classifyHostname } from '../hostname/classify.ts'
import type { Name } from '../registry/name.ts'
import { createRegistrationRequest } from '../registry/request.ts'
import { moveOut, toPlaceholders } from './claim.ts'
import { claimAndFind, type Findings } from './find.ts'
import { type Key, toKey } from './path.ts'
import { remove, takeBack } from './remove.ts'
import { type HeadRow, holdsName, type NameRow, toRegistration } from './rows.ts'
import type { LookingTransaction, Transact, Transaction } from './transaction.ts'

/** The result of {@link PostgresStore.reclassify}. */
export interface Reclassification {
  /** How many registrations were examined. One that moves ahead of the walk is examined twice. */
  readonly examined: number
  /** How many were moved to another registrable domain. */
  readonly moved: number
  /**
   * Registrations that were left unchanged, for you to decide about. Either the name can no longer be registered, for
   * instance because it has become a public suffix, or something overlaps with it in its new registrable domain.
   */
  readonly left: readonly { readonly domain: string; readonly domainId: string; readonly teamId: string }[]
}

/** Makes {@link PostgresStore.reclassify}. */
export function createReclassifier(transact: Transact) {
  return async (): Promise<Reclassification> => {
    let examined = 0
    let moved = 0
    const left: { domain: string; domainId: string; teamId: string }[] = []
    for await (const row of walk(transact)) {
      if (!holdsName(row)) continue
      examined += 1
      const { domain, domainId, teamId } = toRegistration(row)
      const hostname = classifyHostname(domain)
      if (hostname.valid && hostname.registrableDomain === row.registrable_domain) continue
      if (hostname.valid && (await transact(moving(row, hostname)))) moved += 1
      else left.push({ domain, domainId, teamId })
    }
    return { examined, moved, left }
  }
}

const ROWS_AT_ONCE = 1000

/** Yields all rows in the order of their keys. */
async function* walk(transact: Transact): AsyncGenerator<HeadRow> {
  for (let last: Key = { registrableDomain: '', path: '' }; ; ) {
    const { registrableDomain, path } = last
    const rows = await transact({
      find: ({ send, statements }) => send(statements.walk, registrableDomain, path, ROWS_AT_ONCE),
      save: found => found.rows,
    })
    yield* rows
    const end = rows.at(-1)
    if (!end) return
    last = { registrableDomain: end.registrable_domain, path: end.path }
  }
}

/**
 * Moves a row to its new registrable domain, unless it has been released or overlaps with a registration there.
 * Returns work for {@link Transact} that resolves to whether the row was moved.
 */
function moving(row: NameRow, name: Name) {
  const old = toRegistration(row)
  const { names, wildcardBases, teamId, decide } = createRegistrationRequest(row.team_id, [name])
  const question = { names: [old, ...names], wildcardBases, teamId }
  return {
    find: (transaction: LookingTransaction) => claimAndFind(transaction, toPlaceholders([old, name]), question),

    save({ heads, fresh, names, below }: Findings, transaction: Transaction): boolean {
      const isOld = ({ registrable_domain }: NameRow) => registrable_domain === old.registrableDomain
      const held = names.filter(isOld).find(({ domain_id }) => domain_id === old.domainId)
      const registrations = names.filter(each => !isOld(each)).map(toRegistration)
      const mayMove = held !== undefined && decide({ registrations, below }).length > 0
      if (mayMove) {
        const isInTheWay = ({ registrable_domain }: HeadRow) => registrable_domain === name.registrableDomain
        copy(transaction, held, toKey(name), heads.filter(isInTheWay))
        remove(transaction, [held])
      }
      takeBack(transaction, fresh, mayMove ? [{ ...old, ...name }] : [])
      return mayMove
    },
  }
}

/** @param heads The head row of the new registrable domain, if it has one. */
function copy(transaction: Transaction, held: NameRow, to: Key, heads: readonly HeadRow[]): void {
  const { send, statements } = transaction
  const isHead = to.path === ''
  if (isHead) moveOut(transaction, heads)
  const from = [held.registrable_domain, held.path, held.domain_id]
  void send(isHead ? statements.copyIntoHead : statements.copyName, ...from, to.registrableDomain, to.path)
}
