import { readFileSync } from 'node:fs'

/** Milliseconds of the processor. */
export interface Cpu {
  readonly main: number
  /** Of the threads that compile and collect garbage. */
  readonly others: number
}

/** What this process has used. Where the system does not tell threads apart, all of it counts as the main thread's. */
export function readCpu(): Cpu {
  const { user, system } = process.cpuUsage()
  const all = (user + system) / 1e3
  if (process.platform !== 'linux') return { main: all, others: 0 }
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
  const main = Number(nanoseconds) / 1e6
  return { main, others: all - main }
}

export const subtract = (one: Cpu, other: Cpu): Cpu => ({
  main: one.main - other.main,
  others: one.others - other.others,
})

export const sum = (parts: readonly Cpu[]): Cpu => ({
  main: parts.reduce((total, { main }) => total + main, 0),
  others: parts.reduce((total, { others }) => total + others, 0),
})

export const ofAllThreads = ({ main, others }: Cpu): number => main + others
