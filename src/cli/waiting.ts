import type { WaitingName, WaitingStats } from '../store/waiting.ts'
import type { Command, Invocation, Result } from './command.ts'
import type { OpenDatabase } from './database.ts'
import { toData, toDisplayed } from './registrations.ts'
import { plural, toTable } from './text.ts'

export const waiting: Command = {
  purpose: 'shows the names that wait to be registered, and what is missing',
  options: { '--team <id>': 'only those of this team' },
  example: '--team 7',
  async run({ values, connect }: Invocation): Promise<Result> {
    const database = connect()
    const stats = await database.createWaitingStore().stats()
    const names: WaitingName[] = []
    for await (const name of eachWaiting(database, values.team)) names.push(name)
    const rows = names.map(({ domain, teamId, since, lastTried, nextTry, refusal }) => [
      ...[toDisplayed(domain), teamId, since, lastTried, nextTry],
      refusal.message,
    ])
    const table = toTable(['DOMAIN', 'TEAM', 'SINCE', 'LAST TRIED', 'NEXT TRY', 'MISSING'], rows, 'None of this team.')
    return {
      text: stats.count === 0 ? 'No name waits.\n' : `Waiting: ${toWaitingText(stats)}.\n\n${table}`,
      data: { ...stats, names: names.map(toData) },
    }
  },
}

const MINUTE = 60_000

export const toWaitingText = ({ count, overdue }: WaitingStats): string =>
  `${plural(count, 'name waits', 'names wait')}, ` +
  (overdue < MINUTE
    ? 'none is overdue'
    : `one has been due for ${plural(Math.floor(overdue / MINUTE), 'minute', 'minutes')}`)

export async function* eachWaiting(database: OpenDatabase, teamId?: string): AsyncGenerator<WaitingName, void> {
  const store = database.createWaitingStore()
  for (const team of teamId === undefined ? await database.listWaitingTeams() : [teamId]) yield* await store.list(team)
}
