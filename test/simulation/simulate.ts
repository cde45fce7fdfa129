import { type DomainResult, isApiError, type KeyContext, type RegisterDomainsResponse } from '../../src/index.ts'
import type { registerDomains } from '../../src/register-domains.ts'
import { createFaultyStore, type Process, type Rates, type StoreCall } from './faulty-store.ts'
import { createRandom } from './random.ts'
import { covers, families, type HeldName, type Known, overlap, rejected, spellings, verdictOf } from './rules.ts'
import { createVirtualClock, follow, type VirtualClock } from './virtual-clock.ts'

export type Invariant =
  | 'names do not overlap'
  | 'what is synchronized was pushed'
  | 'what is acknowledged is held'
  | 'what is acknowledged is synchronized'
  | 'a name is created once'
  | 'one result each, in order'
  | 'a call ends in time'
  | 'calls of the store are bounded'
  | 'each cause is reported once'
  | 'messages keep to the own team'
  | 'a refusal has its reason'
  | 'a failure has its cause'
  | 'all is well in the end'

export interface Violation {
  readonly invariant: Invariant
  readonly detail: string
}

export interface Simulation {
  readonly seed: number
  readonly registerDomains: typeof registerDomains
  /** Counts what happened, to see that everything does. */
  readonly count?: (event: string) => void
  /** Learns what happens, for a reader. */
  readonly trace?: ((line: string) => void) | undefined
}

/** A hostname as a caller writes it, with what the test knows of it; a code where it can never be registered. */
interface Entry {
  readonly input: string
  readonly name: Known | null
  readonly code?: string
}

/** A call of the API. */
interface Call {
  readonly number: number
  readonly teamId: string
  readonly entries: readonly Entry[]
  readonly timeLimit: number | undefined
  readonly storeCalls: StoreCall[]
  readonly causes: unknown[]
  startedAt: number
  isSettled: boolean
}

type Answer = readonly DomainResult[] | { readonly status: number }

const teams = [
  { id: '1', organizationId: '10', state: 'active' },
  { id: '2', organizationId: '10', state: 'active' },
  { id: '3', organizationId: '20', state: 'active' },
] as const
const scopes = ['domains:create']
const DEFAULT_TIME_LIMIT = 30_000
/** Halves of what is left are fractions. */
const ROUNDING = 1e-6

/**
 * Runs one schedule: callers in several teams want overlapping names, the registry serves them through a store that
 * fails in every way it may, processes die, answers get lost, callers retry; then it becomes calm, and everybody gets
 * an answer.
 *
 * Nothing is released here, and its store's sweeps are simple: releases, leases, refusals and waits are simulated in
 * synchronizing.ts, over the outboxes of `src`.
 *
 * @returns The first invariant that did not hold, if any.
 */
export async function simulate(simulation: Simulation): Promise<Violation | null> {
  const clock = createVirtualClock()
  follow(clock)
  try {
    return await runSchedule(simulation, clock)
  } finally {
    follow(null)
  }
}

async function runSchedule(
  { seed, registerDomains, count = () => {}, trace }: Simulation,
  clock: VirtualClock,
): Promise<Violation | null> {
  const random = createRandom(seed)
  const calmAt = random.pick([0, 300, 1_000, 4_000])
  let isQuiet = false
  const isCalm = () => isQuiet || clock.now() >= calmAt
  const rate = () => random.pick([0, 0, 0.05, 0.3])
  const crashes = random.pick([0, 0.1, 0.5])
  const losses = rate()
  const rates: Rates = {
    teamFails: rate(),
    failsBeforeCommit: rate(),
    failsAfterCommit: rate(),
    hangs: rate() / 2,
    isSlow: rate() / 2,
    decidesAgain: rate() * 2,
    pushFails: rate(),
  }
  const alphabet = [
    ...random.pick(families),
    ...random.pick(families),
    ...families
      .slice(-2)
      .flat()
      .filter(() => random.chance(0.3)),
  ]
  const poisoned = new Set(random.chance(0.3) ? [random.pick(alphabet).domain, random.pick(alphabet).domain] : [])

  let violation: Violation | null = null
  function violate(invariant: Invariant, detail: string): void {
    violation ??= { invariant, detail }
    note(`VIOLATION: ${invariant}: ${detail}`)
  }
  const note = (line: string) => trace?.(`${clock.now().toFixed(1).padStart(9)}  ${line}`)
  function happened(event: string): void {
    count(event)
    note(event)
  }
  const isLost = () => {
    const lost = !isCalm() && random.chance(losses)
    if (lost) happened('answer lost')
    return lost
  }

  const store = createFaultyStore({ clock, random, rates, teams, poisoned, isCalm, count: happened, violate })
  const { held } = store
  const idOfAcknowledged = new Map<string, string>()
  const createdBy = new Map<string, Call>()
  let process: Process | null = { database: {} }
  let inFlight = new Map<Call, (answer: Answer | null) => void>()
  let callCount = 0
  let busyCallers = 0
  /** Now and then two callers want the same. */
  let lastList: readonly Entry[] = []

  function createEntry(): Entry {
    if (random.chance(0.06)) {
      const [input, code] = random.pick(rejected)
      return { input, name: null, code }
    }
    const name = random.pick(alphabet)
    return { input: random.pick(spellings)(name.domain), name }
  }

  /** Sends lists of names, one after another, each until nothing in it is left to be sent again. */
  function startCaller(): void {
    const team = random.pick([...teams, teams[0], teams[0]])
    const key: KeyContext = random.chance(0.3)
      ? { type: 'organization', organizationId: team.organizationId, scopes }
      : { type: 'team', teamId: team.id, scopes }
    let lists = random.integer(1, 2)
    busyCallers += 1

    function next(): void {
      if (lists-- === 0) {
        busyCallers -= 1
        return
      }
      const isTwice = lastList.length > 0 && random.chance(0.3)
      if (!isTwice) lastList = Array.from({ length: random.pick([1, 2, 4, 6]) }, createEntry)
      send(lastList)
    }

    function send(entries: readonly Entry[]): void {
      const patience = random.pick([400, 5_000, 40_000])
      let isOver = false
      function receive(answer: Answer | null): void {
        if (isOver) {
          happened('answer too late')
          return
        }
        isOver = true
        const left = Array.isArray(answer) ? acknowledge(call, answer) : entries
        const delay = random.pick([0, 200, 2_000])
        if (left.length === 0) return void clock.plan(delay, null, next)
        happened('caller retries')
        clock.plan(delay, null, () => send(left))
      }
      const timeLimit = random.pick([undefined, 30, 1_000, 8_000])
      const call: Call = {
        number: ++callCount,
        teamId: team.id,
        entries,
        timeLimit: isCalm() ? undefined : timeLimit,
        storeCalls: [],
        causes: [],
        startedAt: 0,
        isSettled: false,
      }
      clock.plan(random.integer(0, 20), null, () => serve(key, call, receive))
      clock.plan(patience, null, () => {
        if (!isOver) receive(null)
      })
    }

    clock.plan(random.pick([0, 0, random.integer(0, 200)]), null, next)
  }

  /** @returns What has to be sent again. */
  function acknowledge(call: Call, results: readonly DomainResult[]): readonly Entry[] {
    for (const result of results) {
      if (result.status === 'invalid') continue
      idOfAcknowledged.set(result.domain, result.domainId)
      if (result.status !== 'created') continue
      if (createdBy.has(result.domain)) violate('a name is created once', `${result.domain} twice`)
      createdBy.set(result.domain, call)
    }
    for (const { domain, savedBy } of held) {
      if (call.storeCalls.includes(savedBy) && isInTime(call, savedBy) && createdBy.get(domain) !== call) {
        violate(
          'a name is created once',
          `${domain} was never acknowledged as created by call ${call.number}, which saved it`,
        )
      }
    }
    return call.entries.filter((_, index) => codeOf(results[index]) === 'internal_error')
  }

  function serve(key: KeyContext, call: Call, receive: (answer: Answer | null) => void): void {
    const { entries, timeLimit = DEFAULT_TIME_LIMIT } = call
    if (!process) {
      happened('connection refused')
      receive(null)
      return
    }
    note(
      `call ${call.number} of team ${call.teamId}, ${timeLimit} ms: ` +
        `${entries.map(({ input }) => JSON.stringify(input)).join(' ')}`,
    )
    inFlight.set(call, receive)
    call.startedAt = clock.now()
    clock.plan(timeLimit + ROUNDING, process, () => {
      if (!call.isSettled) violate('a call ends in time', `call ${call.number} has no answer after ${timeLimit} ms`)
    })
    clock.plan(0, process, () => {
      const body = { domains: entries.map(({ input }) => input), team_id: call.teamId }
      const view = store.view(process as Process, call.storeCalls)
      const options = { timeLimit: call.timeLimit, onError: (cause: unknown) => void call.causes.push(cause) }
      registerDomains(key, body, view, options).then(
        response => settle(call, receive, response),
        error => settle(call, receive, error),
      )
    })
  }

  function settle(
    call: Call,
    receive: (answer: Answer | null) => void,
    response: RegisterDomainsResponse | unknown,
  ): void {
    call.isSettled = true
    inFlight.delete(call)
    let answer: Answer
    if (isApiError(response)) {
      answer = { status: response.status }
      checkFailure(call, response)
    } else if (response instanceof Error) {
      violate('a failure has its cause', String(response.stack))
      return
    } else {
      const { data } = response as RegisterDomainsResponse
      answer = data.results
      checkResults(call, data)
    }
    checkBounds(call)
    count(Array.isArray(answer) ? 'answered 200' : `answered ${(answer as { status: number }).status}`)
    note(`call ${call.number} ends: ${Array.isArray(answer) ? answer.map(codeOf).join(' ') : JSON.stringify(answer)}`)
    if (isLost()) return
    clock.plan(random.integer(0, 20), null, () => receive(answer))
  }

  function checkFailure(call: Call, { status, message }: { status: number; message: string }): void {
    checkMessage(call, message)
    const operations: Record<number, readonly string[]> = { 500: ['findTeam', 'register'], 503: ['synchronize'] }
    const isOne = ({ operation }: StoreCall) => operations[status]?.includes(operation)
    if (!call.storeCalls.some(storeCall => isOne(storeCall) && hasGoneWrong(call, storeCall))) {
      violate('a failure has its cause', `call ${call.number} was answered ${status}`)
    }
  }

  function checkResults(call: Call, { results, totals }: RegisterDomainsResponse['data']): void {
    const isInOrder = results.every(({ input }, index) => input === call.entries[index]?.input)
    const counted = { created: 0, existing: 0, invalid: 0 }
    for (const { status } of results) counted[status] += 1
    const isCounted = JSON.stringify(counted) === JSON.stringify(totals)
    if (results.length !== call.entries.length || !isInOrder || !isCounted) {
      violate('one result each, in order', JSON.stringify({ results, totals }))
      return
    }
    results.forEach((result, index) => {
      count(codeOf(result))
      checkResult(call, call.entries[index] as Entry, result)
    })
    const failed = call.entries.flatMap(({ name }, index) =>
      name && codeOf(results[index]) === 'internal_error' ? [name.registrableDomain] : [],
    )
    const kinds = new Set(call.causes.map(String))
    const isTold = call.causes.length > 0 === failed.length > 0
    if (!isTold || kinds.size < call.causes.length || kinds.size > new Set(failed).size) {
      violate('each cause is reported once', `${[...kinds].join()} for ${new Set(failed).size} registrable domains`)
    }
  }

  function checkResult(call: Call, { name, code }: Entry, result: DomainResult): void {
    if (result.status !== 'invalid') {
      const found = held.find(({ domainId }) => domainId === result.domainId)
      const isHeld = found?.teamId === call.teamId && found.domain === result.domain && found.domain === name?.domain
      if (!isHeld)
        violate('what is acknowledged is held', `${result.domain}, ${result.domainId} in team ${call.teamId}`)
      if (!found?.isSynchronized) violate('what is acknowledged is synchronized', result.domain)
      return
    }
    checkMessage(call, result.message, name)
    if (!name) {
      if (result.code !== code) violate('a refusal has its reason', `${result.input}: ${result.code}`)
      return
    }
    if (result.code === 'internal_error') {
      const isAlone = ({ registrableDomains: [first, ...others] }: StoreCall) =>
        first === name.registrableDomain && others.length === 0
      const hasFailedAlone = call.storeCalls.some(storeCall => isAlone(storeCall) && hasGoneWrong(call, storeCall))
      if (!hasFailedAlone && !seemsDown(call) && !isLate(call)) {
        violate('a failure has its cause', `${name.domain} is an internal error, and no call for it alone failed`)
      }
      return
    }
    // Nothing is released, so that what stood in the way still does.
    const isOwn = ({ teamId }: HeldName) => teamId === call.teamId
    const reasons: Record<string, (other: HeldName) => boolean> = {
      wildcard_conflict: other => isOwn(other) && covers(other, name),
      subdomain_conflict: other => isOwn(other) && covers(name, other),
      domain_already_licensed: other => !isOwn(other) && overlap(other, name),
    }
    if (!held.some(other => reasons[result.code]?.(other)))
      violate('a refusal has its reason', `${name.domain}: ${result.code}`)
  }

  /** Whether so many calls of `register` failed, and none went through, that the core may give up. */
  function seemsDown(call: Call): boolean {
    const registering = call.storeCalls.filter(({ operation }) => operation === 'register')
    const { size } = new Set(call.entries.flatMap(({ name }) => (name ? [name.registrableDomain] : [])))
    const isDown = registering.every(storeCall => hasGoneWrong(call, storeCall))
    return isDown && registering.length === Math.ceil(Math.log2(size)) + 2
  }
  /** Whether less than a millisecond was left, for which the core asks nobody. */
  const isLate = ({ startedAt, timeLimit = DEFAULT_TIME_LIMIT }: Call) =>
    clock.now() > startedAt + timeLimit - 1 - ROUNDING

  /** Nobody learns from a message what another team holds; the code `domain_already_licensed` has to be enough. */
  function checkMessage(call: Call, message: string, name: Known | null = null): void {
    const own = held.filter(({ teamId }) => teamId === call.teamId)
    const sayable = new Set(own.map(({ domain }) => domain))
    if (name) sayable.add(name.domain).add(name.domain.replace('*.', ''))
    const foreign = held.find(({ domain }) => !sayable.has(domain) && message.includes(`"${domain}"`))
    if (foreign) violate('messages keep to the own team', message)
  }

  function checkBounds(call: Call): void {
    const took = clock.now() - call.startedAt
    const { timeLimit = DEFAULT_TIME_LIMIT } = call
    if (took > timeLimit + ROUNDING)
      violate('a call ends in time', `call ${call.number} took ${took} ms of ${timeLimit}`)
    call.storeCalls.forEach((storeCall, index) => {
      const before = call.storeCalls[index - 1]
      if (before && storeCall.startedAt > before.startedAt + allowance(call, before) + ROUNDING) {
        violate('a call ends in time', `call ${call.number} waited for ${before.operation} and left too little time`)
      }
    })
    const registrable = new Set(call.entries.flatMap(({ name }) => (name ? [name.registrableDomain] : [])))
    const bounds = { findTeam: 1, register: Math.max(0, 2 * registrable.size - 1), synchronize: 1 }
    for (const [operation, bound] of Object.entries(bounds)) {
      const calls = call.storeCalls.filter(storeCall => storeCall.operation === operation).length
      if (calls > bound)
        violate('calls of the store are bounded', `${calls} of ${operation}, where ${bound} is the bound`)
    }
  }

  /** How long the core may wait for it: `register` for half of the time that is left. */
  function allowance({ startedAt, timeLimit = DEFAULT_TIME_LIMIT }: Call, storeCall: StoreCall): number {
    const left = startedAt + timeLimit - storeCall.startedAt
    return storeCall.operation === 'register' ? left / 2 : left
  }
  const duration = ({ startedAt, answeredAt }: StoreCall) => answeredAt - startedAt
  const hasGoneWrong = (call: Call, storeCall: StoreCall) =>
    storeCall.hasFailed || duration(storeCall) > allowance(call, storeCall) - ROUNDING
  const isInTime = (call: Call, storeCall: StoreCall) =>
    !storeCall.hasFailed && duration(storeCall) < allowance(call, storeCall) - ROUNDING

  /** Every call in flight is lost; of what the database was told, some still happens. */
  function crash(): void {
    if (!process) return
    happened('crash')
    clock.end(process)
    clock.dropSome(process.database, () => random.chance(0.5))
    for (const receive of inFlight.values()) clock.plan(random.integer(0, 20), null, () => receive(null))
    inFlight = new Map()
    process = null
    clock.plan(random.integer(0, 500), null, () => {
      process = { database: {} }
    })
  }

  function tick(): void {
    if (!isCalm() && random.chance(crashes)) crash()
    if (random.chance(0.3)) store.sweep()
    if (busyCallers > 0 || held.some(({ isSynchronized }) => !isSynchronized))
      clock.plan(random.integer(50, 1_000), null, tick)
  }

  for (let callers = random.integer(2, 4); callers > 0; callers -= 1) startCaller()
  clock.plan(random.integer(50, 1_000), null, tick)
  const TOO_LONG = 10 * 60_000
  await clock.run(() => violation !== null || clock.now() > TOO_LONG)
  if (violation) return violation
  if (clock.now() > TOO_LONG) violate('all is well in the end', 'it never became quiet')
  isQuiet = true
  await checkEnd()
  return violation

  async function checkEnd(): Promise<void> {
    held.forEach((one, index) => {
      const other = held.slice(0, index).find(earlier => overlap(earlier, one))
      if (other) violate('names do not overlap', `${one.domain} and ${other.domain}`)
      if (!one.isSynchronized || one.pushes === 0)
        violate('all is well in the end', `${one.domain} is not synchronized`)
    })
    for (const [domain, domainId] of idOfAcknowledged) {
      if (!held.some(one => one.domain === domain && one.domainId === domainId)) {
        violate('what is acknowledged is held', `${domain} was lost`)
      }
    }
    await submitAgain()
  }

  /** When all is quiet, each team submits some names once more: the answers are those of the rules. */
  async function submitAgain(): Promise<void> {
    for (const team of teams) {
      const names = Array.from({ length: 5 }, () => random.pick(alphabet))
      const expected: string[] = []
      const model: HeldName[] = [...held]
      for (const name of names) {
        const verdict = verdictOf(name, team.id, model)
        expected.push(verdict)
        if (verdict === 'created') model.push({ ...name, teamId: team.id })
      }
      let answer: Answer | undefined
      const entries = names.map(name => ({ input: name.domain, name }))
      const call: Call = {
        number: ++callCount,
        teamId: team.id,
        entries,
        timeLimit: undefined,
        storeCalls: [],
        causes: [],
        startedAt: 0,
        isSettled: false,
      }
      process ??= { database: {} }
      serve({ type: 'team', teamId: team.id, scopes }, call, received => {
        answer = received ?? undefined
      })
      await clock.run(() => violation !== null)
      const codes = Array.isArray(answer) ? answer.map(codeOf) : []
      if (codes.join() !== expected.join())
        violate('all is well in the end', `team ${team.id}: ${codes}; by the rules ${expected}`)
    }
  }
}

const codeOf = (result: DomainResult | undefined) =>
  result?.status === 'invalid' ? result.code : String(result?.status)
