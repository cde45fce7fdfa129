import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { record } from './figures.ts'
import type { GoalName } from './goals.ts'

/** How large bundles are, by `test/package/.size-limit.json`: the beginnings of its names, and the goals. */
const rows: readonly (readonly [name: string, goal: GoalName])[] = [
  ['the main entry for a Worker', 'sizeWorker'],
  ['classifyHostname without', 'sizeClassify'],
  ['countTotals', 'sizeTotals'],
]

const cwd = fileURLToPath(new URL('../test/package', import.meta.url))
// Without a limit that is passed it would exit with an error; the table tells of that.
const command = ['-c', 'node_modules/.bin/size-limit --json 2>&- || true']
const text = execFileSync('sh', command, { cwd, encoding: 'utf8' })
const sizes = JSON.parse(text.slice(text.indexOf('[\n'))) as { name: string; size: number }[]
for (const { name, size } of sizes) console.log(`${name.padEnd(120)} ${(size / 1000).toFixed(1)} kB`)
for (const [beginning, goal] of rows) {
  const found = sizes.find(({ name }) => name.startsWith(beginning))
  if (!found) throw new Error(`.size-limit.json has no row "${beginning} …"`)
  record(goal, found.size / 1000)
}
