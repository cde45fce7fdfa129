import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { PoolConfig } from 'pg'
import type { ProgramProcess } from '../../src/cli/command.ts'
import { runProgram } from '../../src/cli/program.ts'
import { wasmFlags } from '../start-program.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = join(root, 'dist', 'cli.js')

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** The working directory. Default: the current directory, where `pg` is installed. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** A module that is loaded before the program. */
  readonly preload?: string
  /** A shared library that is loaded before the program, and configured by `env`. */
  readonly library?: string
}

/**
 * Runs the program in this process, which is ten times as fast as a separate process. If `cwd`, `preload` or `library`
 * is given, runs the built program in a separate process.
 */
export async function run(parameters: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { DATABASE_URL: _, ...inherited } = process.env
  const { cwd, preload, library } = options
  const env = { ...inherited, ...options.env, ...(library && { LD_PRELOAD: library }) }
  return [cwd, preload, library].every(each => each === undefined)
    ? runHere(parameters, env, options)
    : runProcess(parameters, env, options)
}

async function runHere(
  parameters: readonly string[],
  env: ProgramProcess['env'],
  { input = '' }: RunOptions,
): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const written = Promise.all([text(stdout), text(stderr)])
  const code = await runProgram(parameters, { env, stdin: Readable.from([Buffer.from(input)]), stdout, stderr })
  stdout.end()
  stderr.end()
  const [shown, errors] = await written
  return { code, stdout: shown, stderr: errors }
}

async function runProcess(
  parameters: readonly string[],
  env: ProgramProcess['env'],
  { cwd = root, input = '', preload }: RunOptions,
): Promise<Outcome> {
  const flags = ['--no-warnings', ...wasmFlags, ...(preload === undefined ? [] : ['--import', preload])]
  const child = spawn(process.execPath, [...flags, program, ...parameters], { cwd, env })
  child.stdin.on('error', () => {}).end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, stdout, stderr }
}

export const toUrl = ({ host, port, user, password, database }: PoolConfig) =>
  `postgres://${user}:${password}@${host}:${port}/${database}`

export interface Project {
  readonly folder: string
  remove(): void
}

/** The folder of an application without any driver. */
export function createProject(): Project {
  const folder = mkdtempSync(join(tmpdir(), 'domain-registration-cli-'))
  mkdirSync(join(folder, 'node_modules'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The SQLite engine, chosen as in test/sqlite/open-database.ts. */
const { BETTER_SQLITE3 } = process.env
export const sqliteEngine = process.getBuiltinModule('node:sqlite')
  ? 'node:sqlite'
  : BETTER_SQLITE3
    ? 'better-sqlite3'
    : 'node-sqlite3-wasm with the interface of better-sqlite3'

/** The folder of an application with the package that this Node needs for SQLite. */
export function createSqliteProject(): Project {
  const project = createProject()
  const place = join(project.folder, 'node_modules', 'better-sqlite3')
  if (BETTER_SQLITE3) {
    symlinkSync(BETTER_SQLITE3, place)
  } else {
    mkdirSync(place)
    const engine = createRequire(import.meta.url).resolve('node-sqlite3-wasm')
    writeFileSync(join(place, 'index.js'), toDriver(engine))
  }
  return project
}

const toDriver = (engine: string) => `
const sqlite3 = require(${JSON.stringify(engine)})
module.exports = class {
  constructor(file) { this.database = new sqlite3.Database(file) }
  exec(sql) { this.database.exec(sql) }
  close() { this.database.close() }
  prepare(sql) {
    const statement = this.database.prepare(sql)
    return { all: (...values) => statement.all(values), run: (...values) => statement.run(values) }
  }
}
`
