import type { PendingChange, PendingStats, WaitingChange } from '../outbox/contract.ts'
import type { Registration } from '../rules/registration.ts'

/*
 * Rows from databases. Some databases have no booleans, only 0 and 1. Drivers return times and large numbers in
 * different forms, so times are milliseconds since 1970, and large numbers may be strings.
 */

/** Returns the column list of a `SELECT` or `RETURNING`, from one SQL expression for each property of the row. */
export const toSelectList = <Row>(columns: { readonly [Name in keyof Row]-?: string }): string =>
  Object.entries(columns)
    .map(([name, expression]) => `${expression} AS "${name}"`)
    .join(', ')

/** A registration. */
export interface NameRow extends Omit<Registration, 'synchronized' | 'createdAt'> {
  readonly synchronized: boolean | number
  readonly createdAt: number | string
}

export const toRegistration = (row: NameRow): Registration => ({
  ...row,
  synchronized: Boolean(row.synchronized),
  createdAt: new Date(Number(row.createdAt)),
})

/** A pending change. */
export interface WaitingRow extends Omit<WaitingChange, 'at'> {
  readonly at: number | string
}

export const toWaiting = (row: WaitingRow): WaitingChange => ({ ...row, at: new Date(Number(row.at)) })

/** A pending change in a list. */
export interface PendingRow extends Omit<PendingChange, 'at' | 'nextAttempt'>, WaitingRow {
  readonly nextAttempt: number | string
}

export const toPending = (row: PendingRow): PendingChange => ({
  ...row,
  at: new Date(Number(row.at)),
  nextAttempt: new Date(Number(row.nextAttempt)),
})

/** Figures about the pending changes. */
export interface StatsRow {
  readonly count: number | string
  readonly refused: number | string
  readonly oldest: number | string | null
}

export const toStats = ({ count, refused, oldest }: StatsRow): PendingStats => ({
  count: Number(count),
  refused: Number(refused),
  oldest: oldest === null ? null : new Date(Number(oldest)),
})
