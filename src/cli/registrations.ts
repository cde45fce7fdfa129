import { classifyHostname } from '../hostname/classify.ts'
import { displayHostname } from '../hostname/display.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import { eachRegistration, toCursor } from '../operations/each-registration.ts'
import { findOwners } from '../operations/find-owners.ts'
import { releaseAll, type Transferred, transfer } from '../operations/transfer.ts'
import type { Name } from '../rules/name.ts'
import type { Registration } from '../rules/registration.ts'
import { toUuid } from '../store/arguments.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import {
  type Command,
  confirm,
  confirmOption,
  type Invocation,
  type Result,
  readInput,
  readLimit,
  requireValue,
  UsageError,
} from './command.ts'
import { plural, toTable } from './text.ts'

/** Returns the canonical name, followed by its readable form in parentheses if that differs. */
export function toDisplayed(domain: string): string {
  const shown = displayHostname(domain)
  return shown === domain ? domain : `${domain} (${shown})`
}

/** What `--json` prints of a registration, a pending change or a name that waits: all but what only stores use. */
export const toData = <Row extends Name & { readonly line?: unknown; readonly tries?: unknown }>({
  registrableDomain: _,
  line: __,
  tries: ___,
  ...fields
}: Row) => fields

/** Returns the options of a store's `list`. Without `--team`, the options contain no team, so all teams are listed. */
const ofTeam = (teamId: string | undefined): { readonly teamId?: string } => (teamId === undefined ? {} : { teamId })

export const listNames: Command = {
  purpose: 'lists registrations',
  options: {
    '--team <id>': 'only those of this team',
    '--below <name>': 'only those below this name',
    '--domain <name>': 'only this hostname',
    '--order <order>': 'oldest or newest first; default oldest',
    '--limit <count>': 'at most this many; default 100',
    '--after <cursor>': 'resumes a list',
  },
  example: '--team 7 --below example.com',
  async run({ values, connect }: Invocation): Promise<Result> {
    const { team: teamId, below, domain, after } = values
    const order = values.order as 'oldest' | 'newest' | undefined
    const limit = readLimit(values)
    const store = connect().createStore()
    const found: Registration[] = []
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

export const findNames: Command = {
  words: '<hostname-or-id...>',
  purpose: 'shows which registration covers a hostname or has an ID, and its team',
  example: 'api.eu.example.com',
  async run({ operands, connect }: Invocation): Promise<Result> {
    const store = connect().createStore()
    const data: Found[] = []
    for (const { hostname, registration, rejection } of await findOwners(store, operands)) {
      const domainId = toUuid(hostname)
      const found = domainId === null ? registration : await store.get(domainId)
      const { domain = null, teamId = null, domainId: id = null } = found ?? {}
      // A registered name gets no message, even if today's rules would reject it.
      const message = found || domainId !== null ? null : (rejection?.message ?? null)
      data.push({ hostname, domain, teamId, domainId: id, message })
    }
    const rows = data.map(({ hostname, domain, teamId, domainId }) => [
      hostname,
      domain === null ? null : toDisplayed(domain),
      teamId,
      domainId,
    ])
    const messages = data.flatMap(({ message }) => (message === null ? [] : [`${message}\n`]))
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

export const countNames: Command = {
  purpose: 'counts registrations',
  options: { '--team <id>': 'only those of this team' },
  example: '--team 7',
  async run({ values: { team: teamId }, connect }: Invocation): Promise<Result> {
    const total = await connect().createStore().count(ofTeam(teamId))
    return { text: `${total}\n`, data: { count: total } }
  },
}

const toCount = (count: number) => plural(count, 'registration', 'registrations')

/** The options of the commands that take names of one team. */
const selection = {
  '--all': 'all registrations of the team, after you type their number',
  ...confirmOption,
}

/** Returns the names and IDs from the arguments, or else from standard input; `undefined` stands for all. */
async function readNames({ flags, operands, process }: Invocation): Promise<readonly string[] | undefined> {
  if (flags.has('all') && operands.length > 0) throw new UsageError('Pass no names with --all')
  if (flags.has('all')) return undefined
  return operands.length > 0 ? operands : readInput(process)
}

export const releaseNames: Command = {
  words: '[name-or-id...]',
  purpose: "releases a team's registrations",
  details:
    "Your server's next sweep pushes the releases to your monitor. Without arguments, reads names or IDs from " +
    'standard input, one per line.',
  options: { '--team <id>': 'the team', ...selection },
  example: '--team 7 www.example.com',
  async run(invocation: Invocation): Promise<Result> {
    const { values, connect } = invocation
    const teamId = requireValue(values, 'team', 'with the ID of the team')
    const owner = `of team ${teamId}`
    const names = await readNames(invocation)
    const store = connect().createStore()
    if (!names) {
      const total = await store.count({ teamId })
      if (total > 0) await confirm(invocation, `This releases ${toCount(total)} ${owner}`, total)
      const count = await releaseAll(store, teamId)
      return { text: `Released ${toCount(count)} ${owner}.\n`, data: { count } }
    }
    const released: Registration[] = []
    for (const part of toParts(names)) released.push(...(await store.release(teamId, part)))
    const data = released.map(({ domain, domainId }) => ({ domain, domainId }))
    const lines = data.map(({ domain, domainId }) => `${domain}  ${domainId}\n`)
    return {
      text: `Released ${toCount(released.length)} ${owner}.\n${lines.join('')}`,
      data: { released: data },
      isWrong: released.length === 0,
    }
  },
}

export const transferNames: Command = {
  words: '[name-or-id...]',
  purpose: 'moves registrations to another team, and gives them new IDs',
  details:
    'Without arguments, reads names or IDs from standard input, one per line. Only your application knows its teams: ' +
    'the limit and the state of the new team are not checked. If the new team has no registrations and no API keys ' +
    'yet, the command asks whether you mean it.',
  options: {
    '--from <id>': 'the team that has the registrations',
    '--to <id>': 'the team that gets them',
    ...selection,
  },
  example: '--from 7 --to 8 www.example.com',
  async run(invocation: Invocation): Promise<Result> {
    const { values, flags, operands, connect } = invocation
    const from = requireValue(values, 'from', 'with the ID of the team that has the names')
    const to = requireValue(values, 'to', 'with the ID of the team that gets the names')
    if (from === to) throw new UsageError('--from and --to must be different teams')
    const names = await readNames(invocation)
    const database = connect()
    // The command line cannot look up teams, so it accepts the given ID unchecked.
    const findTeam = (id: string) => ({ id, organizationId: id, state: 'active' as const })
    const store: ManagedStore = { ...database.createStore(), findTeam }
    const between = `from team ${from} to team ${to}`
    const isKnown = (await store.count({ teamId: to })) > 0 || (await ownsKeys(database.createKeyStore(), to))
    const total = names ? names.length : await store.count({ teamId: from })
    if (total > 0 && !(names && isKnown)) {
      const warning = isKnown ? '' : `. Team ${to} has no registrations and no API keys yet`
      if (names && operands.length === 0 && !flags.has('yes')) {
        throw new UsageError(`${warning.slice(2)}. To transfer the names in standard input to it, pass --yes`)
      }
      await confirm(invocation, `This transfers ${toCount(total)} ${between}${warning}`, total)
    }
    const parts = names ? toParts(names).map(part => ({ domains: part })) : [{}]
    const transferred: Transferred[] = []
    for (const part of parts) {
      for (const each of await transfer(store, { from, to, ...part })) transferred.push(each)
    }
    const lines = transferred.map(({ domain, formerId, domainId }) => `${domain}  ${formerId}  ${domainId}\n`)
    return {
      text: `Transferred ${toCount(transferred.length)} ${between}.\n${lines.join('')}`,
      data: { transferred },
      isWrong: names !== undefined && transferred.length === 0,
    }
  },
}

/** Returns whether a team has API keys. Only a team whose ID consists of digits can have any. */
const ownsKeys = async (keys: ManagedKeyStore, teamId: string): Promise<boolean> =>
  /^\d+$/.test(teamId) && (await keys.listKeys({ type: 'team', ownerId: teamId })).length > 0

/** Splits the names into parts that the store can process in one call each. */
function toParts(names: readonly string[]): (readonly string[])[] {
  const parts: (readonly string[])[] = []
  for (let start = 0; start < names.length; start += MOST_AT_ONCE) parts.push(names.slice(start, start + MOST_AT_ONCE))
  return parts
}

const WIDEST_CODE = 'public_suffix_domain'.length + 2

export const classify: Command = {
  words: '[hostname...]',
  purpose: 'shows which hostnames can be registered, and why the others cannot',
  details: 'Needs no database. Without arguments, reads hostnames from standard input, one per line.',
  example: 'WWW.Example.com localhost',
  async run({ operands, process }: Invocation): Promise<Result> {
    const inputs = operands.length > 0 ? operands : await readInput(process)
    const data = inputs.map(input => ({ input, ...classifyHostname(input) }))
    const lines = data.map(hostname =>
      hostname.valid
        ? `${hostname.kind.padEnd(WIDEST_CODE)}${toDisplayed(hostname.domain)}`
        : `${hostname.code.padEnd(WIDEST_CODE)}${hostname.message}`,
    )
    return { text: lines.map(line => `${line}\n`).join(''), data, isWrong: data.some(({ valid }) => !valid) }
  },
}
