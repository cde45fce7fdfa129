/**
 * Measures what the goals of the project ask for (goals.ts), against a yardstick of the same run: all sections, or
 * those named, as in `npm run bench -- http import`. Each writes its figures to figures.json. At the end the table of
 * all goals is printed and put into RESULTS.md. The exit status is 1 where a goal of these sections is missed.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nodes } from '../test/runtimes/runtimes.ts'
import { readFigures, run } from './figures.ts'
import { benchHostnames } from './hostnames.ts'
import { printKeyLookup } from './key-lookup.ts'
import { printHead, printMachine, printRow } from './report.ts'
import { findMissed, toTable, writeTable } from './table.ts'

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
  import: () => runProgram('imports.ts'),
  size: () => runProgram('size.ts'),
  soak: () => runProgram('soak.ts'),
  hold: () => runProgram('hold.ts'),
  keys: printKeyLookup,
  // The table alone, from the figures that there are.
  table() {},
}

/** In a process of its own. */
const runProgram = (file: string, ...options: string[]) => runProgramIn(process.execPath, file, ...options)

function runProgramIn(node: string, file: string, ...options: string[]): void {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const env = { ...process.env, BENCH_RUN: run }
  const { status } = spawnSync(node, [...options, '--import', 'tsx', program], { stdio: 'inherit', env })
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

const chosen = Object.keys(sections).filter(name => named.length === 0 || named.includes(name))
printMachine()
for (const name of chosen) await sections[name]?.()
writeTable()
console.log(`\n${toTable(readFigures())}`)
const missed = findMissed(chosen)
if (missed.length > 0) {
  console.log(`\nMissed: ${missed.join(', ')}`)
  process.exitCode = 1
}
