/** Whatever a service does, each name gets its result, or the error lists it. Runs in virtual time. */
import { expect, test } from 'vitest'
import { RegisterAllError, type RegisterResult, registerAll } from '../../src/client/index.ts'
import { counts, seed } from '../counts.ts'
import { createRandom, type Random } from '../random.ts'
import { createVirtualTime } from '../virtual-time.ts'
import { names } from './service.ts'

const MINUTES = 60_000

const unavailable = () =>
  Response.json({ error: 'domain_registration_unavailable', message: 'Saved.' }, { status: 503 })
const lost = (): never => {
  throw new TypeError('fetch failed')
}
/** Responses that say nothing about the names. */
const disturbances = {
  lost,
  'bad gateway': () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
  'too many': () =>
    Response.json({ error: 'too_many_requests', message: 'Later.' }, { status: 429, headers: { 'Retry-After': '7' } }),
}

interface World {
  readonly all: readonly string[]
  /** The names that always fail, and how: alone with `internal_error`, or with the whole call, which is then a 503. */
  readonly failing: ReadonlyMap<string, 'internal_error' | 'refused'>
  readonly disturbance: () => Response
  /** The share of calls that are disturbed. */
  readonly disturbed: number
  /** From when until when all calls are disturbed. */
  readonly outage: readonly [start: number, end: number]
  /** The longest time that a call takes. */
  readonly slowest: number
  readonly concurrency: number
}

function createWorld(random: Random): World {
  const all = names(random.integer(0, random.chance(0.5) ? 250 : 900))
  const share = random.pick([0, 0.002, 0.01, 0.05])
  const kinds = random.pick([['internal_error'], ['refused'], ['internal_error', 'refused']] as const)
  const failing = new Map(all.filter(() => random.chance(share)).map(name => [name, random.pick(kinds)]))
  const begin = performance.now() + random.integer(0, 20_000)
  // In a world without failing names, the service itself may also fail, with any names.
  const everything = Object.values({ ...disturbances, ...(failing.size === 0 && { unavailable }) })
  const disturbance = random.pick(everything)
  return {
    ...{ all, failing, disturbance },
    disturbed: disturbance === unavailable ? random.pick([0, 0.05, 0.1]) : random.pick([0, 0.1, 0.3]),
    outage: [begin, begin + random.pick([0, 0, 1, 10]) * MINUTES],
    slowest: random.pick([1, 200, 5000]),
    concurrency: random.pick([1, 1, 2, 4, 4, 8]),
  }
}

/** Registers the names, and checks each promise of the client. */
async function follow(world: World, random: Random): Promise<void> {
  const { all, failing, disturbance, disturbed, outage, slowest, concurrency } = world
  const settled = new Set<string>()
  /** How many times in a row a name has failed while it was sent alone. */
  const failuresAlone = new Map<string, number>()
  let calls = 0
  let underWay = 0
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const { domains } = JSON.parse(init?.body as string) as { domains: string[] }
    calls += 1
    underWay += 1
    expect(underWay).toBeLessThanOrEqual(concurrency)
    expect(domains.filter(name => settled.has(name))).toEqual([])
    await new Promise(resolve => setTimeout(resolve, random.integer(0, slowest)))
    underWay -= 1
    for (const name of domains) failuresAlone.set(name, domains.length > 1 ? 0 : (failuresAlone.get(name) ?? 0) + 1)
    const now = performance.now()
    if (random.chance(disturbed) || (now >= outage[0] && now < outage[1])) return disturbance()
    const fails = (how: string) => domains.filter(name => failing.get(name) === how)
    if (fails('internal_error').length === domains.length)
      return Response.json({ error: 'internal_error', message: 'Failed.' }, { status: 500 })
    if (fails('refused').length > 0) return unavailable()
    const broken = new Set(fails('internal_error'))
    const results = domains.map(input => {
      if (broken.has(input)) return { status: 'invalid', input, code: 'internal_error', message: 'Failed.' }
      settled.add(input)
      return { status: 'created', input, domain: input, domainId: input }
    })
    return Response.json({ data: { results } })
  }

  const options = { url: 'http://localhost/v1/domains', concurrency, fetch }
  const start = performance.now()
  const register = async () => {
    if (random.chance(0.5)) return (await registerAll(all, options)).results
    const results: RegisterResult[] = []
    for await (const result of registerAll(new Set(all), options)) results.push(result)
    const byName = new Map(results.map(result => [result.input, result]))
    expect(byName.size).toBe(results.length)
    return all.flatMap(name => byName.get(name) ?? [])
  }
  const [end] = await Promise.allSettled([register()])

  // If a name alone fails twice in a row, because the service fails by chance, it looks like a name that always fails.
  const mayBeLeft = (name: string) =>
    failing.has(name) || (disturbance === unavailable && (failuresAlone.get(name) ?? 0) > 1)
  const left = all.filter(name => !settled.has(name))
  expect(left.filter(name => !mayBeLeft(name))).toEqual([])
  if (left.length === 0) expect('value' in end && end.value.map(({ input }) => input)).toEqual(all)
  else {
    const failure = 'reason' in end && end.reason
    expect(failure).toBeInstanceOf(RegisterAllError)
    const { inputs, results, resumeAt } = failure as RegisterAllError
    expect(inputs).toEqual(left)
    expect(resumeAt).toBe(all.indexOf(left[0] as string))
    if (results.length > 0) expect(results.map(({ input }) => input)).toEqual(all.filter(name => settled.has(name)))
  }
  // A name that is alone with its failure is retried until `patience` runs out, because this may be an outage.
  expect(performance.now() - start).toBeLessThan(outage[1] - outage[0] + 60 * MINUTES)
  const batches = Math.ceil(all.length / 100)
  // To find a failing name among 100, they are halved seven times.
  const undisturbed = batches + 16 * failing.size + 40
  // While nothing succeeds, each part is retried every 22 s on average, after a few shorter waits.
  const inVain = outage[1] - outage[0] + (failing.size > 0 ? 30 * MINUTES : 0)
  const retries = (batches + failing.size) * (5 + inVain / 22_000)
  expect(calls).toBeLessThan(undisturbed / (1 - disturbed) ** 2 + retries)
}

test(`each name gets its result, or is listed in the error: ${counts.services} random services`, async () => {
  for (let index = 0; index < counts.services; index += 1) {
    const random = createRandom(seed + index)
    const work = () => follow(createWorld(random), random)
    await createVirtualTime(random)
      .run(work)
      .catch(error => {
        throw new Error(`SEED=${seed + index}: ${error}`)
      })
  }
}, 3_600_000)
