import { createRequire } from 'node:module'
import type { Command, Invocation, Result } from '../command.ts'
import { findSecrets } from '../target.ts'
import { describeError, plural, toPrintable } from '../text.ts'
import { type Finding, ok, wrong } from './finding.ts'
import { examinePostgres } from './postgres.ts'
import { examineSqlite } from './sqlite.ts'

/** Milliseconds after which a change that waits is a fault: refused changes are tried again at least once an hour. */
const ALARMING_AGE = 60 * 60 * 1000

export const doctor: Command = {
  purpose: 'examines the tables, the rights of the role, the database and what waits, and says what to do',
  async run(invocation: Invocation): Promise<Result> {
    const target = invocation.target()
    const findings: Finding[] = [examineSuffixList()]
    try {
      const examined =
        target.kind === 'postgres' ? examinePostgres(target.url, target.schema) : examineSqlite(target.file)
      for await (const finding of examined) findings.push(finding)
      // Without tables or rights there is nothing to count.
      if (countWrong(findings) === 0) findings.push(await examinePending(invocation))
    } catch (error) {
      const address = target.kind === 'postgres' ? target.url : target.file
      const finding = describeError(error, findSecrets(process.env, [address]))
      findings.push(wrong('connection', finding, 'Mend this first, and run doctor again'))
    }
    const isWrong = countWrong(findings) > 0
    return { text: toText(findings), data: { healthy: !isWrong, findings }, isWrong }
  },
}

const countWrong = (findings: readonly Finding[]) => findings.filter(({ state }) => state === 'wrong').length

function toText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, state, finding, advice, sql = [] }) => [
    `${state.padEnd(7)}${check.padEnd(13)}${toPrintable(finding)}`,
    ...(advice === undefined ? [] : [`${' '.repeat(20)}-> ${toPrintable(advice)}`]),
    ...sql.flatMap(statement => `${statement};`.split('\n').map(line => `${' '.repeat(23)}${toPrintable(line)}`)),
  ])
  const count = countWrong(findings)
  const verdict = count === 0 ? 'All is well.' : `${plural(count, 'thing is', 'things are')} wrong.`
  return `${lines.join('\n')}\n\n${verdict}\n`
}

function examineSuffixList(): Finding {
  const { version } = createRequire(import.meta.url)('tldts/package.json') as { version: string }
  return ok('suffix list', `that of tldts ${version}; "npm outdated tldts" tells whether there is a newer one`)
}

async function examinePending({ connect }: Invocation): Promise<Finding> {
  const { count, refused, oldest } = await connect().createStore().pendingStats()
  if (!oldest) return ok('pending', 'nothing waits to be pushed')
  const minutes = Math.round((Date.now() - oldest.getTime()) / 60_000)
  const counted = `${plural(count, 'change waits', 'changes wait')}, ${refused} refused`
  const finding = `${counted}, the oldest for ${plural(minutes, 'minute', 'minutes')}`
  if (Date.now() - oldest.getTime() < ALARMING_AGE) return ok('pending', finding)
  const advice =
    'See "domain-registration pending" for the last failures, and that startSynchronizing(store) runs; ' +
    'if you have no monitor, docs/monitoring.md says how to delete what was recorded for one'
  return wrong('pending', finding, advice)
}
