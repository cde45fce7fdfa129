import type { LeasedChange, PendingChange, PendingStats } from '../outbox/contract.ts'
import type { Registration } from '../rules/registration.ts'
import { readBoolean, readInteger, readOptionalTime, readTime } from '../runtime/read-value.ts'

/*
 * Rows from databases. Some databases have no booleans, only 0 and 1. Drivers return booleans, integers and times in
 * different forms, so SQL returns times as milliseconds since 1970, and may return any of these values as a string.
 */

/** Returns the column list of a `SELECT` or `RETURNING`, from one SQL expression for each property of the row. */
export const toSelectList = <Row>(columns: { readonly [Name in keyof Row]-?: string }): string =>
  Object.entries(columns)
    .map(([name, expression]) => `${expression} AS "${name}"`)
    .join(', ')

/** A registration. */
export interface NameRow extends Omit<Registration, 'synchronized' | 'createdAt'> {
  readonly synchronized: number | string
  readonly createdAt: number | string
}

export const toRegistration = (row: NameRow): Registration => ({
  ...row,
  synchronized: readBoolean(row.synchronized),
  createdAt: readTime(row.createdAt),
})

/** A pending change. */
export interface LeasedRow extends Omit<LeasedChange, 'at' | 'refusals'> {
  readonly refusals: number | string
  readonly at: number | string
}

export const toLeased = (row: LeasedRow): LeasedChange => ({
  ...row,
  refusals: readInteger(row.refusals),
  at: readTime(row.at),
})

/** A pending change in a list. */
export interface PendingRow extends Omit<PendingChange, 'at' | 'nextAttempt' | 'refusals'>, LeasedRow {
  readonly nextAttempt: number | string
}

export const toPending = (row: PendingRow): PendingChange => ({
  ...row,
  refusals: readInteger(row.refusals),
  at: readTime(row.at),
  nextAttempt: readTime(row.nextAttempt),
})

/** Figures about the pending changes. */
export interface StatsRow {
  readonly count: number | string
  readonly refused: number | string
  readonly oldest: number | string | null
}

/** @param longestRefused Of the refused changes, the one that has been pending the longest. */
export const toStats = ({ count, refused, oldest }: StatsRow, longestRefused?: PendingRow): PendingStats => ({
  count: readInteger(count),
  refused: readInteger(refused),
  oldest: readOptionalTime(oldest),
  longestRefused: longestRefused ? toPending(longestRefused) : null,
})
