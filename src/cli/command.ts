import { createInterface } from 'node:readline'
import type { OpenDatabase, OpenOptions, Target } from './database.ts'
import { toPrintable } from './text.ts'

/** An error in how the command was called. The exit code is 2. */
export class UsageError extends Error {}

/** Values by name: those of a command's options, or of the environment's variables. */
export type Values = Readonly<Record<string, string | undefined>>

/** The output of a command: `text` for people, `data` for `--json`. */
export interface Result {
  readonly text: string
  readonly data: unknown
  /** Whether the command found a problem; the process then exits with 1. Default: `false`. */
  readonly isWrong?: boolean
}

/** The environment and the streams of the program: those of `process`, or those of a test. */
export interface ProgramProcess {
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
  readonly process: ProgramProcess
  /**
   * Returns the address of the database: `--database`, or else `DATABASE_URL`, or else `otherwise`. Does not connect.
   */
  readonly target: (otherwise?: string) => Target
  /** Opens the database for the duration of the command. */
  connect(options?: OpenOptions): OpenDatabase
  /** Describes an error and its causes, without secrets. */
  explain(error: unknown): string
  /** Writes to standard output. The promise resolves when there is room for more. */
  write(text: string): Promise<void>
}

export interface Command {
  /** The words after the command's name: `<file>` for one, `<id...>` for at least one, `[id...]` for any number. */
  readonly words?: string
  /** What the command does, in one line. */
  readonly purpose: string
  /** What else its help says, in sentences. */
  readonly details?: string
  /** What each option does: `'--team <id>': 'only the registrations of this team'`. */
  readonly options?: Readonly<Record<string, string>>
  /** What a call looks like, after the command's name. */
  readonly example: string
  /** @returns The output, or nothing if the command has already written it. */
  run(invocation: Invocation): Promise<Result | undefined>
}

/** The option of each command that may ask; see {@link confirm}. */
export const confirmOption = { '--yes': 'does not ask; for programs' }

/**
 * Says how much a command is about to change, and waits until the number is typed. With `--yes`, asks nothing.
 *
 * @param effect What happens, such as "This releases 3 registrations of team 1".
 * @throws {UsageError} if standard input does not begin with the number.
 */
export async function confirm({ flags, process }: Invocation, effect: string, count: number): Promise<void> {
  if (flags.has('yes')) return
  process.stderr.write(toPrintable(`${effect}. To confirm, type ${count} (programs pass --yes): `))
  for await (const { line } of readLines(process)) {
    if (line === String(count)) return
    break
  }
  throw new UsageError('Nothing was changed, because the number was not typed')
}

/** @throws {UsageError} if the option was not passed. */
export function requireValue(values: Values, name: string, expected: string): string {
  const value = values[name]
  if (!value) throw new UsageError(`Pass --${name} ${expected}`)
  return value
}

/** @throws {UsageError} if the limit is not an integer from 1 to 999,999,999. */
export function readLimit({ limit = '100' }: Values): number {
  if (/^[1-9]\d{0,8}$/.test(limit)) return Number(limit)
  throw new UsageError('--limit must be an integer from 1 to 999999999')
}

/**
 * Yields the lines of standard input, except empty ones, with their numbers.
 *
 * @throws {Error} if the input is UTF-16, as in files that some shells of Windows write.
 */
export async function* readLines({ stdin }: ProgramProcess): AsyncGenerator<{ line: string; number: number }, void> {
  let number = 0
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    // Read as UTF-8, UTF-16 has a NUL beside each ASCII character, and begins with a byte order mark that is invalid.
    if (/\0|^\ufffd\ufffd/.test(line)) throw new Error('The input is in UTF-16. Convert it to UTF-8')
    number += 1
    if (line.trim() !== '') yield { line: line.trim(), number }
  }
}

/** Reads the lines of standard input, except empty ones. */
export async function readInput(process: ProgramProcess): Promise<string[]> {
  const lines: string[] = []
  for await (const { line } of readLines(process)) lines.push(line)
  return lines
}
