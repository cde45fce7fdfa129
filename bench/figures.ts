import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import type { GoalName } from './goals.ts'

/** What was measured for a goal, and in what circumstances. */
export interface Figure {
  readonly figure: number
  readonly machine: string
  readonly date: string
  readonly commit: string
  /** Of several figures of a run the worst counts. */
  readonly run: string
}

type Figures = Partial<Record<GoalName, Figure>>

const file = new URL('figures.json', import.meta.url)

/** Tells the runs of `npm run bench` apart: all processes of one have the same. */
export const run = process.env.BENCH_RUN ?? new Date().toISOString()

/** Keeps a figure for the table; where this run has one already, the worse of both. */
export function record(name: GoalName, figure: number): void {
  const figures = readFigures()
  const before = figures[name]
  if (before?.run === run && before.figure >= figure) return
  figures[name] = { figure, machine: describeMachine(), date: run.slice(0, 10), commit: findCommit(), run }
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
}

export function readFigures(): Figures {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

/** With its load: on a machine that has other work, a figure says less. */
function describeMachine(): string {
  const model = cpus()[0]?.model.replaceAll(/\s+/g, ' ').trim() || 'unknown'
  const [load = 0] = loadavg()
  return `${cpus().length} × ${model}, Node ${process.versions.node}, load ${load.toFixed(0)}`
}

const findCommit = (): string =>
  execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], {
    cwd: new URL('.', import.meta.url),
    encoding: 'utf8',
  }).trim()
