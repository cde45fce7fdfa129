import type { Registration } from '../registry/store.ts'
import { toArrayLiteral } from './array-literal.ts'
import type { Claim } from './claim.ts'
import { isHead, type NameRow } from './rows.ts'
import type { Transaction } from './transaction.ts'

/** Removes names whose registrable domains are claimed, each by its ID. */
export function remove(transaction: Transaction, rows: readonly NameRow[]): void {
  vacate(
    transaction,
    rows.filter(isHead).map(row => [row.registrable_domain, row.domain_id]),
  )
  deleteRows(
    transaction,
    rows.filter(row => !isHead(row)).map(row => [row.registrable_domain, row.path, row.domain_id]),
  )
}

/**
 * Removes the head rows that the claims of this transaction inserted and nothing was saved in: only registrable domains
 * with a name keep a head row.
 */
export function takeBack(transaction: Transaction, fresh: readonly Claim[], saved: readonly Registration[] = []): void {
  const ids = new Set(saved.map(({ domainId }) => domainId))
  const unused = fresh.filter(({ domainId }) => !ids.has(domainId))
  if (unused.length === 0) return
  const named = new Set(saved.map(({ registrableDomain }) => registrableDomain))
  vacate(
    transaction,
    unused.filter(row => named.has(row.registrableDomain)).map(row => [row.registrableDomain, row.domainId]),
  )
  deleteRows(
    transaction,
    unused.filter(row => !named.has(row.registrableDomain)).map(row => [row.registrableDomain, '', row.domainId]),
  )
}

function vacate({ send, statements }: Transaction, rows: readonly (readonly [string, string])[]): void {
  if (rows.length > 0) void send(statements.vacateHeads, ...toColumns(rows))
}

function deleteRows({ send, statements }: Transaction, rows: readonly (readonly string[])[]): void {
  if (rows.length > 0) void send(statements.deleteNames, ...toColumns(rows))
}

const toColumns = (rows: readonly (readonly string[])[]) =>
  (rows[0] ?? []).map((_, column) => toArrayLiteral(rows.map(row => row[column] as string)))
