import type { DomainResult, RegisterDomainsResponse } from '../../src/wire/response.ts'
import type { Random } from '../random.ts'
import { families } from '../rules/brute-force.ts'

/** A call that is sent again until each of its hostnames has a result. */
export interface Call {
  readonly teamId: string
  readonly domains: readonly string[]
}

/** A response with status 200. */
export interface Answer {
  readonly call: Call
  /** The number of the attempt that got this response, starting at 1. */
  readonly attempt: number
  readonly results: readonly DomainResult[]
}

export interface CallersOptions {
  readonly calls: readonly Call[]
  /** A key of each team. */
  readonly keys: ReadonlyMap<string, string>
  /** The origins of the servers, which get the attempts in turn. */
  readonly origins: readonly (() => string)[]
}

/** Callers that are sending calls. */
export interface Callers {
  readonly answers: readonly Answer[]
  /** Outcomes other than status 200: either the status with its code, or `cut` for a lost connection. */
  readonly refusals: readonly string[]
  /** Resolves when this many calls have all their results. */
  answeredFor(count: number): Promise<void>
  /** Resolves when all calls have their results. */
  readonly done: Promise<void>
}

const CALLERS = 8
const teamIds = ['1', '2', '3']

/**
 * Calls whose hostnames overlap within a call, between calls and between teams. Each call also has hostnames that no
 * other call has.
 */
export function createCalls(random: Random, count: number): Call[] {
  const zones = Array.from({ length: 12 }, (_, index) => `zone-${index}.com`)
  const shared = [
    ...families.flat().map(({ domain }) => domain),
    ...zones.flatMap(zone => [zone, `www.${zone}`, `a.b.${zone}`, `*.b.${zone}`, `*.${zone}`]),
  ]
  return Array.from({ length: count }, (_, index) => {
    const own = Array.from({ length: random.integer(1, 3) }, (_, which) => `${which}.call-${index}-${which % 2}.com`)
    const picked = Array.from({ length: random.integer(0, 5) }, () => random.pick(shared))
    return { teamId: random.pick(teamIds), domains: [...picked, ...own, contest(index)] }
  })
}

/**
 * Returns a name that conflicts with those of the calls just before and after this one. The name's registrable domain
 * has already been locked by earlier calls.
 */
function contest(index: number): string {
  const round = Math.floor(index / 4)
  const base = `round-${round}.zone-${round % 12}.com`
  return [`*.${base}`, `x.${base}`, `*.y.${base}`, `a.y.${base}`][index % 4] as string
}

/** Sends several calls at a time, and repeats each call until its response contains no `internal_error`. */
export function startCallers({ calls, keys, origins }: CallersOptions): Callers {
  const answers: Answer[] = []
  const refusals: string[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  let turn = 0
  let answered = 0

  async function send({ teamId, domains }: Call): Promise<readonly DomainResult[] | null> {
    const origin = origins[turn++ % origins.length] as () => string
    try {
      const response = await fetch(`${origin()}/v1/domains`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${keys.get(teamId)}` },
        body: JSON.stringify({ domains }),
      })
      const body = await response.json()
      if (response.status === 200) return (body as RegisterDomainsResponse).data.results
      refusals.push(`${response.status} ${(body as { error: string }).error}`)
    } catch {
      refusals.push('cut')
    }
    return null
  }

  async function satisfy(call: Call): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const results = await send(call)
      if (results) answers.push({ call, attempt, results })
      if (results?.every(result => result.status !== 'invalid' || result.code !== 'internal_error')) break
      await new Promise(resolve => setTimeout(resolve, 10))
    }
    answered += 1
    for (const { count, resolve } of waiting) if (answered >= count) resolve()
  }

  const remaining = calls.values()
  async function work(): Promise<void> {
    for (const call of remaining) await satisfy(call)
  }

  return {
    answers,
    refusals,
    answeredFor: count =>
      answered >= count ? Promise.resolve() : new Promise(resolve => waiting.push({ count, resolve })),
    done: Promise.all(Array.from({ length: CALLERS }, work)).then(() => {}),
  }
}
