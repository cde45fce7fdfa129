import { cpus, totalmem } from 'node:os'
import type { Timing } from './measure.ts'

/** A line of the table. */
export interface Row {
  readonly work: string
  readonly median: string
  readonly spread: string
  /** Against the yardstick, which is the row with 1.00 above it. */
  readonly ratio: string
  readonly goal: string
}

export function toRow(work: string, { median, low, high, ratio }: Timing, goal = ''): Row {
  return {
    work,
    median: formatTime(median),
    spread: `${formatTime(low)} – ${formatTime(high)}`,
    ratio: ratio.toFixed(2),
    goal,
  }
}

function formatTime(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${nanoseconds.toFixed(0)} ns`
  return nanoseconds < 1e6 ? `${(nanoseconds / 1e3).toFixed(2)} µs` : `${(nanoseconds / 1e6).toFixed(2)} ms`
}

/** Prints the machine that all below is measured on. */
export function printMachine(): void {
  const [cpu] = cpus()
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
  )
}

/** Prints what stands above rows. */
export function printHead(): void {
  printRow({ work: 'work', median: 'median', spread: '10 % – 90 %', ratio: 'ratio', goal: 'goal' })
}

export function printRow({ work, median, spread, ratio, goal }: Row): void {
  console.log(`${work.padEnd(60)} ${median.padStart(10)}  ${spread.padStart(22)}  ${ratio.padStart(6)}  ${goal}`)
}
