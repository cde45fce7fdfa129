import { readFileSync, writeFileSync } from 'node:fs'
import { type Figure, readFigures, run } from './figures.ts'
import { type Goal, type GoalName, goals } from './goals.ts'

const results = new URL('RESULTS.md', import.meta.url)

/** All goals with the last figures that were measured for them, as Markdown. */
export function toTable(figures: ReturnType<typeof readFigures>): string {
  const head = ['work', 'against', 'figure', 'goal', 'date, commit', 'machine', '`npm run bench --`']
  const rows = entriesOfGoals().map(([name, goal]) => toCells(goal, figures[name]))
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function toCells({ work, yardstick, most, unit, section }: Goal, figure: Figure | undefined): string[] {
  if (!figure) return [work, yardstick, '**not measured**', `≤ ${most} ${unit}`, '', '', `\`${section}\``]
  const { date, commit, machine } = figure
  const value = `${format(figure.figure, unit)}${figure.figure > most ? ', **missed**' : ''}`
  return [work, yardstick, value, `≤ ${most} ${unit}`, `${date}, ${commit}`, machine, `\`${section}\``]
}

const format = (figure: number, unit: Goal['unit']) => `${figure.toFixed(unit === '×' ? 2 : 1)} ${unit}`

/** Puts the table where `RESULTS.md` has it. */
export function writeTable(): void {
  const [before, after] = readFileSync(results, 'utf8').split(/(?<=<!-- goals -->\n)[\s\S]*(?=<!-- \/goals -->)/)
  if (after === undefined) throw new Error('RESULTS.md has no place for the table')
  writeFileSync(results, `${before}${toTable(readFigures())}\n${after}`)
}

/** @returns The goals of these sections that this run missed, or did not measure. */
export function findMissed(sections: readonly string[]): GoalName[] {
  const figures = readFigures()
  return entriesOfGoals().flatMap(([name, { section, most }]) => {
    const measured = figures[name]?.run === run ? figures[name].figure : Number.NaN
    return sections.includes(section) && !(measured <= most) ? [name] : []
  })
}

const entriesOfGoals = () => Object.entries(goals) as [GoalName, Goal][]
