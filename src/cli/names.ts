import { findOwners } from '../find-owners.ts'
import type { ListedRegistration } from '../registry/store.ts'
import {
  type Call,
  type Command,
  MANY_WORDS,
  NO_WORDS,
  type Result,
  requireValue,
  toLimit,
  type Values,
} from './command.ts'
import { plural, toPrintable, toTable } from './text.ts'

const teamOf = ({ team }: Values) => team as string | undefined

const toData = ({ domain, domainId, teamId, createdAt, synchronized }: ListedRegistration) => ({
  domain,
  domainId,
  teamId,
  createdAt,
  synchronized,
})

export const list: Command = {
  synopsis: '',
  words: NO_WORDS,
  purpose: 'lists registrations: --team, --below NAME, --domain NAME, --order newest, --limit, --after',
  options: {
    team: { type: 'string' },
    below: { type: 'string' },
    domain: { type: 'string' },
    order: { type: 'string' },
    after: { type: 'string' },
    limit: { type: 'string' },
  },
  async run({ values, connect }: Call): Promise<Result> {
    const { below, domain, after } = values as Record<string, string | undefined>
    const order = values.order as 'oldest' | 'newest' | undefined
    const limit = toLimit(values.limit) ?? 100
    const store = (await connect()).createStore()
    // One more than asked for tells whether there are others.
    const found = await store.list({ teamId: teamOf(values), below, domain, order, after, limit: limit + 1 })
    const page = found.slice(0, limit)
    const last = found.length > limit ? page.at(-1) : undefined
    const next = last ? (below === undefined ? last.domainId : last.domain) : null
    const rows = page.map(({ domain, teamId, domainId, createdAt }) => [domain, teamId, domainId, createdAt])
    const text = toTable(['DOMAIN', 'TEAM', 'ID', 'CREATED'], rows, 'No registrations.')
    return {
      text: next === null ? text : `${text}\nThere are more: --after ${next}\n`,
      data: { domains: page.map(toData), next },
    }
  },
}

export const find: Command = {
  synopsis: 'HOSTNAME…',
  words: MANY_WORDS,
  purpose: 'tells whose a hostname is: the registration of it, or of a wildcard over it',
  options: {},
  async run({ operands, connect }: Call): Promise<Result> {
    const owners = await findOwners((await connect()).createStore(), operands)
    const rows = owners.map(({ hostname, registration }) => [
      hostname,
      registration?.domain,
      registration?.teamId,
      registration?.domainId,
    ])
    return {
      text: toTable(['HOSTNAME', 'REGISTERED', 'TEAM', 'ID'], rows, ''),
      data: owners.map(({ hostname, registration }) => ({
        hostname,
        domain: registration?.domain ?? null,
        teamId: registration?.teamId ?? null,
        domainId: registration?.domainId ?? null,
      })),
    }
  },
}

export const release: Command = {
  synopsis: '--team ID NAME_OR_ID…',
  words: MANY_WORDS,
  purpose: "releases a team's registrations, for the next sweep of your server to push",
  options: { team: { type: 'string' } },
  async run({ values, operands, connect }: Call): Promise<Result> {
    const team = requireValue(values, 'team', 'with the ID of the team')
    const store = (await connect()).createStore()
    const released = await store.release(team, operands)
    const data = released.map(({ domain, domainId }) => ({ domain, domainId }))
    const count = `Released ${plural(released.length, 'registration', 'registrations')} of team ${toPrintable(team)}`
    const lines = [`${count}.`, ...data.map(({ domain, domainId }) => `${domain}  ${domainId}`)]
    return { text: `${lines.join('\n')}\n`, data: { released: data }, isWrong: released.length === 0 }
  },
}

export const count: Command = {
  synopsis: '',
  words: NO_WORDS,
  purpose: 'counts registrations, of all teams or of --team',
  options: { team: { type: 'string' } },
  async run({ values, connect }: Call): Promise<Result> {
    const total = await (await connect()).createStore().count({ teamId: teamOf(values) })
    return { text: `${total}\n`, data: { count: total } }
  },
}

const PAGE = 1000

export const exportAll: Command = {
  synopsis: '',
  words: NO_WORDS,
  purpose: 'writes all registrations, of all teams or of --team, as lines of JSON; --after continues',
  options: { team: { type: 'string' }, after: { type: 'string' } },
  async run({ values, connect, write }: Call): Promise<undefined> {
    const store = (await connect()).createStore()
    let after = values.after as string | undefined
    for (;;) {
      const page = await store.list({ teamId: teamOf(values), after, limit: PAGE })
      await write(page.map(registration => `${JSON.stringify(toData(registration))}\n`).join(''))
      after = page.at(-1)?.domainId
      if (page.length < PAGE) return
    }
  },
}
