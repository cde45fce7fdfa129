import { classifyHostname } from '../hostname/classify.ts'
import { displayHostname } from '../hostname/display.ts'
import { eachRegistration, toCursor } from '../operations/each-registration.ts'
import { findOwners } from '../operations/find-owners.ts'
import { type ListedRegistration, MOST_AT_ONCE } from '../registry/store.ts'
import {
  type Command,
  type Invocation,
  type Result,
  readInput,
  readLimit,
  requireValue,
  UsageError,
} from './command.ts'
import { plural, toPrintable, toTable } from './text.ts'

/** The name to copy, and as people read it where that is not the same. */
function toReadable(domain: string): string {
  const shown = displayHostname(domain)
  return shown === domain ? domain : `${domain} (${shown})`
}

export const toData = ({ domain, domainId, teamId, createdAt, synchronized }: ListedRegistration) => ({
  domain,
  domainId,
  teamId,
  createdAt,
  synchronized,
})

export const list: Command = {
  purpose: 'lists registrations: --team, --below NAME, --domain NAME, --order newest, --limit, --after',
  options: ['team', 'below', 'domain', 'order', 'after', 'limit'],
  async run({ values, connect }: Invocation): Promise<Result> {
    const { team: teamId, below, domain, after } = values
    const order = values.order as 'oldest' | 'newest' | undefined
    const limit = readLimit(values)
    const store = connect().createStore()
    const found: ListedRegistration[] = []
    for await (const registration of eachRegistration(store, { teamId, below, domain, order, after })) {
      found.push(registration)
      // One more than asked for tells whether there are others.
      if (found.length > limit) break
    }
    const page = found.slice(0, limit)
    const last = found.length > limit ? page.at(-1) : undefined
    const next = last ? toCursor(last, { below }) : null
    const rows = page.map(({ domain, teamId, domainId, createdAt }) => [
      toReadable(domain),
      teamId,
      domainId,
      createdAt,
    ])
    const text = toTable(['DOMAIN', 'TEAM', 'ID', 'CREATED'], rows, 'No registrations.')
    return {
      text: next === null ? text : `${text}\nThere are more: --after ${next}\n`,
      data: { domains: page.map(toData), next },
    }
  },
}

export const find: Command = {
  synopsis: 'HOSTNAME…',
  words: { least: 1, most: Number.POSITIVE_INFINITY },
  purpose: 'tells whose a hostname is: the registration of it, or of a wildcard over it',
  async run({ operands, connect }: Invocation): Promise<Result> {
    const owners = await findOwners(connect().createStore(), operands)
    const data = owners.map(({ hostname, registration }) => ({
      hostname,
      domain: registration?.domain ?? null,
      teamId: registration?.teamId ?? null,
      domainId: registration?.domainId ?? null,
    }))
    const heads = ['HOSTNAME', 'REGISTERED', 'TEAM', 'ID']
    return { text: toTable(heads, data.map(Object.values), ''), data }
  },
}

export const release: Command = {
  synopsis: '--team ID NAME_OR_ID…',
  words: { least: 1, most: Number.POSITIVE_INFINITY },
  purpose: "releases a team's registrations, for the next sweep of your server to push",
  options: ['team'],
  async run({ values, operands, connect }: Invocation): Promise<Result> {
    const team = requireValue(values, 'team', 'with the ID of the team')
    const released = await connect().createStore().release(team, operands)
    const data = released.map(({ domain, domainId }) => ({ domain, domainId }))
    const count = `Released ${plural(released.length, 'registration', 'registrations')} of team ${toPrintable(team)}`
    const lines = [`${count}.`, ...data.map(({ domain, domainId }) => `${domain}  ${domainId}`)]
    return { text: `${lines.join('\n')}\n`, data: { released: data }, isWrong: released.length === 0 }
  },
}

export const count: Command = {
  purpose: 'counts registrations, of all teams or of --team',
  options: ['team'],
  async run({ values: { team: teamId }, connect }: Invocation): Promise<Result> {
    const total = await connect().createStore().count({ teamId })
    return { text: `${total}\n`, data: { count: total } }
  },
}

export const pending: Command = {
  synopsis: '[--retry [ID…]]',
  words: { least: 0, most: MOST_AT_ONCE },
  purpose:
    'shows which changes wait to be pushed to your monitor, since when, and why; --limit, --after; ' +
    '--retry has the next sweep push those that failed, all or those of some IDs',
  options: ['limit', 'after'],
  flags: ['retry'],
  async run({ values, flags, operands, connect }: Invocation): Promise<Result> {
    const limit = readLimit(values, MOST_AT_ONCE)
    if (operands.length > 0 && !flags.has('retry')) throw new UsageError('IDs of changes need --retry')
    const store = connect().createStore()
    if (flags.has('retry')) {
      const retried = await store.retryPending({ domainIds: operands.length > 0 ? operands : undefined })
      return { text: `${plural(retried, 'change is', 'changes are')} due for the next sweep.\n`, data: { retried } }
    }
    const { count, refused, oldest } = await store.pendingStats()
    const waiting = await store.listPending({ limit, after: values.after })
    const changes = waiting.map(({ kind, domain, domainId, teamId, at, nextAttempt, lastFailure }) => ({
      kind,
      domain,
      domainId,
      teamId,
      at,
      nextAttempt,
      lastFailure,
    }))
    const age = oldest ? `, the oldest since ${oldest.toISOString()}` : ''
    const summary = `${plural(count, 'change waits', 'changes wait')}, ${refused} of them refused before${age}.\n`
    const rows = changes.map(change => [change.kind, change.domain, change.teamId, change.at, change.lastFailure])
    const table = toTable(['CHANGE', 'DOMAIN', 'TEAM', 'SINCE', 'LAST FAILURE'], rows, '')
    return {
      text: count === 0 ? 'Nothing waits.\n' : `${summary}\n${table}`,
      data: { count, refused, oldest, changes },
    }
  },
}

const WIDTH = 'public_suffix_domain'.length + 2

export const classify: Command = {
  synopsis: '[HOSTNAME…]',
  words: { least: 0, most: Number.POSITIVE_INFINITY },
  purpose: 'tells what can be registered, and why not; without words, each line of the standard input',
  async run({ operands }: Invocation): Promise<Result> {
    const inputs = operands.length > 0 ? operands : await readInput()
    const data = inputs.map(input => ({ input, ...classifyHostname(input) }))
    const lines = data.map(hostname =>
      hostname.valid
        ? `${hostname.kind.padEnd(WIDTH)}${toReadable(hostname.domain)}`
        : `${hostname.code.padEnd(WIDTH)}${toPrintable(hostname.message)}`,
    )
    return { text: lines.map(line => `${line}\n`).join(''), data, isWrong: data.some(({ valid }) => !valid) }
  },
}
