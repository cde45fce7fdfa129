/**
 * A store in MariaDB, for any number of processes that share a database. Copy this file and mariadb-tables.sql, change
 * them, and test the store with `domain-registration/testing`. See docs/own-store.md.
 */
import {
  createManagedStore,
  createUuidGenerator,
  inTurns,
  type LookUp,
  type ManagedStoreOptions,
  type PendingChange,
  type Registration,
  rangeBelow,
  type StoreBackend,
  toKey,
  wildcardsAbove,
} from 'domain-registration/store'
import type { Pool } from 'mysql2/promise'
import { createTransact, type Send, type Transact } from './mariadb-transact.ts'

/** The database's time, in milliseconds since 1970. Stores do not use their own clocks, which may differ. */
const NOW = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)"
/** A change that is due in more than an hour plus a lease was saved while a clock was wrong, so it is due now. */
const HOUR = 3_600_000

/** Turns one JSON parameter into a table. A value that does not fit its column causes an error in every SQL mode. */
const sent = (...fields: readonly string[]) =>
  `JSON_TABLE(?, '$[*]' COLUMNS (${fields.map(
    field => `${field} VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.${field}' ERROR ON ERROR`,
  )})) AS sent`
const NAMES_BY_TEXT = `${sent('secondLevelDomain', 'path')} STRAIGHT_JOIN domain_names USING (secondLevelDomain, path)`
const NAMES_BY_ID = `${sent('domainId')} STRAIGHT_JOIN domain_names FORCE INDEX (PRIMARY) USING (domainId)`
const CHANGES_BY_ID = `${sent('domainId', 'kind', 'wait', 'failure', 'refused')}
  STRAIGHT_JOIN domain_changes FORCE INDEX (PRIMARY) USING (domainId)`
const NOTE_MONITOR = 'INSERT IGNORE INTO domain_monitor VALUES (1)'
const NAME = `domainId, domain, registrableDomain, teamId, createdAt,
  domainId NOT IN (SELECT domainId FROM domain_changes) AS synchronized`
const CHANGE = 'domainId, domain, registrableDomain, teamId, kind, line, refusals, at, due, lastFailure'
const EXACTLY = 'secondLevelDomain = ? AND path = ?'
const BELOW = 'secondLevelDomain = ? AND path > ? AND path < ?'

export const createMariadbStore = ({ database, ...options }: ManagedStoreOptions & { database: Pool }) =>
  createManagedStore(createMariadbBackend(createTransact(database)), options)

export function createMariadbBackend(transact: Transact): StoreBackend {
  const createId = createUuidGenerator()
  return {
    register: step =>
      transact(async send => {
        const { teamId, lease } = step
        // Calls of a team with a limit lock the team first ('#' sorts before all names), so they run one after another.
        await lock(send, step.needsCount ? [`#${teamId}`, ...step.registrableDomains] : step.registrableDomains)
        const found = await find(send, step)
        const { created, waiting } = step.decide(found)
        const same = { teamId, synchronized: lease === null, createdAt: new Date() }
        const saved = created.map(name => ({ domainId: createId(), ...name, ...same }))
        step.willSave?.(saved.map(({ domainId }) => domainId))
        await send(
          `INSERT INTO domain_names (domainId, domain, registrableDomain, secondLevelDomain, path, teamId, createdAt)
           SELECT * FROM
           ${sent('domainId', 'domain', 'registrableDomain', 'secondLevelDomain', 'path', 'teamId', 'createdAt')}`,
          saved.map(each => ({ ...each, ...toKey(each.domain), createdAt: +each.createdAt })),
        )
        if (lease !== null) {
          await addChanges(send, 'registered', saved, lease, lease)
          await send(`UPDATE ${CHANGES_BY_ID} SET due = GREATEST(due, ${NOW} + ?)`, waiting, lease)
        }
        return { found, saved }
      }, step),

    find: question => transact(send => find(send, question), { isolation: 'REPEATABLE READ' }),

    release: (teamId, { names, domainIds }, { lease, isPushed }) =>
      transact(async send => {
        const ids = domainIds.map(domainId => ({ domainId }))
        const keys = names.map(({ domain }) => toKey(domain))
        async function look(): Promise<Registration[]> {
          const byId = await send(`SELECT ${NAME} FROM ${NAMES_BY_ID}`, ids)
          const byText = await send(`SELECT ${NAME} FROM ${NAMES_BY_TEXT}`, keys)
          const found = [...byText, ...byId].map(toRegistration)
          return [...new Map(found.filter(each => each.teamId === teamId).map(each => [each.domainId, each])).values()]
        }
        const seen = await look()
        await lock(send, [...new Set([...names, ...seen].map(({ registrableDomain }) => registrableDomain))].sort())
        const released = await look()
        await send(`DELETE domain_names FROM ${NAMES_BY_ID}`, released)
        const isMonitored = isPushed || (await send('SELECT id FROM domain_monitor')).length > 0
        const recorded = released.filter(registration => isMonitored || !registration.synchronized)
        await addChanges(send, 'released', recorded, 0, lease)
        return released
      }),

    list: ({ teamId, after, limit, order, domain, below }) =>
      transact(async send => {
        const [isAfter, byId] = order === 'newest' ? ['domainId < ?', 'domainId DESC'] : ['domainId > ?', 'domainId']
        const where: [sql: string, ...values: string[]][] = [['TRUE']]
        if (teamId !== undefined) where.push(['teamId = ?', teamId])
        if (domain !== undefined) where.push([EXACTLY, ...Object.values(toKey(domain))])
        if (below !== undefined) where.push([BELOW, ...toRange(below)])
        if (after !== undefined) where.push(below === undefined ? [isAfter, after] : ['path > ?', toKey(after).path])
        const rows = await send(
          `SELECT ${NAME} FROM domain_names WHERE ${where.map(([sql]) => sql).join(' AND ')}
           ORDER BY ${below === undefined ? byId : 'path'} LIMIT ?`,
          ...where.flatMap(([, ...values]) => values),
          String(limit),
        )
        return rows.map(toRegistration)
      }),

    get: domainId =>
      transact(async send => {
        const [row] = await send(`SELECT ${NAME} FROM domain_names WHERE domainId = ?`, domainId)
        return row ? toRegistration(row) : null
      }),

    count: teamId => transact(send => count(send, teamId)),

    outbox: {
      // Reads all due changes of the line, so that teams take turns.
      take: ({ lines, lease, lot }) =>
        transact(async send => {
          await send(NOTE_MONITOR)
          const isDue = `(due <= ${NOW} OR due > ${NOW} + ?)`
          const sql = `SELECT domainId, teamId FROM (
              SELECT domainId, teamId, due, ROW_NUMBER() OVER (PARTITION BY teamId ORDER BY due) AS turn
              FROM domain_changes WHERE line = ? AND ${isDue}
            ) AS waiting ORDER BY turn, due LIMIT 1000`
          const free = `SELECT ${CHANGE} FROM ${sent('domainId')} STRAIGHT_JOIN domain_changes USING (domainId)
            WHERE ${isDue} ORDER BY teamId, due FOR UPDATE SKIP LOCKED`
          for (const { line, limit } of lines) {
            const chosen = inTurns(await send(sql, line, HOUR + lease), limit, lot)
            const taken = await send(free, chosen, HOUR + lease)
            await send(`UPDATE ${CHANGES_BY_ID} SET due = ${NOW} + ?, sweeps = sweeps + 1`, taken, lease)
            if (taken.length > 0) return taken.map(change => ({ ...change, at: new Date(change.at) }))
          }
          return []
        }),

      finish: changes =>
        transact(async send => {
          await send(NOTE_MONITOR)
          await send(`DELETE domain_changes FROM ${CHANGES_BY_ID} WHERE domain_changes.kind = sent.kind`, changes)
          await send(`UPDATE ${CHANGES_BY_ID} SET due = ${NOW}`, changes)
        }),

      postpone: postponements =>
        transact(send =>
          send(
            `UPDATE ${CHANGES_BY_ID} SET due = ${NOW} + wait, refusals = GREATEST(refusals, refused + 0),
               lastFailure = COALESCE(failure, lastFailure) WHERE domain_changes.kind = sent.kind`,
            postponements.map(({ change, wait, failure, refusals }) => {
              return { ...change, wait, failure, refused: refusals }
            }),
          ),
        ),

      retry: domainIds =>
        transact(async send => {
          const sql = `WHERE due > ${NOW} AND lastFailure IS NOT NULL FOR UPDATE SKIP LOCKED`
          const ids = domainIds?.map(domainId => ({ domainId }))
          const all = () => send(`SELECT domainId FROM domain_changes ${sql}`)
          const waiting = await (ids ? send(`SELECT domainId FROM ${CHANGES_BY_ID} ${sql}`, ids) : all())
          await send(`UPDATE ${CHANGES_BY_ID} SET due = ${NOW}`, waiting)
          return waiting.length
        }),

      settle: domainIds =>
        transact(async send => {
          const ids = domainIds.map(domainId => ({ domainId }))
          const settled = await send(`SELECT domainId FROM ${CHANGES_BY_ID} FOR UPDATE`, ids)
          await send(`DELETE domain_changes FROM ${CHANGES_BY_ID}`, ids)
          return settled.length
        }),

      stats: () =>
        transact(async send => {
          const refused = 'COUNT(NULLIF(refusals, 0)) AS refused'
          const [row] = await send(`SELECT COUNT(*) AS count, ${refused}, MIN(at) AS oldest FROM domain_changes`)
          const sql = `SELECT ${CHANGE} FROM domain_changes WHERE line = 'refused' ORDER BY at, domainId LIMIT 1`
          const [longest] = await send(sql)
          const oldest = row.oldest === null ? null : new Date(row.oldest)
          return { ...row, oldest, longestRefused: longest ? toPending(longest) : null }
        }),

      list: (after = '', limit) =>
        transact(async send => {
          const sql = `SELECT ${CHANGE} FROM domain_changes WHERE domainId > ? ORDER BY domainId LIMIT ?`
          return (await send(sql, after, String(limit))).map(toPending)
        }),
    },
  }
}

/** Locks registrable domains until the transaction ends, so calls for the same domain run one after another. */
const lock = (send: Send, registrableDomains: readonly string[]) =>
  send(
    `INSERT INTO domain_locks SELECT * FROM ${sent('registrableDomain')}
     ON DUPLICATE KEY UPDATE registrableDomain = VALUES(registrableDomain)`,
    registrableDomains.map(registrableDomain => ({ registrableDomain })),
  )

async function count(send: Send, teamId: string | undefined): Promise<number> {
  const [sql, ...values] = teamId === undefined ? ['TRUE'] : ['teamId = ?', teamId]
  const [row] = await send(`SELECT COUNT(*) AS count FROM domain_names WHERE ${sql}`, ...values)
  return row.count
}

async function find(send: Send, { teamId, domains, covered = [], bases, needsCount }: LookUp) {
  const below = []
  for (const base of bases) below.push(await findBelow(send, base, teamId))
  const names = new Set([...domains, ...covered.flatMap(wildcardsAbove)])
  const rows = await send(`SELECT ${NAME} FROM ${NAMES_BY_TEXT}`, [...names].map(toKey))
  return { registrations: rows.map(toRegistration), below, ...(needsCount && { teamCount: await count(send, teamId) }) }
}

async function findBelow(send: Send, base: string, teamId: string) {
  const select = (condition: string, limit: number, ...values: string[]) =>
    send(
      `SELECT domain, teamId FROM domain_names
       WHERE ${BELOW} AND CHAR_LENGTH(registrableDomain) ${condition} LIMIT ${limit}`,
      ...[...toRange(base), base.length, ...values],
    )
  const own = await select('<= ? AND teamId = ?', 1000, teamId)
  const others = own.length > 0 ? [] : await select('<= ?', 1)
  return {
    ownDomains: own.slice(0, 3).map(({ domain }) => domain),
    ownCount: own.length,
    heldByOthers: others.length > 0,
    behindSuffixes: own.length + others.length > 0 ? [] : await select('> ?', 100),
  }
}

/** A release replaces a pending registration, and is due once no push of that registration can be in progress. */
const addChanges = (send: Send, kind: string, registrations: readonly Registration[], wait: number, lease: number) =>
  send(
    `INSERT INTO domain_changes (domainId, domain, registrableDomain, teamId, kind, at, due)
     SELECT domainId, domain, registrableDomain, teamId, kind, at, ${NOW} + wait
     FROM ${sent('domainId', 'domain', 'registrableDomain', 'teamId', 'kind', 'at', 'wait')}
     ON DUPLICATE KEY UPDATE kind = VALUES(kind), at = VALUES(at), due = ${NOW} + ?, sweeps = 0, refusals = 0,
       lastFailure = NULL`,
    registrations.map(each => ({ ...each, kind, at: kind === 'registered' ? +each.createdAt : Date.now(), wait })),
    lease,
  )

type PendingRow = Omit<PendingChange, 'at' | 'nextAttempt'> & { at: number; due: number }
const toPending = ({ at, due, ...change }: PendingRow): PendingChange => ({
  ...change,
  at: new Date(at),
  nextAttempt: new Date(due),
})

type NameRow = Omit<Registration, 'synchronized' | 'createdAt'> & { synchronized: number; createdAt: number }
const toRegistration = ({ synchronized: is, createdAt: at, ...row }: NameRow): Registration => ({
  ...row,
  synchronized: is > 0,
  createdAt: new Date(at),
})
const toRange = (base: string) => [toKey(base).secondLevelDomain, rangeBelow(base).after, rangeBelow(base).before]
