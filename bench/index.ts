/** Prints what the README and the goals of the project quote: medians, spreads, and ratios to a yardstick of the same run. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { benchHostnames } from './hostnames.ts'
import { printKeyLookup } from './key-lookup.ts'
import { printMachine, printRow } from './report.ts'

printMachine()
for (const row of await benchHostnames()) printRow(row)

// Each in a process of its own; the memory store with room for ten million registrations.
const programs = [
  { file: 'memory-store.ts', options: ['--expose-gc', '--max-old-space-size=6000'] },
  { file: 'postgres.ts', options: [] },
  { file: 'postgres-scale.ts', options: [] },
]
for (const { file, options } of programs) {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const { status } = spawnSync(process.execPath, [...options, '--import', 'tsx', program], { stdio: 'inherit' })
  process.exitCode ||= status ?? 1
}

await printKeyLookup()
