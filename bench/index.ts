/**
 * Measures the figures for the goals in `goals.ts`. Most figures are ratios to a yardstick that is measured in the same
 * run. Runs all sections except the long ones, or only the named ones, as in `npm run bench -- http postgres`, or all
 * of them, as in `npm run bench -- all`. Figures are saved after each section. If a section cannot run here, the reason
 * is printed, the section is skipped, and its goals keep their last figures. The exit status is 1 if the median of a
 * goal's figures exceeds the goal, or if a section fails.
 */
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { nodes } from '../test/runtimes/runtimes.ts'
import { type Goal, type GoalName, goals, longSections, type Section, sectionsWithSqlite } from './goals.ts'
import type { Report } from './measure.ts'
import { entriesOf, type Figures, hashCode, insertTable, isMissed, toCells, toTable } from './table.ts'

/** How many times a section is started, each time in a new process. Long sections are started once. */
const STARTS = 5

/**
 * The time limit of one start, in milliseconds. A start that takes longer is stopped, so that the other sections can
 * run.
 */
const LONGEST_START = 600_000

const file = new URL('figures.json', import.meta.url)
const results = new URL('RESULTS.md', import.meta.url)
const here = fileURLToPath(new URL('.', import.meta.url))

const sections = [...new Set(Object.values(goals).map(({ section }) => section))]
const chosen = chooseSections(process.argv.slice(2))
const commit = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: here, encoding: 'utf8' }).trim()
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`
const load = loadavg()[0]?.toFixed(0)
const where = `${new Date().toISOString().slice(0, 10)}, ${commit}, ${machine}, load ${load}`

const figures: Figures = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
const measured = new Set<GoalName>()
const failed: Section[] = []
for (const section of chosen) {
  await measure(section).catch(error => {
    failed.push(section)
    console.error(`${section} failed:`, error)
  })
  save()
}
console.log(`\n${toTable(figures)}`)

const missed = [...measured].filter(name => isMissed(name, figures[name]))
if (missed.length > 0) console.log(`\nMissed: ${missed.join(', ')}`)
if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`)
if (missed.length + failed.length > 0) process.exitCode = 1

function chooseSections(named: readonly string[]): Section[] {
  if (named[0] === 'all') return sections
  const unknown = named.filter(name => !sections.some(section => section === name))
  if (unknown.length > 0) throw new Error(`No section ${unknown.join(', ')}; there are ${sections.join(', ')}`)
  return sections.filter(section => (named.length > 0 ? named.includes(section) : !longSections.includes(section)))
}

/** Starts the program of a section as many times as needed. */
async function measure(section: Section): Promise<void> {
  const execPath = findNode(section)
  if (!execPath)
    return passOver(section, 'this Node has no SQLite; "npm ci --prefix test/runtimes" installs one that has it')
  const starts: Partial<Record<GoalName, number[]>> = {}
  for (let start = 0; start < (longSections.includes(section) ? 1 : STARTS); start += 1) {
    const timeout = longSections.includes(section) ? undefined : LONGEST_START
    const child = fork(`${here}${section}.ts`, { execArgv: ['--import', 'tsx', '--no-warnings'], execPath, timeout })
    const reports: Report[] = []
    child.on('message', (report: Report) => reports.push(report))
    const [status] = await once(child, 'exit')
    const [report] = reports
    if (status !== 0 || !report) throw new Error(`bench/${section}.ts ended with ${status}`)
    if ('passedOver' in report) return passOver(section, report.passedOver)
    for (const [name, figure] of entriesOf(report.figures)) starts[name] = [...(starts[name] ?? []), figure]
  }
  for (const [name, found] of entriesOf(starts)) {
    figures[name] = { starts: found, where, code: hashCode(section) }
    measured.add(name)
    console.log(toCells(name, figures[name]).slice(0, 5).join('  '))
  }
}

function passOver(section: Section, reason: string): void {
  console.log(`${section} is skipped: ${reason}`)
}

/** Node 20 has no SQLite. */
function findNode(section: Section): string | null {
  if (process.getBuiltinModule('node:sqlite') || !sectionsWithSqlite.includes(section)) return process.execPath
  return nodes.slice(1).find(node => node.program)?.program ?? null
}

/** Writes the figures, in the order of the goals, and the table. */
function save(): void {
  const kept = entriesOf<Goal>(goals).map(([name]) => [name, figures[name]])
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
  writeFileSync(results, insertTable(readFileSync(results, 'utf8'), figures))
  execFileSync(process.execPath, ['--import', 'tsx', `${here}../site/pictures.ts`])
}
