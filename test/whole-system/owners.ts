import { createUuidGenerator } from '../../src/runtime/uuid.ts'
import type { Random } from '../random.ts'
import type { OperatorCall } from './operator.ts'

export interface OwnerOptions {
  /** The names that only this owner uses are below `owner-<number>.com`. */
  readonly number: number
  /** A key of the organization, with the scopes to create and delete. */
  readonly key: string
  /** The origins of the servers. Each attempt goes to a randomly chosen server. */
  readonly origins: readonly (() => string)[]
  readonly random: Random
  /** Whether the store can transfer and import. */
  readonly isComplete: boolean
  /** The ID of a team with a limit. All owners register names for this team, so they compete for its limit. */
  limitedTeam(): string
}

/**
 * A registration of the owner, as the responses describe it. The ID is unknown only if the response to a transfer was
 * lost.
 */
interface Held {
  readonly teamId: string
  readonly domainId: string | undefined
}

/** How many calls of each kind changed something according to their response, and how many attempts failed. */
export type Tally = Record<
  'created' | 'deleted' | 'overLimit' | 'transferred' | 'imported' | 'releasedAll' | 'retried' | 'failed',
  number
>

/**
 * Registers, deletes, transfers, imports and releases names without a pause: the owner's own names, and some that other
 * owners also want. If a response contradicts an earlier one, the owner stops.
 */
export interface Owner {
  readonly tally: Readonly<Tally>
  /** The owner's own names, each with its registration. `null` if the name is not registered. */
  readonly told: ReadonlyMap<string, Held | null>
  /**
   * Call this before a dump begins: changes that are acknowledged from now on may be missing from the restored
   * database.
   */
  mark(): void
  /**
   * Forgets all responses that were received since `mark` was called. Call this when the servers of the dumped database
   * have ended.
   */
  forget(): void
  /** Resolves when the last call has a final response. Rejects if a response has contradicted an earlier one. */
  stop(): Promise<void>
}

interface Call {
  readonly path: string
  readonly body: object
  readonly domains: readonly string[]
}

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: each call knows its response
  readonly data: any
  /** Whether the call would have exceeded the team's limit. */
  readonly isOverLimit: boolean
  /** `true` if no earlier attempt failed. */
  readonly isFirst: boolean
  /** Whether all attempts reached the same database. */
  readonly isSame: boolean
}

/** How many of its own names an owner may use again. */
const USED = 60
const SHARED = ['a.shared.com', 'b.shared.com', '*.shared.com', '*.x.shared.com', 'shared.com'] as const

export function startOwner(options: OwnerOptions): Owner {
  const { number, random, isComplete, limitedTeam } = options
  const ownTeam = String(1 + (number % 3))
  const createId = createUuidGenerator()
  const names = new Map<string, Held | null>()
  /** An attempt whose connection was cut may still reach the database, so its names are not used again. */
  let usable: string[] = []
  const tally: Tally = {
    created: 0,
    deleted: 0,
    overLimit: 0,
    transferred: 0,
    imported: 0,
    releasedAll: 0,
    retried: 0,
    failed: 0,
  }
  let touched: Set<string> | undefined
  let databases = 0
  let isStopped = false
  let next = 0

  async function satisfy({ path, body, domains }: Call): Promise<Answer> {
    const first = databases
    for (let isFirst = true; ; isFirst = false) {
      const attempt = databases
      const answer = await send(options, path, body)
      if (answer && attempt === databases) return { ...answer, isFirst, isSame: first === databases }
      tally.failed += 1
      usable = usable.filter(name => !domains.includes(name))
      await new Promise(resolve => setTimeout(resolve, 30))
    }
  }

  function note(domain: string, held: Held | null | undefined): void {
    touched?.add(domain)
    if (held === undefined) names.delete(domain)
    else names.set(domain, held)
  }

  /** Returns names that no attempt has used yet. Later calls may use a name again, unless an attempt with it fails. */
  function invent(most: number): string[] {
    const domains = Array.from({ length: random.integer(1, most) }, () => `n${next++}.owner-${number}.com`)
    for (const domain of domains) names.set(domain, null)
    usable = [...usable, ...domains].slice(-USED)
    return domains
  }

  const pick = (most: number, isWanted: (held: Held | null) => boolean) =>
    random.shuffle(usable.filter(name => isWanted(names.get(name) ?? null))).slice(0, random.integer(1, most))

  function demand(isTrue: boolean, domain: string, answer: Answer, result: unknown): void {
    if (isTrue) return
    throw new Error(`${domain} was ${JSON.stringify(names.get(domain))}, then ${JSON.stringify({ result, answer })}`)
  }

  async function create(teamId: string, own: readonly string[], others: readonly string[] = []): Promise<void> {
    const domains = [...own, ...others]
    const answer = await satisfy({ path: '/v1/domains', body: { team_id: teamId, domains }, domains })
    if (answer.isOverLimit) {
      tally.overLimit += 1
      for (const domain of answer.isFirst ? [] : own) note(domain, undefined)
      return
    }
    for (const [index, { status, domainId }] of answer.data.results.entries()) {
      const domain = domains[index] as string
      if (status === 'created') tally.created += 1
      if (!names.has(domain)) continue
      const held = names.get(domain)
      const isAsBefore = held ? status === 'existing' && domainId === held.domainId : status === 'created'
      demand(isAsBefore || (!answer.isFirst && status !== 'invalid'), domain, answer, status)
      note(domain, { teamId, domainId })
    }
  }

  async function remove(): Promise<void> {
    const held = pick(1, each => each !== null)[0]
    const teamId = names.get(held ?? '')?.teamId ?? ownTeam
    const own = pick(3, each => each?.teamId === teamId)
    const domains = [...own, random.pick(SHARED)]
    const answer = await satisfy({ path: '/v1/domains/delete', body: { team_id: teamId, domains }, domains })
    for (const [index, { status, domainId }] of answer.data.results.entries()) {
      const domain = domains[index] as string
      if (status === 'deleted') tally.deleted += 1
      if (!own.includes(domain) || !names.has(domain)) continue
      const isAsBefore = status === 'deleted' && domainId === names.get(domain)?.domainId
      demand(isAsBefore || (!answer.isFirst && status !== 'invalid'), domain, answer, status)
      note(domain, null)
    }
  }

  const operate = (call: OperatorCall, parameter: unknown, domains: readonly string[]) =>
    satisfy({ path: '/operator', body: { call, parameter }, domains })

  async function transfer(): Promise<void> {
    const [one = ''] = pick(1, each => each !== null)
    const from = names.get(one)?.teamId
    if (from === undefined) return
    const to = random.pick(['1', '2', '3', limitedTeam()].filter(each => each !== from))
    const domains = pick(3, each => each?.teamId === from)
    const answer = await operate('transfer', { from, to, domains }, domains)
    if (answer.isOverLimit) {
      tally.overLimit += 1
      for (const domain of answer.isFirst ? [] : domains) note(domain, undefined)
      return
    }
    const transferred: { domain: string; formerId: string; domainId: string }[] = answer.data
    for (const domain of domains) {
      const moved = transferred.find(each => each.domain === domain)
      if (moved) tally.transferred += 1
      if (!names.has(domain)) continue
      demand(moved ? moved.formerId === names.get(domain)?.domainId : !answer.isFirst, domain, answer, moved)
      note(domain, moved || answer.isSame ? { teamId: to, domainId: moved?.domainId } : undefined)
    }
  }

  async function bringIn(): Promise<void> {
    const domains = invent(3)
    const same = { teamId: ownTeam, createdAt: new Date(Date.now() - 60_000), synchronized: false }
    const rows = domains.map(domain => ({ domainId: createId(), domain, ...same }))
    const answer = await operate('importDomains', rows, domains)
    const { imported, rejected } = answer.data
    tally.imported += imported
    for (const { domain, domainId } of rows) {
      demand(rejected.length === 0 && (imported === rows.length || !answer.isFirst), domain, answer, null)
      note(domain, { teamId: ownTeam, domainId })
    }
  }

  /** A new team registers names, and all of them are released. No other call uses the ID of this team. */
  async function comeAndGo(): Promise<void> {
    const domains = invent(3)
    const teamId = `7${number}${next}`
    await create(teamId, domains)
    const answer = await operate('releaseAll', teamId, domains)
    tally.releasedAll += 1
    for (const domain of domains) {
      const isHeld = names.get(domain) !== undefined
      demand(answer.data === domains.length || !answer.isFirst || !isHeld, domain, answer, null)
      note(domain, null)
    }
  }

  async function retry(): Promise<void> {
    const { data } = await operate('retryPending', undefined, [])
    tally.retried += data
  }

  const createOwn = () =>
    create(ownTeam, [...pick(2, held => held === null || held.teamId === ownTeam), ...invent(2)], [random.pick(SHARED)])
  const createLimited = () => create(limitedTeam(), invent(5))
  const often = [createOwn, createOwn, createOwn, createOwn, remove, remove, remove]
  const deeds = [...often, createLimited, comeAndGo, retry, ...(isComplete ? [transfer, transfer, bringIn] : [])]

  async function work(): Promise<void> {
    while (!isStopped) await random.pick(deeds)()
  }
  const working = work()
  working.catch(() => {})

  return {
    tally,
    told: names,
    mark() {
      touched = new Set()
    },
    forget() {
      databases += 1
      const forgotten = touched ?? new Set()
      for (const domain of forgotten) names.delete(domain)
      usable = usable.filter(name => !forgotten.has(name))
      touched = undefined
    },
    stop() {
      isStopped = true
      return working
    },
  }
}

/** @returns `null` if the call must be retried. */
async function send({ key, origins, random }: OwnerOptions, path: string, body: object) {
  try {
    const response = await fetch(`${random.pick(origins)()}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
    const { data, error } = (await response.json()) as { data?: unknown; error?: string }
    if (error === 'domain_limit_reached') return { data, isOverLimit: true }
    const { results = [] } = Object(data) as { results?: readonly { code?: string }[] }
    if (response.status === 200 && results.every(({ code }) => code !== 'internal_error')) {
      return { data, isOverLimit: false }
    }
  } catch {
    // The server was killed.
  }
  return null
}
