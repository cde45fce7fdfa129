import type { ParseArgsConfig } from 'node:util'
import type { Connection } from './connection.ts'

/** What a command has to say: in words, and with `--json` as data. */
export interface Result {
  readonly text: string
  readonly data: unknown
  /** Whether something is wrong, so that the process exits 1. Default: all is well. */
  readonly isWrong?: boolean
}

/** The values of a command's options, by name. */
export type Values = Readonly<Record<string, string | boolean | undefined>>

/** One call of a command. */
export interface Call {
  readonly values: Values
  /** What stands behind the name of the command. */
  readonly operands: readonly string[]
  /** Where `--database` or `DATABASE_URL` leads; nothing is opened yet. */
  readonly target: () => Target
  /**
   * Connects to the database, for as long as the command runs.
   *
   * @param options `mayCreate`: whether a file that is missing is created.
   * @throws {Error} that says what is missing: the driver, the file, the tables in it.
   */
  connect(options?: { readonly mayCreate?: boolean }): Promise<Connection>
  /** Writes to the standard output; resolves when there is room for more. */
  write(text: string): Promise<void>
}

/** How many words a command takes behind its name, beside options. */
export interface Words {
  readonly least: number
  readonly most: number
}

export const NO_WORDS: Words = { least: 0, most: 0 }
export const ONE_WORD: Words = { least: 1, most: 1 }
export const ANY_WORDS: Words = { least: 0, most: Number.POSITIVE_INFINITY }
export const MANY_WORDS: Words = { least: 1, most: Number.POSITIVE_INFINITY }

export interface Command {
  /** What has to stand behind the name, in the usage. */
  readonly synopsis: string
  readonly words: Words
  readonly purpose: string
  readonly options: NonNullable<ParseArgsConfig['options']>
  /** @returns What to print; nothing if the command has written all itself. */
  run(call: Call): Promise<Result | undefined>
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
  if (typeof value !== 'string' || value === '') throw new UsageError(`Pass --${name} ${expected}`)
  return value
}

/** @throws {UsageError} for anything but digits. */
export function toLimit(value: Values[string]): number | undefined {
  if (value === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(String(value))) throw new UsageError('--limit must be an integer from 1')
  return Number(value)
}
