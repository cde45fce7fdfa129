import { changeOf, LONGEST_WAIT, type Outbox } from '../outbox/contract.ts'
import type { Change, Registration } from '../rules/registration.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import { toKey } from '../store/name-key.ts'
import {
  chooseInTurns,
  MOST_TEAMS,
  type PendingRow,
  type StatsRow,
  toPending,
  toSelectList,
  toStats,
} from '../store/rows.ts'
import {
  FIRST_ID,
  type Id,
  ours,
  prepared,
  returningId,
  toArrays,
  toMilliseconds,
  toTime,
  unprepared,
  type Value,
} from './connection.ts'
import type { Engine } from './engine.ts'
import type { Tables } from './schema.ts'
import { type LockStatements, lock, type Transact, type TransactionWith } from './transaction.ts'

/** The name of the lock that sweeps take. Only sweeps take this lock, because its name is not a registrable domain. */
const SWEEP = 'sweep'

type Identified = Pick<Registration, 'domain' | 'domainId'>

/** A row of the table of changes, before it is saved. */
export interface NewChange extends Change {
  readonly secondLevelDomain: string
  /** The number of milliseconds after which the change is due. */
  readonly wait: number
  /** The ID of the registration that the monitor must get first. */
  readonly follows: string | null
}

/** The outbox in the table of changes. Each method is one transaction. */
export function createOutbox(transact: Transact<OutboxStatements & LockStatements>): Outbox {
  let isNoted = false
  /**
   * Records that some process pushes changes. Needs a separate transaction, because on Citus, a transaction across
   * shards cannot insert this row.
   */
  async function noteMonitor(): Promise<void> {
    if (isNoted) return
    await transact(async ({ write, statements }) => void write(statements.addMonitor))
    isNoted = true
  }

  const retry = (ids: readonly string[]) =>
    transact(async ({ write, token, statements }) => (await write(statements.retry, token, ids)).length)

  return {
    async take({ lines, lease, lot }) {
      await noteMonitor()
      return transact(async transaction => {
        const { send, write, statements, engine } = transaction
        if (engine.skipLocked === '') lock(transaction, [SWEEP])
        for (const { line, limit } of lines) {
          void write(statements.hasten, line, LONGEST_WAIT + lease)
          const [shares, first] = await Promise.all([
            send(statements.findShares, line, limit),
            send(statements.findFirst, line, limit),
          ])
          const chosen = chooseInTurns(shares, first, limit, lot)
          if (chosen.length === 0) continue
          const rows = await write(statements.take, ...toNamed(transaction, sort(chosen), [lease]))
          const taken = new Set(rows.map(({ domainId }) => domainId))
          if (taken.size > 0) return chosen.filter(({ domainId }) => taken.has(domainId))
        }
        return []
      })
    },

    async finish(changes) {
      await noteMonitor()
      await transact(async transaction => {
        const { write, statements } = transaction
        const sorted = sort(changes)
        for (const kind of ['released', 'registered'] as const) {
          const pushed = sorted.filter(each => each.kind === kind)
          if (pushed.length > 0) void write(statements.finish, ...toNamed(transaction, pushed, [kind]))
        }
        void write(statements.hastenReleases, ...toNamed(transaction, sorted))
      })
    },

    postpone: postponements =>
      transact(async transaction => {
        const { write, statements } = transaction
        const rows = postponements.map(({ change, wait, failure, refusals }) => ({
          ...change,
          wait: Math.round(wait),
          failure: failure ?? null,
          refusals,
        }))
        const sorted = sort(rows)
        const values = toArrays(sorted, 'kind', 'wait', 'failure', 'refusals')
        void write(statements.postpone, ...toNamed(transaction, sorted, values))
      }),

    async retry(domainIds) {
      if (domainIds) return retry(domainIds)
      let total = 0
      for (let after = FIRST_ID; ; ) {
        const failed = await transact(({ send, statements }) => send(statements.findFailed, after, MOST_AT_ONCE))
        const ids = failed.map(({ domainId }) => domainId)
        if (ids.length > 0) total += await retry(ids)
        if (ids.length < MOST_AT_ONCE) return total
        after = ids.at(-1) as string
      }
    },

    settle: domainIds =>
      transact(async ({ write, token, statements }) => (await write(statements.settle, token, domainIds)).length),

    stats: () =>
      transact(async ({ send, statements }) => {
        const [counts, longest] = await Promise.all([
          send(statements.countChanges),
          send(statements.findLongestRefused),
        ])
        return toStats(counts[0] as StatsRow, longest[0])
      }),

    list: (after = FIRST_ID, limit) =>
      transact(async ({ send, statements }) => (await send(statements.listChanges, after, limit)).map(toPending)),
  }
}

/**
 * Adds changes, in the transaction that causes them.
 *
 * @param toWait Returns the number of milliseconds after which a change is due.
 * @param toFollowed Returns the ID of the registration that the monitor must get before the change. Default: none.
 */
export function addChanges(
  { write, token, statements }: TransactionWith<OutboxStatements>,
  kind: Change['kind'],
  registrations: readonly Registration[],
  toWait: (registration: Registration) => number,
  toFollowed: (registration: Registration) => string | null = () => null,
): void {
  if (registrations.length === 0) return
  const rows = sort(registrations).map(registration => ({
    ...changeOf(registration, kind),
    secondLevelDomain: toKey(registration.domain).secondLevelDomain,
    wait: toWait(registration),
    follows: toFollowed(registration),
  }))
  void write(...statements.addChanges(token, rows))
}

/** Sorts items by ID. All transactions lock rows in this order, so that no two transactions can deadlock. */
export const sort = <Item extends Identified>(items: readonly Item[]): Item[] =>
  items.toSorted((one, other) => (one.domainId < other.domainId ? -1 : 1))

/**
 * The parameters of a change of items: the token of the transaction, their IDs, other values, and on Citus their
 * second-level domains.
 */
export const toNamed = (
  { token, engine }: Pick<TransactionWith<unknown>, 'token' | 'engine'>,
  items: readonly Identified[],
  values: readonly Value[] = [],
): readonly Value[] => [
  token,
  ...toArrays(items, 'domainId'),
  ...values,
  ...engine.toShards(items.map(({ domain }) => domain)),
]

/**
 * The time at which the statement begins. The time at which the transaction began would be too early, because the
 * transaction may have waited for locks since then.
 */
const NOW = 'statement_timestamp()'
/**
 * The time at which a wait ends. With an interval, the expression would depend on the time zone, and Citus cannot set a
 * column from such an expression.
 */
const afterWait = (milliseconds: string) =>
  `to_timestamp(extract(epoch FROM ${NOW})::double precision + ${milliseconds}::double precision / 1000)`

const pending = toSelectList<PendingRow>({
  kind: 'change.kind',
  line: 'change.line',
  domainId: 'change.domain_id::text',
  domain: 'change.domain',
  registrableDomain: 'change.registrable_domain',
  teamId: 'change.team_id',
  refusals: 'change.refusals::text',
  at: toMilliseconds('change.since'),
  nextAttempt: toMilliseconds('change.due'),
  lastFailure: 'change.last_failure',
})
const stats = toSelectList<StatsRow>({
  count: 'count(*)::text',
  refused: '(count(*) FILTER (WHERE refusals > 0))::text',
  oldest: toMilliseconds('min(since)'),
})

type OutboxStatements = ReturnType<typeof createOutboxStatements>

/**
 * The statements on the pending changes. Waits are in milliseconds. In a write, $1 is the token of the transaction.
 * Changes are selected by their IDs ($2), and on Citus also by their second-level domains (the last parameter). At most
 * one column of an index is compared with an array, because PostgreSQL before version 17 looks up every combination of
 * the values of two arrays.
 */
export function createOutboxStatements({ changes, monitor }: Tables, engine: Engine) {
  const isNamed = (lastParameter: string) =>
    `domain_id = ANY (${ours('$2::uuid[]')}) ${engine.inShards('change', lastParameter)}`
  /** Skips locked rows; see {@link Engine.skipLocked}. */
  const isFree = (condition: string) =>
    engine.skipLocked === ''
      ? condition
      : `domain_id = ANY (ARRAY(SELECT domain_id FROM ${changes} AS change WHERE ${condition} ${engine.skipLocked}))`
  const isFailed = `due > ${NOW} AND last_failure IS NOT NULL`

  const isAfterRegistration = `(SELECT followed.kind FROM ${changes} AS followed
         WHERE followed.domain_id = change.follows AND followed.second_level_domain = change.second_level_domain
       ) IS DISTINCT FROM 'registered'`
  // Each of these conditions lets a query use one index; see the schema.
  const inLine = `line = $1 AND line > ''`
  const ofTeam = `line = $1 AND team_id > ''`
  const findDue = (columns: string, condition: string, limit: string) =>
    `SELECT ${columns} FROM ${changes} AS change WHERE ${condition} AND due <= ${NOW} AND ${isAfterRegistration}
     ORDER BY due LIMIT ${limit} ${engine.skipLocked}`
  const share = 'ceil($2::numeric / (SELECT count(*) FROM team))'
  const findShares = `WITH RECURSIVE walk (id) AS (
         (SELECT team_id FROM ${changes} WHERE ${inLine} AND due <= ${NOW} ORDER BY due LIMIT 1)
         UNION SELECT coalesce(
           (SELECT min(team_id) FROM ${changes} WHERE ${ofTeam} AND team_id > walk.id),
           (SELECT min(team_id) FROM ${changes} WHERE ${ofTeam})
         ) FROM walk
       ), team AS (SELECT id FROM walk LIMIT ${MOST_TEAMS})
       SELECT ${pending} FROM team, LATERAL (${findDue('*', `${ofTeam} AND team_id = team.id`, share)}) AS change`

  return {
    /** Adds changes, each with its own wait until it is due. */
    addChanges: engine.createInsert<NewChange>({
      name: 'add_changes',
      into: changes,
      columns: {
        second_level_domain: ['text', row => row.secondLevelDomain],
        domain_id: ['uuid', row => row.domainId],
        domain: ['text', row => row.domain],
        registrable_domain: ['text', row => row.registrableDomain],
        due: ['double precision', row => row.wait, afterWait],
        team_id: ['text', row => row.teamId],
        kind: ['text', row => row.kind],
        since: ['double precision', row => row.at.getTime(), toTime],
        follows: ['uuid', row => row.follows],
      },
    }),
    /** Replaces the IDs that changes follow: an ID in $2 becomes the ID at the same position in $3. */
    follow: unprepared(
      `UPDATE ${changes} AS change SET follows = asked.next
       FROM unnest(${ours('$2::uuid[]')}, $3::uuid[]) AS asked (domain_id, next)
       WHERE change.follows = asked.domain_id ${engine.inShards('change', '$4')}`,
    ),

    /** Leases registrations to a call for $3 milliseconds, except any that are not yet due when the lease ends. */
    lease: unprepared(`UPDATE ${changes} AS change SET due = greatest(due, ${afterWait('$3')}) WHERE ${isNamed('$4')}`),
    /** Deletes pending registrations that a release replaces. */
    replace: prepared<Id>(
      'replace',
      `DELETE FROM ${changes} AS change WHERE ${isNamed('$3')} AND kind = 'registered' ${returningId}`,
    ),

    /**
     * Changes that are due more than $2 milliseconds from now were postponed while a clock was wrong. This statement
     * makes such changes of the line $1 due at once.
     */
    hasten: unprepared(
      `UPDATE ${changes} AS change SET due = ${NOW} WHERE ${isFree(`${inLine} AND due > ${afterWait('$2')}`)}`,
    ),
    /** Finds the due changes of the line $1, at most $2, except those that other sweeps are leasing. */
    findFirst: unprepared<PendingRow>(findDue(pending, inLine, '$2::bigint')),
    /**
     * Finds each team's share of $2 due changes of the line $1. Reads one row for each of the teams, beginning with the
     * team whose change has been due the longest, and their shares. On Citus, which supports no recursion across
     * shards, teams take turns only among the changes that have been due the longest.
     */
    findShares: unprepared<PendingRow>(
      engine.skipLocked === '' ? findDue(pending, inLine, `greatest($2::bigint, ${MOST_AT_ONCE})`) : findShares,
    ),
    /** Leases the found changes for $3 milliseconds, if they are still due. */
    take: unprepared<Id>(
      `UPDATE ${changes} AS change SET due = ${afterWait('$3')}, sweeps = sweeps + 1
       WHERE ${isNamed('$4')} AND due <= ${NOW} ${returningId}`,
    ),

    /** Deletes pushed changes whose kind is still $3. */
    finish: prepared('finish', `DELETE FROM ${changes} AS change WHERE ${isFree(`${isNamed('$4')} AND kind = $3`)}`),
    /** Makes a release due at once if it replaced a registration that has now been pushed. */
    hastenReleases: prepared(
      'hasten_releases',
      `UPDATE ${changes} AS change SET due = ${NOW} WHERE ${isFree(`${isNamed('$3')} AND kind = 'released'`)}`,
    ),
    postpone: unprepared(postpone(changes, engine)),
    /** Deletes changes that an operator has settled, even leased ones. */
    settle: unprepared<Id>(
      `DELETE FROM ${changes} AS change WHERE domain_id = ANY (${ours('$2::uuid[]')}) ${returningId}`,
    ),

    /** Finds failed changes that are not due, after the ID $1. */
    findFailed: unprepared<Id>(
      `SELECT ${toSelectList<Id>({ domainId: 'domain_id::text' })} FROM ${changes} AS change
       WHERE domain_id > $1::uuid AND ${isFailed} ORDER BY domain_id LIMIT $2::bigint`,
    ),
    /** Makes failed changes due at once, so the next sweep pushes them again. */
    retry: unprepared<Id>(
      `UPDATE ${changes} AS change SET due = ${NOW}
       WHERE ${isFree(`domain_id = ANY (${ours('$2::uuid[]')}) AND ${isFailed}`)} ${returningId}`,
    ),
    /** The table `monitor` gets its row as soon as any process pushes changes. */
    findMonitor: unprepared<{ id: string }>(`SELECT id::text FROM ${monitor}`),
    addMonitor: unprepared(`INSERT INTO ${monitor} (id) VALUES (1) ON CONFLICT DO NOTHING`),

    countChanges: unprepared<StatsRow>(`SELECT ${stats} FROM ${changes}`),
    findLongestRefused: unprepared<PendingRow>(
      `SELECT ${pending} FROM ${changes} AS change WHERE line = 'refused' AND line > ''
       ORDER BY since, domain_id LIMIT 1`,
    ),
    listChanges: unprepared<PendingRow>(
      `SELECT ${pending} FROM ${changes} AS change WHERE domain_id > $1::uuid ORDER BY domain_id LIMIT $2::bigint`,
    ),
  }
}

/**
 * Postpones changes that are not locked. The parameters are arrays: after the token, $2 contains their IDs, $3 their
 * kinds, $4 the waits, $5 the failures, and $6 the least numbers of refusals.
 */
function postpone(changes: string, engine: Engine): string {
  const rows = `unnest(${ours('$2::uuid[]')}, $3::text[], $4::double precision[], $5::text[], $6::integer[])
         AS asked (domain_id, kind, wait, failure, refusals)`
  const free = `(
         SELECT asked.* FROM ${rows} JOIN ${changes} AS change USING (domain_id, kind)
         FOR UPDATE OF change SKIP LOCKED
       ) AS asked`
  return `UPDATE ${changes} AS change
       SET due = ${afterWait('asked.wait')},
         refusals = greatest(change.refusals, asked.refusals),
         last_failure = coalesce(asked.failure, change.last_failure)
       FROM ${engine.skipLocked === '' ? rows : free}
       WHERE change.domain_id = asked.domain_id AND change.kind = asked.kind ${engine.inShards('change', '$7')}`
}
