import type {
  DomainStore,
  LookUpResult,
  Name,
  NamesBelow,
  Registration,
  RegistrationRequest,
  Team,
} from '../../src/index.ts'
import type { Random } from './random.ts'
import { type HeldName, overlap } from './rules.ts'
import type { Owner, VirtualClock } from './virtual-clock.ts'

/** How often each thing happens, from 0 to 1. */
export interface Rates {
  readonly teamFails: number
  readonly failsBeforeCommit: number
  readonly failsAfterCommit: number
  readonly hangs: number
  readonly isSlow: number
  readonly decidesAgain: number
  readonly pushFails: number
}

/** One call of the store by the core, and what became of it. */
export interface StoreCall {
  readonly operation: 'findTeam' | 'register' | 'synchronize'
  readonly registrableDomains: readonly string[]
  readonly startedAt: number
  /** Infinite until the answer comes. */
  answeredAt: number
  hasFailed: boolean
}

/**
 * A process that serves calls. When it dies, what it waits for never comes; what the database was told may still
 * happen.
 */
export interface Process {
  readonly database: Owner
}

export interface Held extends HeldName {
  readonly domainId: string
  readonly savedBy: StoreCall
  isSynchronized: boolean
  pushes: number
}

interface Surroundings {
  readonly clock: VirtualClock
  readonly random: Random
  readonly rates: Rates
  readonly teams: readonly Team[]
  readonly poisoned: ReadonlySet<string>
  /** Once calm, nothing fails any more. */
  readonly isCalm: () => boolean
  readonly count: (event: string) => void
  readonly violate: (invariant: 'names do not overlap' | 'what is synchronized was pushed', detail: string) => void
}

/** A durable store in a model of a database: what it holds outlives every process, what it answers may not arrive. */
export interface FaultyStore {
  readonly held: readonly Held[]
  /** The store as one call of one process sees it. */
  view(process: Process, calls: StoreCall[]): DomainStore
  /** What a host's timer does: pushes what is pending. */
  sweep(): void
}

export function createFaultyStore(surroundings: Surroundings): FaultyStore {
  const { clock, random, rates, teams, poisoned, isCalm, count, violate } = surroundings
  const held: Held[] = []
  let saved = 0

  function strikes(rate: number, fault: string): boolean {
    const isStruck = !isCalm() && random.chance(rate)
    if (isStruck) count(fault)
    return isStruck
  }

  const latency = () => random.integer(0, 12)
  /** Longer than some time limits, shorter than others. */
  const slowness = () => (strikes(rates.isSlow, 'slow') ? random.integer(50, 4000) : 0)

  function lookUp({ domains, bases, teamId }: RegistrationRequest): LookUpResult {
    return {
      registrations: held.filter(({ domain }) => domains.includes(domain)).map(toRegistration),
      below: bases.map((base): NamesBelow => {
        const below = held.filter(({ domain }) => domain !== `*.${base}` && domain.endsWith(`.${base}`))
        const isBehindSuffix = ({ registrableDomain }: Held) => registrableDomain.endsWith(`.${base}`)
        const near = below.filter(other => !isBehindSuffix(other))
        const own = near.filter(other => other.teamId === teamId)
        return {
          ownDomains: own.map(other => other.domain).slice(0, 3),
          ownCount: own.length,
          heldByOthers: own.length < near.length,
          behindSuffixes: below.filter(isBehindSuffix),
        }
      }),
    }
  }

  function save(names: readonly Name[], teamId: string, savedBy: StoreCall): Registration[] {
    return names.map(({ domain, registrableDomain }) => {
      const domainId = `id-${++saved}`
      const added: Held = {
        domainId,
        domain,
        registrableDomain,
        teamId,
        savedBy,
        isSynchronized: false,
        pushes: 0,
      }
      const other = held.find(earlier => overlap(earlier, added))
      if (other) violate('names do not overlap', `${domain} of team ${teamId}, ${other.domain} of team ${other.teamId}`)
      held.push(added)
      return toRegistration(added)
    })
  }

  function push(registrations: readonly { domainId: string }[]): void {
    for (const registration of registrations) find(registration).pushes += 1
  }

  function mark(registrations: readonly { domainId: string }[]): void {
    for (const registration of registrations) {
      const found = find(registration)
      if (found.pushes === 0) violate('what is synchronized was pushed', `${found.domain} was not`)
      found.isSynchronized = true
    }
  }

  function find({ domainId }: { domainId: string }): Held {
    const found = held.find(registration => registration.domainId === domainId)
    // Nothing to push or mark where a forgetful store has lost it.
    return found ?? ({ pushes: 1 } as Held)
  }

  /** Some steps in the database, each after a while, then the answer to the process; a step that throws is the last. */
  function converse<T>(process: Process, call: StoreCall, steps: readonly (() => void)[], answer: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      function settle(settled: () => void) {
        clock.plan(latency() + slowness(), process, () => {
          if (strikes(rates.hangs, `${call.operation} hangs`)) return
          call.answeredAt = clock.now()
          settled()
        })
      }
      function proceed(index: number) {
        clock.plan(latency() + slowness(), process.database, () => {
          try {
            const step = steps[index]
            if (!step) return settle(() => resolve(answer()))
            step()
          } catch (cause) {
            return settle(() => {
              call.hasFailed = true
              reject(cause)
            })
          }
          proceed(index + 1)
        })
      }
      proceed(0)
    })
  }

  /** As `converse`, all of it at once and without a promise: what a store in memory does. */
  function answerAtOnce<T>(call: StoreCall, steps: readonly (() => void)[], answer: () => T): T {
    count('answers at once')
    call.answeredAt = clock.now()
    try {
      for (const step of steps) step()
      return answer()
    } catch (cause) {
      call.hasFailed = true
      throw cause
    }
  }

  function fails(rate: number, fault: string): void {
    if (strikes(rate, fault)) throw new Error(fault)
  }

  function view(process: Process, calls: StoreCall[]): DomainStore {
    function begin<T>(
      operation: StoreCall['operation'],
      registrableDomains: readonly string[],
      plan: (call: StoreCall) => readonly [steps: readonly (() => void)[], answer: () => T],
    ): T | Promise<T> {
      const call = {
        operation,
        registrableDomains,
        startedAt: clock.now(),
        answeredAt: Number.POSITIVE_INFINITY,
        hasFailed: false,
      }
      calls.push(call)
      const [steps, answer] = plan(call)
      return random.chance(0.2) ? answerAtOnce(call, steps, answer) : converse(process, call, steps, answer)
    }

    return {
      findTeam: teamId =>
        begin('findTeam', [], () => [
          [() => fails(rates.teamFails, 'findTeam fails')],
          () => teams.find(team => team.id === teamId) ?? null,
        ]),

      register: request =>
        begin('register', request.registrableDomains, call => {
          const looked: LookUpResult[] = []
          let decided: readonly Name[] | undefined
          let saved: readonly Registration[] = []
          const decide = () => {
            const found = lookUp(request)
            looked.push(found)
            decided = request.decide(found)
          }
          const earlier = strikes(rates.decidesAgain, 'decides again') ? random.integer(1, 2) : 0
          const steps = [
            () => fails(rates.failsBeforeCommit, 'register fails before commit'),
            () => {
              if (isCalm() || !request.domains.some(domain => poisoned.has(domain))) return
              count('poison')
              throw new Error('poison')
            },
            // Long enough for another call to come between.
            ...Array.from({ length: earlier }, () => [decide, ...Array(6).fill(pass)]).flat(),
            () => {
              decide()
              saved = save(decided ?? [], request.teamId, call)
            },
            () => fails(rates.failsAfterCommit, 'register fails after commit'),
          ]
          return [steps, () => ({ found: looked.at(-1) as LookUpResult, saved })]
        }),

      synchronize(registrations) {
        return begin('synchronize', [], () => [synchronization(registrations), () => undefined])
      },
    }
  }

  function synchronization(registrations: readonly { domainId: string }[]): (() => void)[] {
    const some = registrations.filter(() => random.chance(0.5))
    return [
      () => fails(rates.pushFails, 'push fails'),
      () => {
        if (!strikes(rates.pushFails, 'push goes through for some')) return push(registrations)
        push(some)
        throw new Error('push went through for some')
      },
      () => fails(rates.pushFails, 'pushed and not marked'),
      () => mark(registrations),
      () => fails(rates.pushFails, 'synchronize fails after all'),
    ]
  }

  return {
    held,
    view,

    sweep() {
      const pending = held.filter(registration => !registration.isSynchronized).slice(0, random.integer(1, 10))
      if (pending.length === 0) return
      count('sweep')
      const database = {}
      const call: StoreCall = {
        operation: 'synchronize',
        registrableDomains: [],
        startedAt: 0,
        answeredAt: 0,
        hasFailed: false,
      }
      converse({ database }, call, synchronization(pending), () => undefined).catch(() => count('sweep fails'))
    },
  }
}

const toRegistration = ({ domainId, domain, registrableDomain, teamId, isSynchronized }: Held): Registration => ({
  domainId,
  domain,
  registrableDomain,
  teamId,
  synchronized: isSynchronized,
})

function pass(): void {}
