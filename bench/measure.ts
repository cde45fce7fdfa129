import { existsSync, readFileSync } from 'node:fs'
import type { Pool } from 'pg'
import type { GoalName } from './goals.ts'

/** One side of a comparison: a function that works on an input, and returns how long the work took. */
export type Side<Input> = (input: Input) => Promise<number> | number

/**
 * Runs two sides alternately on the same inputs, so changes in the speed of the machine affect both.
 *
 * @returns The median of the rounds' ratios.
 */
export async function compare<Input>(
  makeInput: () => Input | Promise<Input>,
  { warmUp, rounds }: { readonly warmUp: number; readonly rounds: number },
  work: Side<Input>,
  yardstick: Side<Input>,
): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round < warmUp + rounds; round += 1) {
    const input = await makeInput()
    const ratio = (await work(input)) / (await yardstick(input))
    if (round >= warmUp) ratios.push(ratio)
  }
  return median(ratios)
}

/** Milliseconds. */
export async function time(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** CPU time in milliseconds, which other programs do not affect. */
export async function timeCpu(work: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/**
 * Returns a function that measures the CPU time that PostgreSQL spends for a pool's only connection, in milliseconds.
 * Elsewhere than on Linux, it returns `NaN`.
 */
export async function createTimePostgres(pool: Pool): Promise<typeof time> {
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
  const file = `/proc/${rows[0].pid}/schedstat`
  const read = () => (existsSync(file) ? Number(readFileSync(file, 'latin1').split(' ')[0]) / 1e6 : Number.NaN)
  return async work => {
    const start = read()
    await work()
    return read() - start
  }
}

export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] as number

/** The message that a section sends to `index.ts` once, at its end. */
export type Report =
  | { readonly figures: Partial<Record<GoalName, number>> }
  /** Why the section cannot run here. */
  | { readonly passedOver: string }

/** Reports the figures of this start. A goal without a new figure keeps its last figure. */
export const report = (figures: Partial<Record<GoalName, number>>): void => send({ figures })

/**
 * Ends this section, because it cannot run here; the other sections still run. Await this before you start anything.
 */
export function passOver(reason: string): Promise<never> {
  send({ passedOver: reason }, () => process.exit())
  return new Promise(() => {})
}

/**
 * Sends the message and closes the channel. Otherwise, a dependency that listens on the channel would keep the process
 * running.
 */
function send(message: Report, end = () => process.disconnect()): void {
  if (process.send) process.send(message, end)
  else console.log(message)
}

let names = 0

/** Realistic names that nobody has registered: one to three below each registrable domain. */
export function newNames(count = 100): string[] {
  const labels = ['', 'www.', '', 'api.']
  const suffixes = ['com', 'com', 'net', 'org', 'de', 'co.uk', 'io']
  return parsed(
    Array.from({ length: count }, () => {
      const index = names++
      return `${labels[index % 4]}${word(index)}.${suffixes[index % 7]}`
    }),
  )
}

/** Labels that differ in each process, and whose first letters are spread over the alphabet. */
export const word = (index: number): string =>
  `${(Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(36)}-${process.pid.toString(36)}-${index.toString(36)}`

/** Flat strings, like those of a parsed request; `split` and templates would create slices and ropes. */
export const parsed = (texts: readonly string[]): string[] => JSON.parse(JSON.stringify(texts))

export const team = { id: '1', organizationId: '1', state: 'active' } as const
export const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
