import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Goal, type GoalName, goals, measuredCode, type Section } from './goals.ts'

/** The measured figures of a goal, and where and when they were measured. */
export interface Figure {
  readonly starts: readonly number[]
  readonly where: string
  /** What {@link hashCode} returned then. */
  readonly code: string
}
export type Figures = Partial<Record<GoalName, Figure>>

/** The table of all goals, each with the last figure that was measured for it, in the text of `RESULTS.md`. */
export function insertTable(text: string, figures: Figures): string {
  const [before, after] = text.split(/(?<=<!-- goals -->\n)[\s\S]*(?=<!-- \/goals -->)/)
  if (after === undefined) throw new Error('RESULTS.md has no place for the table')
  return `${before}${toTable(figures)}\n${after}`
}

export function toTable(figures: Figures): string {
  const head = ['work', 'against', 'median', 'range', 'goal', 'measured', '`npm run bench --`']
  const rows = entriesOf<Goal>(goals).map(([name]) => toCells(name, figures[name]))
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

export function toCells(name: GoalName, figure: Figure | undefined): string[] {
  const { work, yardstick, most, unit, section } = goals[name]
  const format = (value: number) => value.toFixed(unit === '×' ? 2 : 1)
  const goal = `≤ ${most} ${unit}`
  if (!figure) return [work, yardstick, '**not measured**', '', goal, '', `\`${section}\``]
  const range = `${format(Math.min(...figure.starts))} – ${format(Math.max(...figure.starts))}`
  const median = `${format(medianOf(figure))} ${unit}${isMissed(name, figure) ? ', **missed**' : ''}`
  const where = `${figure.where}${figure.code === hashCode(section) ? '' : ', **older than its code**'}`
  return [work, yardstick, median, range, goal, where, `\`${section}\``]
}

export function isMissed(name: GoalName, figure: Figure | undefined): boolean {
  return !figure || medianOf(figure) > goals[name].most
}

/** A hash of the code that decides most about the figures of a section. */
export function hashCode(section: Section): string {
  const hash = createHash('sha256')
  for (const path of measuredCode[section] ?? []) hash.update(readFileSync(new URL(`../src/${path}`, import.meta.url)))
  return hash.digest('hex').slice(0, 8)
}

const medianOf = ({ starts }: Figure) => starts.toSorted((one, other) => one - other)[starts.length >> 1] as number

export function entriesOf<Value>(record: Partial<Record<GoalName, Value>>): [GoalName, Value][] {
  return Object.entries(record) as [GoalName, Value][]
}
