import { type SuffixList, suffixList } from '../hostname/suffix-list.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import type { Command, Invocation, Result } from './command.ts'
import { findCode, findSecrets } from './database.ts'
import { examinePostgres } from './doctor-postgres.ts'
import { examineSqlite } from './doctor-sqlite.ts'
import { type Finding, note, ok, wrong } from './finding.ts'
import { describeRefused } from './pending.ts'
import { explainError, page, plural, readVersion, toPrintable } from './text.ts'

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

function toScreen({ package: release, suffixList: { version, published }, names, pending }: Status): string {
  const { count, refused, oldest, longestRefused } = pending
  const age = oldest ? `, the oldest since ${oldest.toISOString()}` : ''
  const facts = {
    package: release,
    'suffix list': `tldts ${version}, published ${published ?? 'on an unknown date'}`,
    names: String(names),
    pending: `${plural(count, 'change', 'changes')}, ${refused} refused${age}`,
    ...(longestRefused ? { refused: `longest: ${longestRefused}` } : {}),
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
  purpose: 'shows the status, checks all that this package needs, and says what to do',
  details: 'Changes nothing. Connect as the role of your server, because the privileges of that role are checked.',
  example: '',
  async run(invocation: Invocation): Promise<Result> {
    const { found, status } = await examine(invocation)
    // If a check has a finding with the state `wrong`, its findings with the state `ok` are omitted.
    const isFault = (sought: string) => found.some(({ check, state }) => check === sought && state === 'wrong')
    const findings = found.filter(({ check, state }) => state !== 'ok' || !isFault(check))
    const isWrong = countOf('wrong', findings) > 0
    return {
      text: `${status ? `${toScreen(status)}\n` : ''}${toText(findings)}`,
      data: { healthy: !isWrong, status: status ?? null, findings },
      isWrong,
    }
  },
}

async function examine(invocation: Invocation): Promise<{ found: Finding[]; status?: Status }> {
  const target = invocation.target()
  const found: Finding[] = [examineSuffixList(suffixList)]
  const address = target.kind === 'postgres' ? target.url : target.file
  const explain = (error: unknown) => explainError(error, findSecrets(invocation.process.env, [address]))
  try {
    const examined =
      target.kind === 'postgres' ? examinePostgres(target.url, target.schema) : examineSqlite(target.file)
    for await (const finding of examined) found.push(finding)
  } catch (error) {
    const isReached = found.some(({ check }) => check === 'connection')
    const [check, advice] = adviceFor[findCode(error) ?? ''] ?? [undefined, 'Fix this first, and run doctor again']
    found.push(wrong(check ?? (isReached ? 'doctor' : 'connection'), explain(error), advice))
    return { found }
  }
  try {
    const status = await readStatus(invocation.connect().createStore({ timeLimit: QUERY_TIME_LIMIT }))
    found.push(examinePending(status))
    return { found, status }
  } catch (error) {
    // If another check has already found a problem, such as missing tables, that problem explains this failure.
    if (countOf('wrong', found) === 0) found.push(wrong('pending', explain(error), 'Run doctor again'))
    return { found }
  }
}

/** The check that a failed examination counts as, and advice, keyed by the code of the error that ended it. */
const adviceFor: Readonly<Record<string, readonly [check: string | undefined, advice: string]>> = {
  ECONNREFUSED: [undefined, 'Start the database, or fix the address, and run doctor again'],
  '28P01': [undefined, 'Fix the password in the address, and run doctor again'],
  '53300': [undefined, 'Close connections, make pools smaller, or raise max_connections, and run doctor again'],
  '55P03': ['locks', `A table is locked: ${page('runbook.md')} has the query that shows who holds the lock`],
}

const countOf = (sought: Finding['state'], findings: readonly Finding[]) =>
  findings.filter(({ state }) => state === sought).length

function toText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, state, finding, advice, sql = [] }) => [
    `${state.padEnd(7)}${check.padEnd(13)}${toPrintable(finding)}`,
    ...(advice === undefined ? [] : [`${' '.repeat(20)}-> ${toPrintable(advice)}`]),
    ...sql.flatMap(statement => `${statement};`.split('\n').map(line => `${' '.repeat(23)}${toPrintable(line)}`)),
  ])
  return `${lines.join('\n')}\n\n${toVerdict(findings)}\n`
}

function toVerdict(findings: readonly Finding[]): string {
  const faults = findings.filter(({ state }) => state === 'wrong')
  if (faults.length > 0) {
    const checks = [...new Set(faults.map(({ check }) => `"${check}"`))].join(', ')
    return `${plural(faults.length, 'thing is', 'things are')} wrong. See ${checks} in ${page('runbook.md')}`
  }
  const notes = countOf('note', findings)
  return notes === 0 ? 'All is well.' : `Nothing is wrong, but see ${plural(notes, 'note', 'notes')}.`
}

export function examineSuffixList({ version, published }: SuffixList): Finding {
  const update = 'Newer top-level domains are rejected. Update the list: npm update tldts'
  // This release of the package knows the date of one version only. A note could advise nothing.
  if (published === null) return ok('suffix list', `from tldts ${version}`)
  const days = Math.floor((Date.now() - Date.parse(published)) / DAY)
  const finding = `from tldts ${version}, published ${published}`
  return days > OLD_LIST ? note('suffix list', `${finding}, ${days} days ago`, update) : ok('suffix list', finding)
}

function examinePending({ pending: { count, refused, oldest, longestRefused, lastFailure } }: Status): Finding {
  if (!oldest) return ok('pending', 'no change is pending')
  const age = Date.now() - oldest.getTime()
  const finding =
    `${plural(count, 'change is', 'changes are')} pending, ${refused} refused, the oldest for ` +
    plural(Math.round(age / 60_000), 'minute', 'minutes') +
    (longestRefused ? `; refused longest: ${longestRefused}` : lastFailure ? `; the monitor said: ${lastFailure}` : '')
  const isFault = age >= ALARMING_AGE || refused === count
  if (!isFault && lastFailure === null) return ok('pending', finding)
  const advice =
    lastFailure === null
      ? `Nothing pushes changes: check that startSynchronizing(store) runs; see ${page('monitoring.md')}`
      : 'Fix the cause. startSynchronizing(store) then retries. To retry at once: domain-registration pending --retry'
  return (isFault ? wrong : note)('pending', finding, advice)
}
