import { causesOf } from '../errors/failure-log.ts'
import { redact } from '../errors/redact.ts'
import { UsageError, type Values } from './command.ts'
import type { Target } from './database.ts'

/**
 * Reads `--database` and `--schema`.
 *
 * @param otherwise The address to use if neither the option nor the environment contains an address.
 * @throws {UsageError} if the address is missing or invalid. The message never shows the address, which may contain a
 *   password.
 */
export function readTarget({ database, schema }: Values, environment: Values, otherwise?: string): Target {
  const address = database ?? environment.DATABASE_URL ?? otherwise
  if (!address) {
    throw new UsageError(
      'Pass --database postgres://user:password@machine/name or --database file.db, or set DATABASE_URL',
    )
  }
  if (/^postgres(?:ql)?:\/\//.test(address)) {
    if (slashInPassword.test(address)) throw new UsageError('Write a "/" in the password of the address as %2F')
    return { kind: 'postgres', url: address, schema }
  }
  const path = address.replace(windowsDrive, '')
  if ([otherScheme, passwordAndHost, keyWords].some(pattern => pattern.test(path))) {
    throw new UsageError(
      'The database must be an address that begins with "postgres://", such as ' +
        'postgres://user:password@machine/name, or the path of a SQLite file',
    )
  }
  if (schema !== undefined) throw new UsageError('--schema is for PostgreSQL; SQLite has no schemas')
  return { kind: 'sqlite', file: address }
}

/**
 * Matches a slash in a password. The slash would end the host, so a part of the password would be taken for the host,
 * which messages show.
 */
const slashInPassword = /^[a-z]+:\/\/[^?#/]*\/[^?#]*@/

/**
 * These match another scheme, an address without its scheme but with a password, and the form "host=db password=…" of
 * libpq, which would otherwise be read as the path of a SQLite file, and shown.
 */
const otherScheme = /^[a-z][a-z+.-]+:/i
const passwordAndHost = /^[^:]*:[^@]*@/
const keyWords = /(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=/i

/** The beginning of a path on Windows, such as `C:\`. */
const windowsDrive = /^[a-z]:(?=[\\/])/i

/** Finds the passwords that output must not show, in the environment and the parameters. */
export function findSecrets(environment: Values, parameters: readonly string[]): string[] {
  return [environment.PGPASSWORD, ...[environment.DATABASE_URL, ...parameters].flatMap(findPasswords)].filter(
    secret => secret !== undefined && secret !== '',
  ) as string[]
}

/**
 * Finds the passwords in one parameter, such as an address, or an option with an address. Returns each password twice:
 * as written, and decoded.
 */
function findPasswords(text = ''): string[] {
  // An unencoded password may contain any character, so it ends at the last "@".
  const [, , afterColon = ''] = /:\/\/([^:]*):(.*)/s.exec(text) ?? []
  const beforeMachine = afterColon.slice(0, Math.max(0, afterColon.lastIndexOf('@')))
  const [, named] = /password\s*=\s*'?([^&'\s]*)/i.exec(text) ?? []
  return [beforeMachine, named].flatMap(secret => (secret ? [secret, decode(secret)] : []))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Describes an error and its causes, without secrets. Unlike a log, whole messages, but not the classes of errors. */
export function explainError(failure: unknown, secrets: readonly string[]): string {
  const messages: string[] = []
  for (const cause of causesOf(failure)) {
    const { message, code, name } = cause as Error & { readonly code?: unknown }
    const said = message || String(code ?? name ?? cause)
    if (!messages.some(earlier => earlier.includes(said))) messages.push(said)
  }
  return redact(messages.join(': ') || 'unknown failure', secrets)
}
