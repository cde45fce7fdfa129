/**
 * Measures what the goals of the project ask for (goals.ts), each against a yardstick of the same process: all
 * sections, or those named, as in `npm run bench -- http import`. A goal is missed when the median of its starts is
 * above it; then the exit status is 1. The table of all goals is printed and put into RESULTS.md.
 */
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { nodes } from '../test/runtimes/runtimes.ts'
import { type Goal, type GoalName, goals, type Section, sections } from './goals.ts'

/** What was measured for a goal, and in what circumstances. */
interface Figure {
  readonly starts: readonly number[]
  readonly where: string
}
type Figures = Partial<Record<GoalName, Figure>>

const file = new URL('figures.json', import.meta.url)
const results = new URL('RESULTS.md', import.meta.url)
const here = fileURLToPath(new URL('.', import.meta.url))

const named = process.argv.slice(2)
const unknown = named.filter(name => !Object.hasOwn(sections, name))
if (unknown.length > 0) {
  throw new Error(`No section ${unknown.join(', ')}; there are ${Object.keys(sections).join(', ')}`)
}
const chosen = (Object.keys(sections) as Section[]).filter(name =>
  named.length > 0 ? named.includes(name) : sections[name] > 0,
)

const figures: Figures = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
const commit = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: here, encoding: 'utf8' }).trim()
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`
const load = loadavg()[0]?.toFixed(0)
const where = `${new Date().toISOString().slice(0, 10)}, ${commit}, ${machine}, load ${load}`

for (const section of chosen) await measure(section)
writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
const [before, after] = readFileSync(results, 'utf8').split(/(?<=<!-- goals -->\n)[\s\S]*(?=<!-- \/goals -->)/)
if (after === undefined) throw new Error('RESULTS.md has no place for the table')
writeFileSync(results, `${before}${toTable()}\n${after}`)
console.log(`\n${toTable()}`)

const missed = entriesOf(goals).filter(([name, goal]) => chosen.includes(goal.section) && isMissed(name))
if (missed.length > 0) {
  console.log(`\nMissed: ${missed.map(([name]) => name).join(', ')}`)
  process.exitCode = 1
}

/** Starts the program of a section as often as it says, each time in a process of its own. */
async function measure(section: Section): Promise<void> {
  const starts: Partial<Record<GoalName, number[]>> = {}
  for (let start = 0; start < Math.max(1, sections[section]); start += 1) {
    const child = fork(`${here}${section}.ts`, {
      execArgv: ['--import', 'tsx', '--no-warnings'],
      execPath: findNode(section),
    })
    child.on('message', (measured: Partial<Record<GoalName, number>>) => {
      for (const [name, figure] of entriesOf(measured)) starts[name] = [...(starts[name] ?? []), figure as number]
    })
    const [status] = await once(child, 'exit')
    if (status !== 0) throw new Error(`bench/${section}.ts ended with ${status}`)
  }
  for (const [name, measured] of entriesOf(starts)) {
    figures[name] = { starts: measured as number[], where }
    console.log(toCells(name, goals[name]).slice(0, 5).join('  '))
  }
}

/** Node 20 has no SQLite. */
function findNode(section: Section): string {
  if (process.getBuiltinModule('node:sqlite') || !['sqlite', 'hold'].includes(section)) return process.execPath
  const program = nodes.slice(1).find(node => node.program)?.program
  if (!program) throw new Error('This Node has no SQLite; npm ci --prefix test/runtimes installs one that has')
  return program
}

/** All goals with the last figures that were measured for them, as Markdown. */
function toTable(): string {
  const head = ['work', 'against', 'median', 'range', 'goal', 'measured', '`npm run bench --`']
  const rows = entriesOf(goals).map(([name, goal]) => toCells(name, goal))
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function toCells(name: GoalName, { work, yardstick, most, unit, section }: Goal): string[] {
  const format = (value: number) => value.toFixed(unit === '×' ? 2 : 1)
  const figure = figures[name]
  const goal = `≤ ${most} ${unit}`
  if (!figure) return [work, yardstick, '**not measured**', '', goal, '', `\`${section}\``]
  const range = `${format(Math.min(...figure.starts))} – ${format(Math.max(...figure.starts))}`
  const median = `${format(medianOf(figure))} ${unit}${isMissed(name) ? ', **missed**' : ''}`
  return [work, yardstick, median, range, goal, figure.where, `\`${section}\``]
}

function isMissed(name: GoalName): boolean {
  const figure = figures[name]
  return !figure || medianOf(figure) > goals[name].most
}

function medianOf({ starts }: Figure): number {
  return starts.toSorted((one, other) => one - other)[starts.length >> 1] as number
}

function entriesOf<Value>(record: Partial<Record<GoalName, Value>>): [GoalName, Value][] {
  return Object.entries(record) as [GoalName, Value][]
}
