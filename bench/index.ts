/**
 * Prints what the README and the goals of the project quote: medians, spreads, and ratios to a yardstick of the same
 * run. All sections, or those named: `npm run bench -- http soak`.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nodes } from '../test/runtimes/runtimes.ts'
import { benchHostnames } from './hostnames.ts'
import { printKeyLookup } from './key-lookup.ts'
import { printHead, printMachine, printRow } from './report.ts'

const sections: Readonly<Record<string, () => unknown>> = {
  async hostnames() {
    printHead()
    for (const row of await benchHostnames()) printRow(row)
  },
  // With room for ten million registrations.
  memory: () => runProgram('memory-store.ts', '--expose-gc', '--max-old-space-size=6000'),
  postgres: () => runProgram('postgres.ts'),
  'postgres-scale': () => runProgram('postgres-scale.ts'),
  sqlite: () => runProgramIn(findNodeWithSqlite(), 'sqlite.ts'),
  http: () => runProgram('http.ts'),
  soak: () => runProgram('soak.ts'),
  hold: () => runProgram('hold.ts'),
  keys: printKeyLookup,
}

/** In a process of its own. */
const runProgram = (file: string, ...options: string[]) => runProgramIn(process.execPath, file, ...options)

function runProgramIn(node: string, file: string, ...options: string[]): void {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const { status } = spawnSync(node, [...options, '--import', 'tsx', program], { stdio: 'inherit' })
  process.exitCode ||= status ?? 1
}

/** This one, or one of those that are tested in. */
function findNodeWithSqlite(): string {
  if (process.getBuiltinModule('node:sqlite')) return process.execPath
  const program = nodes.slice(1).find(node => node.program)?.program
  if (!program) throw new Error('This Node has no SQLite; npm ci --prefix test/runtimes installs others')
  return program
}

const named = process.argv.slice(2)
const unknown = named.filter(name => !Object.hasOwn(sections, name))
if (unknown.length > 0)
  throw new Error(`No section ${unknown.join(', ')}; there are ${Object.keys(sections).join(', ')}`)

printMachine()
for (const [name, run] of Object.entries(sections)) {
  if (named.length === 0 || named.includes(name)) await run()
}
