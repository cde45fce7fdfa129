import type { StoredKeyRecord } from '../keys/key-record.ts'
import { describe } from '../options.ts'
import { inTurns, MOST_SWEEPS_AS_NEW, type PendingChange, type PendingStats } from '../outbox/contract.ts'
import type { Registration } from '../rules/registration.ts'
import type { WaitingName, WaitingReason } from '../store/waiting.ts'

/*
 * Rows from databases. Some databases have no booleans, only 0 and 1. The settings of a driver decide in which form a
 * value arrives: numbers may be strings or BigInts, and truth values may be numbers or strings. So SQL returns times as
 * milliseconds since 1970. A value in any other form is rejected, never interpreted.
 */

export function readInteger(value: unknown): number {
  const isText = typeof value === 'string' && /^-?\d+$/.test(value)
  const number = isText || typeof value === 'bigint' ? Number(value) : value
  if (Number.isSafeInteger(number)) return number as number
  throw new TypeError(`The database driver returned ${describe(value)} for an integer`)
}

/** Reads a truth value, for which SQL returns `true` or `false` as a string, or 1 or 0. */
export function readBoolean(value: unknown): boolean {
  if (value === 'true' || value === 1 || value === 1n) return true
  if (value === 'false' || value === 0 || value === 0n) return false
  throw new TypeError(`The database driver returned ${describe(value)} for a truth value`)
}

/** Reads a time in milliseconds since 1970. */
const readTime = (value: unknown): Date => new Date(readInteger(value))

const readOptionalTime = (value: unknown): Date | null => (value === null ? null : readTime(value))

export const writeOptionalTime = (date: Date | null | undefined): number | null => date?.getTime() ?? null

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
export interface PendingRow extends Omit<PendingChange, 'at' | 'nextAttempt' | 'refusals'> {
  readonly refusals: number | string
  readonly at: number | string
  readonly nextAttempt: number | string
}

export const toPending = (row: PendingRow): PendingChange => ({
  ...row,
  refusals: readInteger(row.refusals),
  at: readTime(row.at),
  nextAttempt: readTime(row.nextAttempt),
})

/** In SQL, the line in which a change waits; see {@link lineOf}. */
export const LINE = `CASE WHEN refusals > 0 THEN 'refused'
    WHEN sweeps < ${MOST_SWEEPS_AS_NEW} THEN 'new' ELSE 'failed' END`

/** How many teams take turns in a push of a sweep. */
export const MOST_TEAMS = 100
/** How many teams a sweep visits to find those with a due change, in each direction from where it begins. */
export const MOST_TEAMS_VISITED = 300

/**
 * Returns a random text after which to begin a walk over teams: part of the ID of some team, continued at random. So
 * each sweep begins elsewhere, even if it has a process of its own, and whatever the IDs have in common.
 *
 * @param lot From 0 to 1 (exclusive); see {@link TakeRequest}.
 */
export function startOfWalk(teamId: string, lot: number): string {
  const place = lot * (teamId.length + 1)
  const kept = Math.floor(place)
  return teamId.slice(0, kept) + (place - kept).toString(16).slice(2)
}

/**
 * Chooses the changes that a sweep takes; see {@link inTurns}.
 *
 * @param shares Of each team, the first changes. Empty if `first` has all due changes.
 * @param first The first changes of all teams. They fill up the push if some teams have fewer changes than their share.
 */
export function chooseInTurns(
  shares: readonly PendingRow[],
  first: readonly PendingRow[],
  limit: number,
  lot: number,
): readonly PendingChange[] {
  const found = new Map([...shares, ...first].map(row => [row.domainId, row]))
  return inTurns([...found.values()], limit, lot).map(toPending)
}

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

/** A key as a database returns it: drivers return arrays, dates and large numbers in different forms. */
export interface KeyRow extends Omit<StoredKeyRecord, 'scopes' | 'createdAt' | 'revokedAt' | 'expiresAt'> {
  /** As JSON. */
  readonly scopes: string
  /** In milliseconds since 1970, like the other dates. Some drivers return a string. */
  readonly createdAt: number | string
  readonly revokedAt: number | string | null
  readonly expiresAt: number | string | null
}

/** The column for each property of a row. All databases have the same columns. */
export const keyColumns = {
  hash: 'hash',
  type: 'type',
  ownerId: 'owner_id',
  scopes: 'scopes',
  label: 'label',
  hint: 'hint',
  createdAt: 'created_at',
  revokedAt: 'revoked_at',
  expiresAt: 'expires_at',
}

export const toStoredRecord = (row: KeyRow): StoredKeyRecord => ({
  ...row,
  scopes: JSON.parse(row.scopes),
  createdAt: readTime(row.createdAt),
  revokedAt: readOptionalTime(row.revokedAt),
  expiresAt: readOptionalTime(row.expiresAt),
})

/** A name that waits. */
export interface WaitingRow extends Pick<WaitingName, 'teamId' | 'domain' | 'registrableDomain'> {
  readonly since: number | string
  readonly until: number | string
  readonly lastTried: number | string
  readonly nextTry: number | string
  readonly tries: number | string
  /** As JSON. */
  readonly refusal: string
}

export const toWaitingName = ({ since, until, lastTried, nextTry, tries, refusal, ...name }: WaitingRow) => ({
  ...name,
  since: readTime(since),
  until: readTime(until),
  lastTried: readTime(lastTried),
  nextTry: readTime(nextTry),
  tries: readInteger(tries),
  refusal: JSON.parse(refusal) as WaitingReason,
})

/** A team is chosen by lot among those of this many names that have been due longest, so a long queue costs no more. */
export const MOST_DUE = 10_000
