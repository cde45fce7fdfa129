import { suffixList } from '../../hostname/suffix-list.ts'
import type { Command, Invocation, Result } from '../command.ts'
import { findSecrets } from '../database.ts'
import { explainError, plural, toPrintable } from '../text.ts'
import { type Finding, note, ok, wrong } from './finding.ts'
import { examinePostgres } from './postgres.ts'
import { examineSqlite } from './sqlite.ts'

/** A pending change of this age or older, in milliseconds, is reported as wrong. */
const ALARMING_AGE = 5 * 60 * 1000
/** A suffix list that is older than this many days gets a note. */
const OLD_LIST = 60
const DAY = 24 * 60 * 60 * 1000

export const doctor: Command = {
  purpose: 'checks the database, the tables, the privileges of the role and the pending changes, and says what to do',
  async run(invocation: Invocation): Promise<Result> {
    const found = await examine(invocation)
    // If a check has a finding with the state `wrong`, its findings with the state `ok` are omitted.
    const isFault = (sought: string) => found.some(({ check, state }) => check === sought && state === 'wrong')
    const findings = found.filter(({ check, state }) => state !== 'ok' || !isFault(check))
    const isWrong = countOf('wrong', findings) > 0
    return { text: toText(findings), data: { healthy: !isWrong, findings }, isWrong }
  },
}

async function examine(invocation: Invocation): Promise<Finding[]> {
  const target = invocation.target()
  const findings: Finding[] = [examineSuffixList()]
  const address = target.kind === 'postgres' ? target.url : target.file
  const explain = (error: unknown) => explainError(error, findSecrets(invocation.surroundings.env, [address]))
  try {
    const examined =
      target.kind === 'postgres' ? examinePostgres(target.url, target.schema) : examineSqlite(target.file)
    for await (const finding of examined) findings.push(finding)
  } catch (error) {
    const isReached = findings.some(({ check }) => check === 'connection')
    const advice = adviceFor[String((error as { code?: unknown }).code)] ?? 'Fix this first'
    findings.push(wrong(isReached ? 'doctor' : 'connection', explain(error), `${advice}, and run doctor again`))
    return findings
  }
  try {
    findings.push(await examinePending(invocation))
  } catch (error) {
    // If another check has already found a problem, such as missing tables, that problem explains this failure.
    if (countOf('wrong', findings) === 0) findings.push(wrong('pending', explain(error), 'Run doctor again'))
  }
  return findings
}

/** Advice, keyed by the code of the error that ended the examination. */
const adviceFor: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Start the database, or fix the address',
  '28P01': 'Fix the password in the address',
  '53300': 'Close connections, make pools smaller, or raise max_connections',
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
    return `${plural(faults.length, 'thing is', 'things are')} wrong. See ${checks} in docs/doctor-checks.md.`
  }
  const notes = countOf('note', findings)
  return notes === 0 ? 'All is well.' : `Nothing is wrong, but see ${plural(notes, 'note', 'notes')}.`
}

function examineSuffixList(): Finding {
  const { version, published } = suffixList
  const update = 'Newer top-level domains are rejected. Update the list: npm update tldts'
  if (published === null) return note('suffix list', `from tldts ${version}, whose date is unknown`, update)
  const days = Math.floor((Date.now() - Date.parse(published)) / DAY)
  const finding = `from tldts ${version}, published ${published}`
  return days > OLD_LIST ? note('suffix list', `${finding}, ${days} days ago`, update) : ok('suffix list', finding)
}

async function examinePending({ connect }: Invocation): Promise<Finding> {
  const store = connect().createStore({ timeLimit: PATIENCE })
  const { count, refused, oldest } = await store.pendingStats()
  if (!oldest) return ok('pending', 'no change is pending')
  const age = Date.now() - oldest.getTime()
  const counted = `${plural(count, 'change is', 'changes are')} pending, ${refused} refused`
  const changes = await store.listPending({ limit: SHOWN })
  const said = changes.findLast(({ lastFailure }) => lastFailure)?.lastFailure
  const finding =
    `${counted}, the oldest for ${plural(Math.round(age / 60_000), 'minute', 'minutes')}` +
    (said ? `; the monitor said: ${said}` : '')
  const isFault = age >= ALARMING_AGE || refused === count
  if (!isFault && !said) return ok('pending', finding)
  const advice = said
    ? 'Fix the cause. startSynchronizing(store) then retries. To retry at once: domain-registration pending --retry'
    : 'Nothing pushes changes: check that startSynchronizing(store) runs. Without a monitor, see docs/monitoring.md'
  return (isFault ? wrong : note)('pending', finding, advice)
}

/** The time limit, in milliseconds, for each query of the pending changes. */
const PATIENCE = 3000
/** How many pending changes are read to find a message that explains a failure. */
const SHOWN = 1000
