import { requireOptions } from '../options.ts'
import { MOST_DUE, toSelectList, toWaitingName, type WaitingRow } from '../sql/rows.ts'
import type { WaitingStore } from '../store/waiting.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'
import { prepareAll, statement } from './statements.ts'

/** Options of {@link createSqliteWaitingStore}. */
export interface SqliteWaitingStoreOptions extends SqliteConnectionOptions {}

const WAITING = 'domain_registration_waiting'

const row = toSelectList<WaitingRow>({
  teamId: 'team_id',
  domain: 'domain',
  registrableDomain: 'registrable_domain',
  since: 'since',
  until: 'until',
  lastTried: 'last_tried',
  nextTry: 'due',
  tries: 'tries',
  refusal: 'refusal',
})
const returning = `RETURNING ${row}`
const isTaken = 'team_id = ? AND domain = ? AND tries = ? AND until = ?'

export const waitingStatements = {
  find: statement<WaitingRow>(`SELECT ${row} FROM ${WAITING} WHERE team_id = ? AND domain = ?`),
  countOfTeam: statement<{ count: number }>(`SELECT count(*) AS count FROM ${WAITING} WHERE team_id = ?`),
  keep: statement<WaitingRow>(`INSERT INTO ${WAITING}
      (team_id, domain, registrable_domain, since, until, last_tried, due, tries, refusal)
    VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)
    ON CONFLICT (team_id, domain) DO UPDATE SET registrable_domain = excluded.registrable_domain,
      until = excluded.until, last_tried = excluded.last_tried, due = excluded.due, tries = 0,
      refusal = excluded.refusal ${returning}`),
  remove: statement<WaitingRow>(`DELETE FROM ${WAITING} WHERE team_id = ? AND domain = ? ${returning}`),
  findTeam: statement<{ teamId: string }>(`SELECT DISTINCT team_id AS teamId FROM (
      SELECT team_id FROM ${WAITING} INDEXED BY ${WAITING}_due WHERE due <= ? ORDER BY due LIMIT ${MOST_DUE}
    ) ORDER BY random() LIMIT 1`),
  findDue: statement<WaitingRow>(`SELECT ${row} FROM ${WAITING} WHERE team_id = ? AND due <= ? ORDER BY due LIMIT ?`),
  take: statement<WaitingRow>(
    `UPDATE ${WAITING} SET due = ?, tries = tries + 1 WHERE team_id = ? AND domain = ? ${returning}`,
  ),
  end: statement<WaitingRow>(`DELETE FROM ${WAITING} WHERE ${isTaken} ${returning}`),
  postpone: statement<WaitingRow>(`UPDATE ${WAITING} SET due = ?, last_tried = coalesce(?, last_tried),
      refusal = coalesce(?, refusal) WHERE ${isTaken} ${returning}`),
  hasten: statement(`UPDATE ${WAITING} SET due = ? WHERE team_id = ? AND registrable_domain = ? AND due > ?`),
  list: statement<WaitingRow>(`SELECT ${row} FROM ${WAITING} WHERE team_id = ? ORDER BY domain`),
  findOldest: statement<{ due: number | null }>(`SELECT min(due) AS due FROM ${WAITING}`),
  count: statement<{ count: number }>(`SELECT count(*) AS count FROM ${WAITING}`),
} as const

const NONE = { registrableDomains: [], lease: 0 }

/** Rounds up, because the table stores whole milliseconds. */
const after = (now: number, milliseconds: number) => Math.ceil(now + milliseconds)

/**
 * Creates a store of names that wait, in SQLite. It creates its table if that is missing. A store from {@link
 * createSqliteStore} may use the same database.
 *
 * @throws {TypeError} if an option is missing, invalid or unknown.
 * @throws {Error} if the database cannot be used; the message says why.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 *
 * const waiting = createSqliteWaitingStore({ database: new DatabaseSync('registrations.db') })
 * app.use(domainsRouter({ store, keys, checkNames, waiting }))
 * const retrying = startRetrying({ store, waiting, checkNames })
 */
export function createSqliteWaitingStore(options: SqliteWaitingStoreOptions): WaitingStore {
  requireOptions(options, connectionRules)
  const { driver, read, transact } = connect(options)
  const statements = prepareAll(driver, waitingStatements)
  const toDomains = (rows: readonly WaitingRow[]) => rows.map(({ domain }) => domain)
  const findOverdue = (now: number) => Math.max(0, now - (statements.findOldest()[0]?.due ?? Number.POSITIVE_INFINITY))

  return {
    keep: (teamId, names, { wait, keepFor, most }) =>
      transact(() => {
        const now = Date.now()
        let room = most - (statements.countOfTeam(teamId)[0]?.count ?? 0)
        const kept = names.flatMap(({ domain, registrableDomain, refusal }) => {
          const isKnown = statements.find(teamId, domain).length > 0
          if (!isKnown && room <= 0) return []
          if (!isKnown) room -= 1
          const times = [now, after(now, keepFor), now, after(now, wait)]
          return statements.keep(teamId, domain, registrableDomain, ...times, JSON.stringify(refusal))
        })
        return { kept: kept.map(toWaitingName), overdue: findOverdue(now) }
      }),
    remove: (teamId, domains) =>
      transact(() => domains.flatMap(domain => toDomains(statements.remove(teamId, domain)))),
    take: ({ limit, lease }) =>
      transact(() => {
        const now = Date.now()
        const [team] = statements.findTeam(now)
        if (!team) return []
        return statements
          .findDue(team.teamId, now, limit)
          .flatMap(({ teamId, domain }) => statements.take(after(now, lease), teamId, domain))
          .map(toWaitingName)
          .map(name => ({ ...name, isLast: name.until.getTime() <= now }))
      }),
    settle: (teamId, tried, { registrableDomains, lease } = NONE) =>
      transact(() => {
        const now = Date.now()
        const settled = tried.flatMap(({ domain, tries, until, ...outcome }) => {
          const taken = [teamId, domain, tries, until.getTime()] as const
          if (outcome.isOver) return statements.end(...taken)
          const { wait, refusal } = outcome
          const [lastTried, reason] = refusal ? [now, JSON.stringify(refusal)] : [null, null]
          return statements.postpone(after(now, wait), lastTried, reason, ...taken)
        })
        for (const each of registrableDomains) statements.hasten(now, teamId, each, after(now, lease))
        return toDomains(settled)
      }),
    list: teamId => read(() => statements.list(teamId).map(toWaitingName)),
    stats: () => read(() => ({ count: statements.count()[0]?.count ?? 0, overdue: findOverdue(Date.now()) })),
  }
}
