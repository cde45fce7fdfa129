import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { build, type OutputFile } from 'esbuild'
import type { PoolConfig } from 'pg'
import { runProgram } from '../../src/cli/program.ts'

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** Where the program looks for drivers. Default: the current directory, where `pg` is installed. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
}

/** Runs the program in this process, which is ten times as fast as a separate process. */
export async function run(
  parameters: readonly string[],
  { cwd = process.cwd(), env, input = '' }: RunOptions = {},
): Promise<Outcome> {
  const { DATABASE_URL: _, ...inherited } = process.env
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const written = Promise.all([text(stdout), text(stderr)])
  const before = process.cwd()
  const stdin = Readable.from([Buffer.from(input)])
  process.chdir(cwd)
  const code = await runProgram(parameters, { env: { ...inherited, ...env }, stdin, stdout, stderr }).finally(() =>
    process.chdir(before),
  )
  stdout.end()
  stderr.end()
  const [shown, errors] = await written
  return { code, stdout: shown, stderr: errors }
}

/** Bundled once for all tests of this process, when the first one asks. */
let bundle: Promise<Uint8Array> | undefined

async function bundleSources(): Promise<Uint8Array> {
  const entryPoints = ['src/cli/main.ts']
  const { outputFiles } = await build({ entryPoints, bundle: true, platform: 'node', format: 'esm', write: false })
  return (outputFiles[0] as OutputFile).contents
}

/** Bundles the program's sources into a file, for tests that need a process. Unlike dist/, the file is never stale. */
export async function bundleProgram(): Promise<Project & { readonly file: string }> {
  bundle ??= bundleSources()
  const project = createProject()
  const file = join(project.folder, 'cli.mjs')
  writeFileSync(file, await bundle)
  return { ...project, file }
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
