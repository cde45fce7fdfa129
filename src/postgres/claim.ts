import type { Name } from '../registry/name.ts'
import type { Registration } from '../registry/store.ts'
import { toArrayLiteral } from './array-literal.ts'
import { BATCHES } from './changes.ts'
import type { Send, Statement } from './connection.ts'
import { toKey } from './path.ts'
import { type HeadRow, holdsName } from './rows.ts'
import type { Engine } from './settings.ts'
import type { Statements } from './statements.ts'

/** What is put into the head row of a registrable domain if it has none. */
export type Claim = Pick<Registration, 'domain' | 'registrableDomain' | 'domainId'>

export interface Owner {
  readonly teamId: string
  /** Milliseconds until the sweep may push what is saved; `null` where there is nothing to push to. */
  readonly lease: number | null
}

/** For transactions that save nothing new: what they make they take back. */
export const toPlaceholders = (names: readonly Name[]): readonly Claim[] =>
  [...new Set(names.map(({ registrableDomain }) => registrableDomain))]
    .sort()
    .map(registrableDomain => ({ domain: registrableDomain, registrableDomain, domainId: crypto.randomUUID() }))

/**
 * Claims registrable domains until the end of the transaction. In ascending order, or two calls wait for each other.
 */
export function claim(send: Send, { claims }: Statements, rows: readonly Claim[], owner: Owner, engine: Engine) {
  // Citus locks the rows of a statement shard by shard: only in a single one is that the same order for all.
  const inOne = engine === 'Citus' && rows.length > 0
  return inOne
    ? sendBatches(send, [claims.ofAll(rows.length)], [rows.length], rows, owner)
    : sendRows(send, claims, rows, owner)
}

/**
 * Inserts names of registrable domains that are claimed. What is inlined makes room for the registrable domain itself.
 */
export function insert(
  send: Send,
  statements: Statements,
  rows: readonly Claim[],
  heads: readonly HeadRow[],
  owner: Owner,
): void {
  const [selves, names] = [rows.filter(isSelf), rows.filter(row => !isSelf(row))]
  const occupied = new Set(selves.map(({ registrableDomain }) => registrableDomain))
  moveOut(
    send,
    statements,
    heads.filter(({ registrable_domain }) => occupied.has(registrable_domain)),
  )
  sendRows(send, statements.inserts, names, owner)
  sendRows(send, statements.occupations, selves, owner)
}

export function moveOut(send: Send, statements: Statements, heads: readonly HeadRow[]): void {
  const rows = heads.filter(holdsName).filter(({ inlined_path }) => inlined_path !== null)
  if (rows.length === 0) return
  const domains = toArrayLiteral(rows.map(row => row.registrable_domain))
  void send(statements.moveOut, domains, toArrayLiteral(rows.map(row => row.domain_id)))
}

const isSelf = ({ domain, registrableDomain }: Claim) => domain === registrableDomain

function sendRows(
  send: Send,
  statements: readonly Statement[],
  rows: readonly Claim[],
  owner: Owner,
): readonly Promise<unknown>[] {
  return sendBatches(send, statements, BATCHES, rows, owner)
}

/** @param batches Of how many rows each of the statements is, falling. */
function sendBatches(
  send: Send,
  statements: readonly Statement[],
  batches: readonly number[],
  rows: readonly Claim[],
  { teamId, lease }: Owner,
): readonly Promise<unknown>[] {
  const values = rows.map(row => [row.registrableDomain, toKey(row).path, row.domainId])
  const sent: Promise<unknown>[] = []
  batches.forEach((count, index) => {
    while (values.length >= count) {
      sent.push(send(statements[index] as Statement, teamId, toInterval(lease), ...values.splice(0, count).flat()))
    }
  })
  return sent
}

export const toInterval = (milliseconds: number | null) => (milliseconds === null ? null : `${milliseconds} ms`)
