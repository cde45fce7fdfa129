import { knownSuffixList, suffixList } from '../hostname/suffix-list-version.ts'
import { MOST_OVERDUE } from '../operations/keep-waiting.ts'
import { findCode } from '../postgres/drivers/failures.ts'
import { explainFailure } from '../sqlite/connection.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import type { WaitingStats } from '../store/waiting.ts'
import { type Finding, note, ok, wrong } from './checks.ts'
import type { Command, Invocation, Result } from './command.ts'
import { examinePostgres } from './doctor-postgres.ts'
import { examineSqlite } from './doctor-sqlite.ts'
import { describeRefused, toPendingText } from './pending.ts'
import { page, plural, readVersion, toLine } from './text.ts'
import { toWaitingText } from './waiting.ts'

/** A pending change of this age or older, in milliseconds, is reported as wrong. */
const ALARMING_AGE = 5 * 60 * 1000
/** A suffix list that is older than this many days gets a note. */
const OLD_LIST = 60
const DAY = 24 * 60 * 60 * 1000
/** The time limit, in milliseconds, for each query of the store. */
const QUERY_TIME_LIMIT = 3000

/** The facts of the first screen. */
async function readStatus(store: ManagedStore) {
  const { count, refused, oldest, longestRefused } = await store.pendingStats()
  const failed = count > 0 ? await findFailed(store) : undefined
  return {
    package: readVersion(),
    suffixList,
    names: await store.count(),
    pending: {
      ...{ count, refused, oldest, longestRefused: longestRefused ? describeRefused(longestRefused) : null },
      lastFailure: failed?.lastFailure ?? null,
    },
  }
}

type Status = Awaited<ReturnType<typeof readStatus>>

/** Finds a change whose last push failed, among the oldest thousand. */
async function findFailed(store: ManagedStore) {
  return (await store.listPending()).findLast(({ lastFailure }) => lastFailure !== null)
}

function toScreen({ package: release, suffixList: { version }, names, pending }: Status): string {
  const facts = {
    package: release,
    'suffix list': examineSuffixList(version).finding,
    names: String(names),
    pending: toPendingText(pending),
    ...(pending.longestRefused ? { refused: `longest: ${pending.longestRefused}` } : {}),
  }
  return Object.entries(facts)
    .map(([name, fact]) => `${name.padEnd(13)}${fact}\n`)
    .join('')
}

export const status: Command = {
  purpose: 'shows versions, and how many names and pending changes there are',
  example: '',
  async run({ connect }: Invocation): Promise<Result> {
    const found = await readStatus(connect().createStore())
    return { text: toScreen(found), data: found }
  },
}

export const doctor: Command = {
  purpose: 'checks all that this package needs, and says what to do',
  details: 'Changes nothing. Connect as the role of your server, because the privileges of that role are checked.',
  example: '',
  async run(invocation: Invocation): Promise<Result> {
    const findings = await examine(invocation)
    const isWrong = findings.some(isProblem)
    return { text: toText(findings), data: { healthy: !isWrong, findings }, isWrong }
  },
}

interface Named extends Finding {
  readonly check: string
}

const isProblem = ({ state }: Finding): boolean => state === 'wrong'

async function examine(invocation: Invocation): Promise<readonly Named[]> {
  const target = invocation.target()
  const isPostgres = target.kind === 'postgres'
  const explain = (error: unknown) => invocation.explain(isPostgres ? error : explainFailure(error))
  const findings: Named[] = [{ check: 'suffix list', ...examineSuffixList(suffixList.version) }]
  const { checks, close } = isPostgres ? examinePostgres(target.url, target.schema) : examineSqlite(target.file)
  try {
    for (const [check, look] of checks) {
      try {
        for (const finding of [await look()].flat()) findings.push({ check, ...finding })
      } catch (error) {
        const advice = adviceFor.get(findCode(error, adviceFor) ?? '') ?? 'Fix this first'
        findings.push({ check, ...wrong(explain(error), `${advice}, and run doctor again`) })
        return findings
      }
      if (findings.some(isProblem)) break
    }
  } finally {
    await close()
  }
  try {
    const database = invocation.connect()
    const status = await readStatus(database.createStore({ timeLimit: QUERY_TIME_LIMIT }))
    findings.push({ check: 'pending', ...examinePending(status) })
    const waiting = await database.createWaitingStore({ timeLimit: QUERY_TIME_LIMIT }).stats()
    if (waiting.count > 0) findings.push({ check: 'waiting', ...examineWaiting(waiting) })
  } catch (error) {
    // A problem that another check has found, such as missing tables, explains this failure.
    if (!findings.some(isProblem)) findings.push({ check: 'pending', ...wrong(explain(error), 'Run doctor again') })
  }
  return findings
}

/** Advice about errors, keyed by their code. */
const adviceFor: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'Start the database, or fix the address'],
  ['25006', 'Set default_transaction_read_only = off where it was set to on: for the server, the database or the role'],
  ['28P01', 'Fix the password in the address'],
  ['53100', 'Free space on the disk of the database'],
  ['53300', 'Close connections, make pools smaller, or raise the limit of the server, the role or the database'],
  ['55P03', `A table is locked. Find out who holds the lock, with the query in ${page('runbook.md')}`],
])

function toText(findings: readonly Named[]): string {
  const lines = findings.flatMap(({ check, state, finding, advice, sql = [] }) => [
    `${state.padEnd(7)}${check.padEnd(13)}${toLine(finding)}`,
    ...(advice === undefined ? [] : [`${' '.repeat(20)}-> ${toLine(advice)}`]),
    ...sql.map(statement => `${statement};`.replaceAll(/^/gm, ' '.repeat(23))),
  ])
  return `${lines.join('\n')}\n\n${toVerdict(findings)}\n`
}

function toVerdict(findings: readonly Named[]): string {
  const problems = findings.filter(isProblem)
  if (problems.length > 0) {
    const checks = [...new Set(problems.map(({ check }) => `"${check}"`))].join(', ')
    return `${plural(problems.length, 'thing is', 'things are')} wrong. See ${checks} in ${page('runbook.md')}`
  }
  const notes = findings.filter(({ state }) => state === 'note').length
  return notes === 0 ? 'All is well.' : `Nothing is wrong, but see ${plural(notes, 'note', 'notes')}.`
}

/**
 * Tells the age of the list in a version of `tldts`. For another version than the one that this release knows, the
 * known date is a bound.
 */
export function examineSuffixList(version: string, now = Date.now()): Finding {
  const { version: known, published } = knownSuffixList
  const days = Math.floor((now - Date.parse(published)) / DAY)
  const order = Math.sign(version.localeCompare(known, 'en', { numeric: true }))
  const [when, age] = order === 0 ? ['', ''] : order > 0 ? ['after ', 'at most '] : ['before ', 'at least ']
  const finding = `tldts ${version}, published ${when}${published}, ${age}${plural(days, 'day', 'days')} ago`
  if (order >= 0 && days <= OLD_LIST) return ok(finding)
  // A newer release of this package knows the date of a newer list.
  const packages = order > 0 ? 'domain-registration tldts' : 'tldts'
  return note(finding, `Newer top-level domains may be rejected. Update the list: npm update ${packages}`)
}

function examinePending({ pending }: Status): Finding {
  const { count, refused, oldest, longestRefused, lastFailure } = pending
  if (!oldest) return ok('no change is pending')
  const said = longestRefused ? `; refused longest: ${longestRefused}` : `; the monitor said: ${lastFailure}`
  const finding = `${toPendingText(pending)}${lastFailure === null ? '' : said}`
  const isFault = Date.now() - oldest.getTime() >= ALARMING_AGE || refused === count
  if (!isFault && lastFailure === null) return ok(finding)
  const advice =
    lastFailure === null
      ? `Nothing pushes changes: check that startSynchronizing(store) runs; see ${page('monitoring.md')}`
      : 'Fix the cause. startSynchronizing(store) then retries. To retry at once: domain-registration pending --retry'
  return (isFault ? wrong : note)(finding, advice)
}

function examineWaiting(stats: WaitingStats): Finding {
  const finding = toWaitingText(stats)
  if (stats.overdue <= MOST_OVERDUE) return ok(finding)
  return wrong(finding, `Nothing retries names: check that startRetrying runs; see ${page('check-names.md')}`)
}
