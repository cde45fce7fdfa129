/** Prints what the README and the goals of the project quote: medians, spreads, and ratios to a yardstick of the same run. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { benchHostnames } from './hostnames.ts'
import { printKeyLookup } from './key-lookup.ts'
import { printMachine, printRow } from './report.ts'

printMachine()
for (const row of await benchHostnames()) printRow(row)

// In a process of its own, with room for ten million registrations.
const memoryStore = fileURLToPath(new URL('memory-store.ts', import.meta.url))
const options = ['--expose-gc', '--max-old-space-size=6000', '--import', 'tsx']
process.exitCode = spawnSync(process.execPath, [...options, memoryStore], { stdio: 'inherit' }).status ?? 1

await printKeyLookup()
