import {
  type Change,
  createUuidGenerator,
  type DomainResult,
  importDomains,
  isApiError,
  type RegistrationToImport,
  registerDomains,
  startSynchronizing,
  transfer,
} from '../../src/index.ts'
import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import { MonitorUnavailableError } from '../../src/outbox/monitor-unavailable.ts'
import { leaseFor } from '../../src/outbox/synchronizer.ts'
import type { ImportFindings, ListedRegistration } from '../../src/rules/registration.ts'
import type { TransferredRegistrations } from '../../src/store/contract.ts'
import { createManagedStore, type ManagedStore, type StoreBackend } from '../../src/store/managed-store.ts'
import type { Awaitable } from '../../src/time/awaitable.ts'
import { teams as allTeams, scopes } from '../fixtures.ts'
import { createRandom } from './random.ts'
import { families, type HeldName, isInTheWay, type Known, overlap, rejected, spellings } from './rules.ts'
import { createVirtualClock, follow, type VirtualClock } from './virtual-clock.ts'

export interface Simulation {
  readonly seed: number
  /** Creates the database, in memory. */
  readonly createBackend?: () => StoreBackend
  /** Counts each kind of event, to check that all of them happen. */
  readonly count?: (event: string) => void
  /** Called with each event, to write a readable trace. */
  readonly trace?: (line: string) => void
}

/** A current or former registration. */
interface Held extends HeldName {
  readonly domainId: string
  /** The end of the registration, in milliseconds. `Infinity` while the name is registered. */
  to: number
}

/**
 * A process of the application. When the process dies, its timers end, but the database still runs the statements that
 * were already sent.
 */
interface Process {
  readonly worker: object
  readonly store: ManagedStore
  loop?: { stop(): Promise<void> }
}

/** A hostname as a caller writes it, with its parts, or with the code of its result if it can never be registered. */
interface Entry {
  readonly input: string
  readonly name: Known | null
  readonly code?: string
}

interface Call {
  readonly teamId: string
  readonly begun: number
  readonly beganInStorm: boolean
}

/** A push that has started. */
interface Flight {
  readonly keys: ReadonlySet<string>
  readonly givenUpAt: number
  hasGoneThrough: boolean
  isAnswered: boolean
}

const teams = allTeams.filter(({ state }) => state === 'active')
/** The time limit of a push, in milliseconds. */
const PUSH_TIME_LIMIT = 3_000
const LEASE = leaseFor(PUSH_TIME_LIMIT)
const LONGEST_WAIT = 3_600_000
/** After this many pushes without success, a monitor counts as unavailable. */
const MOST_FAILURES = 7
/** Up to this many refused changes must not delay others. */
const FEW = 3
const keyOf = ({ kind, domainId }: Change) => `${kind} ${domainId}`

/**
 * Runs one schedule. Callers of several teams register overlapping names and release them, through processes that share
 * a database and a monitor. In the first phase, statements and pushes fail, hang or lose their responses; processes
 * die; and the database's clock jumps. In the second phase, the monitor only refuses some names, and all other changes
 * must succeed. In the last phase, nothing fails.
 *
 * @returns The first violated invariant, if any.
 */
export async function simulate(simulation: Simulation): Promise<string | null> {
  const clock = createVirtualClock()
  const { random } = Math
  follow(clock)
  try {
    return await runSchedule(simulation, clock)
  } finally {
    follow(null)
    Math.random = random
  }
}

async function runSchedule(simulation: Simulation, clock: VirtualClock) {
  const { seed, createBackend = createMemoryBackend, count = () => {}, trace } = simulation
  const random = createRandom(seed)
  Math.random = random.fraction
  const rate = () => random.pick([0, 0, 0.05, 0.3])
  const rates = { store: rate() / 2, push: rate(), half: rate(), slow: rate(), hang: rate() / 4, away: rate() }
  const alphabet = [...random.pick(families), ...random.pick(families), ...families.slice(-2).flat()]
  const refused = new Set(
    random
      .shuffle(alphabet)
      .slice(0, random.pick([0, 0, 1, 3]))
      .map(({ domain }) => domain),
  )
  const batchSize = random.pick([undefined, undefined, 1, 3])
  /** How many names a team may register, by team ID. */
  const limits = new Map<string, number>(random.chance(0.3) ? teams.map(({ id }) => [id, random.integer(1, 6)]) : [])
  const stormEnds = random.pick([4_000, 15_000, 40_000])
  const backend = createBackend()
  const history: Held[] = []
  /** The new ID of each transferred registration, keyed by its former ID. */
  const successors = new Map<string, string>()
  /** The last state that the monitor received for each ID. "released" is final. */
  const monitor = new Map<string, Change>()
  const flights: Flight[] = []
  let processes: Process[] = []
  let isStorm = true
  let jumped = 0
  let offset = 0
  let violation: string | null = null

  const note = (line: string) => trace?.(`${clock.now().toFixed(0).padStart(8)}  ${line}`)
  function violate(invariant: string, detail: string): void {
    violation ??= `"${invariant}" does not hold: ${detail}`
    note(`VIOLATION: ${invariant}: ${detail}`)
  }
  function happened(event: string): void {
    count(event)
    note(event)
  }
  function strikes(chance: number, event: string): boolean {
    const isStruck = isStorm && random.chance(chance)
    if (isStruck) happened(event)
    return isStruck
  }
  const isHeldNow = ({ to }: Held) => to === Number.POSITIVE_INFINITY

  /**
   * Runs one step in the database after a delay, with the database's clock. The response arrives after another delay.
   */
  function ask<T>(worker: object, step: () => Awaitable<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => clock.plan(random.integer(0, 8), worker, settle)
      clock.plan(random.integer(0, strikes(rates.slow, 'a slow statement') ? 4_000 : 8), null, () => {
        if (strikes(rates.store, 'a statement fails')) return void answer(() => reject(new Error('not saved')))
        let result: Awaitable<T>
        try {
          result = clock.skew(offset, step)
        } catch (error) {
          return void answer(() => reject(error))
        }
        if (strikes(rates.store / 2, 'a statement without an answer')) return
        const isLost = strikes(rates.store, 'an answer is lost')
        answer(() => (isLost ? reject(new Error('saved, perhaps')) : resolve(result)))
      })
    })
  }

  /** The database as one process sees it. */
  function connect(worker: object): StoreBackend {
    const { toDomainId, ...asked } = backend
    const through = <Methods extends object>(methods: Methods): Methods =>
      Object.fromEntries(
        Object.entries(methods).map(([name, method]) => [
          name,
          (...parameters: unknown[]) => ask(worker, () => method(...parameters)),
        ]),
      ) as Methods
    return {
      ...through(asked),
      ...(toDomainId && { toDomainId }),
      outbox: through(backend.outbox),
      register(step) {
        const end = clock.now() + step.timeLimit
        return ask(worker, () => {
          if (clock.now() - offset >= end) throw new Error('No time is left')
          const result = backend.register(step) as Awaited<ReturnType<StoreBackend['register']>>
          for (const name of result.saved) checkSaved(name)
          checkLimit(step.teamId, result.saved)
          return result
        })
      },
      release: (...parameters) =>
        ask(worker, () => {
          const released = backend.release(...parameters) as Awaited<ReturnType<StoreBackend['release']>>
          const ids = new Set(released.map(({ domainId }) => domainId))
          for (const held of history) if (ids.has(held.domainId)) held.to = clock.now() - offset
          return released
        }),
      transfer: (...parameters) =>
        ask(worker, () => {
          const result = backend.transfer?.(...parameters) as TransferredRegistrations
          const { found, saved } = result
          for (const [index, { domainId }] of saved.entries()) {
            const former = found.registrations[index]?.domainId ?? ''
            for (const held of history) if (held.domainId === former) held.to = clock.now() - offset
            successors.set(former, domainId)
          }
          for (const name of saved) checkSaved(name)
          checkLimit(parameters[0].to, saved)
          return result
        }),
      import: request =>
        ask(worker, () => {
          // Rejects an ID that was released in the meantime: the monitor ignores later changes of a released ID. In a
          // real move to another store, the import ends before any name can be released.
          if (request.domainIds.some(id => history.some(held => held.domainId === id && !isHeldNow(held))))
            throw new Error('released meanwhile')
          let imported: readonly ListedRegistration[] = []
          const decide = (found: ImportFindings) => {
            imported = request.decide(found)
            return imported
          }
          const findings = backend.import?.({ ...request, decide }) as ImportFindings
          for (const { synchronized, ...name } of imported) {
            checkSaved(name)
            // The monitor already watches a registration that is imported as synchronized.
            if (synchronized) monitor.set(name.domainId, { ...name, kind: 'registered', at: name.createdAt })
          }
          return findings
        }),
    }
  }

  function checkSaved(saved: Omit<Held, 'to'>): void {
    const other = history.find(held => isHeldNow(held) && overlap(held, saved))
    if (other) violate('names do not overlap', `${other.domain} and ${saved.domain}`)
    if (history.some(({ domainId }) => domainId === saved.domainId)) violate('no ID is used twice', saved.domain)
    history.push({ ...saved, to: Number.POSITIVE_INFINITY })
  }

  /** An import may exceed a team's limit, but once the limit is exceeded, no other call may add names for the team. */
  function checkLimit(teamId: string, saved: readonly unknown[]): void {
    const count = history.filter(held => isHeldNow(held) && held.teamId === teamId).length
    if (saved.length > 0 && count > (limits.get(teamId) ?? count)) violate('no limit is exceeded', `${count} names`)
  }

  function findTeam(id: string) {
    const team = teams.find(team => team.id === id)
    return team ? { ...team, maxDomains: limits.get(id) ?? null } : null
  }

  function startProcess(): void {
    const worker = {}
    const store = createManagedStore(connect(worker), {
      findTeam: id => ask(worker, () => findTeam(id)),
      synchronize: changes => send(worker, changes),
      synchronizeTimeLimit: PUSH_TIME_LIMIT,
      batchSize,
      onError: () => {},
    })
    const process: Process = { worker, store }
    processes.push(process)
    clock.plan(0, worker, () => {
      process.loop = startSynchronizing(store, { interval: random.pick([300, 1_000, 5_000]), onError: () => {} })
    })
  }

  function crash(process: Process): void {
    processes = processes.filter(other => other !== process)
    clock.end(process.worker)
    clock.plan(random.integer(0, 2_000), null, startProcess)
  }

  /** Lets the monitor accept or refuse a push. */
  function send(worker: object, changes: readonly Change[]): Promise<void> {
    checkPush(changes)
    const flight: Flight = {
      keys: new Set(changes.map(keyOf)),
      givenUpAt: clock.now() + PUSH_TIME_LIMIT,
      hasGoneThrough: false,
      isAnswered: false,
    }
    flights.push(flight)
    note(`push of ${changes.map(({ kind, domain }) => `${kind} ${domain}`).join(', ')}`)
    const latency = random.integer(0, 20) + (strikes(rates.slow, 'a slow push') ? random.integer(100, 20_000) : 0)
    const hangs = strikes(rates.hang, 'a push without an answer')
    return new Promise((resolve, reject) => {
      clock.plan(latency, null, () => {
        const isDown = strikes(rates.push, 'a failed push')
        const isHalf = strikes(rates.half, 'half a push')
        const isUnavailable = strikes(rates.push, 'an unavailable monitor')
        const isRefused = changes.some(({ domain }) => refused.has(domain))
        if (isRefused && changes.length === 1) happened('a refusal')
        for (const change of changes) {
          if (isDown || isUnavailable || refused.has(change.domain) || (isHalf && random.chance(0.5))) continue
          if (monitor.get(change.domainId)?.kind !== 'released') monitor.set(change.domainId, change)
        }
        if (hangs) return
        clock.plan(random.integer(0, 20), worker, () => {
          flight.isAnswered = true
          const retryAfter = random.pick([undefined, 500, 8_000])
          if (isUnavailable) return reject(new MonitorUnavailableError('Not now', { retryAfter }))
          if (isDown || isHalf || isRefused) return reject(new Error('The monitor rejected the push'))
          flight.hasGoneThrough = true
          resolve()
        })
      })
    })
  }

  function checkPush(changes: readonly Change[]): void {
    for (const { kind, domainId, domain } of changes) {
      if (kind !== 'released') continue
      if (history.some(held => held.domainId === domainId && isHeldNow(held)))
        violate('only released registrations are pushed as released', domain)
      checkWatched(domainId, domain)
      const before = flights.filter(({ keys }) => keys.has(`registered ${domainId}`))
      const isUnderWay = ({ isAnswered, givenUpAt }: Flight) => !isAnswered && clock.now() < givenUpAt
      // Once a push has succeeded, the monitor knows the change, and a repeated push changes nothing.
      if (jumped > 0 || before.some(({ hasGoneThrough }) => hasGoneThrough) || !before.some(isUnderWay)) continue
      violate('no release overtakes its registration', domain)
    }
  }

  /** Before the monitor forgets the former ID of a transferred name, it must watch the name under the new ID. */
  function checkWatched(former: string, domain: string): void {
    const later = [...chainFrom(former)]
    const held = history.find(({ domainId }) => domainId === later.at(-1))
    const isKnown = later.some(domainId => monitor.get(domainId)?.kind === 'registered')
    if (held && isHeldNow(held) && !isKnown) violate('a transferred name stays watched', domain)
  }

  /** The current ID of a registration, after all its transfers. */
  function* chainFrom(former: string): Generator<string, void> {
    for (let next = successors.get(former); next !== undefined; next = successors.get(next)) yield next
  }

  /** A caller that repeats its call until every name has a result, at most `patience` times. */
  function call(teamId: string, entries: readonly Entry[], patience: number): void {
    const process = processes.length === 0 ? null : random.pick(processes)
    if (!process) return
    const again = () => {
      if (patience > 0) clock.plan(random.integer(10, 4_000), null, () => call(teamId, entries, patience - 1))
    }
    clock.plan(random.integer(0, 20), process.worker, async () => {
      const beganInStorm = isStorm
      const timeLimit = isStorm ? random.pick([30, 1_000, 8_000, 30_000]) : 30_000
      const begun = clock.now()
      const organizationId = teams.find(({ id }) => id === teamId)?.organizationId as string
      const key = random.chance(0.3)
        ? ({ type: 'organization', organizationId, scopes } as const)
        : ({ type: 'team', teamId, scopes } as const)
      const body = { domains: entries.map(({ input }) => input), team_id: teamId }
      try {
        const { data } = await registerDomains(key, body, process.store, { timeLimit })
        happened('a call answered 200')
        checkResults({ teamId, begun, beganInStorm }, entries, data.results)
        if (data.results.some(result => result.status === 'invalid' && result.code === 'internal_error')) again()
      } catch (error) {
        if (!isApiError(error)) return violate('a failure is an ApiError', String(error))
        happened(`a call answered ${error.status}`)
        if (!beganInStorm && error.status === 500) violate('no call fails once failures have stopped', error.message)
        if (error.status === 403) checkRefusal({ teamId, begun, beganInStorm }, entries)
        else again()
      }
      const took = clock.now() - begun
      if (took > timeLimit + 1) violate('a call ends in time', `${took} ms of ${timeLimit}`)
    })
  }

  /** Counts all names that the team may have had at some time during the call. */
  function checkRefusal({ teamId, begun }: Call, entries: readonly Entry[]): void {
    const held = new Set(history.filter(other => other.teamId === teamId && other.to >= begun).map(each => each.domain))
    for (const { name } of entries) if (name) held.add(name.domain)
    const limit = limits.get(teamId)
    if (limit === undefined || held.size <= limit) violate('a limit error has a cause', `${held.size} names`)
  }

  function checkResults(call: Call, entries: readonly Entry[], results: readonly DomainResult[]): void {
    if (results.some(({ input }, index) => input !== entries[index]?.input) || results.length !== entries.length)
      violate('each hostname gets one result, in order', JSON.stringify(results))
    for (const [index, result] of results.entries()) {
      const { name, code } = entries[index] as Entry
      count(result.status === 'invalid' ? result.code : result.status)
      if (result.status === 'invalid') {
        if (!isJustified(call, name, code, result))
          violate('an invalid result is justified', `${result.input}: ${result.code}`)
        checkMessage(call, name, result.message)
        continue
      }
      const held = history.find(({ domainId }) => domainId === result.domainId)
      const isSame = result.domain === held?.domain && result.domain === name?.domain && held.teamId === call.teamId
      if (!isSame || held.to < call.begun) violate('an acknowledged name is registered', result.domain)
      if (!monitor.has(result.domainId)) violate('an acknowledged name is watched', result.domain)
    }
  }

  type Invalid = Extract<DomainResult, { status: 'invalid' }>
  function isJustified({ teamId, begun, beganInStorm }: Call, name: Known | null, meant = '', { code }: Invalid) {
    // Today's suffix list does not allow the name, but an older list may have allowed it, so the name is looked up.
    const isAsked = name !== null || meant === 'public_suffix_domain' || meant === 'internal_domain'
    if (code === 'internal_error') return isAsked && beganInStorm
    if (!name) return code === meant
    // Conflicts with other names of the same call also count, because the history already contains these names.
    return history.some(other => other.to >= begun && isInTheWay(code, name, teamId, other))
  }

  function checkMessage({ teamId }: Call, name: Known | null, message: string): void {
    const sayable = new Set(history.filter(held => held.teamId === teamId).map(({ domain }) => domain))
    const foreign = history.find(({ domain }) => !sayable.has(domain) && message.includes(`"${domain}"`))
    const isItself = foreign && name && [name.domain, name.domain.replace('*.', '')].includes(foreign.domain)
    if (foreign && !isItself) violate('a message names only registrations of the same team', message)
  }

  function createEntry(): Entry {
    if (random.chance(0.06)) {
      const [input, code] = random.pick(rejected)
      return { input, name: null, code }
    }
    const name = random.pick(alphabet)
    return { input: random.pick(spellings)(name.domain), name }
  }

  function release(): void {
    const held = history.filter(isHeldNow)
    if (held.length === 0 || processes.length === 0) return
    const { teamId, domain, domainId } = random.pick(held)
    const { worker, store } = random.pick(processes)
    clock.plan(random.integer(0, 20), worker, () => {
      happened('a release')
      Promise.resolve(store.release(teamId, [random.chance(0.5) ? domain : domainId])).catch(() => {})
    })
  }

  function transferSome(): void {
    const held = history.filter(isHeldNow)
    if (held.length === 0 || processes.length === 0) return
    const { teamId: from, domain } = random.pick(held)
    const to = random.pick(teams.filter(({ id }) => id !== from)).id
    const { worker, store } = random.pick(processes)
    clock.plan(random.integer(0, 20), worker, () => {
      happened('a transfer')
      transfer(store, { from, to, domains: [domain] }).catch(() => {})
    })
  }

  /** Imports registrations of another store, with their IDs. The import is repeated until it succeeds. */
  function importSome(): void {
    const createId = createUuidGenerator()
    const rows = Array.from({ length: random.integer(1, 3) }, (): RegistrationToImport => {
      const held = history.filter(isHeldNow)
      const { domainId } = held.length > 0 && random.chance(0.2) ? random.pick(held) : { domainId: createId() }
      const { id: teamId } = random.pick(teams)
      return { ...random.pick(alphabet), domainId, teamId, createdAt: new Date(), synchronized: random.chance(0.5) }
    })
    bring(rows)
  }

  function bring(rows: readonly RegistrationToImport[]): void {
    if (processes.length === 0) return
    const { worker, store } = random.pick(processes)
    clock.plan(random.integer(0, 20), worker, async () => {
      happened('an import')
      try {
        const { imported, existing, rejected } = await importDomains(store, rows)
        if (imported + existing + rejected.length !== rows.length) violate('each row gets a result', rows.join())
        for (const { code } of rejected) count(`import: ${code}`)
      } catch {
        if (isStorm) clock.plan(random.integer(10, 4_000), null, () => bring(rows))
      }
    })
  }

  function storm(): void {
    if (clock.now() >= stormEnds) return
    if (random.chance(0.6)) {
      const entries = Array.from({ length: random.pick([1, 2, 4, 6]) }, createEntry)
      call(random.pick(teams).id, entries, random.integer(0, 3))
    }
    if (random.chance(0.4)) release()
    if (random.chance(0.3)) transferSome()
    if (random.chance(0.15)) importSome()
    if (random.chance(0.05) && processes.length > 0 && strikes(rates.away, 'a crash')) crash(random.pick(processes))
    if (random.chance(0.05) && strikes(rates.away, 'a clock jumps')) {
      const jump = random.integer(-2 * LONGEST_WAIT, 2 * LONGEST_WAIT)
      offset += jump
      jumped += Math.abs(jump)
    }
    clock.plan(random.integer(5, 1_500), null, storm)
  }

  const passTime = (milliseconds: number) => clock.pass(milliseconds, () => violation !== null)

  /** Makes all changes due and lets one process sweep. @returns How many pushes that took. */
  async function sweepAll(): Promise<number> {
    await passTime(LONGEST_WAIT + LEASE + jumped)
    const [process] = processes
    const before = flights.length
    clock.plan(0, process?.worker ?? null, () => void process?.store.synchronizePending().catch(() => {}))
    await passTime(2 * PUSH_TIME_LIMIT)
    return flights.length - before
  }

  /** Finds a name whose state at the monitor is outdated, although the monitor does not refuse the name. */
  function findBehind(): string | undefined {
    type Names = readonly { readonly domainId: string; readonly domain: string }[]
    const without = (names: Names, others: Names) =>
      names.filter(({ domainId }) => !others.some(other => other.domainId === domainId))
    const held = history.filter(isHeldNow)
    const watched = [...monitor.values()].filter(({ kind }) => kind === 'registered')
    return [...without(held, watched), ...without(watched, held)].find(({ domain }) => !refused.has(domain))?.domain
  }
  const listWaiting = async () => await backend.outbox.list(undefined, 10_000)

  /**
   * The second phase, in which the monitor only refuses some names: all other changes must succeed, and refused changes
   * must be pushed less and less often.
   */
  async function bearRefusals(): Promise<void> {
    for (const { loop } of processes) loop?.stop()
    await passTime(LEASE)
    const waiting = await listWaiting()
    const bad = waiting.filter(({ domain }) => refused.has(domain)).length
    const pushes = await sweepAll()
    // The second sweep pushes releases that had to wait for a registration.
    await sweepAll()
    const behind = findBehind()
    if (behind && bad <= FEW) violate('refused changes do not delay others', behind)
    if (bad === waiting.length && pushes > MOST_FAILURES)
      violate('an unavailable monitor gets only a few pushes', `${pushes} pushes`)
    if (bad > 0) happened(bad <= FEW ? 'few refusals' : 'many refusals')
  }

  for (let left = random.integer(1, 3); left > 0; left -= 1) startProcess()
  storm()
  await passTime(stormEnds + 60_000)
  isStorm = false
  await passTime(60_000)
  await bearRefusals()
  refused.clear()
  // The second sweep pushes releases of transferred names, which wait for the new registrations.
  await sweepAll()
  await sweepAll()
  const behind = findBehind() ?? (await listWaiting())[0]?.domain
  if (behind) violate('exactly the registered names are watched', behind)
  for (const { id } of teams) call(id, [createEntry(), createEntry(), createEntry()], 0)
  await passTime(60_000)
  return violation
}
