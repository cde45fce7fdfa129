import { spawnSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { createMemoryStore, type MemoryStore, registerDomains } from 'domain-registration'
import { parse } from 'tldts'
import { record } from './figures.ts'
import { type GoalName, goals } from './goals.ts'

/**
 * What the memory store costs, as ratios: the two sides of a ratio take turns within one run, on the same kind
 * of input. Run it with `node --expose-gc --max-old-space-size=6000 --import tsx bench/memory-store.ts`.
 */
export interface Row {
  readonly work: string
  readonly yardstick: string
  readonly ratio?: number
  readonly value?: number
  /** Which goal it is held against, if any. */
  readonly goal?: GoalName
}

const teams = [
  { id: '1', organizationId: '1', state: 'active' },
  { id: '2', organizationId: '1', state: 'active' },
] as const
const keyOf = (teamId: string) => ({ type: 'team', teamId, scopes: ['domains:create'] }) as const

const BATCH = 100
const ROUNDS = 4000
const WARM_UP = 3000
const MOST_HELD = 10_000_000

/** 100 new names against `tldts.parse` with its default options, which does a part of what classifying does. */
export async function measureRegistering(): Promise<Row[]> {
  const store = createMemoryStore({ teams })
  await fill(store, 1000)
  const ratio = await compare(
    freshNames,
    domains => registerAndRelease(store, domains),
    domains =>
      time(() => {
        for (const domain of domains) parse(domain)
      }),
  )
  return [{ work: 'registerDomains, 100 new names', yardstick: 'tldts.parse of the same names', ratio, goal: 'memory' }]
}

/** 100 new names with millions held, against 1,000 held; and the bytes that one of the millions takes. */
export async function measureHolding(): Promise<Row[]> {
  const rows: Row[] = []
  const few = createMemoryStore({ teams })
  await fill(few, 1000)
  const many = createMemoryStore({ teams })
  const before = memoryUsed()
  let held = 0
  for (const count of [1_000_000, MOST_HELD]) {
    await fill(many, count - held)
    held = count
    rows.push({
      work: `memory store, bytes for each of ${count.toLocaleString('en')} registrations`,
      yardstick: 'memory used after garbage collection',
      value: (memoryUsed() - before) / held,
      ...(held === MOST_HELD && { goal: 'memoryBytes' }),
    })
    rows.push({
      work: `registerDomains, 100 new names, ${count.toLocaleString('en')} held`,
      yardstick: 'the same, 1,000 held',
      ratio: await compare(
        freshNames,
        domains => registerAndRelease(many, domains),
        domains => registerAndRelease(few, domains),
      ),
      ...(held === MOST_HELD && { goal: 'memoryHeld' }),
    })
  }
  return rows
}

/** A wildcard over a base with a million names below it, which is refused, against one over a base with none. */
export async function measureWildcards(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [whose, holder] of [
    ['own', '1'],
    ['foreign', '2'],
  ] as const) {
    const store = createMemoryStore({ teams })
    await fill(store, 1000)
    for (let index = 0; index < 1_000_000; index += BATCH) {
      await registerDomains(
        keyOf(holder),
        parsed(Array.from({ length: BATCH }, (_, offset) => `host-${index + offset}.example.com`)),
        store,
      )
    }
    let round = 0
    const ratio = await compare(
      () => parsed([`*.empty-${round++}.com`]).domains,
      () => time(() => registerDomains(keyOf('1'), { domains: ['*.example.com'] }, store)),
      domains => registerAndRelease(store, domains),
    )
    rows.push({
      work: `a wildcard over a base with a million ${whose} names below it`,
      yardstick: 'a wildcard over an empty base',
      ratio,
      goal: 'memoryWildcard',
    })
  }
  return rows
}

/** Registers names as customers have them: one to three for each registrable domain, one in ten of them deep. */
async function fill(store: MemoryStore, count: number): Promise<void> {
  for (let done = 0; done < count; done += BATCH) {
    await registerDomains(keyOf('1'), parsed(customerNames(Math.min(BATCH, count - done))), store)
  }
}

const suffixes = ['com', 'com', 'com', 'net', 'org', 'de', 'co.uk', 'io', 'fr', 'com.br']
const words = ['shop', 'blue', 'data', 'cloud', 'garden', 'north', 'media', 'hotel', 'pixel', 'quick']
let customers = 0

function customerNames(count: number): string[] {
  const names: string[] = []
  while (names.length < count) {
    const customer = customers++
    const suffix = suffixes[Math.floor(customer / 10) % 10]
    const registrableDomain = `${words[customer % 10]}${customer.toString(36)}.${suffix}`
    names.push(registrableDomain)
    if (customer % 3 > 0) names.push(`www.${registrableDomain}`)
    if (customer % 3 > 1)
      names.push(customer % 10 === 0 ? `eu.api.prod.${registrableDomain}` : `api.${registrableDomain}`)
  }
  return names.slice(0, count)
}

let fresh = 0

/** 100 names that nobody holds, half of them below their registrable domain, as they come out of a request. */
function freshNames(): readonly string[] {
  return parsed(
    Array.from({ length: BATCH }, () => {
      const index = fresh++
      return `${['', 'www.', '', 'api.'][index % 4]}new-${words[index % 7]}-${index}.${suffixes[index % 10]}`
    }),
  ).domains
}

const parsed = (domains: readonly string[]): { domains: string[] } => JSON.parse(JSON.stringify({ domains }))

/** Milliseconds of the registering alone. */
async function registerAndRelease(store: MemoryStore, domains: readonly string[]): Promise<number> {
  const spent = await time(() => registerDomains(keyOf('1'), { domains }, store))
  if (store.release('1', domains).length !== domains.length) throw new Error('The names were not new')
  return spent
}

/**
 * The median of the ratios round by round, after a warm-up, each on its own input: what the machine does to both
 * cancels out.
 */
async function compare<Input>(
  makeInput: () => Input,
  work: (input: Input) => Promise<number>,
  yardstick: (input: Input) => Promise<number>,
): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const [workTime, yardstickTime] = [await work(makeInput()), await yardstick(makeInput())]
    if (round < WARM_UP) continue
    ratios.push(workTime / yardstickTime)
  }
  return median(ratios)
}

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] as number

async function time(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The heap, and the numbers that stand outside of it. */
function memoryUsed(): number {
  if (!globalThis.gc) throw new Error('Run with --expose-gc')
  for (let run = 0; run < 3; run += 1) globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const measures: Readonly<Record<string, () => Promise<Row[]>>> = {
  registering: measureRegistering,
  wildcards: measureWildcards,
  holding: measureHolding,
}

/** Each in a process of its own: what one leaves behind is not counted with another's. */
function runEach(program: string): void {
  for (const name of Object.keys(measures)) {
    const { status } = spawnSync(process.execPath, [...process.execArgv, program, name], { stdio: 'inherit' })
    process.exitCode ||= status ?? 1
  }
}

const [, program = '', name] = process.argv
if (import.meta.url === pathToFileURL(program).href) {
  const measure = measures[name ?? '']
  if (!measure) runEach(program)
  else {
    for (const { work, yardstick, ratio, value, goal } of await measure()) {
      const figure = ratio ?? value ?? Number.NaN
      if (goal) record(goal, figure)
      const most = goal ? `  ≤ ${goals[goal].most}` : ''
      console.log(`${`${work}, against ${yardstick}`.padEnd(112)} ${figure.toFixed(2).padStart(6)}${most}`)
    }
  }
}
