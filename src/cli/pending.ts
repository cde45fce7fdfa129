import { type Call, type Command, NO_WORDS, type Result, toLimit } from './command.ts'
import { plural, toTable } from './text.ts'

export const pending: Command = {
  synopsis: '',
  words: NO_WORDS,
  purpose: 'shows which changes wait to be pushed to your monitor, since when, and why; --limit, --after',
  options: { limit: { type: 'string' }, after: { type: 'string' } },
  async run({ values, connect }: Call): Promise<Result> {
    const store = (await connect()).createStore()
    const { count, refused, oldest } = await store.pendingStats()
    const limit = toLimit(values.limit) ?? 100
    const waiting = await store.listPending({ limit, after: values.after as string | undefined })
    const changes = waiting.map(({ kind, domain, domainId, teamId, since, nextAttempt, lastFailure }) => ({
      kind,
      domain,
      domainId,
      teamId,
      since,
      nextAttempt,
      lastFailure,
    }))
    const age = oldest ? `, the oldest since ${oldest.toISOString()}` : ''
    const summary = `${plural(count, 'change waits', 'changes wait')}, ${refused} of them refused before${age}.\n`
    const rows = changes.map(change => [change.kind, change.domain, change.teamId, change.since, change.lastFailure])
    const table = toTable(['CHANGE', 'DOMAIN', 'TEAM', 'SINCE', 'LAST FAILURE'], rows, '')
    return {
      text: count === 0 ? 'Nothing waits.\n' : `${summary}\n${table}`,
      data: { count, refused, oldest, changes },
    }
  },
}
