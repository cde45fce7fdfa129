import type { PendingChange, PendingStats } from '../outbox/contract.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import { type Command, type Invocation, type Result, readLimit, UsageError } from './command.ts'
import { toData, toDisplayed } from './registrations.ts'
import { plural, toLine, toTable } from './text.ts'

const filters = ['team', 'limit', 'after']

export const pending: Command = {
  words: '[id...]',
  purpose: 'shows the changes that have not reached your monitor, and why',
  details: 'The IDs of changes are arguments of --retry and --settle.',
  options: {
    '--team <id>': 'only those of this team',
    '--refused': 'only those that the monitor refused',
    '--limit <count>': 'at most this many; default 100',
    '--after <id>': 'resumes a list',
    '--retry': 'lets the next sweep push all failed changes, or only those with the given IDs',
    '--settle': 'counts the changes with the given IDs as delivered, because you have told your monitor yourself',
  },
  example: '--refused',
  async run(invocation: Invocation): Promise<Result> {
    const { values, flags, operands, connect } = invocation
    if (!flags.has('retry') && !flags.has('settle')) return showPending(invocation)
    if (flags.has('retry') && flags.has('settle')) throw new UsageError('Pass either --retry or --settle')
    if (flags.has('refused') || filters.some(name => values[name] !== undefined))
      throw new UsageError('--retry and --settle cannot be combined with --team, --refused, --limit or --after')
    if (flags.has('settle')) return settlePending(invocation)
    const domainIds = operands.length > 0 ? operands : undefined
    const retried = await connect().createStore().retryPending({ domainIds })
    return { text: `${plural(retried, 'change is', 'changes are')} due for the next sweep.\n`, data: { retried } }
  },
}

async function settlePending({ operands, connect }: Invocation): Promise<Result> {
  if (operands.length === 0) throw new UsageError('Pass the IDs of the changes to settle; "pending" shows them')
  const settled = await connect().createStore().settlePending({ domainIds: operands })
  const text = `${plural(settled, 'change counts', 'changes count')} as delivered.\n`
  return { text, data: { settled }, isWrong: settled === 0 }
}

async function showPending({ values, flags, operands, connect }: Invocation): Promise<Result> {
  const limit = readLimit(values)
  if (operands.length > 0) throw new UsageError('Pass IDs only with --retry or --settle')
  const store = connect().createStore()
  const stats = await store.pendingStats()
  const { count, refused, oldest, longestRefused } = stats
  const changes: PendingChange[] = []
  for await (const change of eachPending(store, values.after)) {
    if (values.team !== undefined && change.teamId !== values.team) continue
    if (flags.has('refused') && change.refusals === 0) continue
    changes.push(change)
    // Reads one change more than requested, to find out whether there are more.
    if (changes.length > limit) break
  }
  const next = changes.length > limit ? (changes[limit - 1]?.domainId ?? null) : null
  const page = changes.slice(0, limit)
  const rows = page.map(({ kind, domain, teamId, domainId, at, refusals, nextAttempt, lastFailure }) => [
    ...[kind, toDisplayed(domain), teamId, domainId, at],
    ...[refusals, nextAttempt, lastFailure],
  ])
  const heads = ['CHANGE', 'DOMAIN', 'TEAM', 'ID', 'SINCE', 'REFUSALS', 'NEXT ATTEMPT', 'LAST FAILURE']
  const longest = longestRefused ? `Refused longest: ${describeRefused(longestRefused)}.\n` : ''
  const summary = `Pending: ${toPendingText(stats)}.\n${longest}`
  const table = toTable(heads, rows, 'None of them matches your options.')
  const more = next === null ? '' : `\nThere are more. To see them, pass --after ${next}\n`
  return {
    text: count === 0 ? 'Nothing is pending.\n' : `${summary}\n${table}${more}`,
    data: {
      ...{ count, refused, oldest, longestRefused: longestRefused ? toData(longestRefused) : null },
      ...{ changes: page.map(toData), next },
    },
  }
}

export function toPendingText({ count, refused, oldest }: Pick<PendingStats, 'count' | 'refused' | 'oldest'>): string {
  const since = oldest ? `, the oldest since ${oldest.toISOString()}` : ''
  return `${plural(count, 'change', 'changes')}, ${refused} refused${since}`
}

export const describeRefused = ({ kind, domain, teamId, domainId, at, refusals, lastFailure }: PendingChange): string =>
  `${domain} of team ${toLine(teamId)}, ${kind} at ${at.toISOString()} with the ID ${domainId}, refused ` +
  `${plural(refusals, 'time', 'times')}${lastFailure ? `: ${toLine(lastFailure)}` : ''}`

export async function* eachPending(store: ManagedStore, start?: string): AsyncGenerator<PendingChange, void> {
  for (let after = start; ; ) {
    const page = await store.listPending({ after })
    yield* page
    if (page.length < MOST_AT_ONCE) return
    after = page.at(-1)?.domainId
  }
}
