import type { Name } from '../registry/name.ts'
import type { Registration } from '../registry/store.ts'
import { toArrayLiteral } from './array-literal.ts'
import type { Insert } from './changes.ts'
import type { Answer } from './database.ts'
import { toKey } from './path.ts'
import { type HeadRow, holdsName } from './rows.ts'
import type { Transaction } from './transaction.ts'

/** The name for the head row of a registrable domain, in case it has no head row yet. */
export type Claim = Pick<Registration, 'domain' | 'registrableDomain' | 'domainId'>

export interface Owner {
  readonly teamId: string
  /** Milliseconds until a sweep may push the registrations; `null` without a monitor. */
  readonly lease: number | null
}

/** Claims for transactions that save nothing new, and remove the head rows that they inserted. */
export const toPlaceholders = (names: readonly Name[]): readonly Claim[] =>
  [...new Set(names.map(({ registrableDomain }) => registrableDomain))]
    .sort()
    .map(registrableDomain => ({ domain: registrableDomain, registrableDomain, domainId: crypto.randomUUID() }))

/**
 * Claims registrable domains until the end of the transaction. They must be in ascending order, or two calls deadlock.
 */
export const claim = (transaction: Transaction, rows: readonly Claim[], owner: Owner): Promise<Answer> =>
  sendRows(transaction, transaction.statements.claim, rows, owner)

/**
 * Inserts names of claimed registrable domains. For a registrable domain itself, the inlined name moves out of its row.
 */
export function insert(
  transaction: Transaction,
  rows: readonly Claim[],
  heads: readonly HeadRow[],
  owner: Owner,
): void {
  const { statements } = transaction
  const selves = rows.filter(isSelf)
  const occupied = new Set(selves.map(({ registrableDomain }) => registrableDomain))
  moveOut(
    transaction,
    heads.filter(({ registrable_domain }) => occupied.has(registrable_domain)),
  )
  const names = rows.filter(row => !isSelf(row))
  void sendRows(transaction, statements.insert, names, owner)
  void sendRows(transaction, statements.occupy, selves, owner)
}

export function moveOut({ send, statements }: Transaction, heads: readonly HeadRow[]): void {
  const rows = heads.filter(holdsName).filter(({ inlined_path }) => inlined_path !== null)
  if (rows.length === 0) return
  const domains = toArrayLiteral(rows.map(row => row.registrable_domain))
  void send(statements.moveOut, domains, toArrayLiteral(rows.map(row => row.domain_id)))
}

const isSelf = ({ domain, registrableDomain }: Claim) => domain === registrableDomain

/** Sends all rows in one statement: Citus locks shard by shard, in the same order only within a statement. */
function sendRows(
  { send, engine }: Transaction,
  statement: Insert,
  rows: readonly Claim[],
  { teamId, lease }: Owner,
): Promise<Answer> {
  if (rows.length === 0) return Promise.resolve({ rows: [], rowCount: 0 })
  const owner = [teamId, toInterval(lease)]
  const columns = [
    rows.map(row => row.registrableDomain),
    rows.map(row => toKey(row).path),
    rows.map(row => row.domainId),
  ]
  if (engine !== 'Citus') return send(statement, ...owner, ...columns.map(toArrayLiteral))
  // Citus routes the rows of a VALUES list to their shards. Rows out of arrays it would have to redistribute.
  const values = [...owner, ...rows.flatMap((_, index) => columns.map(column => column[index]))]
  if (values.length > MOST_PARAMETERS)
    throw new RangeError(`On Citus a call claims at most ${MOST_CLAIMS} registrable domains, and not ${rows.length}`)
  return send(statement.inValues(rows.length), ...values)
}

/** The limit for one statement (PostgreSQL documentation, appendix K). */
const MOST_PARAMETERS = 65_535
const MOST_CLAIMS = Math.floor((MOST_PARAMETERS - 2) / 3)

export const toInterval = (milliseconds: number | null) => (milliseconds === null ? null : `${milliseconds} ms`)
