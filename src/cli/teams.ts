import { releaseAll, transfer } from '../operations/transfer.ts'
import type { Registration } from '../rules/registration.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import { type Command, type Invocation, type Result, readInput, requireValue, type Surroundings } from './command.ts'
import { UsageError } from './database.ts'
import { plural, toPrintable } from './text.ts'

const count = (total: number) => plural(total, 'registration', 'registrations')

export const releaseNames: Command = {
  synopsis: '--team ID [--all | NAME_OR_ID…]',
  words: { least: 0, most: Number.POSITIVE_INFINITY },
  purpose:
    "releases a team's registrations. Your server's next sweep pushes the releases. Without arguments, reads names " +
    'or IDs from standard input, one per line. --all releases all registrations, after you type their number; --yes ' +
    'skips this question. --dry-run only shows them',
  options: ['team'],
  flags: ['all', 'yes', 'dry-run'],
  async run({ values, flags, operands, surroundings, connect }: Invocation): Promise<Result> {
    const team = requireValue(values, 'team', 'with the ID of the team')
    if (flags.has('all') && operands.length > 0) throw new UsageError('Pass no names with --all')
    if (flags.has('yes') && !flags.has('all')) throw new UsageError('Pass --yes only with --all')
    const store = connect().createStore()
    if (flags.has('all')) return releaseAllOf(store, team, flags, surroundings)
    const domains = operands.length > 0 ? operands : await readInput(surroundings)
    const released: Registration[] = []
    for (const part of toParts(domains)) {
      released.push(...(flags.has('dry-run') ? await findHeld(store, team, part) : await store.release(team, part)))
    }
    const data = released.map(({ domain, domainId }) => ({ domain, domainId }))
    const begin = flags.has('dry-run') ? 'Would release' : 'Released'
    const lines = data.map(({ domain, domainId }) => `${domain}  ${domainId}\n`)
    return {
      text: `${begin} ${count(released.length)} of team ${toPrintable(team)}.\n${lines.join('')}`,
      data: { released: data },
      isWrong: released.length === 0,
    }
  },
}

async function releaseAllOf(
  store: ManagedStore,
  team: string,
  flags: ReadonlySet<string>,
  surroundings: Surroundings,
): Promise<Result> {
  const held = await store.count({ teamId: team })
  const ofTeam = `${count(held)} of team ${toPrintable(team)}`
  if (flags.has('dry-run')) return { text: `Would release ${ofTeam}.\n`, data: { count: held } }
  if (held > 0 && !flags.has('yes')) {
    surroundings.stderr.write(`This releases ${ofTeam}. To confirm, type the number of registrations: `)
    const [typed = ''] = await readInput(surroundings)
    if (typed !== String(held)) throw new UsageError('The number is wrong, so nothing was released')
  }
  const released = await releaseAll(store, team)
  return { text: `Released ${count(released)} of team ${toPrintable(team)}.\n`, data: { count: released } }
}

export const transferNames: Command = {
  synopsis: '--from ID --to ID [--all | NAME_OR_ID…]',
  words: { least: 0, most: Number.POSITIVE_INFINITY },
  purpose:
    'moves registrations to another team and gives them new IDs. Without arguments, reads names or IDs from ' +
    'standard input, one per line. --all moves all registrations. --dry-run only shows them. The limit and the state ' +
    'of the new team are not checked',
  options: ['from', 'to'],
  flags: ['all', 'dry-run'],
  async run({ values, flags, operands, surroundings, connect }: Invocation): Promise<Result> {
    const from = requireValue(values, 'from', 'with the ID of the team that has the names')
    const to = requireValue(values, 'to', 'with the ID of the team that gets the names')
    if (from === to) throw new UsageError('--from and --to must be different teams')
    if (flags.has('all') && operands.length > 0) throw new UsageError('Pass no names with --all')
    // The command line cannot look up teams, so it accepts the given ID unchecked.
    const findTeam = (id: string) => ({ id, organizationId: '', state: 'active' as const })
    const store: ManagedStore = { ...connect().createStore(), findTeam }
    const between = `from team ${toPrintable(from)} to team ${toPrintable(to)}`
    if (flags.has('dry-run') && flags.has('all')) {
      const held = await store.count({ teamId: from })
      return { text: `Would transfer ${count(held)} ${between}.\n`, data: { count: held } }
    }
    const domains = flags.has('all') ? undefined : operands.length > 0 ? operands : await readInput(surroundings)
    if (domains && flags.has('dry-run')) {
      const held: Registration[] = []
      for (const part of toParts(domains)) held.push(...(await findHeld(store, from, part)))
      const data = held.map(({ domain, domainId }) => ({ domain, domainId }))
      return { text: `Would transfer ${count(held.length)} ${between}.\n`, data: { transferred: data } }
    }
    const parts = domains ? toParts(domains).map(part => ({ domains: part })) : [{}]
    const transferred = []
    for (const part of parts) transferred.push(...(await transfer(store, { from, to, ...part })))
    const lines = transferred.map(({ domain, formerId, domainId }) => `${domain}  ${formerId}  ${domainId}\n`)
    return {
      text: `Transferred ${count(transferred.length)} ${between}.\n${lines.join('')}`,
      data: { transferred },
      isWrong: domains !== undefined && transferred.length === 0,
    }
  },
}

/** Splits the names into parts that the store can process in one call each. */
function toParts(domains: readonly string[]): (readonly string[])[] {
  const parts: (readonly string[])[] = []
  for (let start = 0; start < domains.length; start += MOST_AT_ONCE)
    parts.push(domains.slice(start, start + MOST_AT_ONCE))
  return parts
}

/** Looks up the team's registrations with these names and IDs, for a dry run. */
async function findHeld(
  store: ManagedStore,
  team: string,
  domains: readonly string[],
): Promise<readonly Registration[]> {
  const { found } = (await store.transfer?.({ from: team, to: '', domains, counted: false, decide: () => false })) ?? {}
  return found?.registrations ?? []
}
