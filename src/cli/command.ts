import { createInterface } from 'node:readline'
import { type OpenDatabase, type Target, UsageError, type Values } from './database.ts'

/** The output of a command: `text` for people, `data` for `--json`. */
export interface Result {
  readonly text: string
  readonly data: unknown
  /** Whether the command found a problem; the process then exits with 1. Default: `false`. */
  readonly isWrong?: boolean
}

/** The environment and the streams that a command uses: those of `process`, or those of a test. */
export interface Surroundings {
  readonly env: Values
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/** One call of a command, as read from the command line. */
export interface Invocation {
  readonly values: Values
  /** The options that take no value. */
  readonly flags: ReadonlySet<string>
  /** The words after the command's name. */
  readonly operands: readonly string[]
  readonly surroundings: Surroundings
  /**
   * Returns the address of the database: `--database`, or else `DATABASE_URL`, or else `otherwise`. Does not connect.
   */
  readonly target: (otherwise?: string) => Target
  /**
   * Connects to the database for the duration of the command.
   *
   * @param options `mayCreate`: whether to create the file if it is missing.
   * @throws {Error} if the driver, the file or its tables are missing; the message says which.
   */
  connect(options?: { readonly mayCreate?: boolean }): OpenDatabase
  /** Writes to standard output. The promise resolves when there is room for more. */
  write(text: string): Promise<void>
}

export interface Command {
  /** The words after the command's name, as the usage shows them. Default: none. */
  readonly synopsis?: string
  /** How many words the command takes after its name, not counting options. Default: none. */
  readonly words?: { readonly least: number; readonly most: number }
  readonly purpose: string
  /** The options that take a value. */
  readonly options?: readonly string[]
  /** The options that take no value. */
  readonly flags?: readonly string[]
  /** @returns The output, or nothing if the command has already written it. */
  run(invocation: Invocation): Promise<Result | undefined>
}

/** @throws {UsageError} if the option was not passed. */
export function requireValue(values: Values, name: string, expected: string): string {
  const value = values[name]
  if (!value) throw new UsageError(`Pass --${name} ${expected}`)
  return value
}

/** @throws {UsageError} if the limit is not an integer from 1 to `most`. */
export function readLimit({ limit = '100' }: Values, most = 999_999_999): number {
  if (/^[1-9]\d{0,8}$/.test(limit) && Number(limit) <= most) return Number(limit)
  throw new UsageError(`--limit must be an integer from 1 to ${most}`)
}

/** Yields the lines of standard input, except empty ones. */
export async function* readLines({ stdin }: Surroundings): AsyncGenerator<string, void> {
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') yield line.trim()
  }
}

/** Reads the lines of standard input, except empty ones. */
export async function readInput(surroundings: Surroundings): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(surroundings)) lines.push(line)
  return lines
}
