import { createInterface } from 'node:readline'
import type { OpenDatabase } from './connection.ts'

/** What a command has to say: in words, and with `--json` as data. */
export interface Result {
  readonly text: string
  readonly data: unknown
  /** Whether something is wrong, so that the process exits 1. Default: all is well. */
  readonly isWrong?: boolean
}

/** The texts of a command's options, by name. */
export type Values = Readonly<Record<string, string | undefined>>

/** What a command has of its process: `process` itself, or the streams of a test. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/** One run of a command, as the command line asks for it. */
export interface Invocation {
  readonly values: Values
  /** The options that stand alone. */
  readonly flags: ReadonlySet<string>
  /** What stands behind the name of the command. */
  readonly operands: readonly string[]
  readonly surroundings: Surroundings
  /** Where `--database` or `DATABASE_URL` leads, or else the address `otherwise`; nothing is opened yet. */
  readonly target: (otherwise?: string) => Target
  /**
   * Connects to the database, for as long as the command runs.
   *
   * @param options `mayCreate`: whether a file that is missing is created.
   * @throws {Error} that says what is missing: the driver, the file, the tables in it.
   */
  connect(options?: { readonly mayCreate?: boolean }): OpenDatabase
  /** Writes to the standard output; resolves when there is room for more. */
  write(text: string): Promise<void>
}

export interface Command {
  /** What has to stand behind the name, in the usage. Default: nothing. */
  readonly synopsis?: string
  /** How many words it takes behind its name, beside options. Default: none. */
  readonly words?: { readonly least: number; readonly most: number }
  readonly purpose: string
  /** The options that take a text. */
  readonly options?: readonly string[]
  /** The options that stand alone. */
  readonly flags?: readonly string[]
  /** @returns What to print; nothing if the command has written all itself. */
  run(invocation: Invocation): Promise<Result | undefined>
}

/** Where the tables are. */
export type Target =
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string | undefined }
  | { readonly kind: 'sqlite'; readonly file: string }

/** The command was not called as it has to be: exit code 2. */
export class UsageError extends Error {}

/** @throws {UsageError} if the option was not passed. */
export function requireValue(values: Values, name: string, expected: string): string {
  const value = values[name]
  if (!value) throw new UsageError(`Pass --${name} ${expected}`)
  return value
}

/** @throws {UsageError} for anything but an integer from 1 to `most`. */
export function readLimit({ limit = '100' }: Values, most = 999_999_999): number {
  if (/^[1-9]\d{0,8}$/.test(limit) && Number(limit) <= most) return Number(limit)
  throw new UsageError(`--limit must be an integer from 1 to ${most}`)
}

/** Yields the lines of the standard input, without empty ones. */
export async function* readLines({ stdin }: Surroundings): AsyncGenerator<string, void> {
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') yield line.trim()
  }
}

/** Reads the lines of the standard input, without empty ones. */
export async function readInput(surroundings: Surroundings): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(surroundings)) lines.push(line)
  return lines
}
