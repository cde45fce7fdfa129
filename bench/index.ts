/**
 * Prints what the README and the goals of the project quote: medians, spreads, and ratios to a yardstick of the same
 * run. All sections, or those named: `npm run bench -- http soak`.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
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
  http: () => runProgram('http.ts'),
  soak: () => runProgram('soak.ts'),
  hold: () => runProgram('hold.ts'),
  keys: printKeyLookup,
}

/** In a process of its own. */
function runProgram(file: string, ...options: string[]): void {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const { status } = spawnSync(process.execPath, [...options, '--import', 'tsx', program], { stdio: 'inherit' })
  process.exitCode ||= status ?? 1
}

const named = process.argv.slice(2)
const unknown = named.filter(name => !Object.hasOwn(sections, name))
if (unknown.length > 0)
  throw new Error(`No section ${unknown.join(', ')}; there are ${Object.keys(sections).join(', ')}`)

printMachine()
for (const [name, run] of Object.entries(sections)) {
  if (named.length === 0 || named.includes(name)) await run()
}
