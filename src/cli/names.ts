import { classifyHostname } from '../hostname/classify.ts'
import { displayHostname } from '../hostname/display.ts'
import { eachRegistration, toCursor } from '../operations/each-registration.ts'
import { findOwners } from '../operations/find-owners.ts'
import type { ListedRegistration, Registration } from '../rules/registration.ts'
import { toUuid } from '../store/arguments.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import { type Command, type Invocation, type Result, readInput, readLimit } from './command.ts'
import { toPrintable, toTable } from './text.ts'

/** Returns the canonical name, followed by its readable form in parentheses if that differs. */
export function toDisplayed(domain: string): string {
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

/** Returns the options of a store's `list`. Without `--team`, the options contain no team, so all teams are listed. */
export const ofTeam = (teamId: string | undefined): { readonly teamId?: string } =>
  teamId === undefined ? {} : { teamId }

export const list: Command = {
  purpose: 'lists registrations; options: --team, --below NAME, --domain NAME, --order newest, --limit, --after',
  options: ['team', 'below', 'domain', 'order', 'after', 'limit'],
  async run({ values, connect }: Invocation): Promise<Result> {
    const { team: teamId, below, domain, after } = values
    const order = values.order as 'oldest' | 'newest' | undefined
    const limit = readLimit(values)
    const store = connect().createStore()
    const found: ListedRegistration[] = []
    for await (const registration of eachRegistration(store, { ...ofTeam(teamId), below, domain, order, after })) {
      found.push(registration)
      // Reads one registration more than requested, to find out whether there are more.
      if (found.length > limit) break
    }
    const page = found.slice(0, limit)
    const last = found.length > limit ? page.at(-1) : undefined
    const next = last ? toCursor(last, { below }) : null
    const rows = page.map(({ domain, teamId, domainId, createdAt }) => [
      toDisplayed(domain),
      teamId,
      domainId,
      createdAt,
    ])
    const text = toTable(['DOMAIN', 'TEAM', 'ID', 'CREATED'], rows, 'No registrations.')
    return {
      text: next === null ? text : `${text}\nThere are more. To see them, pass --after ${next}\n`,
      data: { domains: page.map(toData), next },
    }
  },
}

export const find: Command = {
  synopsis: 'HOSTNAME_OR_ID…',
  words: { least: 1, most: Number.POSITIVE_INFINITY },
  purpose: 'shows the registration that covers a hostname or has an ID, and its team',
  async run({ operands, connect }: Invocation): Promise<Result> {
    const store = connect().createStore()
    const data: Found[] = []
    for (const { hostname, registration } of await findOwners(store, operands)) {
      const domainId = toUuid(hostname)
      const found = domainId === null ? registration : await findById(store, domainId)
      const { domain = null, teamId = null, domainId: id = null } = found ?? {}
      // A registered name gets no message, even if today's rules would reject it.
      const message = found || domainId !== null ? null : explain(hostname)
      data.push({ hostname, domain, teamId, domainId: id, message })
    }
    const rows = data.map(({ hostname, domain, teamId, domainId }) => [
      hostname,
      domain === null ? null : toDisplayed(domain),
      teamId,
      domainId,
    ])
    const messages = data.flatMap(({ message }) => (message === null ? [] : [`${toPrintable(message)}\n`]))
    const table = toTable(['HOSTNAME', 'REGISTERED', 'TEAM', 'ID'], rows, '')
    return { text: [table, ...messages].join(''), data, isWrong: messages.length > 0 }
  },
}

interface Found {
  readonly hostname: string
  readonly domain: string | null
  readonly teamId: string | null
  readonly domainId: string | null
  /** Why the hostname cannot be registered. */
  readonly message: string | null
}

function explain(input: string): string | null {
  const hostname = classifyHostname(input)
  return hostname.valid ? null : hostname.message
}

/**
 * Finds the registration with an ID. Stores list registrations in the order of their IDs, so this function lists the
 * first registration after the preceding ID, and checks whether it has the ID sought.
 */
async function findById(store: ManagedStore, domainId: string): Promise<Registration | null> {
  const [registration] = await store.list({ after: precedingUuid(domainId), limit: 1 })
  return registration?.domainId === domainId ? registration : null
}

function precedingUuid(uuid: string): string {
  const digits = BigInt.asUintN(128, BigInt(`0x${uuid.replaceAll('-', '')}`) - 1n)
    .toString(16)
    .padStart(32, '0')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export const count: Command = {
  purpose: 'counts the registrations of all teams, or of --team',
  options: ['team'],
  async run({ values: { team: teamId }, connect }: Invocation): Promise<Result> {
    const total = await connect().createStore().count(ofTeam(teamId))
    return { text: `${total}\n`, data: { count: total } }
  },
}

const WIDTH = 'public_suffix_domain'.length + 2

export const classify: Command = {
  synopsis: '[HOSTNAME…]',
  words: { least: 0, most: Number.POSITIVE_INFINITY },
  purpose:
    'shows which hostnames can be registered, and why the others cannot. Without arguments, reads hostnames from ' +
    'standard input, one per line',
  async run({ operands, surroundings }: Invocation): Promise<Result> {
    const inputs = operands.length > 0 ? operands : await readInput(surroundings)
    const data = inputs.map(input => ({ input, ...classifyHostname(input) }))
    const lines = data.map(hostname =>
      hostname.valid
        ? `${hostname.kind.padEnd(WIDTH)}${toDisplayed(hostname.domain)}`
        : `${hostname.code.padEnd(WIDTH)}${toPrintable(hostname.message)}`,
    )
    return { text: lines.map(line => `${line}\n`).join(''), data, isWrong: data.some(({ valid }) => !valid) }
  },
}
